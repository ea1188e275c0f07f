"""Quantised values: numbers on a grid."""

from __future__ import annotations

from typing import Any

from .....eager.tensor import Tensor
from ..functions import paddle
from ..registry import reads


def _along(x: Tensor, scale: Tensor, axis: int) -> Tensor:
    """The scales of the channels in the shape that fits x."""
    if axis < 0 or scale._aval.size == 1:
        return scale.reshape([1] * x.ndim if scale._aval.size == 1 else list(scale._aval.shape))
    return scale.reshape([-1 if place == axis else 1 for place in range(x.ndim)])


def _levels(bits: int) -> float:
    return float((1 << (bits - 1)) - 1)


@reads("quantize_linear")
def quantize_linear(
    x: Tensor, scale: Tensor, zero_point: Any = None, *_rest: Any, quant_axis: int = -1, bit_length: int = 8,
    qmin: int = -128, qmax: int = 127, round_type: int = 0, only_observer: bool = False,
) -> Tensor:  # fmt: skip
    if only_observer:
        return paddle.assign(x)
    steps = x / _along(x, scale, quant_axis) * _levels(bit_length)
    return paddle.clip(paddle.round(steps), float(qmin), float(qmax))


@reads("dequantize_linear")
def dequantize_linear(
    x: Tensor, scale: Tensor, zero_point: Any = None, *_rest: Any, quant_axis: int = -1, bit_length: int = 8,
    qmin: int = -128, qmax: int = 127, round_type: int = 0, only_observer: bool = False,
) -> Tensor:  # fmt: skip
    if only_observer:
        return paddle.assign(x)
    return x.astype(scale.dtype) * _along(x, scale, quant_axis) / _levels(bit_length)


@reads("fake_quantize_dequantize_moving_average_abs_max_", "fake_quantize_dequantize_abs_max")
def fake_quantize_dequantize(x: Tensor, scale: Tensor | None = None, *_rest: Any, bit_length: int = 8) -> Tensor:
    largest = paddle.max(paddle.abs(x)) if scale is None else scale.reshape([])
    levels = _levels(bit_length)
    clipped = paddle.minimum(paddle.maximum(x, -largest), largest)
    return paddle.round(clipped * levels / largest) * largest / levels


@reads("fake_channel_wise_quantize_dequantize_abs_max")
def fake_channel_wise_quantize_dequantize(x: Tensor, *, bit_length: int = 8, quant_axis: int = 0) -> Tensor:
    axes = [axis for axis in range(x.ndim) if axis != quant_axis]
    largest = paddle.max(paddle.abs(x), axes, keepdim=True)
    levels = _levels(bit_length)
    return paddle.round(x * levels / largest) * largest / levels
