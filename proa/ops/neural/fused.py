"""Linear layers and convolutions with their bias, residual and activation as one operation, weights packed.

Nobody writes these: passes put them into graphs that are compiled for inference (`graph/passes/fusion.py`). Packing is an
operation of its own, so it is computed beforehand with the other constants. What a packed weight looks like is the same
everywhere; the kernels here unpack it again and are the reference for the native ones.

A weight may be packed as bfloat16 (`low`), two neighbours of the depth side by side as the processor multiplies them. What
it is multiplied by is then rounded to bfloat16 as well; sums and bias are float32. So is a convolution's result, unless it
is `rounded`: then it lies in memory as bfloat16, and whoever uses it, as image or residual, reads it as such.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.aval import Aval, make_aval
from ...core.dtype import BFLOAT16, FLOAT32
from ...eager.declare import op
from ...ir.operation import find_operation
from ...ir.padding import rules
from ...kernels.cpu.fused import (
    COLUMNS,
    PANEL,
    is_depthwise,
    native_fused_conv,
    native_fused_linear,
    native_squeeze_excite,
    out_size,
)
from .windowed.convolution_kernels import conv
from .windowed.windows import Pairs, Sizes


def activate(xp: Any, x: Any, activation: str, low: float, high: float) -> Any:
    """One of `kernels.cpu.fused.ACTIVATIONS`."""
    if activation == "relu":
        return xp.maximum(x, 0)
    if activation == "clip":
        return xp.clip(x, xp.asarray(low, x.dtype), xp.asarray(high, x.dtype))
    if activation in ("gelu", "gelu_tanh"):
        return find_operation("gelu").kernel(xp, x, activation == "gelu_tanh")
    return find_operation(activation).kernel(xp, x) if activation else x


def _packed_panels_shape(depth: int, columns: int, low: bool) -> tuple[int, ...]:
    count = -(-columns // COLUMNS)
    return (count, -(-depth // 2), COLUMNS, 2) if low else (count, depth, COLUMNS)


def _infer_panels(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    low, (depth, columns) = attributes[0], operands[0].shape
    return make_aval(_packed_panels_shape(depth, columns, low), BFLOAT16 if low else operands[0].dtype, place)


@op("weight", infer=_infer_panels, padding=rules.refused("it lays a whole matrix out anew"))
def packed_panels(xp: Any, weight: Any, low: bool = False) -> Any:
    """A weight [depth, columns] as [panel, depth, 48], or as pairs; what the last panel has too many is 0."""
    depth, columns = weight.shape
    shape = _packed_panels_shape(depth, columns, low)
    count, rows = shape[0], 2 * shape[1] if low else depth
    padded = xp.pad(weight, ((0, rows - depth), (0, count * COLUMNS - columns)))
    panels = padded.reshape(rows, count, COLUMNS).transpose(1, 0, 2)
    return _paired(panels) if low else panels


def _paired(panels: Any) -> Any:
    """Panels [..., depth, filters] as bfloat16 [..., pair, filters, 2]."""
    *outer, depth, width = panels.shape
    pairs = panels.astype(BFLOAT16).reshape(*outer, depth // 2, 2, width)
    return pairs.swapaxes(-1, -2)


def _unpaired(pairs: Any) -> Any:
    *outer, depth, width, _ = pairs.shape
    return pairs.swapaxes(-1, -2).reshape(*outer, 2 * depth, width).astype(FLOAT32)


def _rounded(x: Any) -> Any:
    return x.astype(BFLOAT16).astype(FLOAT32)


def _unpacked_panels(panels: Any, columns: int) -> Any:
    return panels.transpose(1, 0, 2).reshape(panels.shape[1], panels.shape[0] * COLUMNS)[:, :columns]


def _fit_each_other(x: Any, weight: Any, *others: Any) -> bool:
    """Whether the types do: all are alike, but the weight of float32 may be packed as bfloat16."""
    alike = weight.dtype == x.dtype or (weight.dtype == BFLOAT16 and x.dtype == FLOAT32)
    return alike and all(o is None or o.dtype == x.dtype for o in others)


def _infer_linear(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, panels, bias, residual = operands
    columns = attributes[0]
    shape = (*x.shape[:-1], columns)
    fits = x.ndim >= 1 and panels.shape == _packed_panels_shape(
        x.shape[-1], columns, panels.dtype == BFLOAT16 != x.dtype
    )
    fits = fits and (bias is None or bias.shape == (columns,)) and (residual is None or residual.shape == shape)
    if not fits or not _fit_each_other(*operands):
        raise operation.error(ValueError, "the operands do not fit each other", operands)
    return make_aval(shape, x.dtype, place)


@op("x panels", optional="bias residual", infer=_infer_linear, padding=rules.products.packed)
def fused_linear(
    xp: Any,
    x: Any,
    panels: Any,
    bias: Any = None,
    residual: Any = None,
    columns: int = 0,
    activation: str = "",
    low: float = 0.0,
    high: float = 0.0,
) -> Any:
    """activation(x weight + bias + residual), the weight packed by `packed_panels`."""
    return _plain_linear(xp, x, panels, bias, residual, columns, activation, low, high)


def _plain_linear(
    xp: Any, x: Any, panels: Any, bias: Any, residual: Any, columns: int, activation: str, low: float, high: float
) -> Any:
    if panels.ndim == 4:
        x, panels = _rounded(x), _unpaired(panels)[:, : x.shape[-1]]
    result = xp.matmul(x, _unpacked_panels(panels, columns))
    for term in (bias, residual):
        result = result if term is None else result + term
    return activate(xp, result, activation, low, high)


def _infer_filters(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    shape, (groups, low) = operands[0].shape, attributes
    if low and (shape[1] % 2 or is_depthwise(shape, groups)):
        raise operation.error(ValueError, "only an even number of channels can be packed as bfloat16", operands)
    return make_aval(_packed_shape(shape, groups, low), BFLOAT16 if low else operands[0].dtype, place)


def _packed_shape(shape: tuple[int, ...], groups: int, low: bool) -> tuple[int, ...]:
    count, depth = -(-(shape[0] // groups) // PANEL), math.prod(shape[1:])
    if is_depthwise(shape, groups):
        return (depth, shape[0])
    return (groups, count, depth // 2, PANEL, 2) if low else (groups, count, depth, PANEL)


@op("weight", infer=_infer_filters, padding=rules.refused("it lays a whole matrix out anew"))
def packed_filters(xp: Any, weight: Any, groups: int = 1, low: bool = False) -> Any:
    """Filters [out, in / groups, kernel …] as [group, panel, depth, 32], or as pairs of channels; depth is (tap, channel).
    Too many filters are 0. Those of a channel each become [tap, filter]."""
    if is_depthwise(weight.shape, groups):
        return weight.reshape(weight.shape[0], -1).transpose(1, 0)
    own, channels = weight.shape[0] // groups, weight.shape[1]
    _, count, depth, _ = _packed_shape(weight.shape, groups, False)
    matrix = weight.reshape(groups, own, channels, depth // channels).transpose(0, 3, 2, 1).reshape(groups, depth, own)
    padded = xp.pad(matrix, ((0, 0), (0, 0), (0, count * PANEL - own)))
    panels = padded.reshape(groups, depth, count, PANEL).transpose(0, 2, 1, 3)
    return _paired(panels) if low else panels


def _unpacked_filters(filters: Any, shape: tuple[int, ...], groups: int) -> Any:
    if is_depthwise(shape, groups):
        return filters.transpose(1, 0).reshape(shape)
    _, count, depth, _ = filters.shape
    own, channels = shape[0] // groups, shape[1]
    matrix = filters.transpose(0, 2, 1, 3).reshape(groups, depth, count * PANEL)[:, :, :own]
    return matrix.reshape(groups, depth // channels, channels, own).transpose(0, 3, 2, 1).reshape(shape)


def _infer_conv(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, filters, bias, residual, after = operands
    shape, stride, padding, dilation, groups = attributes[:5]
    low, rounded = len(filters.shape) == 5, attributes[8]
    wide = FLOAT32 if low or filters.dtype == FLOAT32 else x.dtype  # of sums, and of what need not be rounded
    expected = _packed_shape(shape, groups, low)
    fits = x.ndim == len(shape) == len(stride) + 2 and filters.shape == expected and shape[1] * groups == x.shape[1]
    if fits:
        size = out_size(x.shape, shape, stride, padding, dilation)
        result = (x.shape[0], shape[0], *size)
        fits = (bias is None or bias.shape == (shape[0],)) and (residual is None or residual.shape == result)
        fits = fits and (after is None or after.shape == (2, shape[0]))
        images = all(o is None or o.dtype in (wide, BFLOAT16) for o in (x, residual))
        alike = all(o is None or o.dtype == wide for o in (bias, after)) and filters.dtype in (wide, BFLOAT16)
        if fits and min(size) > 0 and images and alike:
            return make_aval(result, BFLOAT16 if rounded else wide, place)
    raise operation.error(ValueError, "the operands do not fit each other", operands)


@op("x filters", optional="bias residual after", infer=_infer_conv, padding=rules.windows.fused_conv)
def fused_conv(
    xp: Any,
    x: Any,
    filters: Any,
    bias: Any = None,
    residual: Any = None,
    after: Any = None,
    shape: tuple[int, ...] = (),
    stride: Sizes = (),
    padding: Pairs = (),
    dilation: Sizes = (),
    groups: int = 1,
    activation: str = "",
    low: float = 0.0,
    high: float = 0.0,
    rounded: bool = False,
) -> Any:
    """activation(conv(x, weight) + bias + residual) * after[0] + after[1], channels first.

    `shape` is the weight's, which is packed by `packed_filters`; `after` has two numbers for each filter. Images may be
    bfloat16, and the result is if it is `rounded`.
    """
    return _plain_conv(
        xp, x, filters, bias, residual, after, shape, stride, padding, dilation, groups, activation, low, high, rounded,
    )  # fmt: skip


def _plain_conv(
    xp: Any,
    x: Any,
    filters: Any,
    bias: Any,
    residual: Any,
    after: Any,
    shape: tuple[int, ...],
    stride: Sizes,
    padding: Pairs,
    dilation: Sizes,
    groups: int,
    activation: str,
    low: float,
    high: float,
    rounded: bool = False,
) -> Any:
    import numpy as np

    if filters.ndim == 5:
        x, filters = _rounded(x), _unpaired(filters)
    if filters.dtype == FLOAT32:
        x = x.astype(FLOAT32)
        residual = None if residual is None else residual.astype(FLOAT32)
    weight = _unpacked_filters(filters, shape, groups)
    kernel = conv.operation.kernels["numpy"] if xp is np else conv.operation.kernel
    result = kernel(xp, x, weight, bias, stride, padding, dilation, groups, False)
    result = activate(xp, result if residual is None else result + residual, activation, low, high)
    if after is not None:
        factor, shift = after.reshape(2, -1, *[1] * len(stride))
        result = result * factor + shift
    return result.astype(BFLOAT16) if rounded else result


Ending = tuple[str, float, float]  # an activation, and the bounds of one that has such


def _infer_squeeze(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, first, second, first_bias, second_bias = operands
    hidden, rounded = attributes[0], attributes[4]
    fits = x.ndim > 2
    for weight, bias, outputs, inputs in (
        (first, first_bias, hidden, x.shape[1] if fits else 0),
        (second, second_bias, x.shape[1] if fits else 0, hidden),
    ):
        low = weight.ndim == 5
        fits = fits and weight.shape == _packed_shape((outputs, inputs, 1, 1), 1, low) and not (low and inputs % 2)
        fits = fits and weight.dtype == (BFLOAT16 if low else FLOAT32)
        fits = fits and (bias is None or (bias.shape == (outputs,) and bias.dtype == FLOAT32))
    if not fits or x.dtype not in (FLOAT32, BFLOAT16):
        raise operation.error(ValueError, "the operands do not fit each other", operands)
    return make_aval(x.shape, BFLOAT16 if rounded else FLOAT32, place)


@op(
    "x first second", optional="first_bias second_bias", infer=_infer_squeeze,
    padding=rules.refused("it takes the mean of whole images"),
)  # fmt: skip
def squeeze_excite(
    xp: Any,
    x: Any,
    first: Any,
    second: Any,
    first_bias: Any = None,
    second_bias: Any = None,
    hidden: int = 0,
    first_ending: Ending = ("", 0.0, 0.0),
    second_ending: Ending = ("", 0.0, 0.0),
    adds: bool = False,
    rounded: bool = False,
) -> Any:
    """x times what two convolutions of a single position (packed by `packed_filters`, with a bias and an activation) make of
    the mean of each of its channels; and x added to that, if it `adds`."""
    return _plain_squeeze(
        xp, x, first, second, first_bias, second_bias, hidden, first_ending, second_ending, adds, rounded
    )


def _plain_squeeze(
    xp: Any,
    x: Any,
    first: Any,
    second: Any,
    first_bias: Any,
    second_bias: Any,
    hidden: int,
    first_ending: Ending,
    second_ending: Ending,
    adds: bool,
    rounded: bool,
) -> Any:
    x = x.astype(FLOAT32)
    gate, channels = xp.mean(x, axis=tuple(range(2, x.ndim))), x.shape[1]
    for weight, bias, shape, ending in (
        (first, first_bias, (hidden, channels), first_ending),
        (second, second_bias, (channels, hidden), second_ending),
    ):
        if weight.ndim == 5:
            gate, weight = _rounded(gate), _unpaired(weight)
        gate = xp.matmul(gate, _unpacked_filters(weight, shape, 1).transpose(1, 0))
        gate = activate(xp, gate if bias is None else gate + bias, *ending)
    result = x * gate.reshape(*gate.shape, *[1] * (x.ndim - 2))
    result = x + result if adds else result
    return result.astype(BFLOAT16) if rounded else result


squeeze_excite.operation.kernels["cpu"] = native_squeeze_excite(_plain_squeeze)
fused_linear.operation.kernels["cpu"] = native_fused_linear(_plain_linear)
fused_conv.operation.kernels["cpu"] = native_fused_conv(_plain_conv)
