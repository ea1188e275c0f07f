"""Paddle's quantize_linear and dequantize_linear: floats as whole numbers of levels, and back.

A scale is the largest size that the levels reach: x / scale * levels is rounded. `axis` is where a scale for each channel
lies (-1: there is one). Kept as operations of their own, so that passes find them (`graph/passes/quantised.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import is_floating
from ...eager.declare import op
from ...ir.padding import rules
from ..basic import cast_to


def _along(scale: Any, shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The shape in which the scales spread over x."""
    if scale.size == 1:
        return (1,) * len(shape)
    return tuple(size if place == axis else 1 for place, size in enumerate(shape))


def _check(operation: Any, operands: Any, axis: int) -> None:
    x, scale = operands
    fits = scale.size == 1 or (0 <= axis < x.ndim and scale.size == x.shape[axis])
    if not fits or not is_floating(scale.dtype):
        raise operation.error(ValueError, f"the scales do not fit axis {axis} of x", operands)


def _infer_to(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    _check(operation, operands, attributes[0])
    return operands[0]


@op(
    "x scale",
    infer=_infer_to,
    # Rounding has no derivative to learn from: the gradient goes straight through, also past the ends, as Paddle's does.
    grad={"x": lambda g, scale, axis, levels: _unrounded_levels(g, scale, axis, levels)},
    padding=rules.untouched.levels,
)
def to_levels(xp: Any, x: Any, scale: Any, axis: int = -1, levels: int = 127, low: int = -128, high: int = 127) -> Any:
    """round(x / scale * levels), half to even, kept between `low` and `high`; in x's dtype."""
    steps = x / scale.reshape(_along(scale, x.shape, axis)).astype(x.dtype) * xp.asarray(levels, x.dtype)
    return xp.clip(xp.rint(steps), xp.asarray(low, x.dtype), xp.asarray(high, x.dtype))


def _infer_from(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    _check(operation, operands, attributes[0])
    return make_aval(operands[0].shape, operands[1].dtype, place)


def _unrounded_levels(g: Any, scale: Any, axis: int, levels: int) -> Any:
    shape = _along(scale._aval, g._aval.shape, axis)
    return g / cast_to(scale.reshape(list(shape)), g._aval.dtype) * float(levels)


@op(
    "x scale",
    infer=_infer_from,
    grad={"x": lambda g, scale, axis, levels: from_levels(g, scale, axis, levels)},
    padding=rules.untouched.levels,
)
def from_levels(xp: Any, x: Any, scale: Any, axis: int = -1, levels: int = 127) -> Any:
    """x * scale / levels, in the scale's dtype."""
    return x.astype(scale.dtype) * scale.reshape(_along(scale, x.shape, axis)) / np.asarray(levels, scale.dtype)
