"""Linear layers and convolutions with their bias, residual and activation as one operation, weights packed.

Nobody writes these: passes put them into graphs that are compiled for inference (`graph/passes/fusion.py`). Packing is an
operation of its own, so it is computed beforehand with the other constants. What a packed weight looks like is the same
everywhere; the kernels here unpack it again and are the reference for the native ones.
"""

from __future__ import annotations

import math
from typing import Any

from ...core.aval import Aval, make_aval
from ...eager.declare import op
from ...ir.operation import find_operation
from ...ir.padding import rules
from ...kernels.cpu.fused import COLUMNS, PANEL, native_fused_conv, native_fused_linear, out_size
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


def _infer_panels(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    depth, columns = operands[0].shape
    return make_aval((-(-columns // COLUMNS), depth, COLUMNS), operands[0].dtype, place)


@op("weight", infer=_infer_panels, padding=rules.refused("it lays a whole matrix out anew"))
def packed_panels(xp: Any, weight: Any) -> Any:
    """A weight [depth, columns] as [panel, depth, 48]; what the last panel has too many is 0."""
    depth, columns = weight.shape
    count = -(-columns // COLUMNS)
    padded = xp.pad(weight, ((0, 0), (0, count * COLUMNS - columns)))
    return padded.reshape(depth, count, COLUMNS).transpose(1, 0, 2)


def _unpacked_panels(panels: Any, columns: int) -> Any:
    return panels.transpose(1, 0, 2).reshape(panels.shape[1], panels.shape[0] * COLUMNS)[:, :columns]


def _infer_linear(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, panels, bias, residual = operands
    columns = attributes[0]
    shape = (*x.shape[:-1], columns)
    fits = x.ndim >= 1 and panels.shape == (-(-columns // COLUMNS), x.shape[-1], COLUMNS)
    fits = fits and (bias is None or bias.shape == (columns,)) and (residual is None or residual.shape == shape)
    if not fits or any(o is not None and o.dtype != x.dtype for o in operands):
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
    result = xp.matmul(x, _unpacked_panels(panels, columns))
    for term in (bias, residual):
        result = result if term is None else result + term
    return activate(xp, result, activation, low, high)


def _infer_filters(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    shape, groups = operands[0].shape, attributes[0]
    return make_aval(_packed_shape(shape, groups), operands[0].dtype, place)


def _packed_shape(shape: tuple[int, ...], groups: int) -> tuple[int, ...]:
    return (groups, -(-(shape[0] // groups) // PANEL), math.prod(shape[1:]), PANEL)


@op("weight", infer=_infer_filters, padding=rules.refused("it lays a whole matrix out anew"))
def packed_filters(xp: Any, weight: Any, groups: int = 1) -> Any:
    """Filters [out, in / groups, kernel …] as [group, panel, depth, 32]; depth is (tap, channel). Too many filters are 0."""
    own, channels = weight.shape[0] // groups, weight.shape[1]
    _, count, depth, _ = _packed_shape(weight.shape, groups)
    matrix = weight.reshape(groups, own, channels, depth // channels).transpose(0, 3, 2, 1).reshape(groups, depth, own)
    padded = xp.pad(matrix, ((0, 0), (0, 0), (0, count * PANEL - own)))
    return padded.reshape(groups, depth, count, PANEL).transpose(0, 2, 1, 3)


def _unpacked_filters(filters: Any, shape: tuple[int, ...], groups: int) -> Any:
    _, count, depth, _ = filters.shape
    own, channels = shape[0] // groups, shape[1]
    matrix = filters.transpose(0, 2, 1, 3).reshape(groups, depth, count * PANEL)[:, :, :own]
    return matrix.reshape(groups, depth // channels, channels, own).transpose(0, 3, 2, 1).reshape(shape)


def _infer_conv(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, filters, bias, residual = operands
    shape, packed, stride, padding, dilation, groups = attributes[:6]
    expected = _packed_shape(shape, groups) if packed else shape
    fits = x.ndim == len(shape) == len(stride) + 2 and filters.shape == expected and shape[1] * groups == x.shape[1]
    if fits:
        size = out_size(x.shape, shape, stride, padding, dilation)
        result = (x.shape[0], shape[0], *size)
        fits = (bias is None or bias.shape == (shape[0],)) and (residual is None or residual.shape == result)
        if fits and min(size) > 0 and all(o is None or o.dtype == x.dtype for o in operands):
            return make_aval(result, x.dtype, place)
    raise operation.error(ValueError, "the operands do not fit each other", operands)


@op("x filters", optional="bias residual", infer=_infer_conv, padding=rules.windows.fused_conv)
def fused_conv(
    xp: Any,
    x: Any,
    filters: Any,
    bias: Any = None,
    residual: Any = None,
    shape: tuple[int, ...] = (),
    packed: bool = False,
    stride: Sizes = (),
    padding: Pairs = (),
    dilation: Sizes = (),
    groups: int = 1,
    activation: str = "",
    low: float = 0.0,
    high: float = 0.0,
) -> Any:
    """activation(conv(x, weight) + bias + residual), channels first.

    `shape` is the weight's; it is packed by `packed_filters`, or as it was.
    """
    return _plain_conv(
        xp, x, filters, bias, residual, shape, packed, stride, padding, dilation, groups, activation, low, high,
    )  # fmt: skip


def _plain_conv(
    xp: Any,
    x: Any,
    filters: Any,
    bias: Any,
    residual: Any,
    shape: tuple[int, ...],
    packed: bool,
    stride: Sizes,
    padding: Pairs,
    dilation: Sizes,
    groups: int,
    activation: str,
    low: float,
    high: float,
) -> Any:
    import numpy as np

    weight = _unpacked_filters(filters, shape, groups) if packed else filters
    kernel = conv.operation.kernels["numpy"] if xp is np else conv.operation.kernel
    result = kernel(xp, x, weight, bias, stride, padding, dilation, groups, False)
    result = result if residual is None else result + residual
    return activate(xp, result, activation, low, high)


fused_linear.operation.kernels["cpu"] = native_fused_linear(_plain_linear)
fused_conv.operation.kernels["cpu"] = native_fused_conv(_plain_conv)
