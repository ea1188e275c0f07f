"""Numbers on a grid: QuantizeLinear and DequantizeLinear.

Ours say how far the levels reach (`scale`), ONNX how far apart they lie (`scale / levels`). Levels are floats with whole
numbers between the two; where one follows the other, the bytes go from one to the other.
"""

from __future__ import annotations

import numpy as np

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
    c.context.bytes[result.name] = whole
    return result


@translates("from_levels")
def from_levels(b: Builder, c: Call) -> Made:
    x, scale = c.operands
    axis, levels = c.attributes
    step, where = _step(b, x, scale, axis, levels)
    whole = _bytes(b, c, x)
    if whole is None:
        view = [-1 if place == axis else 1 for place in range(x.ndim)] if where else []
        factor = b.reshape(step, [x.sizes[axis] if n == -1 else n for n in view])
        return b.cast(b.binary("Mul", b.cast(x, "float32"), factor), c.dtype)
    result = b.emit("DequantizeLinear", [whole, step, _zero(b, step)], ("float32", x.sizes), **where)
    return b.cast(result, c.dtype)


def _bytes(b: Builder, c: Call, x: Made) -> Made | None:
    """Levels as int8: those of a QuantizeLinear, or constants that are whole numbers."""
    if x.dtype == "int8":
        return x
    if x.array is None:
        return c.context.bytes.get(x.name)
    whole = np.rint(x.array)
    if not (whole == x.array).all() or whole.min(initial=0) < _LOW or whole.max(initial=0) > _HIGH:
        return None
    return b.constant(whole.astype(np.int8))
