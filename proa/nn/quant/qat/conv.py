"""`QuantedConv2D`: a convolution with rounded input and weight."""

from __future__ import annotations

from typing import Any

from ... import functional as F
from .base import QuantedLayer

_WINDOW = ("_stride", "_padding", "_dilation", "_groups", "_data_format", "_padding_mode", "_kernel_size")


class QuantedConv2D(QuantedLayer):
    """Conv2D with a quanter or observer for its input and for its weight."""

    def __init__(self, layer: Any, q_config: Any) -> None:
        super().__init__(layer, q_config)
        for name in _WINDOW:
            setattr(self, name, getattr(layer, name))
        self._reversed_padding_repeated_twice: Any = getattr(layer, "_reversed_padding", None)

    def forward(self, input: Any) -> Any:
        padding = self._padding
        if self._padding_mode != "zeros":
            input = F.pad(
                input, self._reversed_padding_repeated_twice, mode=self._padding_mode, data_format=self._data_format
            )
            padding = 0
        x, weight = self._rounded(input)
        return F.conv2d(x, weight, self.bias, self._stride, padding, self._dilation, self._groups, self._data_format)
