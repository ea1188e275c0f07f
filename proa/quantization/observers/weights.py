"""Grids of weights: one for each output."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...eager.tensor import tensor_from_data
from ...nn.quant.format import levels_of
from ..factory import ObserverFactory
from .base import UniformObserver, output_axis

_SHARES = np.linspace(1.0, 0.5, 51)  # of the largest value, where the least squared error is looked for


class AbsMaxChannelWiseWeightObserverLayer(UniformObserver):
    """The largest absolute value of each output."""

    def __init__(self, layer: Any, quant_bits: int = 8) -> None:
        super().__init__(quant_bits)
        weight = getattr(layer, "weight", None)
        self._axis = 0 if weight is None else output_axis(layer, len(weight.shape))

    def _watch(self, input: Any) -> None:
        axes = [axis for axis in range(input.ndim) if axis != self._axis]
        self._scale = input.abs().max(axes).astype("float32")

    def quant_axis(self) -> int:
        return self._axis


class MSEChannelWiseWeightObserverLayer(AbsMaxChannelWiseWeightObserverLayer):
    """For each output, the reach with the least squared error of rounding."""

    def _watch(self, input: Any) -> None:
        self._scale = tensor_from_data(least_squares(np.asarray(input.numpy()), self._axis, self._quant_bits))


def least_squares(weight: np.ndarray, axis: int, bits: int) -> np.ndarray:
    """For each place of an axis, which share of the largest value gives the least squared error."""
    rows = np.moveaxis(weight.astype(np.float64), axis, 0).reshape(weight.shape[axis], -1)
    levels = levels_of(bits)
    largest = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1e-30)
    best, least = largest.copy(), np.full(len(rows), np.inf)
    for share in _SHARES:
        step = (largest * share / levels)[:, None]
        error = ((np.clip(np.rint(rows / step), -levels - 1, levels) * step - rows) ** 2).sum(axis=1)
        best = np.where(error < least, largest * share, best)
        least = np.minimum(least, error)
    return best.astype(np.float32)


class AbsMaxChannelWiseWeightObserver(ObserverFactory):
    """For weights: each output has a grid that reaches to its largest absolute value.

    Args:
        quant_bits: how many bits a number has.

    Examples:
        >>> layer = paddle.nn.Linear(2, 2)
        >>> observer = paddle.quantization.observers.AbsMaxChannelWiseWeightObserver()._instance(layer)
        >>> seen = observer(paddle.to_tensor([[1.0, 2.0], [-3.0, 0.0]]))
        >>> observer.scales().tolist()
        [3.0, 2.0]
    """

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type:
        return AbsMaxChannelWiseWeightObserverLayer


class MSEChannelWiseWeightObserver(ObserverFactory):
    """For weights: each output has the grid with the least squared error; for few bits.

    Args:
        quant_bits: how many bits a number has.

    Examples:
        >>> layer = paddle.nn.Linear(2, 2)
        >>> observer = paddle.quantization.observers.MSEChannelWiseWeightObserver(quant_bits=4)._instance(layer)
        >>> seen = observer(paddle.to_tensor([[1.0, 2.0], [-3.0, 0.0]]))
        >>> observer.scales().shape
        paddle.Size([2])
    """

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type:
        return MSEChannelWiseWeightObserverLayer
