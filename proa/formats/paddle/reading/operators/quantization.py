"""Quantised values: numbers on a grid."""

from __future__ import annotations

from typing import Any

from .....eager.tensor import Tensor
from .....ops.quantised.levels import from_levels, to_levels
from ..functions import paddle
from ..registry import reads


def _levels(bits: int) -> int:
    return (1 << (bits - 1)) - 1


@reads("quantize_linear")
def quantize_linear(
    x: Tensor, scale: Tensor, zero_point: Any = None, *_rest: Any, quant_axis: int = -1, bit_length: int = 8,
    qmin: int = -128, qmax: int = 127, round_type: int = 0, only_observer: bool = False,
) -> Tensor:  # fmt: skip
    if only_observer:
        return paddle.assign(x)
    return to_levels(x, scale, quant_axis, _levels(bit_length), qmin, qmax)


@reads("dequantize_linear")
def dequantize_linear(
    x: Tensor, scale: Tensor, zero_point: Any = None, *_rest: Any, quant_axis: int = -1, bit_length: int = 8,
    qmin: int = -128, qmax: int = 127, round_type: int = 0, only_observer: bool = False,
) -> Tensor:  # fmt: skip
    if only_observer:
        return paddle.assign(x)
    return from_levels(x, scale, quant_axis, _levels(bit_length))


@reads("fake_dequantize_max_abs")
def fake_dequantize(x: Tensor, scale: Tensor, *, max_range: float = 127.0) -> Tensor:
    if max_range != int(max_range) or max_range < 1:
        return x * scale.reshape([]) / max_range
    return from_levels(x, scale, -1, int(max_range))


@reads("fake_channel_wise_dequantize_max_abs")
def fake_channel_wise_dequantize(
    x: Tensor, scales: list[Tensor], *, quant_bits: Any = (8,), quant_axis: int = 0, x_num_col_dims: int = 1
) -> Tensor:
    """Of two scales (the weight's and the activation's, behind a product) the second is one number."""
    result = from_levels(x, scales[0], quant_axis if len(scales) == 1 else x_num_col_dims, _levels(quant_bits[0]))
    return result if len(scales) == 1 else from_levels(result, scales[1], -1, _levels(quant_bits[1]))


@reads("fake_quantize_dequantize_moving_average_abs_max_", "fake_quantize_dequantize_abs_max")
def fake_quantize_dequantize(x: Tensor, scale: Tensor | None = None, *_rest: Any, bit_length: int = 8) -> Tensor:
    largest = paddle.max(paddle.abs(x)) if scale is None else scale.reshape([])
    levels = float(_levels(bit_length))
    clipped = paddle.minimum(paddle.maximum(x, -largest), largest)
    return paddle.round(clipped * levels / largest) * largest / levels


@reads("fake_channel_wise_quantize_dequantize_abs_max")
def fake_channel_wise_quantize_dequantize(x: Tensor, *, bit_length: int = 8, quant_axis: int = 0) -> Tensor:
    axes = [axis for axis in range(x.ndim) if axis != quant_axis]
    largest = paddle.max(paddle.abs(x), axes, keepdim=True)
    levels = float(_levels(bit_length))
    return paddle.round(x * levels / largest) * largest / levels
