"""Attention: projections, norms and rotation of queries, keys and values; how they meet is `attend`'s matter."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...nn import Layer
from ..config import Config
from .attend import Attend
from .norm import Norm
from .position import Angles
from .projection import Projection


class Attention(Layer):
    """Attention with grouped queries, optional biases, head norms, window and cap."""

    def __init__(self, config: Config, layer: int) -> None:
        super().__init__(dtype=None)
        self.config, self.layer = config, layer
        deviation, size, bias = config.initializer_range, config.hidden_size, config.attention_bias
        self.query = Projection(size, config.heads * config.head_dim, bias, deviation)
        self.key = Projection(size, config.kv_heads * config.head_dim, bias, deviation)
        self.value = Projection(size, config.kv_heads * config.head_dim, bias, deviation)
        self.output = Projection(config.heads * config.head_dim, size, config.output_bias, deviation)
        self.query_norm = Norm(config, config.head_dim, "rms") if config.head_norms else None
        self.key_norm = Norm(config, config.head_dim, "rms") if config.head_norms else None

    def forward(self, x: Any, attend: Attend, angles: Angles | None = None, bias: Tensor | None = None) -> Tensor:
        query, (key, value) = self._heads(self.query(x), self.config.heads, self.query_norm), self.remember(x)
        if angles is not None:
            query, key = angles.turn(query), angles.turn(key)
        return self._met(query, key, value, attend, bias)

    def remember(self, x: Any) -> tuple[Any, Any]:
        """Keys and values of states."""
        kv_heads = self.config.kv_heads
        return self._heads(self.key(x), kv_heads, self.key_norm), self._heads(self.value(x), kv_heads, None)

    def look(self, x: Any, memory: tuple[Tensor, Tensor], attend: Attend) -> Tensor:
        """Attention of these states over remembered keys and values of others."""
        query = self._heads(self.query(x), self.config.heads, self.query_norm)
        return self._met(query, *memory, attend, None)

    def _met(self, query: Any, key: Any, value: Any, attend: Attend, bias: Tensor | None) -> Tensor:
        config = self.config
        options: dict[str, Any] = {} if bias is None else {"bias": bias}
        met: Any = attend(
            self.layer, query, key, value, scale=config.attention_scale, window=config.window(self.layer),
            cap=config.attention_cap or None, **options,
        )  # fmt: skip
        batch, length = query._aval.shape[:2]
        return self.output(met.reshape([batch, length, config.heads * config.head_dim]))

    def _heads(self, x: Any, count: int, norm: Norm | None) -> Any:
        batch, length = x._aval.shape[:2]
        heads = x.reshape([batch, length, count, self.config.head_dim])
        return heads if norm is None else norm(heads)
