"""Multi-head latent attention (DeepSeek): keys and values of all heads come from one short vector per token."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...nn import Layer
from ...ops.shape.joining import concat_along
from ..config import Config, Latent
from .attend import Attend
from .norm import Norm
from .position import Angles
from .projection import Projection


class LatentAttention(Layer):
    """A head's key is a plain part of its own and a turned part that all heads share."""

    def __init__(self, config: Config, layer: int) -> None:
        super().__init__(dtype=None)
        assert config.latent is not None
        self.config, self.layer = config, layer
        self.latent: Latent = config.latent
        size, heads, deviation, latent = config.hidden_size, config.heads, config.initializer_range, config.latent
        bias, query_size = config.attention_bias, heads * (latent.plain_dims + latent.rope_dims)
        rank = latent.query_rank
        self.query_down = Projection(size, rank, bias, deviation) if rank else None
        self.query_norm = Norm(config, rank, epsilon=1e-6) if rank else None
        self.query = Projection(rank or size, query_size, False, deviation)
        self.down = Projection(size, latent.kv_rank + latent.rope_dims, bias, deviation)
        self.down_norm = Norm(config, latent.kv_rank, epsilon=1e-6)
        self.up = Projection(latent.kv_rank, heads * (latent.plain_dims + latent.value_dims), False, deviation)
        self.output = Projection(heads * latent.value_dims, size, config.output_bias, deviation)

    def forward(self, x: Any, attend: Attend, angles: Angles | None = None, bias: Tensor | None = None) -> Tensor:
        latent, heads = self.latent, self.config.heads
        batch, length = x._aval.shape[:2]
        asked = x if self.query_down is None else self.query_norm(self.query_down(x))
        query: Any = self.query(asked).reshape([batch, length, heads, -1])
        short: Any = self.down(x)
        wide = self.up(self.down_norm(short[..., : latent.kv_rank])).reshape([batch, length, heads, -1])
        shared = short[..., latent.kv_rank :].unsqueeze(2)
        turned = query[..., latent.plain_dims :]
        if angles is not None:
            turned, shared = angles.turn(turned), angles.turn(shared)
        query = concat_along([query[..., : latent.plain_dims], turned], 3)
        spread = shared.expand([batch, length, heads, latent.rope_dims])
        key = concat_along([wide[..., : latent.plain_dims], spread], 3)
        met: Any = attend(
            self.layer, query, key, wide[..., latent.plain_dims :], scale=self.config.attention_scale,
            window=self.config.window(self.layer), cap=self.config.attention_cap or None,
        )  # fmt: skip
        return self.output(met.reshape([batch, length, heads * latent.value_dims]))
