"""What observers with one scale, or one for each output, share."""

from __future__ import annotations

from typing import Any

from ...core.dtype import is_floating
from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...ir.recorder import recording_gradients
from ...nn.conv import _ConvTranspose
from ..base import BaseObserver


def check_bits(where: str, bits: Any) -> int:
    """The number of bits, if grids of whole numbers can have it."""
    if isinstance(bits, bool) or not isinstance(bits, int) or not 2 <= bits <= 8:
        raise value_error(where, "a grid has from 2 to 8 bits", f"{bits!r}")
    return bits


class UniformObserver(BaseObserver):
    """Gives its input on; subclasses look at it in `_watch` and have the result in `_scale`."""

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__()
        self._quant_bits = check_bits(type(self).__name__, quant_bits)
        self._scale: Any = None

    def _watch(self, input: Tensor) -> None:
        raise NotImplementedError

    def forward(self, input: Tensor) -> Tensor:
        if is_floating(input._aval.dtype) and input._aval.size:
            with recording_gradients(False):
                self._watch(input.detach())
        return input

    def cal_thresholds(self) -> None:
        """Computes the grid; observers that keep up with the data have it already."""

    def scales(self) -> Any:
        self.cal_thresholds()
        return self._scale

    def zero_points(self) -> Any:
        return None if self._scale is None else self._scale * 0

    def quant_axis(self) -> int:
        return -1

    def bit_length(self) -> int:
        return self._quant_bits

    def min_value(self) -> float:
        return 0.0

    def max_value(self) -> float:
        scale: Any = self.scales()
        return 0.0 if scale is None else float(scale.max())


def output_axis(layer: Any, rank: int) -> int:
    """The axis of the outputs in a layer's weight: the first of a convolution, the second of a matrix."""
    return 1 if rank == 2 or isinstance(layer, _ConvTranspose) else 0
