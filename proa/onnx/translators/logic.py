"""Comparisons, truth values, choices, bits."""

from __future__ import annotations

import math
from typing import Any

from ...core.dtype import to_numpy_dtype
from ...core.symbols import same_sizes
from ..builder import Builder, Made, is_unknown
from ..registry import Call, translates
from .arithmetic import is_integer

_COMPARISONS = {
    "equal": "Equal", "less_than": "Less", "less_equal": "LessOrEqual", "greater_than": "Greater",
    "greater_equal": "GreaterOrEqual",
}  # fmt: skip


@translates(*_COMPARISONS, "not_equal")
def compare(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    if c.name == "not_equal":
        return b.invert(b.emit("Equal", [x, y], c.types[0]))
    return b.emit(_COMPARISONS[c.name], [x, y], c.types[0])


@translates("logical_and", "logical_or", "logical_xor")
def logical(b: Builder, c: Call) -> Made:
    operator = {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}[c.name]
    return b.emit(operator, [c.tensor(b, 0, "bool"), c.tensor(b, 1, "bool")], c.types[0])


@translates("logical_not")
def logical_not(b: Builder, c: Call) -> Made:
    return b.invert(b.cast(c.operands[0], "bool"))


@translates("bitwise_and", "bitwise_or", "bitwise_xor")
def bitwise(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    name = {"bitwise_and": "And", "bitwise_or": "Or", "bitwise_xor": "Xor"}[c.name]
    if c.dtype == "bool":
        return b.emit(name, [x, y], c.types[0])
    b.needs(18, f"Bitwise{name}")
    return b.emit(f"Bitwise{name}", [x, y], c.types[0])


@translates("bitwise_not")
def bitwise_not(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    if c.dtype == "bool":
        return b.invert(x)
    b.needs(18, "BitwiseNot")
    return b.same("BitwiseNot", x)


@translates("bitwise_left_shift")
def left_shift(b: Builder, c: Call) -> Made:
    """Products with powers of two, which wrap around as shifting does; 0 where nothing is left."""
    x, y = c.tensor(b, 0, "int64"), c.tensor(b, 1, "int64")
    some, rest, inside = _powers(b, y, c.dtype)
    return b.cast(b.where(inside, b.binary("Mul", b.binary("Mul", x, some), rest), b.scalar(0, "int64")), c.dtype)


@translates("bitwise_right_shift")
def right_shift(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0, "int64"), c.tensor(b, 1, "int64")
    some, rest, inside = _powers(b, y, c.dtype)
    below = b.where(b.with_number("Less", x, 0, "bool"), b.scalar(-1, "int64"), b.scalar(0, "int64"))
    return b.cast(b.where(inside, b.floor_divide(b.floor_divide(x, some), rest), below), c.dtype)


def _powers(b: Builder, y: Made, dtype: str) -> tuple[Made, Made, Made]:
    """Two powers of two whose product shifts by y, each of which int64 holds; and where y is a number of bits."""
    bits = to_numpy_dtype(dtype).itemsize * 8
    inside = b.binary("And", b.with_number("GreaterOrEqual", y, 0, "bool"), b.with_number("Less", y, bits, "bool"))
    amount = b.where(inside, y, b.scalar(0, "int64"))
    half = b.with_number("Div", amount, 2)
    two = b.scalar(2, "int64")
    return b.binary("Pow", two, half), b.binary("Pow", two, b.binary("Sub", amount, half)), inside


@translates("isnan", "isinf", "isfinite")
def classify(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    if not x.dtype.startswith(("float", "bfloat")):
        return b.expand(b.scalar(c.name == "isfinite", "bool"), x.sizes)
    if c.name != "isfinite":
        return b.emit("IsNaN" if c.name == "isnan" else "IsInf", [x], c.types[0])
    return b.invert(b.binary("Or", b.is_nan(x), b.emit("IsInf", [x], c.types[0])))


@translates("where")
def where(b: Builder, c: Call) -> Made:
    condition = b.cast(c.operands[2], "bool")
    return b.where(condition, c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype))


@translates("gate")
def gate(b: Builder, c: Call) -> Made:
    x, mask = c.operands
    mask = b.cast(mask, "bool")
    nothing = b.scalar(0, x.dtype)
    return b.where(mask, x, nothing) if c.attributes[0] else b.where(mask, nothing, x)


@translates("put_where")
def put_where(b: Builder, c: Call) -> Made:
    x, value, mask = c.operands[0], c.tensor(b, 1, c.dtype), c.operands[2]
    axis, when = c.attributes
    mask = b.reshape(mask, (1,) * axis + mask.sizes + (1,) * (x.ndim - axis - mask.ndim))
    return b.where(mask, value, x) if when else b.where(mask, x, value)


@translates("fill")
def fill(b: Builder, c: Call) -> Made:
    return b.expand(b.reshape(c.tensor(b, 1, c.dtype), ()), c.operands[0].sizes)


@translates("zero_slope")
def zeros_like(b: Builder, c: Call) -> Made:
    return b.expand(b.scalar(0, c.dtype), c.operands[0].sizes)


@translates("nan_to_num")
def nan_to_num(b: Builder, c: Call) -> Made:
    x, nan, above, below = c.operands
    if is_integer(x):
        return b.copied(x)
    result = b.where(b.is_nan(x), b.scalar(nan, x.dtype), x)
    for limit, replacement in ((math.inf, above), (-math.inf, below)):
        result = b.where(b.with_number("Equal", x, limit, "bool"), b.scalar(replacement, x.dtype), result)
    return result


@translates("isclose", "allclose")
def close(b: Builder, c: Call) -> Made:
    """|x - y| <= atol + rtol |y|, equal infinities, and NaN beside NaN if wanted."""
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    relative, absolute = c.operands[2:4]
    if is_integer(x) or x.dtype == "bool":
        x, y = b.cast(x, "float64"), b.cast(y, "float64")
    distance = b.same("Abs", b.binary("Sub", x, y))
    allowed = b.with_number("Add", b.with_number("Mul", b.same("Abs", y), relative), absolute)
    finite = b.invert(b.emit("IsInf", [y], ("bool", y.sizes)))
    near = b.binary("And", b.binary("LessOrEqual", distance, allowed, "bool"), finite)
    result = b.binary("Or", near, b.binary("Equal", x, y, "bool"))
    if c.attributes[0]:
        result = b.binary("Or", result, b.binary("And", b.is_nan(x), b.is_nan(y)))
    return result if c.name == "isclose" else every(b, result, list(range(result.ndim)), False)


def every(b: Builder, x: Made, axes: list[int], keepdim: bool) -> Made:
    """Whether none is false; of nothing, too."""
    return b.invert(some(b, b.invert(x), axes, keepdim))


def some(b: Builder, x: Made, axes: list[int], keepdim: bool) -> Made:
    """Whether any is true: they are counted, which is right for nothing as well."""
    return b.with_number("Greater", b.reduce("ReduceSum", b.cast(x, "int32"), axes, keepdim), 0, "bool")


@translates("any", "all")
def truth(b: Builder, c: Call) -> Made:
    from .reduction import axes_of

    axes, keepdim = axes_of(c)
    return (some if c.name == "any" else every)(b, b.cast(c.operands[0], "bool"), axes, keepdim)


@translates("equal_all")
def equal_all(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    if x.ndim != y.ndim:
        return b.scalar(False, "bool")
    if not same_sizes(x.sizes, y.sizes):
        if any(map(is_unknown, (*x.sizes, *y.sizes))):
            raise NotImplementedError("whether the shapes are equal is known only when it runs")
        return b.scalar(False, "bool")
    same: Any = b.binary("Equal", x, y, "bool")
    return every(b, same, list(range(same.ndim)), False)


@translates("heaviside")
def heaviside(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    sign = b.cast(b.with_number("Greater", x, 0, "bool"), c.dtype)
    at_zero = b.with_number("Equal", x, 0, "bool")
    return b.where(at_zero, y, sign)


@translates("first_is_taken")
def first_is_taken(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    taken = b.binary("GreaterOrEqual" if c.attributes[0] else "LessOrEqual", x, y, "bool")
    return b.binary("Or", taken, b.is_nan(y))
