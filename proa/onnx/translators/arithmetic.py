"""Numbers element by element: sums, products, functions, rounding."""

from __future__ import annotations

import math
from typing import Any

from ...core.symbols import whole_part
from ..builder import Builder, Made, broadcast_sizes, is_unknown
from ..registry import Call, translates

_INTEGERS = ("int", "uint")
# Ours -> ONNX's; the type of the result is the operand's.
_UNARY = {
    "abs": "Abs", "sign": "Sign", "floor": "Floor", "ceil": "Ceil", "sqrt": "Sqrt", "reciprocal": "Reciprocal", "exp": "Exp",
    "log": "Log", "sigmoid": "Sigmoid", "tanh": "Tanh", "erf": "Erf", "sin": "Sin", "cos": "Cos", "tan": "Tan",
    "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "asinh": "Asinh", "acosh": "Acosh",
    "atanh": "Atanh", "relu": "Relu",
}  # fmt: skip


def is_integer(x: Made) -> bool:
    return x.dtype.startswith(_INTEGERS)


@translates(*_UNARY)
def unary(b: Builder, c: Call) -> Made:
    x = b.cast(c.operands[0], c.dtype)
    if c.name in ("floor", "ceil") and is_integer(x):
        return b.copied(x)
    if c.name == "sign" and x.dtype.startswith("float"):  # ONNX's is 0 for NaN
        return b.where(b.is_nan(x), x, b.same("Sign", x))
    return b.same(_UNARY[c.name], x)


def plain_binary(b: Builder, operator: str, c: Call) -> Made:
    x, y = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    return b.emit(operator, [x, y], c.types[0])


@translates("add", "subtract", "multiply")
def sums(b: Builder, c: Call) -> Made:
    if c.dtype == "bool":
        return plain_binary(b, "Or" if c.name == "add" else "And", c)
    return plain_binary(b, {"add": "Add", "subtract": "Sub", "multiply": "Mul"}[c.name], c)


@translates("divide")
def divide(b: Builder, c: Call) -> Made:
    return plain_binary(b, "Div", c)


@translates("square")
def square(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.binary("Mul", x, x)


@translates("times")
def times(b: Builder, c: Call) -> Made:
    return plain_binary(b, "Mul", c)


@translates("fixed")
def fixed(b: Builder, c: Call) -> Made:
    return scaled(b, c.operands[0], *c.attributes[:2])


def scaled(b: Builder, x: Made, factor: Any = 1, shift: Any = 0, after: bool = True) -> Made:
    """x * factor + shift, or (x + shift) * factor."""
    steps = [("Mul", factor, 1), ("Add", shift, 0)]
    result = x
    for operator, number, nothing in steps if after else steps[::-1]:
        if is_unknown(number) or number != nothing:
            result = b.with_number(operator, result, number)
    return b.copied(x) if result is x else result


@translates("scale")
def scale(b: Builder, c: Call) -> Made:
    x, factor, shift = c.operands
    if isinstance(factor, Made) or isinstance(shift, Made):
        factor, shift = c.tensor(b, 1, x.dtype), c.tensor(b, 2, x.dtype)
        if c.attributes[0]:
            return b.binary("Add", b.binary("Mul", x, factor), shift)
        return b.binary("Mul", b.binary("Add", x, shift), factor)
    if is_integer(x):
        factor, shift = whole_part(factor), whole_part(shift)
    return scaled(b, x, factor, shift, bool(c.attributes[0]))


@translates("neg")
def negative(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.cast(b.same("Neg", b.cast(x, "int64")), x.dtype) if x.dtype.startswith("uint") else b.same("Neg", x)


@translates("trunc")
def truncated(b: Builder, c: Call) -> Made:
    """Towards zero, and -0.0 as it is: by way of integers large values would be lost."""
    x = c.operands[0]
    if is_integer(x):
        return b.copied(x)
    below = b.with_number("Less", x, 0, "bool")
    return b.where(below, b.same("Ceil", x), b.same("Floor", x))


@translates("rsqrt")
def rsqrt(b: Builder, c: Call) -> Made:
    return b.same("Reciprocal", b.same("Sqrt", b.cast(c.operands[0], c.dtype)))


@translates("expm1")
def expm1(b: Builder, c: Call) -> Made:
    """tanh(x / 2) (exp(x) + 1): accurate near 0; where exp is infinite or 0, plainly."""
    x = b.cast(c.operands[0], c.dtype)
    power = b.same("Exp", x)
    near = b.with_number("Less", b.same("Abs", x), 1, "bool")
    exact = b.binary("Mul", b.same("Tanh", b.with_number("Mul", x, 0.5)), b.with_number("Add", power, 1))
    return b.where(near, exact, b.with_number("Sub", power, 1))


@translates("log1p")
def log1p(b: Builder, c: Call) -> Made:
    return log_one_plus(b, b.cast(c.operands[0], c.dtype))


def log_one_plus(b: Builder, x: Made) -> Made:
    """log(1 + x): near 0, where 1 + x loses digits, the logarithm is corrected by how much it lost."""
    moved = b.with_number("Add", x, 1)
    lost = b.with_number("Sub", moved, 1)
    nothing = b.with_number("Equal", lost, 0, "bool")
    endless = b.with_number("Equal", x, math.inf, "bool")
    divisor = b.where(nothing, b.scalar(1, x.dtype), lost)
    corrected = b.binary("Mul", b.same("Log", moved), b.binary("Div", x, divisor))
    return b.where(b.binary("Or", nothing, endless), x, corrected)


@translates("log2", "log10")
def logarithm(b: Builder, c: Call) -> Made:
    x = b.cast(c.operands[0], c.dtype)
    return b.with_number("Div", b.same("Log", x), math.log(2 if c.name == "log2" else 10))


@translates("integer_power")
def integer_power(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    exponent = c.attributes[0]
    if exponent == 2:
        return b.binary("Mul", x, x)
    return b.with_number("Pow", x, exponent)


@translates("pow")
def power(b: Builder, c: Call) -> Made:
    return plain_binary(b, "Pow", c)


@translates("floor_divide", "floor_divide_integers")
def floor_divide(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    if is_integer(x):
        return b.floor_divide(x, y)
    down = b.same("Floor", b.binary("Div", x, y))
    # Beside an infinite divisor the quotient is 0, but just below it where the signs differ.
    differ = b.with_number("Less", b.binary("Mul", b.same("Sign", x), b.same("Sign", y)), 0, "bool")
    below = b.binary("And", differ, b.with_number("Equal", down, 0, "bool"))
    return b.where(below, b.scalar(-1, x.dtype), down)


@translates("remainder", "remainder_of_integers")
def remainder(b: Builder, c: Call) -> Made:
    """With the divisor's sign; of floats ONNX has the other one only."""
    x, y = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    if is_integer(x):
        return b.binary("Mod", x, y)
    rest = b.binary("Mod", x, y, fmod=1)
    differs = b.binary("Xor", b.with_number("Less", rest, 0, "bool"), b.with_number("Less", y, 0, "bool"))
    moved = b.binary("And", differs, b.invert(b.with_number("Equal", rest, 0, "bool")))
    return b.where(moved, b.binary("Add", rest, y), rest)


@translates("divide_or_zero")
def divide_or_zero(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    is_zero = b.with_number("Equal", y, 0, "bool")
    quotient = b.binary("Div", x, b.where(is_zero, b.scalar(1, y.dtype), y))
    return b.where(is_zero, b.scalar(0, x.dtype), quotient)


@translates("rounded_towards_zero")
def rounded_towards_zero(b: Builder, c: Call) -> Made:
    quotient, rest = c.tensor(b, 0), c.tensor(b, 1)
    below = b.with_number("Less", quotient, 0, "bool")
    left = b.invert(b.with_number("Equal", rest, 0, "bool"))
    return b.where(b.binary("And", left, below), b.with_number("Add", quotient, 1), quotient)


@translates("maximum", "minimum")
def extreme(b: Builder, c: Call) -> Made:
    if c.dtype == "bool":
        return plain_binary(b, "Or" if c.name == "maximum" else "And", c)
    return plain_binary(b, "Max" if c.name == "maximum" else "Min", c)


@translates("fmax", "fmin")
def extreme_number(b: Builder, c: Call) -> Made:
    """The other one where one is NaN."""
    x, y = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    result = b.emit("Max" if c.name == "fmax" else "Min", [x, y], c.types[0])
    if is_integer(x):
        return result
    return b.where(b.is_nan(x), y, b.where(b.is_nan(y), x, result))


@translates("round")
def rounded(b: Builder, c: Call) -> Made:
    x, decimals = c.operands[0], c.attributes[0]
    if is_integer(x):
        return b.copied(x)
    if decimals == 0:
        return b.same("Round", x)
    factor = 10.0**decimals
    return b.with_number("Div", b.same("Round", b.with_number("Mul", x, factor)), factor)


@translates("clip")
def clip(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    has_min, has_max, _ = c.attributes
    low, high = (c.tensor(b, p, x.dtype) if has else None for p, has in ((1, has_min), (2, has_max)))
    if x.dtype in ("float32", "float16") and all(bound is None or bound.ndim == 0 for bound in (low, high)):
        if low is None and high is None:
            return b.copied(x)
        return b.emit("Clip", [x, low, high], c.types[0])  # one node, which runtimes fuse with a convolution
    result = x
    if low is not None:
        result = b.binary("Max", result, low)
    if high is not None:
        result = b.binary("Min", result, high)
    return b.copied(x) if result is x else result


@translates("cast")
def cast(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    if x.dtype == c.dtype:
        return b.copied(x)
    if x.dtype.startswith(("float", "bfloat")) and c.dtype.startswith("uint") and c.dtype != "uint64":
        x = b.cast(x, "int64")  # what negative numbers become is not fixed otherwise
    return b.cast(x, c.dtype)


@translates("assign", "covering", "lay_out", "row_numbers")
def assign(b: Builder, c: Call) -> Made:
    return b.copied(c.operands[0])


@translates("barrier", "print")
def barrier(b: Builder, c: Call) -> list[Made]:
    return [b.copied(x) for x in c.operands]


@translates("hypot")
def hypot(b: Builder, c: Call) -> Made:
    """With the larger operand taken out, so that squares do not overflow."""
    x, y = (b.same("Abs", c.tensor(b, position)) for position in (0, 1))
    larger, smaller = b.binary("Max", x, y), b.binary("Min", x, y)
    endless = b.with_number("Equal", larger, math.inf, "bool")
    simple = b.binary("Or", b.binary("Equal", larger, smaller, "bool"), endless)
    ratio = b.where(simple, b.scalar(1, x.dtype), b.binary("Div", smaller, larger))
    length = b.binary("Mul", larger, b.same("Sqrt", b.with_number("Add", b.binary("Mul", ratio, ratio), 1)))
    return b.where(endless, larger, length)


@translates("logaddexp")
def logaddexp(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    distance = b.same("Abs", b.binary("Sub", x, y))
    equal = b.binary("Equal", x, y, "bool")  # also two infinities, whose distance is no number
    distance = b.where(equal, b.scalar(0, x.dtype), distance)
    return b.binary("Add", b.binary("Max", x, y), log_one_plus(b, b.same("Exp", b.same("Neg", distance))))


@translates("atan2")
def atan2(b: Builder, c: Call) -> Made:
    """The angle of (y, x): atan of the quotient, turned by half a circle on the left side."""
    y, x = c.tensor(b, 0, c.dtype), c.tensor(b, 1, c.dtype)
    sizes = broadcast_sizes(x.sizes, y.sizes)
    on_axis = b.with_number("Equal", x, 0, "bool")
    angle = b.same("Atan", b.binary("Div", y, b.where(on_axis, b.scalar(1, x.dtype), x)))
    turn = b.where(b.with_number("Less", y, 0, "bool"), b.scalar(-math.pi, x.dtype), b.scalar(math.pi, x.dtype))
    left = b.with_number("Less", x, 0, "bool")
    angle = b.where(left, b.binary("Add", angle, turn), angle)
    straight = b.with_number("Mul", b.same("Sign", y), math.pi / 2)
    return b.expand(b.where(on_axis, straight, angle), sizes)


@translates("triple_product")
def triple_product(b: Builder, c: Call) -> Made:
    first, second, third = (c.tensor(b, position) for position in range(3))
    return scaled(b, b.binary("Mul", b.binary("Mul", first, second), third), c.attributes[0])
