"""The two or three products between attentions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...nn import Layer
from ...nn import functional as F
from ..config import Config
from .projection import Projection

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "silu": F.silu,
    "swish": F.silu,
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_new": lambda x: F.gelu(x, approximate=True),
    "gelu_pytorch_tanh": lambda x: F.gelu(x, approximate=True),
    "gelu_fast": lambda x: F.gelu(x, approximate=True),
    "tanh": F.tanh,
}


def activation_of(name: str) -> Callable[[Any], Any]:
    if name not in ACTIVATIONS:
        raise value_error("Config", f"activation is one of {sorted(ACTIVATIONS)}", repr(name))
    return ACTIVATIONS[name]


class MLP(Layer):
    """`down(activation(gate(x)) * up(x))`, or without the gate `down(activation(up(x)))`."""

    def __init__(self, config: Config, intermediate_size: int | None = None) -> None:
        super().__init__(dtype=None)
        inner = intermediate_size or config.intermediate_size
        size, bias, deviation = config.hidden_size, config.mlp_bias, config.initializer_range
        self._activation = activation_of(config.activation)
        self.gate = Projection(size, inner, bias, deviation) if config.gated else None
        self.up = Projection(size, inner, bias, deviation)
        self.down = Projection(inner, size, bias, deviation)

    def forward(self, x: Tensor) -> Tensor:
        if self.gate is None:
            return self.down(self._activation(self.up(x)))
        return self.down(self._activation(self.gate(x)) * self.up(x))
