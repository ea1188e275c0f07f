"""A model that says what comes next: embeddings, blocks, norm, head. Every decoder family is this class with a Config."""

from __future__ import annotations

from typing import Any

from ..core.errors import type_error, value_error
from ..eager.tensor import Tensor
from ..nn import Embedding, Layer, LayerList
from ..nn import functional as F
from ..nn.base.attributes import ParamAttr
from ..nn.initializer import Normal
from .config import Config
from .generation import extended
from .layers.attend import Attend, Causal, Contiguous
from .layers.block import Block
from .layers.norm import Norm
from .layers.position import Angles
from .layers.projection import Projection


class CausalLM(Layer):
    """`model(ids)` gives the logits of the token behind each one, `[batch, length, vocabulary]`.

    Args:
        config: a `Config`.

    Examples:
        >>> model = paddle.llm.CausalLM(paddle.llm.Config("llama", 100, 32, 2, 4, 64))
        >>> model(paddle.to_tensor([[1, 2, 3]])).shape
        paddle.Size([1, 3, 100])
    """

    def __init__(self, config: Config) -> None:
        super().__init__(dtype=None)
        self.config = config
        drawn = ParamAttr(initializer=Normal(0.0, config.initializer_range))
        self.embedding = Embedding(config.vocab_size, config.hidden_size, weight_attr=drawn)
        rows = config.max_positions + config.position_offset
        learned = config.positions == "learned"
        self.position_embedding = Embedding(rows, config.hidden_size, weight_attr=drawn) if learned else None
        self.layers = LayerList([Block(config, number) for number in range(config.layers)])
        self.norm = Norm(config, config.hidden_size)
        self.head = None
        if not config.tied:
            self.head = Projection(config.hidden_size, config.vocab_size, config.head_bias, config.initializer_range)

    def hidden(self, ids: Tensor, positions: Tensor | None = None, attend: Attend | None = None) -> Tensor:
        """The normed states behind the last block, `[batch, length, hidden_size]`: what the head is given.

        `positions` are those of the ids; without them `attend` says where the tokens stand, from 0 on by default. `attend`
        is how queries meet keys: `Causal()` by default.

        Examples:
            >>> model = paddle.llm.CausalLM(paddle.llm.Config("llama", 100, 32, 2, 4, 64))
            >>> model.hidden(paddle.to_tensor([[1, 2, 3]])).shape
            paddle.Size([1, 3, 32])
        """
        batch, length = check_ids("CausalLM", ids)
        attend = Causal() if attend is None else attend
        placed = attend.positions(batch, length)  # a cache learns here where it stands
        positions = placed if positions is None else positions
        x = self._embedded(ids, positions)
        angles, local = self._angles(positions, attend)
        for number, block in enumerate(self.layers):
            is_local = local is not None and self.config.window(number) is not None
            x = block(x, attend, local if is_local else angles)
        return self.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """The head, with its cap.

        Examples:
            >>> model = paddle.llm.CausalLM(paddle.llm.Config("llama", 100, 32, 2, 4, 64))
            >>> model.logits(paddle.ones([1, 3, 32])).shape
            paddle.Size([1, 3, 100])
        """
        out: Any = self.head(hidden) if self.head is not None else F.linear(hidden, self.embedding.weight.t())
        cap = self.config.logit_cap
        return (out / cap).tanh() * cap if cap else out

    def forward(self, ids: Tensor, positions: Tensor | None = None, attend: Attend | None = None) -> Tensor:
        """The logits of the token behind each one; the arguments are those of `hidden`.

        Examples:
            >>> model = paddle.llm.CausalLM(paddle.llm.Config("llama", 100, 32, 2, 4, 64))
            >>> model.forward(paddle.to_tensor([[1, 2, 3]])).shape
            paddle.Size([1, 3, 100])
        """
        return self.logits(self.hidden(ids, positions, attend))

    def generate(
        self, ids: Tensor, max_tokens: int = 32, *, temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0,
        seed: int | None = None, ends: tuple[int, ...] | None = None,
    ) -> Tensor:  # fmt: skip
        """The tokens that follow `ids` `[batch, length]`: the likeliest, or with a temperature drawn. It stops at `ends`.

        Args:
            ids: tokens, `[batch, length]`.
            max_tokens: how many follow at most.
            temperature: how freely they are drawn; 0: the likeliest.
            top_k: only among so many likeliest; 0: among all.
            top_p: only among the likeliest that have this probability together.
            seed: of the draws; None: as `paddle.seed` says.
            ends: tokens that end a text; None: those of the Config.

        Returns:
            The new tokens.

        Examples:
            >>> model = paddle.llm.CausalLM(paddle.llm.Config("llama", 100, 32, 2, 4, 64))
            >>> model.generate(paddle.to_tensor([[1, 2, 3]]), max_tokens=4).shape
            paddle.Size([1, 4])
        """
        total, limit = check_ids("generate", ids)[1] + max_tokens, self.config.max_positions
        if self.position_embedding is not None and total > limit:
            raise value_error("generate", f"this model has {limit} positions", f"{total} tokens", "ask for fewer")
        cache = Contiguous(total)

        def step(now: Tensor) -> Any:
            states: Any = self.hidden(now, attend=cache)
            cache.advance(now._aval.shape[1])
            return self.logits(states[:, -1:])[:, 0]  # type: ignore[index]

        return extended(
            self.config, step, ids, max_tokens, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed, ends=ends
        )

    def _embedded(self, ids: Tensor, positions: Tensor) -> Any:
        x: Any = self.embedding(ids)
        if self.config.embedding_scale != 1.0:
            x = x * self.config.embedding_scale
        if self.position_embedding is not None:
            offset = self.config.position_offset
            x = x + self.position_embedding(positions + offset if offset else positions)  # type: ignore[operator]
        return x

    def _angles(self, positions: Tensor, attend: Attend) -> tuple[Angles | None, Angles | None]:
        """Those of most layers, and those of layers with a window where they have their own."""
        rope, local = self.config.rope, self.config.local_rope
        return rope and attend.angles(rope, positions), local and attend.angles(local, positions)

    def extra_repr(self) -> str:
        """What `repr` says about the model: its Config.

        Examples:
            >>> model = paddle.llm.CausalLM(paddle.llm.Config("llama", 100, 32, 2, 4, 64))
            >>> "llama" in model.extra_repr()
            True
        """
        return self.config.describe()


def check_ids(where: str, ids: Any) -> tuple[int, int]:
    """Batch and length of ids that a model can read."""
    if not isinstance(ids, Tensor):
        raise type_error(where, "ids must be a tensor", type(ids).__name__, "paddle.to_tensor([[…]])")
    if ids._aval.ndim != 2 or ids._aval.dtype.kind not in "iu" or not ids._aval.shape[1]:
        raise value_error(
            where, "ids must be whole numbers, [batch, length], of one token at least", f"ids: {ids._aval}"
        )
    return ids._aval.shape[0], ids._aval.shape[1]
