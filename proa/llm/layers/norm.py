"""The norms of language models: root mean square or layer norm over the last axis."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...nn import Layer
from ...nn import functional as F
from ...nn.initializer import Constant
from ..config import Config


class Norm(Layer):
    """One norm over `size` elements, of the kind that the Config names.

    Its weight is what is stored plus `config.norm_offset`: Gemma stores the distance from one.
    """

    def __init__(self, config: Config, size: int, kind: str | None = None, epsilon: float | None = None) -> None:
        super().__init__(dtype=None)
        self.size, self.kind = size, kind or config.norm
        self.epsilon = config.norm_epsilon if epsilon is None else epsilon
        self.offset = config.norm_offset
        self.weight = self.create_parameter([size], default_initializer=Constant(1.0 - self.offset))
        has_bias = self.kind == "layer" and config.norm_bias
        self.bias = self.create_parameter([size], default_initializer=Constant(0.0)) if has_bias else None

    def forward(self, x: Tensor) -> Tensor:
        weight: Any = self.weight + self.offset if self.offset else self.weight
        if self.kind == "layer":
            return F.layer_norm(x, self.size, weight, self.bias, self.epsilon)
        return F.rms_norm(x, self.size, weight, self.epsilon)

    def extra_repr(self) -> str:
        return f"{self.kind}, {self.size}"
