"""Grids that are fixed: what observers and quanters become when a model is converted.

A grid is a scale (one, one for each channel along `quant_axis`, or one for each group of inputs and output) and a number
of bits: x / scale * levels, rounded. The two halves are operations of their own (`ops/quantised/levels.py`), so that saved
models hold them as quantize_linear and dequantize_linear, and the passes for inference find them. Grids are symmetric:
Paddle's operations take a zero point and do not use it, so there is one in the state only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import is_floating
from ...core.errors import value_error
from ...eager.parameter import Parameter
from ...eager.tensor import Tensor, tensor_from_data
from ...ops.quantised.levels import from_levels, to_levels
from ..layer import Layer

_SMALLEST = 1e-30  # a channel of zeros has no reach; with this scale its zeros stay zeros


def levels_of(bits: int) -> int:
    """The largest whole number of a symmetric grid."""
    return (1 << (int(bits) - 1)) - 1


def scales_of(quanter: Any) -> Any:
    """What a quanter or observer found, as float32 that nothing is divided by zero with; None if it has seen nothing."""
    scales = quanter.scales()
    if scales is None:
        return None
    array = np.asarray(scales.numpy() if isinstance(scales, Tensor) else scales, np.float32)
    if not np.isfinite(array).all():
        raise value_error(
            type(quanter).__name__, "a scale is not finite: NaN or infinity reached it", f"scales: {array.ravel()[:8]}",
            fix="look for the layer whose values overflow, with paddle.debug.nan for instance",
        )  # fmt: skip
    return np.maximum(array, np.float32(_SMALLEST))


class _Grid(Layer):
    """A scale and how it lies over what comes."""

    def __init__(
        self,
        scales: Any,
        zero_point: Any = None,
        quant_axis: int | None = None,
        bit_length: int = 8,
        group_size: int = 128,
    ) -> None:
        super().__init__()
        numbers = np.asarray(scales.numpy() if isinstance(scales, Tensor) else scales, np.float32)
        if not isinstance(bit_length, (int, np.integer)) or not 2 <= bit_length <= 8:
            raise value_error(type(self).__name__, "bit_length must be from 2 to 8", f"bit_length: {bit_length!r}")
        if numbers.ndim > 2 or not numbers.size:
            raise value_error(
                type(self).__name__, "scales are one number, a list, or [groups, outputs]", f"shape: {numbers.shape}"
            )
        self.register_buffer("_scales", tensor_from_data(numbers))
        zeros = np.zeros_like(numbers) if zero_point is None else np.asarray(zero_point, np.float32)
        self.register_buffer("_zero_point", tensor_from_data(zeros))
        self._quant_axis = -1 if quant_axis is None else int(quant_axis)
        self._bit_length, self._group_size = int(bit_length), int(group_size)
        self._qmin, self._qmax = -levels_of(bit_length) - 1, levels_of(bit_length)

    def _axis_of(self, input: Any) -> int:
        """Paddle's -1 means one scale for all; a list of scales lies along a real axis."""
        return -1 if self._scales._aval.size == 1 else self._quant_axis % max(input._aval.ndim, 1)  # type: ignore

    def _spread(self) -> Any:
        """Scales of groups of inputs, one for each element of a weight [inputs, outputs]."""
        return self._scales.repeat_interleave(self._group_size, 0)  # type: ignore[operator]

    @classmethod
    def from_quanter(cls, quanter: Any) -> Any:
        """The grid that a quanter or an observer has found."""
        scales = scales_of(quanter)
        if scales is None:
            raise value_error(
                cls.__name__, f"{type(quanter).__name__} has seen no data", fix="run the model before converting it"
            )
        group_size = getattr(quanter, "_group_size", getattr(quanter, "group_size", 128))
        return cls(scales, quanter.zero_points(), quanter.quant_axis(), quanter.bit_length(), group_size)


class LinearQuanter(_Grid):
    """Numbers as whole numbers of levels, in the dtype they came in."""

    def forward(self, input: Tensor) -> Tensor:
        if self._scales._aval.ndim == 2:
            steps: Any = input / self._spread() * float(self._qmax)
            return steps.round().clip(float(self._qmin), float(self._qmax))
        return to_levels(input, self._scales, self._axis_of(input), self._qmax, self._qmin, self._qmax)


class LinearDequanter(_Grid):
    """Whole numbers of levels as numbers again."""

    def forward(self, input: Tensor) -> Tensor:
        if self._scales._aval.ndim == 2:
            return input.astype("float32") * self._spread() / float(self._qmax)
        return from_levels(input, self._scales, self._axis_of(input), self._qmax)


class LinearQuanterDequanter(Layer):
    """Both, one after the other; of a weight that is kept as whole numbers only the second is left."""

    def __init__(self, quanter: LinearQuanter | None, dequanter: LinearDequanter | None) -> None:
        super().__init__()
        self._quanter = quanter
        self._dequanter = dequanter

    def forward(self, input: Tensor) -> Tensor:
        if not is_floating(input._aval.dtype) and self._quanter is not None:
            return input  # indices, say: there is nothing to round
        out = input if self._quanter is None else self._quanter(input)
        return out if self._dequanter is None else self._dequanter(out)

    @staticmethod
    def from_quanter(quanter: Any) -> LinearQuanterDequanter:
        return LinearQuanterDequanter(LinearQuanter.from_quanter(quanter), LinearDequanter.from_quanter(quanter))


class ConvertibleQuantedLayer(Layer):
    """A layer under quantisation; subclasses name their weights and activations with what rounds them."""

    def __init__(self) -> None:
        super().__init__()
        self.converted = False

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        """Pairs of attribute names: a weight, and what quantises it."""
        raise NotImplementedError(f"({type(self).__name__}) define weights_to_quanters().")

    def activation_quanters(self) -> list[str]:
        """Names of the attributes that quantise activations."""
        raise NotImplementedError(f"({type(self).__name__}) define activation_quanters().")

    def _convert(self, remain_weight: bool = False) -> Any:
        """Puts fixed grids in the place of quanters. Weights become int8, unless they are to remain floats."""
        if self.converted:
            raise value_error(type(self).__name__, "this layer is converted already")
        for name in self.activation_quanters():
            if getattr(self, name, None) is not None:
                setattr(self, name, LinearQuanterDequanter.from_quanter(getattr(self, name)))
        for weight_name, name in self.weights_to_quanters():
            quanter = getattr(self, name, None)
            if quanter is None:
                continue
            weight = getattr(self, weight_name)
            if quanter.scales() is None:  # an observer that was never called, as the layer was not
                quanter(weight)
            grid = LinearQuanterDequanter.from_quanter(quanter)
            if not remain_weight:
                setattr(self, weight_name, _whole(weight, grid._quanter(weight)))  # type: ignore[operator]
                grid._quanter = None
            setattr(self, name, grid)
        self.converted = True
        return self


def _whole(weight: Any, numbers: Any) -> Parameter:
    """The weight as a parameter of int8, under its old name."""
    made = Parameter(numbers.detach().astype("int8"), name=weight.name, trainable=False)
    made.stop_gradient = True
    return made
