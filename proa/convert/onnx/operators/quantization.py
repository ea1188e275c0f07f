"""Numbers on a grid of few bits, and products of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import paddle
from ..registry import reads
from ..tensors import DTYPES, dtype_name
from .convolution import conv
from .elementwise import cast_to, nearest

_FLOATS = (17, 18, 19, 20, 23)


def spread(values: Tensor, x: Tensor, axis: int, block_size: int = 0) -> Tensor:
    """Scales or zero points so that each element of `x` meets its own."""
    if values.ndim == 0 or (values._aval.size == 1 and not block_size):
        return values.reshape([])
    axis = axis % x.ndim
    if block_size:
        repeated = paddle.repeat_interleave(values, block_size, axis)
        return paddle.slice(repeated, [axis], [0], [x._aval.shape[axis]])
    if values.ndim > 1:
        return values
    return values.reshape([-1 if a == axis else 1 for a in range(x.ndim)])


def _range(name: str) -> tuple[int, int]:
    limits = np.iinfo(name)
    return int(limits.min), int(limits.max)


@reads("QuantizeLinear", "com.microsoft.QuantizeLinear")
def quantize(
    x: Tensor, scale: Tensor, zero: Tensor | None = None, *, axis: int = 1, block_size: int = 0, output_dtype: int = 0,
    saturate: int = 1, precision: int = 0,
) -> Tensor:  # fmt: skip
    name = zero.dtype.name if zero is not None else dtype_name(output_dtype) if output_dtype else "uint8"
    wide = nearest if "float8" not in name else paddle.assign
    levels = wide(x.astype("float32") / spread(scale, x, axis, block_size).astype("float32"))
    if "float8" in name:
        return cast_to(levels, next(n for n in _FLOATS if np.dtype(DTYPES[n]).name == name), saturate)
    if zero is not None:
        levels = levels + spread(zero, x, axis, block_size).astype("float32")
    low, high = _range(name) if output_dtype not in (21, 22) else {21: (0, 15), 22: (-8, 7)}[output_dtype]
    return paddle.clip(levels, float(low), float(high)).astype("int32").astype(name)


@reads("DequantizeLinear", "com.microsoft.DequantizeLinear")
def dequantize(
    x: Tensor, scale: Tensor, zero: Tensor | None = None, *, axis: int = 1, block_size: int = 0, output_dtype: int = 0
) -> Tensor:
    step = spread(scale, x, axis, block_size)
    if zero is None or "float" in x.dtype.name:
        levels = x.astype("float32")
    else:
        levels = (x.astype("int32") - spread(zero, x, axis, block_size).astype("int32")).astype("float32")
    made = levels * step.astype("float32")
    return made.astype(dtype_name(output_dtype) if output_dtype else scale.dtype)


@reads("DynamicQuantizeLinear")
def dynamic_quantize(x: Tensor) -> Any:
    low = paddle.minimum(paddle.min(x), paddle.to_tensor(0.0))
    high = paddle.maximum(paddle.max(x), paddle.to_tensor(0.0))
    scale = (high - low) / 255.0
    zero = nearest(paddle.clip(-low / scale, 0.0, 255.0))
    return paddle.clip(nearest(x / scale) + zero, 0.0, 255.0).astype("uint8"), scale, zero.astype("uint8")


def _centred(x: Tensor, zero: Tensor | None, axis: int) -> Tensor:
    wide = x.astype("int32")
    if zero is None:
        return wide
    if zero.ndim == 1 and zero._aval.size > 1:
        zero = zero.reshape([-1 if a == axis % x.ndim else 1 for a in range(x.ndim)])
    elif zero._aval.size == 1:
        zero = zero.reshape([])
    return wide - zero.astype("int32")


@reads("MatMulInteger")
def matmul_integer(a: Tensor, b: Tensor, a_zero: Tensor | None = None, b_zero: Tensor | None = None) -> Tensor:
    return paddle.matmul(_centred(a, a_zero, -2), _centred(b, b_zero, -1))


@reads("ConvInteger")
def conv_integer(
    x: Tensor, weight: Tensor, x_zero: Tensor | None = None, w_zero: Tensor | None = None, **attributes: Any
) -> Tensor:
    # float64 holds every such sum exactly.
    attributes.pop("opset", None)
    made = conv(_centred(x, x_zero, 1).astype("float64"), _centred(weight, w_zero, 0).astype("float64"), **attributes)
    return made.astype("int32")


def _requantised(exact: Tensor, factor: Tensor, zero: Tensor) -> Tensor:
    name = zero.dtype.name
    low, high = _range(name)
    levels = nearest(exact.astype("float32") * factor) + zero.reshape([]).astype("float32")
    return paddle.clip(levels, float(low), float(high)).astype("int32").astype(name)


@reads("QLinearMatMul")
def qlinear_matmul(
    a: Tensor, a_scale: Tensor, a_zero: Tensor, b: Tensor, b_scale: Tensor, b_zero: Tensor, scale: Tensor, zero: Tensor
) -> Tensor:
    exact = matmul_integer(a, b, a_zero, b_zero)
    return _requantised(exact, (_one(a_scale) * _one(b_scale) / _one(scale)).astype("float32"), zero)


def _one(scale: Tensor) -> Tensor:
    return scale.reshape([]) if scale._aval.size == 1 else scale


@reads("QLinearConv")
def qlinear_conv(
    x: Tensor, x_scale: Tensor, x_zero: Tensor, weight: Tensor, w_scale: Tensor, w_zero: Tensor, scale: Tensor,
    zero: Tensor, bias: Tensor | None = None, **attributes: Any,
) -> Tensor:  # fmt: skip
    exact = conv_integer(x, weight, x_zero, w_zero, **attributes)
    shape = [1, -1, *[1] * (x.ndim - 2)]
    if bias is not None:
        exact = exact + bias.reshape(shape)
    factor = x_scale.reshape([]) * (w_scale.reshape(shape) if w_scale._aval.size > 1 else w_scale.reshape([]))
    return _requantised(exact, factor / scale.reshape([]), zero)
