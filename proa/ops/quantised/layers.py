"""Linear layers and convolutions of numbers on a grid of bytes.

A quantised tensor is bytes (uint8 or int8) with a scale and a zero point: its numbers are (bytes - zero) * scale. Weights
are int8 with a scale for each output and no zero point. Products are added up exactly in 32 bits; then come the scales, the
bias, the residual and the activation in float32, and the result stays float32, goes onto a grid of its own (rounded half to
even, kept within it), or is the sum itself (int32).

Passes put these operations into graphs that hold quantised layers (`graph/passes/quantised.py`), and `paddle.nn.quant` uses
them. Packing is an operation of its own, so it is computed beforehand with the other constants. The kernels here unpack the
weights again and are the reference for the native ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...eager.declare import op
from ...ir.padding import rules
from ...kernels.cpu.fused import out_size
from ...kernels.cpu.low_precision.quantised import (
    BYTES,
    PANEL,
    native_quantise_dynamic,
    native_quantised_conv,
    native_quantised_linear,
)
from ..basic import cast_to
from ..neural.fused import activate
from ..neural.windowed.convolution_kernels import _xla_conv, conv
from ..neural.windowed.windows import Pairs, Sizes

_DEEPEST = 65536  # terms of a sum: more need not fit into 32 bits
_FLOAT32, _INT32 = np.dtype("float32"), np.dtype("int32")

# ---- packing -------------------------------------------------------------------------------------


def _packed_shape(shape: tuple[int, ...], groups: int) -> tuple[int, ...]:
    own, depth = shape[0] // groups, math.prod(shape[1:])
    return groups, -(-own // PANEL), -(-depth // 4) + 1, PANEL, 4


def _infer_packed(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    weight, groups = operands[0], attributes[0]
    if weight.dtype != np.int8 or weight.ndim < 2 or groups < 1 or weight.shape[0] % groups:
        raise operation.error(ValueError, "the weight must be int8 [outputs, inputs, …]", operands)
    return make_aval(_packed_shape(weight.shape, groups), weight.dtype, place)


@op("weight", infer=_infer_packed, padding=rules.refused("it lays a whole matrix out anew"))
def packed_bytes(xp: Any, weight: Any, groups: int = 1) -> Any:
    """int8 filters [outputs, inputs / groups, kernel …] as [group, panel, depth / 4 + 1, 32, 4]; what is too many is 0.

    The depth runs over the kernel first and then over the channels; at its end are the sums of the columns, as int32.
    """
    _, count, fours, _, _ = _packed_shape(weight.shape, groups)
    own, channels = weight.shape[0] // groups, weight.shape[1]
    taps = math.prod(weight.shape[2:])
    depth = channels * taps
    matrix = weight.reshape(groups, own, channels, taps).transpose(0, 3, 2, 1).reshape(groups, depth, own)
    matrix = xp.pad(matrix, ((0, 0), (0, (fours - 1) * 4 - depth), (0, count * PANEL - own)))
    panels = matrix.reshape(groups, fours - 1, 4, count, PANEL).transpose(0, 3, 1, 4, 2)
    sums = xp.sum(matrix, axis=1, dtype=np.int32).reshape(groups, count, 1, PANEL, 1)
    parts = (sums >> xp.asarray(np.arange(0, 32, 8, dtype=np.int32))) & np.int32(255)
    return xp.concatenate([panels, ((parts ^ np.int32(128)) - np.int32(128)).astype(np.int8)], axis=2)


def _unpacked(packed: Any, shape: tuple[int, ...]) -> Any:
    """The filters as they were."""
    groups, count, fours, _, _ = packed.shape
    depth, own = math.prod(shape[1:]), shape[0] // groups
    panels = packed[:, :, : fours - 1].transpose(0, 2, 4, 1, 3)
    matrix = panels.reshape(groups, (fours - 1) * 4, count * PANEL)[:, :depth, :own]
    taps = math.prod(shape[2:])
    return matrix.reshape(groups, taps, shape[1], own).transpose(0, 3, 2, 1).reshape(shape)


# ---- grids ---------------------------------------------------------------------------------------


def to_grid(xp: Any, x: Any, scale: Any, zero: Any, dtype: Any) -> Any:
    """The nearest bytes, half to even; what lies beyond is put at the end, NaN at the lowest."""
    bounds = np.iinfo(np.dtype(dtype))
    low, high = (xp.asarray(float(b), x.dtype) - zero.astype(x.dtype) for b in (bounds.min, bounds.max))
    steps = x * (xp.asarray(1.0, x.dtype) / scale.astype(x.dtype))
    steps = xp.where(steps > low, xp.minimum(steps, high), low)
    return (xp.rint(steps).astype(np.int32) + zero).astype(dtype)


def _infer_quantise(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, scale, zero = operands
    if x.dtype != _FLOAT32 or zero.dtype != _INT32 or scale.dtype != _FLOAT32 or attributes[0] not in BYTES:
        raise operation.error(TypeError, "x and scale must be float32, zero int32, the result uint8 or int8", operands)
    if not all(_spreads(o.shape, x.shape) for o in (scale, zero)):
        raise operation.error(ValueError, "scale and zero must spread over x", operands)
    return make_aval(x.shape, np.dtype(attributes[0]), place)


def _spreads(shape: tuple[int, ...], over: tuple[int, ...]) -> bool:
    return len(shape) <= len(over) and all(a in (1, b) for a, b in zip(shape[::-1], over[::-1], strict=False))


@op("x scale zero", infer=_infer_quantise, padding=rules.untouched.levels)
def quantise(xp: Any, x: Any, scale: Any, zero: Any, dtype: str = "uint8") -> Any:
    """Numbers as bytes on a grid that is given: round(x / scale) + zero."""
    return to_grid(xp, x, scale, zero, dtype)


def dequantise(x: Any, scale: Any, zero: Any) -> Any:
    """The numbers that bytes stand for: (x - zero) * scale."""
    return cast_to(cast_to(x, _INT32) - zero, _FLOAT32) * scale


def _infer_dynamic(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, Aval, Aval]:
    x = operands[0]
    if x.dtype != _FLOAT32 or x.ndim < 1:
        raise operation.error(TypeError, "x must be float32 and have an axis", operands)
    shape = x.shape[:-1] if attributes[0] else (1,)
    return (
        make_aval(x.shape, np.dtype("uint8"), place),
        make_aval(shape, _FLOAT32, place),
        make_aval(shape, _INT32, place),
    )


@op("x", outputs=3, infer=_infer_dynamic, padding=rules.refused("its scales are found from all values together"))
def quantise_dynamic(xp: Any, x: Any, each_row: bool = False, symmetric: bool = False) -> Any:
    """Bytes on a grid that just holds x (for each row of it, or for all), with the scales and zero points.

    `symmetric`: the zero point is 128, and x reaches from 1 to 255. Of a row with a NaN the scale is NaN.
    """
    return _plain_dynamic(xp, x, each_row, symmetric)


def _plain_dynamic(xp: Any, x: Any, each_row: bool, symmetric: bool) -> Any:
    axes = (x.ndim - 1,) if each_row else tuple(range(x.ndim))
    zero = xp.zeros((), x.dtype)
    low, high = (function(x, axis=axes, keepdims=True, initial=0.0) for function in (xp.min, xp.max))
    reach = xp.maximum(high, -low) / np.float32(127) if symmetric else (high - low) / np.float32(255)
    scale = xp.where(reach == zero, xp.ones((), x.dtype), reach)
    if symmetric:
        at = xp.full(scale.shape, 128, np.int32)
    else:
        place = xp.rint(-low / scale)
        at = xp.where((place >= 0) & (place <= 255), place, zero).astype(np.int32)
    shape = x.shape[:-1] if each_row else (1,)
    return to_grid(xp, x, scale, at, np.uint8), scale.reshape(shape), at.reshape(shape)


# ---- products ------------------------------------------------------------------------------------


def _fits_behind(operands: Any, shape: tuple[int, ...], channels: int, out_dtype: str) -> bool:
    """Whether what stands behind the sums has the right shapes and types."""
    scales, bias, residual, residual_scale, residual_zero, out_scale, out_zero = operands
    fits = scales.shape == (channels,) and scales.dtype == _FLOAT32
    fits = fits and (bias is None or (bias.shape == (channels,) and bias.dtype == _FLOAT32))
    if residual is not None:
        on_grid = residual.dtype.name in BYTES
        fits = fits and residual.shape == shape and (on_grid or residual.dtype == _FLOAT32)
        fits = fits and (not on_grid or _is_grid(residual_scale, residual_zero))
    return fits and (out_dtype in ("float32", "int32") or (out_dtype in BYTES and _is_grid(out_scale, out_zero)))


def _is_grid(scale: Any, zero: Any, sizes: tuple[int, ...] = (1,)) -> bool:
    if scale is None or zero is None or scale.dtype != _FLOAT32 or zero.dtype != _INT32:
        return False
    return scale.size == zero.size and scale.size in sizes


_MISFIT = "the operands do not fit each other"


def _infer_linear(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, panels, x_scale, x_zero, *behind = operands
    columns, out_dtype = attributes[:2]
    if x.dtype.name not in BYTES or panels.dtype != np.int8:
        raise operation.error(TypeError, "x must be uint8 or int8, the weight packed int8", operands)
    if x.ndim < 1 or x.shape[-1] > _DEEPEST:
        raise operation.error(ValueError, f"x must have an axis of at most {_DEEPEST}", operands)
    shape = (*x.shape[:-1], columns)
    fits = panels.shape == _packed_shape((columns, x.shape[-1]), 1)
    fits = fits and _is_grid(x_scale, x_zero, (1, math.prod(x.shape[:-1])))
    if not fits or not _fits_behind(behind, shape, columns, out_dtype):
        raise operation.error(ValueError, _MISFIT, operands)
    return make_aval(shape, np.dtype(out_dtype), place)


@op(
    "x panels x_scale x_zero scales",
    optional="bias residual residual_scale residual_zero out_scale out_zero",
    infer=_infer_linear,
    padding=rules.products.packed,
)
def quantised_linear(
    xp: Any, x: Any, panels: Any, x_scale: Any, x_zero: Any, scales: Any, bias: Any = None, residual: Any = None,
    residual_scale: Any = None, residual_zero: Any = None, out_scale: Any = None, out_zero: Any = None,
    columns: int = 0, out_dtype: str = "float32", activation: str = "", low: float = 0.0, high: float = 0.0,
) -> Any:  # fmt: skip
    """activation((x - zero) weight scale scales + bias + residual), in float32 or on a grid; int32: the sums alone.

    The weight [outputs, inputs] is packed by `packed_bytes`; `x_scale` and `x_zero` are one, or one for each row.
    """
    return _plain_linear(
        xp, x, panels, x_scale, x_zero, scales, bias, residual, residual_scale, residual_zero, out_scale, out_zero,
        columns, out_dtype, activation, low, high,
    )  # fmt: skip


def _plain_linear(
    xp: Any, x: Any, panels: Any, x_scale: Any, x_zero: Any, scales: Any, bias: Any, residual: Any,
    residual_scale: Any, residual_zero: Any, out_scale: Any, out_zero: Any, columns: int, out_dtype: str,
    activation: str, low: float, high: float,
) -> Any:  # fmt: skip
    rows = x.shape[:-1]
    per_row = x_scale.size != 1 or rows == ()
    scale, zero = (a.reshape(*rows, 1) if per_row else a.reshape(1) for a in (x_scale, x_zero))
    weight = _unpacked(panels, (columns, x.shape[-1]))
    sums = _exact_product(xp, x.astype(np.int32) - zero, weight.T)
    return _ended(
        xp, sums, scale * scales, bias, residual, residual_scale, residual_zero, out_scale, out_zero, out_dtype,
        activation, low, high,
    )  # fmt: skip


def _exact_product(xp: Any, left: Any, right: Any) -> Any:
    """A product of whole numbers; NumPy's own is slow but for floats, and float64 holds all these sums exactly."""
    if xp is np:
        return np.matmul(left.astype(np.float64), right.astype(np.float64)).astype(np.int32)
    return xp.matmul(left, right.astype(np.int32))


def _ended(
    xp: Any, sums: Any, factor: Any, bias: Any, residual: Any, residual_scale: Any, residual_zero: Any, out_scale: Any,
    out_zero: Any, out_dtype: str, activation: str, low: float, high: float,
) -> Any:  # fmt: skip
    """What stands behind the sums; `factor` and `bias` spread over them."""
    if out_dtype == "int32":
        return sums
    value = sums.astype(np.float32) * factor
    value = value if bias is None else value + bias
    if residual is not None:
        if residual.dtype != np.float32:
            steps = residual.astype(np.int32) - residual_zero.reshape(())
            residual = steps.astype(np.float32) * residual_scale.reshape(())
        value = value + residual
    value = activate(xp, value, activation, low, high)
    return to_grid(xp, value, out_scale.reshape(()), out_zero.reshape(()), out_dtype) if out_dtype in BYTES else value


# ---- convolutions --------------------------------------------------------------------------------


def is_depthwise(shape: tuple[int, ...], groups: int) -> bool:
    """Whether each channel has one filter: those are [taps, channels] instead of packed."""
    return shape[1] == 1 and groups > 1 and shape[0] == groups


def _infer_conv(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, filters, x_scale, x_zero, *behind = operands
    shape, stride, padding, dilation, groups, out_dtype = attributes[:6]
    if x.dtype.name not in BYTES or filters.dtype != np.int8:
        raise operation.error(TypeError, "x must be uint8 or int8, the filters int8", operands)
    depth = math.prod(shape[1:])
    packed = (depth, shape[0]) if is_depthwise(shape, groups) else _packed_shape(shape, groups)
    fits = x.ndim == len(shape) == len(stride) + 2 and depth <= _DEEPEST and filters.shape == packed
    if fits and shape[1] * groups == x.shape[1] and shape[0] % groups == 0 and _is_grid(x_scale, x_zero):
        size = out_size(x.shape, shape, stride, padding, dilation)
        result = (x.shape[0], shape[0], *size)
        if min(size) > 0 and _fits_behind(behind, result, shape[0], out_dtype):
            return make_aval(result, np.dtype(out_dtype), place)
    raise operation.error(ValueError, _MISFIT, operands)


@op(
    "x filters x_scale x_zero scales",
    optional="bias residual residual_scale residual_zero out_scale out_zero",
    infer=_infer_conv,
    padding=rules.windows.fused_conv,
)
def quantised_conv(
    xp: Any, x: Any, filters: Any, x_scale: Any, x_zero: Any, scales: Any, bias: Any = None, residual: Any = None,
    residual_scale: Any = None, residual_zero: Any = None, out_scale: Any = None, out_zero: Any = None,
    shape: tuple[int, ...] = (), stride: Sizes = (), padding: Pairs = (), dilation: Sizes = (), groups: int = 1,
    out_dtype: str = "float32", activation: str = "", low: float = 0.0, high: float = 0.0,
) -> Any:  # fmt: skip
    """The convolution [images, channels, …] with the same endings as `quantised_linear`; `shape` is the weight's.

    Filters are packed by `packed_bytes`, or [taps, channels] where `is_depthwise`. Outside the image lies the zero point.
    """
    return _plain_conv(
        xp, x, filters, x_scale, x_zero, scales, bias, residual, residual_scale, residual_zero, out_scale, out_zero,
        shape, stride, padding, dilation, groups, out_dtype, activation, low, high,
    )  # fmt: skip


def _plain_conv(
    xp: Any, x: Any, filters: Any, x_scale: Any, x_zero: Any, scales: Any, bias: Any, residual: Any,
    residual_scale: Any, residual_zero: Any, out_scale: Any, out_zero: Any, shape: tuple[int, ...], stride: Sizes,
    padding: Pairs, dilation: Sizes, groups: int, out_dtype: str, activation: str, low: float, high: float,
) -> Any:  # fmt: skip
    weight = filters.T.reshape(shape) if filters.ndim == 2 else _unpacked(filters, shape)
    numbers = x.astype(np.int32) - x_zero.reshape(())
    window = (stride, padding, dilation, groups, False)
    if xp is np:
        wide = [a.astype(np.float64) for a in (numbers, weight)]
        sums = conv.operation.kernels["numpy"](np, *wide, None, *window).astype(np.int32)
    else:
        sums = _xla_conv(numbers, weight.astype(np.int32), *window)
    factor, bias = (
        a if a is None else a.reshape(-1, *(1,) * len(stride)) for a in (x_scale.reshape(()) * scales, bias)
    )
    return _ended(
        xp, sums, factor, bias, residual, residual_scale, residual_zero, out_scale, out_zero, out_dtype, activation,
        low, high,
    )  # fmt: skip


quantised_linear.operation.kernels["cpu"] = native_quantised_linear(_plain_linear)
quantised_conv.operation.kernels["cpu"] = native_quantised_conv(_plain_conv)
quantise_dynamic.operation.kernels["cpu"] = native_quantise_dynamic(_plain_dynamic)
