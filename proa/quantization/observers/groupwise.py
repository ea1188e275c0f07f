"""Grids of weights: one for each group of inputs of each output."""

from __future__ import annotations

from typing import Any

from ...core.errors import failed_check, value_error
from ..factory import ObserverFactory
from .base import UniformObserver


class GroupWiseWeightObserverLayer(UniformObserver):
    """The largest absolute value of each group of inputs and each output of a weight [inputs, outputs]."""

    def __init__(self, layer: Any, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__(quant_bits)
        if not isinstance(group_size, int) or group_size < 1:
            raise value_error(type(self).__name__, "group_size must be a positive number", f"{group_size!r}")
        self._group_size = group_size

    def _watch(self, input: Any) -> None:
        where = "GroupWiseWeightObserver"
        if input.ndim != 2:
            raise failed_check(where, "it is for weights of two axes", f"shape: {list(input.shape)}")
        inputs, outputs = input.shape
        if inputs % self._group_size:
            raise failed_check(
                where,
                "group_size must be a factor of input channels",
                f"{inputs} inputs, group_size: {self._group_size}",
            )
        groups = input.abs().reshape([inputs // self._group_size, self._group_size, outputs])
        self._scale = groups.max(1).astype("float32")


class GroupWiseWeightObserver(ObserverFactory):
    """For the weights of linear layers: each group of `group_size` inputs of each output has a grid of its own.

    Args:
        quant_bits: how many bits a number has.
        group_size: how many inputs a group has.

    Examples:
        >>> layer = paddle.nn.Linear(4, 2)
        >>> observer = paddle.quantization.observers.GroupWiseWeightObserver(group_size=2)._instance(layer)
        >>> seen = observer(layer.weight)
        >>> observer.scales().shape
        paddle.Size([2, 2])
    """

    def __init__(self, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__(quant_bits=quant_bits, group_size=group_size)

    def _get_class(self) -> type:
        return GroupWiseWeightObserverLayer
