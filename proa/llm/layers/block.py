"""One layer of a transformer: attention, then an MLP or experts, each beside the residual stream."""

from __future__ import annotations

from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...nn import Layer
from ..config import Config
from .attend import Attend
from .attention import Attention
from .experts import Mixture
from .latent import LatentAttention
from .mlp import MLP
from .norm import Norm
from .position import Angles


class Block(Layer):
    """Norms stand before each part, after the sum ("after"), or on both sides of the part ("around", Gemma)."""

    def __init__(self, config: Config, layer: int) -> None:
        super().__init__(dtype=None)
        if config.placement not in ("before", "after", "around"):
            raise value_error("Config", "placement is before, after or around", repr(config.placement))
        self.placement, size = config.placement, config.hidden_size
        self.attention_norm = Norm(config, size)
        self.attention: Any = LatentAttention(config, layer) if config.latent else Attention(config, layer)
        self.attention_after_norm = Norm(config, size) if config.placement == "around" else None
        self.mlp_norm = Norm(config, size)
        self.mlp: Any = Mixture(config) if config.is_sparse(layer) else MLP(config)
        self.mlp_after_norm = Norm(config, size) if config.placement == "around" else None

    def forward(self, x: Any, attend: Attend, angles: Angles | None = None, bias: Tensor | None = None) -> Tensor:
        if self.placement == "after":
            x = self.attention_norm(x + self.attention(x, attend, angles, bias))
            return self.mlp_norm(x + self.mlp(x))
        met = self.attention(self.attention_norm(x), attend, angles, bias)
        x = x + (met if self.attention_after_norm is None else self.attention_after_norm(met))
        out = self.mlp(self.mlp_norm(x))
        return x + (out if self.mlp_after_norm is None else self.mlp_after_norm(out))
