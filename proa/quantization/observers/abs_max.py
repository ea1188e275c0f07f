"""How far values reach: the largest of all, or the mean of each batch's largest."""

from __future__ import annotations

from typing import Any

from ..factory import ObserverFactory
from .base import UniformObserver


class AbsmaxObserverLayer(UniformObserver):
    """The largest absolute value of all that came."""

    def __init__(self, layer: Any, quant_bits: int = 8) -> None:
        super().__init__(quant_bits)

    def _watch(self, input: Any) -> None:
        largest = self.cal_min_max(input)
        self._scale = largest if self._scale is None else self._scale.maximum(largest)

    def cal_min_max(self, inputs: Any) -> Any:
        return inputs.abs().max().astype("float32")


class AVGObserverLayer(UniformObserver):
    """The mean of the largest absolute values of the batches: one odd batch weighs less."""

    def __init__(self, layer: Any, quant_bits: int = 8) -> None:
        super().__init__(quant_bits)
        self._batches = 0

    def _watch(self, input: Any) -> None:
        self._batches += 1
        largest = input.abs().max().astype("float32")
        self._scale = largest if self._scale is None else self._scale + (largest - self._scale) * (1.0 / self._batches)


class AbsmaxObserver(ObserverFactory):
    """The grid reaches to the largest absolute value that was seen.

    Args:
        quant_bits: how many bits a number has.

    Examples:
        >>> observer = paddle.quantization.observers.AbsmaxObserver()._instance(paddle.nn.Linear(2, 2))
        >>> seen = [observer(paddle.to_tensor([1.0])), observer(paddle.to_tensor([-3.0]))]
        >>> float(observer.scales())
        3.0
    """

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type:
        return AbsmaxObserverLayer


class AVGObserver(ObserverFactory):
    """The grid reaches to the mean of each batch's largest absolute value.

    Args:
        quant_bits: how many bits a number has.

    Examples:
        >>> observer = paddle.quantization.observers.AVGObserver()._instance(paddle.nn.Linear(2, 2))
        >>> seen = [observer(paddle.to_tensor([1.0])), observer(paddle.to_tensor([3.0]))]
        >>> observer.cal_thresholds()
        >>> float(observer.scales())
        2.0
    """

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> type:
        return AVGObserverLayer
