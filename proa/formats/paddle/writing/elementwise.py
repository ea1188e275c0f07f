"""Operations element by element: arithmetic, functions, comparisons, activations."""

from __future__ import annotations

from typing import Any

from ....core.symbols import whole_part
from .builder import Builder, Made, broadcast_sizes, is_unknown
from .registry import Call, translates

# Ours -> Paddle's, where the names differ; the type of the result is the operand's.
_UNARY = {
    "abs": "abs", "sign": "sign", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "sqrt": "sqrt", "rsqrt": "rsqrt",
    "square": "square", "reciprocal": "reciprocal", "exp": "exp", "expm1": "expm1", "log": "log", "log2": "log2",
    "log10": "log10", "log1p": "log1p", "sigmoid": "sigmoid", "tanh": "tanh", "erf": "erf", "erfinv": "erfinv",
    "lgamma": "lgamma", "digamma": "digamma", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
    "atan": "atan", "sinh": "sinh", "cosh": "cosh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "i0": "i0",
    "i0e": "i0e", "i1": "i1", "i1e": "i1e", "relu": "relu", "silu": "silu", "hardswish": "hardswish",
    "log_sigmoid": "logsigmoid", "conj": "conj", "real": "real", "imag": "imag", "angle": "angle", "isnan": "isnan",
    "isinf": "isinf", "isfinite": "isfinite", "logical_not": "logical_not", "bitwise_not": "bitwise_not",
}  # fmt: skip
_KEEPS_OPERAND = {"real", "imag", "angle", "isnan", "isinf", "isfinite", "abs", "logical_not"}

# Tests of numbers that Paddle has no kernels for where the operand is boolean.
_TESTS = {"isnan", "isinf", "isfinite"}
# Operations of Paddle that do not broadcast.
_EQUAL_SHAPES = {"atan2", "gammaincc"}

_BINARY = {
    "subtract": "subtract", "multiply": "multiply", "add": "add", "floor_divide": "floor_divide",
    "floor_divide_integers": "floor_divide", "remainder": "remainder", "remainder_of_integers": "remainder",
    "maximum": "maximum", "minimum": "minimum", "fmax": "fmax", "fmin": "fmin", "atan2": "atan2",
    "pow": "elementwise_pow", "heaviside": "heaviside", "nextafter": "nextafter", "copysign": "copysign",
    "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor",
    "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor",
    "equal": "equal", "not_equal": "not_equal", "less_than": "less_than", "less_equal": "less_equal",
    "greater_than": "greater_than", "greater_equal": "greater_equal", "complex": "complex",
}  # fmt: skip


@translates(*_UNARY)
def unary(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    if c.name not in _KEEPS_OPERAND and x.dtype != c.dtype:
        x = b.cast(x, c.dtype)
    if c.name in _TESTS and x.dtype == "bool":
        x = b.cast(x, "int32")
    return b.emit(_UNARY[c.name], [x], {}, c.types[0])


@translates(*_BINARY)
def binary(b: Builder, c: Call) -> Made:
    x, y = c.operands[:2]
    if c.name in ("add", "subtract", "multiply") and isinstance(x, Made) != isinstance(y, Made):
        scaled = _with_number(b, c, x, y)
        if scaled is not None:
            return scaled
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    if c.name in ("add", "multiply") and x.dtype == "bool":  # Paddle has no arithmetic of booleans in every kernel
        return b.binary("logical_or" if c.name == "add" else "logical_and", x, y, "bool")
    if c.name in ("pow", "maximum", "minimum", "floor_divide", "remainder") and x.dtype != y.dtype:
        y = b.cast(y, x.dtype)
    if c.name.startswith("logical_"):
        x, y = b.cast(x, "bool"), b.cast(y, "bool")
    return b.emit(_BINARY[c.name], _aligned(b, _BINARY[c.name], x, y), {}, c.types[0])


def _aligned(b: Builder, name: str, x: Made, y: Made) -> list[Made]:
    """The operands, in one shape where the operation needs that."""
    if name not in _EQUAL_SHAPES:
        return [x, y]
    sizes = broadcast_sizes(x.sizes, y.sizes)
    return [b.expand(x, sizes), b.expand(y, sizes)]


def _with_number(b: Builder, c: Call, x: Any, y: Any) -> Made | None:
    """`scale`, which is how Paddle says this of a tensor and a number."""
    tensor, number = (x, y) if isinstance(x, Made) else (y, x)
    if tensor.dtype not in ("float32", "float16", "bfloat16") or tensor.dtype != c.dtype or isinstance(number, complex):
        return None
    if is_unknown(number):
        return None
    if c.name == "multiply":
        return b.scale(tensor, number)
    if c.name == "add":
        return b.scale(tensor, 1, number)
    return b.scale(tensor, 1, -number) if tensor is x else b.scale(tensor, -1, number)


@translates("divide")
def divide(b: Builder, c: Call) -> Made:
    x, y = (b.cast(c.tensor(b, position, None), c.dtype) for position in (0, 1))
    return b.binary("divide", x, y)


@translates("divide_or_zero")
def divide_or_zero(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    is_zero = b.binary("equal", y, b.full((), 0, y.dtype), "bool")
    quotient = b.binary("divide", x, b.where(is_zero, b.full_like(y, 1), y))
    return b.where(is_zero, b.full_like(quotient, 0), quotient)


@translates("times")
def times(b: Builder, c: Call) -> Made:
    x, factor = c.operands
    return b.binary("multiply", x, factor) if isinstance(factor, Made) else _copied(b, x, b.scale(x, factor))


@translates("fixed")
def fixed(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return _copied(b, x, b.scale(x, c.attributes[0], c.attributes[1]))


@translates("scale")
def scale(b: Builder, c: Call) -> Made:
    x, factor, shift = c.operands
    if isinstance(factor, Made) or isinstance(shift, Made):
        factor, shift = c.tensor(b, 1), c.tensor(b, 2)
        if c.attributes[0]:
            return b.binary("add", b.binary("multiply", x, factor), shift)
        return b.binary("multiply", b.binary("add", x, shift), factor)
    if x.dtype.startswith(("int", "uint")):
        factor, shift = whole_part(factor), whole_part(shift)
    return _copied(b, x, b.scale(x, factor, shift, bool(c.attributes[0])))


def _copied(b: Builder, x: Made, result: Made) -> Made:
    """A result that is a value of its own also where nothing had to be computed."""
    return b.same("assign", x) if result is x else result


@translates("neg")
def negative(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.cast(b.scale(b.cast(x, "int32"), -1), x.dtype) if x.dtype in ("uint8", "int8", "int16") else b.scale(x, -1)


@translates("assign", "dropout_scale", "barrier", "covering", "lay_out")
def assign(b: Builder, c: Call) -> Any:
    if c.name == "barrier":
        return [b.same("assign", x) for x in c.operands]
    if c.name == "dropout_scale":
        return _copied(b, c.operands[0], b.scale(c.operands[0], c.operands[1]))
    return b.same("assign", c.operands[0])


@translates("cast")
def cast(b: Builder, c: Call) -> Made:
    return b.emit("cast", [c.operands[0]], {"dtype": c.dtype}, c.types[0])


@translates("integer_power")
def integer_power(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    if c.attributes[0] == 2:
        return b.same("square", x)
    return b.binary("elementwise_pow", x, b.full((), c.attributes[0], x.dtype))


@translates("round")
def rounded(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.same("assign", x) if x.dtype.startswith(("int", "uint")) else b.same("round", x, decimals=c.attributes[0])


@translates("clip")
def clip(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    has_min, has_max, _ = c.attributes
    low, high = c.operands[1:3]
    if has_min and has_max and not isinstance(low, Made) and not isinstance(high, Made):
        kind = "float32" if x.dtype in ("float16", "bfloat16") else x.dtype
        return b.emit("clip", [x, b.argument(low, kind), b.argument(high, kind)], {}, c.types[0])
    result = x
    if has_min:
        result = b.binary("maximum", result, b.cast(c.tensor(b, 1), x.dtype))
    if has_max:
        result = b.binary("minimum", result, b.cast(c.tensor(b, 2), x.dtype))
    return _copied(b, x, result)


@translates("where")
def where(b: Builder, c: Call) -> Made:
    x, y, condition = c.tensor(b, 0), c.tensor(b, 1), c.operands[2]
    return b.where(b.cast(condition, "bool"), b.cast(x, c.dtype), b.cast(y, c.dtype))


@translates("gate")
def gate(b: Builder, c: Call) -> Made:
    x, mask = c.operands
    zeros = b.full_like(x, 0)
    return b.where(mask, x, zeros) if c.attributes[0] else b.where(mask, zeros, x)


@translates("put_where")
def put_where(b: Builder, c: Call) -> Made:
    x, value, mask = c.operands[0], c.tensor(b, 1), c.operands[2]
    axis, when = c.attributes
    mask = b.reshape(mask, (1,) * axis + mask.sizes + (1,) * (x.ndim - axis - mask.ndim))
    return b.where(mask, value, x) if when else b.where(mask, x, value)


@translates("fill")
def fill(b: Builder, c: Call) -> Made:
    x, value = c.operands
    return b.expand(b.cast(value, x.dtype), x.sizes) if isinstance(value, Made) else b.full_like(x, value)


@translates("zero_slope")
def zeros_like(b: Builder, c: Call) -> Made:
    return b.full_like(c.operands[0], 0)


@translates("nan_to_num")
def nan_to_num(b: Builder, c: Call) -> Made:
    x, nan, above, below = c.operands
    result = b.where(b.emit("isnan", [x], {}, ("bool", x.sizes)), b.full((), nan, x.dtype), x)
    for limit, replacement in ((float("inf"), above), (float("-inf"), below)):
        found = b.binary("equal", x, b.full((), limit, x.dtype), "bool")
        result = b.where(found, b.full((), replacement, x.dtype), result)
    return result


@translates("isclose", "allclose")
def close(b: Builder, c: Call) -> Made:
    """|x - y| <= atol + rtol |y|, equal infinities, and NaN beside NaN if wanted: Paddle's own differs in these."""
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    relative, absolute = c.operands[2:4]
    if not x.dtype.startswith(("float", "bfloat", "complex")):
        x, y = b.cast(x, "float64"), b.cast(y, "float64")
    real = {"complex64": "float32", "complex128": "float64"}.get(x.dtype, x.dtype)
    distance = b.binary("subtract", x, y)
    distance = b.emit("abs", [distance], {}, (real, distance.sizes))
    allowed = b.scale(b.emit("abs", [y], {}, (real, y.sizes)), float(relative), float(absolute))
    finite = b.emit("isfinite", [y], {}, ("bool", y.sizes))
    near = b.binary("logical_and", b.binary("less_equal", distance, allowed, "bool"), finite, "bool")
    result = b.binary("logical_or", near, b.binary("equal", x, y, "bool"), "bool")
    if c.attributes[0]:
        both = [b.emit("isnan", [value], {}, ("bool", value.sizes)) for value in (x, y)]
        result = b.binary("logical_or", result, b.binary("logical_and", both[0], both[1], "bool"), "bool")
    if c.name == "isclose":
        return result
    return b.emit("all", [result], {"axis": list(range(result.ndim)), "keepdim": False}, ("bool", ()))


@translates("equal_all")
def equal_all(b: Builder, c: Call) -> Made:
    return b.emit("equal_all", [c.tensor(b, 0), c.tensor(b, 1)], {}, c.types[0])


@translates("bitwise_left_shift", "bitwise_right_shift", "bitwise_right_shift_logical")
def shifts(b: Builder, c: Call) -> Made:
    name, is_arithmetic = c.name.removesuffix("_logical"), not c.name.endswith("_logical")
    return b.binary(name, c.tensor(b, 0), c.tensor(b, 1), is_arithmetic=is_arithmetic)


@translates("hypot")
def hypot(b: Builder, c: Call) -> Made:
    """With the larger operand taken out, so that squares do not overflow."""
    x, y = (b.same("abs", c.tensor(b, position)) for position in (0, 1))
    larger, smaller = b.binary("maximum", x, y), b.binary("minimum", x, y)
    plain = b.binary(
        "logical_or",
        b.binary("equal", larger, smaller, "bool"),
        b.binary("equal", larger, b.full((), float("inf"), x.dtype), "bool"),
        "bool",
    )
    ratio = b.where(plain, b.full((), 1, x.dtype), b.binary("divide", smaller, larger))
    length = b.binary("multiply", larger, b.same("sqrt", b.scale(b.same("square", ratio), 1, 1)))
    return b.where(b.binary("equal", larger, b.full((), float("inf"), x.dtype), "bool"), larger, length)


@translates("logaddexp")
def logaddexp(b: Builder, c: Call) -> Made:
    x, y = c.tensor(b, 0), c.tensor(b, 1)
    distance = b.same("abs", b.binary("subtract", x, y))
    return b.binary("add", b.binary("maximum", x, y), b.same("log1p", b.same("exp", b.scale(distance, -1))))


@translates("gammaincc", "gammainc")
def gammaincc(b: Builder, c: Call) -> Made:
    result = b.emit("gammaincc", _aligned(b, "gammaincc", c.tensor(b, 0), c.tensor(b, 1)), {}, c.types[0])
    return result if c.name == "gammaincc" else b.scale(result, -1, 1)


@translates("polygamma")
def polygamma(b: Builder, c: Call) -> Made:
    return b.same("polygamma", c.operands[0], n=int(c.attributes[0]))


@translates("logit")
def logit(b: Builder, c: Call) -> Made:
    return b.same("logit", c.operands[0], eps=0.0)


@translates("rounded_towards_zero")
def rounded_towards_zero(b: Builder, c: Call) -> Made:
    quotient, rest = c.tensor(b, 0), c.tensor(b, 1)
    below = b.binary("less_than", quotient, b.full((), 0, quotient.dtype), "bool")
    left = b.binary("not_equal", rest, b.full((), 0, rest.dtype), "bool")
    moved = b.binary("logical_and", left, below, "bool")
    return b.where(moved, b.binary("add", quotient, b.full((), 1, quotient.dtype)), quotient)


# ---- activations -------------------------------------------------------------------------------------------------


@translates("leaky_relu")
def leaky_relu(b: Builder, c: Call) -> Made:
    return b.same("leaky_relu", c.operands[0], negative_slope=float(c.operands[1]))


@translates("gelu")
def gelu(b: Builder, c: Call) -> Made:
    return b.same("gelu", c.operands[0], approximate=bool(c.attributes[0]))


@translates("softplus")
def softplus(b: Builder, c: Call) -> Made:
    return b.same("softplus", c.operands[0], beta=float(c.operands[1]), threshold=float(c.operands[2]))


@translates("exponential_unit")
def exponential_unit(b: Builder, c: Call) -> Made:
    x, height, width = c.operands
    if width == 1:
        return b.same("elu", x, alpha=float(height))
    if width == height:
        return b.same("celu", x, alpha=float(height))
    bent = b.same("expm1", b.scale(b.binary("minimum", x, b.full((), 0, x.dtype)), 1 / width))
    return b.where(b.binary("greater_than", x, b.full((), 0, x.dtype), "bool"), x, b.scale(bent, height))


@translates("softmax", "log_softmax")
def softmax(b: Builder, c: Call) -> Made:
    return b.same(c.name, b.cast(c.operands[0], c.dtype), axis=int(c.attributes[0]))
