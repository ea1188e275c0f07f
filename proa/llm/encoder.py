"""A model that reads a whole text at once: embeddings, blocks that see both ways, and what is made of the states.

BERT, RoBERTa, ERNIE 3 and MPNet are this class with a Config.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.tensor import Tensor, tensor_from_data
from ..nn import Embedding, Layer, LayerList
from ..nn import functional as F
from ..nn.base.attributes import ParamAttr
from ..nn.initializer import Constant, Normal
from .config import Config
from .layers.attend import Full
from .layers.block import Block
from .layers.mlp import activation_of
from .layers.norm import Norm
from .layers.projection import Projection
from .layers.relative import RelativeBias
from .model import check_ids


class Encoder(Layer):
    """`model(ids, mask)` gives logits of every token where the Config has a head, otherwise the last states.

    Args:
        config: a `Config`.

    Examples:
        >>> config = paddle.llm.Config("bert", 100, 32, 2, 4, 64, positions="learned", head="")
        >>> paddle.llm.Encoder(config)(paddle.to_tensor([[1, 2, 3]])).shape
        paddle.Size([1, 3, 32])
    """

    def __init__(self, config: Config) -> None:
        super().__init__(dtype=None)
        self.config, size = config, config.hidden_size
        drawn = ParamAttr(initializer=Normal(0.0, config.initializer_range))

        def table(rows: int) -> Any:
            return Embedding(rows, size, weight_attr=drawn) if rows else None

        self.embedding = table(config.vocab_size)
        self.position_embedding = table(config.max_positions + config.position_offset)
        self.type_embedding = table(config.token_types)
        self.task_embedding = table(config.task_types)
        self.embedding_norm = Norm(config, size)
        self.relative = None
        if config.relative_buckets:
            self.relative = RelativeBias(config.relative_buckets, config.heads, config.relative_distance, True)
        self.layers = LayerList([Block(config, number) for number in range(config.layers)])
        self.pooler = Projection(size, size, True, config.initializer_range) if config.pooler else None
        self.head_dense = self.head_norm = self.head_bias = None
        if config.head == "masked":
            self._activation = activation_of(config.activation)
            self.head_dense = Projection(size, size, True, config.initializer_range)
            self.head_norm = Norm(config, size)
            self.head_bias = self.create_parameter([config.vocab_size], default_initializer=Constant(0.0))

    def hidden(
        self, ids: Tensor, mask: Tensor | None = None, types: Tensor | None = None, tasks: Tensor | None = None
    ) -> Tensor:
        """The states behind the last block, `[batch, length, hidden_size]`.

        `mask` `[batch, length]` is 0 at padding; `types` and `tasks` are numbers of sentences and tasks, 0 without them.

        Examples:
            >>> config = paddle.llm.Config("bert", 100, 32, 2, 4, 64, positions="learned", head="")
            >>> paddle.llm.Encoder(config).hidden(paddle.to_tensor([[1, 2, 3]])).shape
            paddle.Size([1, 3, 32])
        """
        check_ids("Encoder", ids)
        x = self._embedded(ids, types, tasks)
        bias = None
        if self.relative is not None:
            places = tensor_from_data(np.arange(ids._aval.shape[1])[None])
            bias = self.relative(places, places)
        attend = Full(mask)
        for block in self.layers:
            x = block(x, attend, None, bias)
        return x

    def logits(self, hidden: Tensor) -> Tensor:
        """The head: scores of every word for each token.

        Examples:
            >>> config = paddle.llm.Config("bert", 100, 32, 2, 4, 64, positions="learned", head="masked")
            >>> model = paddle.llm.Encoder(config)
            >>> model.logits(paddle.ones([1, 3, 32])).shape
            paddle.Size([1, 3, 100])
        """
        if self.head_dense is None or self.head_norm is None:
            raise value_error("Encoder.logits", "this model has no head for words", f"head: {self.config.head!r}")
        states = self.head_norm(self._activation(self.head_dense(hidden)))
        return F.linear(states, self.embedding.weight.t(), self.head_bias)

    def pooled(self, hidden: Any) -> Tensor:
        """What the first token's state says about the whole text.

        Examples:
            >>> config = paddle.llm.Config("bert", 100, 32, 2, 4, 64, positions="learned", head="", pooler=True)
            >>> paddle.llm.Encoder(config).pooled(paddle.ones([1, 3, 32])).shape
            paddle.Size([1, 32])
        """
        if self.pooler is None:
            raise value_error("Encoder.pooled", "this model has no pooler", "pooler: False", "use embed()")
        return F.tanh(self.pooler(hidden[:, 0]))

    def embed(self, ids: Tensor, mask: Tensor | None = None, types: Tensor | None = None) -> Tensor:
        """One vector of length 1 for each text: the mean of its tokens' states, `[batch, hidden_size]`.

        Examples:
            >>> config = paddle.llm.Config("bert", 100, 32, 2, 4, 64, positions="learned", head="")
            >>> vector = paddle.llm.Encoder(config).embed(paddle.to_tensor([[1, 2, 3]]))
            >>> vector.shape, round(float((vector**2).sum()), 3)
            (paddle.Size([1, 32]), 1.0)
        """
        states: Any = self.hidden(ids, mask, types)
        if mask is None:
            return F.normalize(states.mean(1), axis=-1)
        weights = mask.astype(states.dtype).unsqueeze(-1)
        return F.normalize((states * weights).sum(1) / weights.sum(1).clip(min=1e-9), axis=-1)

    def forward(
        self, ids: Tensor, mask: Tensor | None = None, types: Tensor | None = None, tasks: Tensor | None = None
    ) -> Tensor:
        """Logits of every token where the Config has a head, otherwise the last states; the arguments are those of `hidden`.

        Examples:
            >>> config = paddle.llm.Config("bert", 100, 32, 2, 4, 64, positions="learned", head="")
            >>> paddle.llm.Encoder(config).forward(paddle.to_tensor([[1, 2, 3]])).shape
            paddle.Size([1, 3, 32])
        """
        states = self.hidden(ids, mask, types, tasks)
        return self.logits(states) if self.config.head == "masked" else states

    def _embedded(self, ids: Any, types: Any, tasks: Any) -> Tensor:
        length, limit = ids._aval.shape[1], self.config.max_positions
        if length > limit:
            raise value_error("Encoder", f"this model has {limit} positions", f"{length} tokens", "cut the text")
        x: Any = self.embedding(ids)
        x = x + self.position_embedding(self._positions(ids))
        for table, numbers in ((self.type_embedding, types), (self.task_embedding, tasks)):
            if table is not None:
                x = x + (table.weight[0] if numbers is None else table(numbers))  # type: ignore[index]
        return self.embedding_norm(x)

    def _positions(self, ids: Any) -> Any:
        if not self.config.position_offset:
            return tensor_from_data(np.arange(ids._aval.shape[1])[None])
        # RoBERTa and MPNet count words only: padding stays at the pad token's own row.
        words = (ids != self.config.pad).astype("int64")
        return words.cumsum(1) * words + self.config.position_offset - 1

    def extra_repr(self) -> str:
        """What `repr` says about the model: its Config.

        Examples:
            >>> config = paddle.llm.Config("bert", 100, 32, 2, 4, 64, positions="learned", head="")
            >>> "bert" in paddle.llm.Encoder(config).extra_repr()
            True
        """
        return self.config.describe()
