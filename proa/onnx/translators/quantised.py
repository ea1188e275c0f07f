"""Numbers on a grid: QuantizeLinear and DequantizeLinear.

Ours say how far the levels reach (`scale`), ONNX how far apart they lie (`scale / levels`). Levels are floats with whole
numbers between the two; where one follows the other, the bytes go from one to the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...ops.quantised.few_bits import rows_of
from ..builder import Builder, Made
from ..registry import Call, translates

_LOW, _HIGH = -128, 127


def _step(b: Builder, x: Made, scale: Made, axis: int, levels: int) -> tuple[Made, dict[str, int]]:
    """How far apart the levels lie, and the axis where each channel has its own."""
    per_channel = 0 <= axis < x.ndim and scale.sizes != () and scale.sizes not in ((1,), (1,) * scale.ndim)
    step = b.reshape(b.cast(scale, "float32"), (x.sizes[axis],) if per_channel else ())
    if step.array is not None:
        return b.constant(step.array / np.float32(levels)), {"axis": axis} if per_channel else {}
    return b.with_number("Div", step, levels), {"axis": axis} if per_channel else {}


def _zero(b: Builder, step: Made) -> Made:
    return b.constant(np.zeros(step.sizes, np.int8))


@translates("to_levels")
def to_levels(b: Builder, c: Call) -> Made:
    x, scale = c.operands
    axis, levels, low, high = c.attributes
    if low < _LOW or high > _HIGH:
        raise NotImplementedError(f"levels from {low} to {high}, which do not fit into 8 bits")
    step, where = _step(b, x, scale, axis, levels)
    whole = b.emit("QuantizeLinear", [x, step, _zero(b, step)], ("int8", x.sizes), **where)
    if (low, high) != (_LOW, _HIGH):
        whole = b.emit("Clip", [whole, b.scalar(low, "int8"), b.scalar(high, "int8")], whole.type)
    result = b.cast(whole, c.dtype)
    b.levels[result.name] = whole
    return result


@translates("from_levels")
def from_levels(b: Builder, c: Call) -> Made:
    x, scale = c.operands
    axis, levels = c.attributes
    step, where = _step(b, x, scale, axis, levels)
    whole = _bytes(b, x)
    if whole is None:
        view = [-1 if place == axis else 1 for place in range(x.ndim)] if where else []
        factor = b.reshape(step, [x.sizes[axis] if n == -1 else n for n in view])
        return b.cast(b.binary("Mul", b.cast(x, "float32"), factor), c.dtype)
    return b.cast(_dequantised(b, whole, step, where.get("axis")), c.dtype)


class Grid(NamedTuple):
    """Floats that bytes stand for: the bytes, how far apart they lie, and the axis where each channel has its own step."""

    whole: Made
    step: Made
    axis: int | None


def _dequantised(b: Builder, whole: Made, step: Made, axis: int | None) -> Made:
    whole, step = _with_positive_steps(b, whole, step, axis)
    where = {} if axis is None else {"axis": axis}
    result = b.emit("DequantizeLinear", [whole, step, _zero(b, step)], ("float32", whole.sizes), **where)
    b.grids[result.name] = Grid(whole, step, axis)
    return result


def _with_positive_steps(b: Builder, whole: Made, step: Made, axis: int | None) -> tuple[Made, Made]:
    """Steps below 0 (a batch norm with negative weights was folded into them) turn the numbers around: kernels want none."""
    if whole.array is None or step.array is None or not (step.array < 0).any() or whole.array.min(initial=0) == _LOW:
        return whole, step
    signs = np.where(step.array < 0, -1, 1).astype(np.int8)
    if axis is not None:
        signs = signs.reshape([-1 if place == axis else 1 for place in range(whole.ndim)])
    return b.constant(whole.array * signs), b.constant(np.abs(step.array))


def whole_bias(b: Builder, x: Made, weight: Made, bias: Made | None) -> Made | None:
    """The bias of a layer on grids in int32, on the grid of its products: so runtimes compute the layer in bytes."""
    grids = [b.grids.get(value.name) for value in (x, weight)]
    if bias is None or bias.array is None or bias.dtype != "float32" or None in grids:
        return bias
    steps = [grid.step.array for grid in grids]  # type: ignore[union-attr]
    if any(step is None for step in steps) or steps[0].ndim:
        return bias
    step = (steps[0] * steps[1]).astype(np.float32)
    numbers = np.rint(bias.array / step.astype(np.float64))
    if not (np.abs(numbers) < 2**31).all():
        return bias
    where = {"axis": 0} if step.ndim else {}
    inputs = [b.constant(numbers.astype(np.int32)), b.constant(step), b.constant(np.zeros(step.shape, np.int32))]
    return b.emit("DequantizeLinear", inputs, bias.type, **where)


def _bytes(b: Builder, x: Made) -> Made | None:
    """Levels as int8: those of a QuantizeLinear, or constants that are whole numbers."""
    if x.dtype == "int8":
        return x
    if x.array is None:
        return b.levels.get(x.name)
    whole = np.rint(x.array)
    if not (whole == x.array).all() or whole.min(initial=0) < _LOW or whole.max(initial=0) > _HIGH:
        return None
    return b.constant(whole.astype(np.int8))


# ---- bytes with a zero point, weights in few bits --------------------------------------------------------------------


@translates("quantise")
def quantise(b: Builder, c: Call) -> Made:
    """round(x / scale) + zero, kept within the bytes."""
    x, scale, zero = c.operands
    low, high = (0, 255) if c.dtype == "uint8" else (_LOW, _HIGH)
    steps = b.binary("Add", b.same("Round", b.binary("Div", x, scale)), b.cast(zero, "float32"))
    return b.cast(b.with_number("Min", b.with_number("Max", steps, low), high), c.dtype)


@translates("weight_rows")
def weight_rows(b: Builder, c: Call) -> Made:
    return _rows(b, c.operands[0], c.operands[1], c.attributes[0])


@translates("weight_only_product")
def weight_only_product(b: Builder, c: Call) -> Made:
    """The weight stays in its bytes where each row has one scale."""
    x, weight, scales, bias = c.operands
    wide = "float64" if x.dtype == "float64" else "float32"
    rows = b.cast(_rows(b, weight, scales, c.attributes[0]), wide)
    result = b.matmul(b.cast(x, wide), b.transpose(rows, (1, 0)), c.sizes)
    if bias is not None:
        result = b.binary("Add", result, b.cast(bias, wide))
    return b.cast(result, c.dtype)


def _rows(b: Builder, weight: Made, scales: Made, bits: int) -> Made:
    """A weight in few bits as float32 rows of outputs."""
    if bits == 8 and scales.ndim == 1:
        inputs = [weight, b.cast(scales, "float32"), b.constant(np.zeros(scales.sizes, np.int8))]
        return b.emit("DequantizeLinear", inputs, ("float32", weight.sizes), axis=0)
    if weight.array is None or scales.array is None:
        raise NotImplementedError("a weight of 4 bits, or in groups, that is no constant")
    return b.constant(rows_of(np, weight.array, scales.array, bits))
