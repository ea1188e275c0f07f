"""A model that reads one text and writes another (T5): an encoder, and a decoder that looks at its states."""

from __future__ import annotations

from typing import Any

from ..core.errors import value_error
from ..eager.modes import recording_gradients
from ..eager.tensor import Tensor, tensor_from_data
from ..nn import Embedding, Layer, LayerList
from ..nn import functional as F
from ..nn.base.attributes import ParamAttr
from ..nn.initializer import Normal
from .config import Config
from .generation import extended
from .layers.attend import Attend, Causal, Contiguous, Full
from .layers.attention import Attention
from .layers.block import Block
from .layers.norm import Norm
from .layers.projection import Projection
from .layers.relative import RelativeBias
from .model import check_ids

Memory = list[tuple[Tensor, Tensor]]  # keys and values of the read text, for each layer of the decoder


class DecoderBlock(Block):
    """A block with a second attention, over the text that was read."""

    def __init__(self, config: Config, layer: int) -> None:
        super().__init__(config, layer)
        self.cross_norm = Norm(config, config.hidden_size)
        self.cross = Attention(config, layer)

    def written(self, x: Any, attend: Attend, bias: Tensor, memory: tuple[Tensor, Tensor], reading: Attend) -> Tensor:
        x = x + self.attention(self.attention_norm(x), attend, None, bias)
        x = x + self.cross.look(self.cross_norm(x), memory, reading)
        return x + self.mlp(self.mlp_norm(x))


class Translator(Layer):
    """`model(ids, targets)` gives the logits of what follows each target, `[batch, length, vocabulary]`.

    Args:
        config: a `Config`.

    Examples:
        >>> shape = dict(positions="relative", relative_buckets=8, decoder_layers=2, decoder_start=0)
        >>> model = paddle.llm.Translator(paddle.llm.Config("t5", 100, 32, 2, 4, 64, **shape))
        >>> model(paddle.to_tensor([[1, 2, 3]]), paddle.to_tensor([[0, 4]])).shape
        paddle.Size([1, 2, 100])
    """

    def __init__(self, config: Config) -> None:
        super().__init__(dtype=None)
        if config.placement != "before":
            raise value_error("Translator", "norms stand before attention and MLP", repr(config.placement))
        self.config = config
        drawn = ParamAttr(initializer=Normal(0.0, 1.0))
        self.embedding = Embedding(config.vocab_size, config.hidden_size, weight_attr=drawn)
        sizes = config.relative_buckets, config.heads, config.relative_distance
        self.reader_bias, self.writer_bias = RelativeBias(*sizes, True), RelativeBias(*sizes, False)
        self.layers = LayerList([Block(config, number) for number in range(config.layers)])
        self.norm = Norm(config, config.hidden_size)
        self.writer_layers = LayerList([DecoderBlock(config, number) for number in range(config.decoder_layers)])
        self.writer_norm = Norm(config, config.hidden_size)
        self.head = None
        if not config.tied:
            self.head = Projection(config.hidden_size, config.vocab_size, False, config.initializer_range)

    def read(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """The states of the text that is read, `[batch, length, hidden_size]`; `mask` is 0 at padding.

        Examples:
            >>> shape = dict(positions="relative", relative_buckets=8, decoder_layers=2, decoder_start=0)
            >>> model = paddle.llm.Translator(paddle.llm.Config("t5", 100, 32, 2, 4, 64, **shape))
            >>> model.read(paddle.to_tensor([[1, 2, 3]])).shape
            paddle.Size([1, 3, 32])
        """
        attend = Full(mask)
        places = attend.positions(*check_ids("Translator", ids))
        x, bias = self.embedding(ids), self.reader_bias(places, places)
        for block in self.layers:
            x = block(x, attend, None, bias)
        return self.norm(x)

    def remember(self, states: Tensor) -> Memory:
        """Keys and values of what was read: made once, looked at in every step.

        Examples:
            >>> shape = dict(positions="relative", relative_buckets=8, decoder_layers=2, decoder_start=0)
            >>> model = paddle.llm.Translator(paddle.llm.Config("t5", 100, 32, 2, 4, 64, **shape))
            >>> len(model.remember(model.read(paddle.to_tensor([[1, 2, 3]]))))
            2
        """
        return [block.cross.remember(states) for block in self.writer_layers]

    def hidden(self, ids: Tensor, memory: Memory, mask: Tensor | None = None, attend: Attend | None = None) -> Tensor:
        """The states of the text that is written; `mask` belongs to what was read.

        Examples:
            >>> shape = dict(positions="relative", relative_buckets=8, decoder_layers=2, decoder_start=0)
            >>> model = paddle.llm.Translator(paddle.llm.Config("t5", 100, 32, 2, 4, 64, **shape))
            >>> memory = model.remember(model.read(paddle.to_tensor([[1, 2, 3]])))
            >>> model.hidden(paddle.to_tensor([[0, 4]]), memory).shape
            paddle.Size([1, 2, 32])
        """
        attend = Causal() if attend is None else attend
        batch, length = check_ids("Translator", ids)
        places = attend.positions(batch, length)
        x, bias = self.embedding(ids), self.writer_bias(places, attend.key_positions(length))
        reading = Full(mask)
        for block, remembered in zip(self.writer_layers, memory, strict=True):
            x = block.written(x, attend, bias, remembered, reading)
        return self.writer_norm(x)

    def logits(self, hidden: Any) -> Tensor:
        """The head: scores of every word for each token that is written.

        Examples:
            >>> shape = dict(positions="relative", relative_buckets=8, decoder_layers=2, decoder_start=0)
            >>> model = paddle.llm.Translator(paddle.llm.Config("t5", 100, 32, 2, 4, 64, **shape))
            >>> model.logits(paddle.ones([1, 2, 32])).shape
            paddle.Size([1, 2, 100])
        """
        if self.config.output_scale != 1.0:
            hidden = hidden * self.config.output_scale
        return self.head(hidden) if self.head is not None else F.linear(hidden, self.embedding.weight.t())

    def forward(self, ids: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
        """The logits of what follows each target.

        Args:
            ids: the text that is read.
            targets: the text that is written so far.
            mask: 0 at padding of what is read; None: there is none.

        Examples:
            >>> shape = dict(positions="relative", relative_buckets=8, decoder_layers=2, decoder_start=0)
            >>> model = paddle.llm.Translator(paddle.llm.Config("t5", 100, 32, 2, 4, 64, **shape))
            >>> model.forward(paddle.to_tensor([[1, 2, 3]]), paddle.to_tensor([[0, 4]])).shape
            paddle.Size([1, 2, 100])
        """
        return self.logits(self.hidden(targets, self.remember(self.read(ids, mask)), mask))

    def generate(
        self, ids: Tensor, max_tokens: int = 32, *, mask: Tensor | None = None, temperature: float = 0.0, top_k: int = 0,
        top_p: float = 1.0, seed: int | None = None, ends: tuple[int, ...] | None = None,
    ) -> Tensor:  # fmt: skip
        """What is written after reading `ids`, without the token that starts it.

        The other arguments are those of `CausalLM.generate`; `mask` is 0 at padding.

        Examples:
            >>> shape = dict(positions="relative", relative_buckets=8, decoder_layers=2, decoder_start=0)
            >>> model = paddle.llm.Translator(paddle.llm.Config("t5", 100, 32, 2, 4, 64, **shape))
            >>> model.generate(paddle.to_tensor([[1, 2, 3]]), max_tokens=4).shape
            paddle.Size([1, 4])
        """
        cache = Contiguous(max_tokens + 1)
        with recording_gradients(False):
            memory = self.remember(self.read(ids, mask))

        def step(now: Tensor) -> Any:
            states: Any = self.hidden(now, memory, mask, cache)
            cache.advance(now._aval.shape[1])
            return self.logits(states[:, -1:])[:, 0]  # type: ignore[index]

        first = tensor_from_data([[self.config.decoder_start or 0]] * ids._aval.shape[0])
        return extended(
            self.config,
            step,
            first,
            max_tokens,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            seed=seed,
            ends=ends,
        )

    def extra_repr(self) -> str:
        """What `repr` says about the model: its Config.

        Examples:
            >>> shape = dict(positions="relative", relative_buckets=8, decoder_layers=2, decoder_start=0)
            >>> "t5" in paddle.llm.Translator(paddle.llm.Config("t5", 100, 32, 2, 4, 64, **shape)).extra_repr()
            True
        """
        return self.config.describe()
