"""`QuantedLinear`: a linear layer with rounded input and weight."""

from __future__ import annotations

from typing import Any

from ... import functional as F
from .base import QuantedLayer


class QuantedLinear(QuantedLayer):
    """Linear with a quanter or observer for its input and for its weight."""

    def __init__(self, layer: Any, q_config: Any) -> None:
        super().__init__(layer, q_config)
        self.name = layer.name

    def forward(self, input: Any) -> Any:
        return F.linear(*self._rounded(input), self.bias)
