"""Rounding in training, on grids that follow the largest absolute values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import is_floating
from ...eager.tensor import Tensor, tensor_from_data
from ...eager.views import replace_value
from ...ir.recorder import recording_gradients
from ...nn.quant.format import levels_of
from ...ops.quantised.levels import from_levels, to_levels
from ..base import BaseQuanter
from ..factory import QuanterFactory
from ..observers.base import check_bits, output_axis

_SMALLEST = 1e-9


class FakeQuanterWithAbsMaxObserverLayer(BaseQuanter):
    """One grid whose reach is averaged over the steps of training, later ones weighing more."""

    def __init__(
        self,
        layer: Any,
        name: str | None = None,
        moving_rate: float = 0.9,
        bit_length: int = 8,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        self._moving_rate, self._bit_length = moving_rate, check_bits("FakeQuanterWithAbsMaxObserver", bit_length)
        for key, value in (("_scale", 0.001), ("_state", 1.0), ("_accum", 1.0)):
            self.register_buffer(key, tensor_from_data(np.full(1, value, "float32")))

    def forward(self, input: Tensor) -> Tensor:
        if not is_floating(input._aval.dtype) or not input._aval.size:
            return input
        if self.training:
            self._follow(input)
        levels = levels_of(self._bit_length)
        scale: Any = self._scale
        return _on_grid(input, scale.detach(), -1, levels)

    def _follow(self, input: Any) -> None:
        with recording_gradients(False):
            state: Any = self._state * self._moving_rate + 1.0  # type: ignore[operator]
            total: Any = self._accum * self._moving_rate + input.detach().abs().max().astype("float32")  # type: ignore
            replace_value(self._state, state)
            replace_value(self._accum, total)
            replace_value(self._scale, (total / state).clip(min=_SMALLEST))

    def scales(self) -> Any:
        return self._scale

    def zero_points(self) -> Any:
        return None

    def quant_axis(self) -> int:
        return -1

    def bit_length(self) -> int:
        return self._bit_length


def _on_grid(input: Any, scale: Any, axis: int, levels: int) -> Tensor:
    """Rounded; the lowest number that eight bits have is left out, as Paddle's training does."""
    whole = to_levels(input, scale, axis, levels, -levels, levels)
    return from_levels(whole, scale.astype(str(input.dtype).rpartition(".")[2]), axis, levels)


class FakeQuanterChannelWiseAbsMaxObserverLayer(BaseQuanter):
    """For weights: a grid for each output, which reaches to its largest absolute value now."""

    def __init__(self, layer: Any, bit_length: int = 8, quant_axis: int | None = None, name: str | None = None) -> None:
        super().__init__()
        self._bit_length = check_bits("FakeQuanterChannelWiseAbsMaxObserver", bit_length)
        weight = layer.weight
        rank = len(weight.shape)
        self._axis = output_axis(layer, rank) if quant_axis is None else quant_axis % rank
        self.register_buffer("_scale", tensor_from_data(np.ones(weight.shape[self._axis], "float32")))
        self._follow(weight)

    def _follow(self, input: Any) -> None:
        axes = [axis for axis in range(input.ndim) if axis != self._axis]
        with recording_gradients(False):
            largest = input.detach().abs().max(axes).astype("float32").clip(min=_SMALLEST)
            replace_value(self._scale, largest)

    def forward(self, input: Tensor) -> Tensor:
        if self.training:
            self._follow(input)
        scale: Any = self._scale
        return _on_grid(input, scale.detach(), self._axis, levels_of(self._bit_length))

    def scales(self) -> Any:
        return self._scale

    def zero_points(self) -> Any:
        return None

    def quant_axis(self) -> int:
        return self._axis

    def bit_length(self) -> int:
        return self._bit_length


class FakeQuanterWithAbsMaxObserver(QuanterFactory):
    """Rounds on one grid; its reach is a moving average of the largest absolute values.

    Args:
        moving_rate: how much of the average stays at each step.
        bit_length: how many bits a number has.
        dtype: of the average.
        name: a label; it changes nothing.

    Examples:
        >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver(bit_length=4)
        >>> quanter._instance(paddle.nn.Linear(2, 2)).bit_length()
        4
    """

    def __init__(
        self, moving_rate: float = 0.9, bit_length: int = 8, dtype: str = "float32", name: str | None = None
    ) -> None:
        super().__init__(name=name, moving_rate=moving_rate, bit_length=bit_length, dtype=dtype)

    def _get_class(self) -> type:
        return FakeQuanterWithAbsMaxObserverLayer


class FakeQuanterChannelWiseAbsMaxObserver(QuanterFactory):
    """For weights: rounds each output on a grid of its own.

    Args:
        bit_length: how many bits a number has.
        quant_axis: the axis of the outputs; None: as the layer has it.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.Linear(2, 3)
        >>> quanter = paddle.quantization.quanters.FakeQuanterChannelWiseAbsMaxObserver()._instance(layer)
        >>> rounded = quanter(layer.weight)
        >>> quanter.scales().shape
        paddle.Size([3])
    """

    def __init__(self, bit_length: int = 8, quant_axis: int | None = None, name: str | None = None) -> None:
        super().__init__(bit_length=bit_length, quant_axis=quant_axis, name=name)

    def _get_class(self) -> type:
        return FakeQuanterChannelWiseAbsMaxObserverLayer
