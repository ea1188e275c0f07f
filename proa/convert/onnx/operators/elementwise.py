"""Arithmetic, comparison, logic and casts, element by element."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import paddle
from ..registry import reads
from ..tensors import DTYPES, dtype_name

# ONNX's name: ours, for functions of one tensor without attributes.
_PLAIN = {
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan", "Atanh": "atanh",
    "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor", "IsNaN": "isnan",
    "Log": "log", "Neg": "neg", "Not": "logical_not", "Reciprocal": "reciprocal", "Sign": "sign", "Sin": "sin",
    "Sinh": "sinh", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh", "BitwiseNot": "bitwise_not",
}  # fmt: skip
_PAIRS = {
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "Equal": "equal", "Greater": "greater_than", "Less": "less_than",
    "GreaterOrEqual": "greater_equal", "LessOrEqual": "less_equal", "And": "logical_and", "Or": "logical_or",
    "Xor": "logical_xor", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor",
}  # fmt: skip


def _plain(name: str) -> Callable[[Tensor], Tensor]:
    def call(x: Tensor) -> Tensor:
        return getattr(paddle, name)(x)

    return call


def _pair(name: str) -> Callable[..., Tensor]:
    def call(x: Tensor, y: Tensor, *, axis: Any = None, broadcast: int = 0) -> Tensor:
        return getattr(paddle, name)(x, aligned(x, y, axis))

    return call


for _onnx, _ours in _PLAIN.items():
    reads(_onnx)(_plain(_ours))
for _onnx, _ours in _PAIRS.items():
    reads(_onnx)(_pair(_ours))


def aligned(x: Tensor, y: Tensor, axis: Any) -> Tensor:
    """Before version 7, `axis` said where the second operand's axes begin."""
    if axis is None or y.ndim == 0:
        return y
    axis = axis + x.ndim if axis < 0 else axis
    return y.reshape([*y.shape, *[1] * (x.ndim - axis - y.ndim)])


def is_integer(x: Tensor) -> bool:
    return x._aval.dtype.kind in "iu"


@reads("Div")
def div(x: Tensor, y: Tensor, *, axis: Any = None) -> Tensor:
    y = aligned(x, y, axis)
    if not is_integer(x):
        return paddle.divide(x, y)
    if x._aval.dtype.kind == "u":
        return paddle.floor_divide(x, y)
    # Integers are divided towards zero.
    quotient = paddle.floor_divide(paddle.abs(x), paddle.abs(y))
    return paddle.where((x < 0) != (y < 0), -quotient, quotient).astype(x.dtype)


@reads("Mod")
def mod(x: Tensor, y: Tensor, *, fmod: int = 0) -> Tensor:
    if not fmod:
        return paddle.mod(x, y)
    left = paddle.mod(paddle.abs(x), paddle.abs(y))  # with the sign of the first operand
    return paddle.where(x < 0, -left, left).astype(x.dtype)


@reads("Pow")
def power(x: Tensor, y: Tensor, *, axis: Any = None) -> Tensor:
    y = aligned(x, y, axis)
    if is_integer(x) and not is_integer(y):
        return paddle.pow(x.astype("float64"), y.astype("float64")).astype(x.dtype)
    return paddle.pow(x, y.astype(x.dtype))


@reads("Min")
def minimum(*tensors: Tensor) -> Tensor:
    return reduce(paddle.minimum, tensors) if len(tensors) > 1 else paddle.assign(tensors[0])


@reads("Max")
def maximum(*tensors: Tensor) -> Tensor:
    return reduce(paddle.maximum, tensors) if len(tensors) > 1 else paddle.assign(tensors[0])


@reads("Sum")
def total(*tensors: Tensor) -> Tensor:
    return reduce(paddle.add, tensors) if len(tensors) > 1 else paddle.assign(tensors[0])


@reads("Mean")
def mean(*tensors: Tensor) -> Tensor:
    return total(*tensors) / len(tensors)


@reads("Round")
def nearest(x: Tensor) -> Tensor:
    """Halves go to the even neighbour."""
    down = paddle.floor(x)
    rest = x - down
    odd = paddle.floor(down / 2) * 2 != down
    up = (rest > 0.5) | ((rest == 0.5) & odd)
    return paddle.where(up, down + 1, down)


@reads("IsInf")
def is_infinite(x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    infinite = paddle.isinf(x)
    if not detect_negative:
        infinite = paddle.logical_and(infinite, x > 0)
    if not detect_positive:
        infinite = paddle.logical_and(infinite, x < 0)
    return infinite


@reads("Clip")
def clip(
    x: Tensor, low: Tensor | None = None, high: Tensor | None = None, *, min: Any = None, max: Any = None
) -> Tensor:
    low, high = min if low is None else low, max if high is None else high
    if low is not None:
        x = paddle.maximum(x, _like(low, x))
    if high is not None:
        x = paddle.minimum(x, _like(high, x))
    return paddle.assign(x) if low is None and high is None else x


def _like(number: Any, x: Tensor) -> Tensor:
    return number if isinstance(number, Tensor) else paddle.to_tensor(number, dtype=x.dtype)


@reads("Where")
def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return paddle.where(condition, x, y)


@reads("BitShift")
def bit_shift(x: Tensor, y: Tensor, *, direction: str) -> Tensor:
    """Shifts by all bits and more give what shifting on and on would; a negative one counts as very far."""
    bits = x._aval.dtype.itemsize * 8
    far = paddle.logical_or(y >= bits, y < 0) if x._aval.dtype.kind == "i" else y >= bits
    near = paddle.where(far, paddle.zeros_like(y), y)
    if direction == "LEFT":
        return paddle.where(far, paddle.zeros_like(x), paddle.bitwise_left_shift(x, near))
    sign = paddle.where(x < 0, paddle.full_like(x, -1), paddle.zeros_like(x)) if x._aval.dtype.kind == "i" else None
    return paddle.where(far, paddle.zeros_like(x) if sign is None else sign, paddle.bitwise_right_shift(x, near))


@reads("Cast")
def cast(x: Tensor, *, to: Any, saturate: int = 1, round_mode: str = "up") -> Tensor:
    return cast_to(x, _NAMES.get(to, to) if isinstance(to, str) else to, saturate)


_NAMES = {"FLOAT": 1, "UINT8": 2, "INT8": 3, "INT32": 6, "INT64": 7, "BOOL": 9, "FLOAT16": 10, "DOUBLE": 11}


def cast_to(x: Tensor, number: int, saturate: int = 1) -> Tensor:
    if number not in DTYPES or np.dtype(DTYPES[number]).itemsize < 1 or number in (18, 20, 23):
        raise NotImplementedError(f"(Cast) there is no tensor of ONNX's data type {number} here.")
    if number in (21, 22):
        low, high = (0, 15) if number == 21 else (-8, 7)
        return paddle.clip(x.astype("int32"), low, high).astype(dtype_name(number))
    if number in (17, 19) and saturate:
        largest = 448.0 if number == 17 else 57344.0
        x = paddle.where(paddle.isnan(x), x, paddle.clip(x, -largest, largest))
    return x.astype(dtype_name(number))


@reads("CastLike")
def cast_like(x: Tensor, other: Tensor, *, saturate: int = 1) -> Tensor:
    return x.astype(other.dtype)


@reads("BitCast")
def bit_cast(x: Tensor, *, to: int) -> Tensor:
    return x.view(dtype_name(to))


@reads("Binarizer", "ai.onnx.ml.Binarizer")
def binarizer(x: Tensor, *, threshold: float = 0.0) -> Tensor:
    return (x > threshold).astype(x.dtype)


__all__ = ["aligned", "cast_to", "is_integer"]
