"""The primitives of convolution, over any number of spatial axes.

A convolution is linear in its input and in its weight, so three primitives close under
differentiation to any order: `conv` itself, and its transposes `conv_grad_input` (which is also the
transposed convolution) and `conv_grad_weight`. XLA has its own kernels; tier 0 gathers windows into
a matrix and multiplies (im2col), one group after another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.aval import Aval, make_aval
from ....core.dtype import is_floating
from ....eager import series
from ....eager.declare import op
from ....eager.tensor import Tensor
from ....ir.padding import rules
from ....kernels.cpu.convolution import native_convolution, native_grad_input, native_grad_weight
from ....kernels.cpu.direct import on_host
from ....kernels.cpu.low_precision.bfloat import bfloat_convolution, bfloat_grad_input, bfloat_grad_weight
from ....kernels.cpu.low_precision.precision import in_float32
from ....kernels.gpu.cold import convolution as cold
from ...basic import sum_over
from ...precision import wide
from .windows import Pairs, Sizes, join_shape, spatial_shape

# ---- shapes --------------------------------------------------------------------------------------


def _infer_conv(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, weight, bias = operands
    stride, padding, dilation, groups, channels_last = attributes
    _check_operands(operation, operands, x, weight)
    channels = x.shape[-1] if channels_last else x.shape[1]
    if channels % groups or weight.shape[0] % groups or weight.shape[1] * groups != channels:
        raise operation.error(
            ValueError,
            f"{channels} input channels do not fit a weight of shape {list(weight.shape)} with groups={groups}",
            operands,
            fix=f"the weight must be [out, {channels} / groups, …], all divisible by groups",
        )
    if bias is not None and bias.shape != (weight.shape[0],):
        raise operation.error(ValueError, f"the bias must have the shape [{weight.shape[0]}]", operands)
    spatial = []
    for extent, width, step, pad, rate in zip(
        spatial_shape(x, channels_last), weight.shape[2:], stride, padding, dilation, strict=True
    ):
        room = extent + pad[0] + pad[1] - (rate * (width - 1) + 1)
        if room < 0:
            raise operation.error(
                ValueError,
                f"a kernel of {width} (dilation {rate}) does not fit into {extent}, padded by {pad[0]} and {pad[1]}",
                operands,
                fix="use a smaller kernel or more padding",
            )
        spatial.append(room // step + 1)
    return make_aval(join_shape(x.shape[0], weight.shape[0], spatial, channels_last), x.dtype, place)


def _check_operands(operation: Any, operands: Any, x: Aval, weight: Aval) -> None:
    if weight.ndim != x.ndim:
        raise operation.error(ValueError, f"the weight must have {x.ndim} dimensions like x", operands)
    if not is_floating(x.dtype):
        raise operation.error(
            TypeError,
            "only floating tensors can be convolved",
            operands,
            fix="convert with astype()",
        )
    if any(o is not None and o.dtype != x.dtype for o in operands):
        raise operation.error(
            TypeError,
            "the tensors have different data types",
            operands,
            fix="convert one with astype()",
        )


def _infer_shape_attribute(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return make_aval(attributes[0], operands[0].dtype, place)


# ---- kernels: XLA --------------------------------------------------------------------------------


def _xla_conv(
    x: Any,
    weight: Any,
    stride: Sizes,
    padding: Pairs,
    dilation: Sizes,
    groups: int,
    channels_last: bool,
) -> Any:
    from jax import lax

    letters = "DHW"[-len(stride) :]
    layout = f"N{letters}C" if channels_last else f"NC{letters}"
    return lax.conv_general_dilated(
        x,
        weight,
        stride,
        padding,
        rhs_dilation=dilation,
        feature_group_count=groups,
        dimension_numbers=(layout, f"OI{letters}", layout),
    )


def _xla_conv_with_bias(
    xp: Any,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Sizes,
    padding: Pairs,
    dilation: Sizes,
    groups: int,
    channels_last: bool,
) -> Any:
    out = _xla_conv(x, weight, stride, padding, dilation, groups, channels_last)
    return out if bias is None else out + _along_channels(bias, out.ndim, channels_last)


def _along_channels(bias: Any, ndim: int, channels_last: bool) -> Any:
    return bias if channels_last else bias.reshape((-1,) + (1,) * (ndim - 2))


def _xla_grad_input(xp: Any, y: Any, weight: Any, shape: tuple[int, ...], *window: Any) -> Any:
    import jax

    transpose = jax.linear_transpose(lambda x: _xla_conv(x, weight, *window), jax.ShapeDtypeStruct(shape, y.dtype))
    return transpose(y)[0]


def _xla_grad_weight(xp: Any, x: Any, y: Any, shape: tuple[int, ...], *window: Any) -> Any:
    import jax

    transpose = jax.linear_transpose(lambda weight: _xla_conv(x, weight, *window), jax.ShapeDtypeStruct(shape, y.dtype))
    return transpose(y)[0]


# ---- kernels: NumPy ------------------------------------------------------------------------------


# Up to this many numbers the gradients of all samples are kept side by side before they are added.
_MOST_PRODUCTS = 1 << 22
# So many numbers of windows (64 MiB) are gathered at a time: those of a whole batch are many times the batch itself.
_MOST_GATHERED = 1 << 24


def _samples_at_once(batch: int, gathered: int) -> list[slice]:
    """Parts of a batch of which each sample has `gathered` numbers in its windows."""
    step = max(1, _MOST_GATHERED // max(gathered, 1))
    return [slice(begin, min(begin + step, batch)) for begin in range(0, batch, step)] or [slice(0, 0)]


def _channels_first(xp: Any, array: Any, channels_last: bool) -> Any:
    return xp.moveaxis(array, -1, 1) if channels_last else array


def _channels_back(xp: Any, array: Any, channels_last: bool) -> Any:
    return xp.ascontiguousarray(xp.moveaxis(array, 1, -1)) if channels_last else array


def _window_matrix(
    xp: Any, x: Any, kernel: Sizes, stride: Sizes, padding: Pairs, dilation: Sizes, groups: int
) -> tuple[Any, tuple[int, ...]]:
    """All windows of a channels-first array as [batch, group, channel x kernel, position], and the
    output's extents.
    """
    if any(before or after for before, after in padding):
        x = xp.pad(x, ((0, 0), (0, 0), *padding))
    if max(kernel) == 1 and max(stride) == 1:  # nothing to gather
        spatial = x.shape[2:]
        return x.reshape(x.shape[0], groups, x.shape[1] // groups, math.prod(spatial)), spatial
    extents = tuple(rate * (width - 1) + 1 for width, rate in zip(kernel, dilation, strict=True))
    num_spatial = len(kernel)
    windows = xp.lib.stride_tricks.sliding_window_view(x, extents, axis=tuple(range(2, 2 + num_spatial)))
    steps = tuple(slice(None, None, step) for step in stride)
    dilations = tuple(slice(None, None, rate) for rate in dilation)
    windows = windows[(slice(None), slice(None), *steps, *dilations)]
    out = windows.shape[2 : 2 + num_spatial]
    order = (0, 1, *range(2 + num_spatial, 2 + 2 * num_spatial), *range(2, 2 + num_spatial))
    batch, channels = x.shape[:2]
    depth = channels // groups * math.prod(kernel)
    return windows.transpose(order).reshape(batch, groups, depth, math.prod(out)), out


def _numpy_conv(
    xp: Any,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Sizes,
    padding: Pairs,
    dilation: Sizes,
    groups: int,
    channels_last: bool,
) -> Any:
    x, weight = _channels_first(xp, wide(x), channels_last), wide(weight)
    kernel = weight.shape[2:]
    spatial = tuple(
        (extent + before + after - rate * (width - 1) - 1) // step + 1
        for extent, (before, after), rate, width, step in zip(
            x.shape[2:], padding, dilation, kernel, stride, strict=True
        )
    )
    depth = weight.shape[1] * math.prod(kernel)
    filters = weight.reshape(groups, weight.shape[0] // groups, depth)
    parts = []
    for some in _samples_at_once(x.shape[0], groups * depth * math.prod(spatial)):
        matrix = _window_matrix(xp, x[some], kernel, stride, padding, dilation, groups)[0]
        parts.append(xp.matmul(filters, matrix).reshape(matrix.shape[0], weight.shape[0], *spatial))
    out = parts[0] if len(parts) == 1 else xp.concatenate(parts)
    if bias is not None:
        out += wide(bias).reshape((-1,) + (1,) * len(spatial))
    return _channels_back(xp, out, channels_last)


def _numpy_grad_input(
    xp: Any,
    y: Any,
    weight: Any,
    shape: tuple[int, ...],
    stride: Sizes,
    padding: Pairs,
    dilation: Sizes,
    groups: int,
    channels_last: bool,
) -> Any:
    y, weight = _channels_first(xp, wide(y), channels_last), wide(weight)
    kernel = weight.shape[2:]
    batch, spatial = y.shape[0], y.shape[2:]
    channels = weight.shape[1] * groups
    extents = shape[1:-1] if channels_last else shape[2:]
    filters = weight.reshape(groups, weight.shape[0] // groups, weight.shape[1] * math.prod(kernel))
    turned = filters.swapaxes(1, 2)
    grads = y.reshape(batch, groups, filters.shape[1], math.prod(spatial))
    padded = [n + before + after for n, (before, after) in zip(extents, padding, strict=True)]
    out = xp.zeros((batch, channels, *padded), y.dtype)
    for some in _samples_at_once(batch, channels * math.prod(kernel) * math.prod(spatial)):
        gathered = xp.matmul(turned, grads[some])
        gathered = gathered.reshape(gathered.shape[0], channels, *kernel, *spatial)
        for position in np.ndindex(*kernel):
            target = tuple(
                slice(at * rate, at * rate + step * (count - 1) + 1, step)
                for at, rate, step, count in zip(position, dilation, stride, spatial, strict=True)
            )
            out[(some, slice(None), *target)] += gathered[(slice(None), slice(None), *position)]
    inner = tuple(slice(before, before + n) for n, (before, _) in zip(extents, padding, strict=True))
    return _channels_back(xp, xp.ascontiguousarray(out[(slice(None), slice(None), *inner)]), channels_last)


def _numpy_grad_weight(
    xp: Any,
    x: Any,
    y: Any,
    shape: tuple[int, ...],
    stride: Sizes,
    padding: Pairs,
    dilation: Sizes,
    groups: int,
    channels_last: bool,
) -> Any:
    x, y = _channels_first(xp, wide(x), channels_last), _channels_first(xp, wide(y), channels_last)
    grads = y.reshape(y.shape[0], groups, shape[0] // groups, math.prod(y.shape[2:]))
    depth = shape[1] * math.prod(shape[2:])
    total = xp.zeros((groups, shape[0] // groups, depth), np.result_type(x.dtype, y.dtype))
    for some in _samples_at_once(x.shape[0], groups * depth * grads.shape[3]):
        matrix = _window_matrix(xp, x[some], shape[2:], stride, padding, dilation, groups)[0].swapaxes(2, 3)
        if matrix.shape[0] * math.prod(shape) <= _MOST_PRODUCTS:
            total += xp.matmul(grads[some], matrix).sum(0)
        else:
            for grad, windows in zip(grads[some], matrix, strict=True):
                total += xp.matmul(grad, windows)
    return total.reshape(shape)


# ---- primitives ----------------------------------------------------------------------------------


def _grad_bias(g: Tensor, channels_last: bool) -> Tensor:
    channel = g._aval.ndim - 1 if channels_last else 1
    return sum_over(g, tuple(axis for axis in range(g._aval.ndim) if axis != channel), False)


def _operator_of(kinds: Sequence[Any], attributes: tuple[Any, ...]) -> str:
    """Paddle's name of the operator: it has one for each number of dimensions, and one for a group a channel."""
    weight, groups = kinds[1], attributes[3]
    if weight.ndim > 4:
        return "conv3d"
    return "depthwise_conv2d" if groups > 1 and weight.shape[1] == 1 else "conv2d"


def transposed_operator_of(kinds: Sequence[Any], attributes: tuple[Any, ...]) -> str:
    return "conv3d_transpose" if kinds[1].ndim > 4 else "conv2d_transpose"


@op(
    "x weight",
    optional="bias",
    contracts=True,
    infer=_infer_conv,
    grad={
        "x": lambda g, weight, x_aval, stride, padding, dilation, groups, channels_last: conv_grad_input(
            g, weight, x_aval.shape, stride, padding, dilation, groups, channels_last
        ),
        "weight": lambda g, x, weight_aval, stride, padding, dilation, groups, channels_last: conv_grad_weight(
            x, g, weight_aval.shape, stride, padding, dilation, groups, channels_last
        ),
        "bias": lambda g, channels_last: _grad_bias(g, channels_last),
    },
    family="convolution",
    flops=lambda call: 2 * call.outputs[0].size * math.prod(call.kinds[1].shape[1:]),
    paddle_name=_operator_of,
    padding=rules.windows.conv,
    series=series.algebra.bilinear,
)
def conv(
    xp: Any,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Sizes = (),
    padding: Pairs = (),
    dilation: Sizes = (),
    groups: int = 1,
    channels_last: bool = False,
) -> Any:
    """Cross-correlation of `x` with `weight` [out channels, in channels / groups, kernel …]."""
    return _xla_conv_with_bias(xp, x, weight, bias, stride, padding, dilation, groups, channels_last)


@op(
    "y weight",
    contracts=True,
    infer=_infer_shape_attribute,
    grad={
        "y": lambda g, weight, stride, padding, dilation, groups, channels_last: conv(
            g, weight, None, stride, padding, dilation, groups, channels_last
        ),
        "weight": lambda g, y, weight_aval, stride, padding, dilation, groups, channels_last: conv_grad_weight(
            g, y, weight_aval.shape, stride, padding, dilation, groups, channels_last
        ),
    },
    family="convolution",
    paddle_name=transposed_operator_of,
    padding=rules.windows.conv_grad_input,
)
def conv_grad_input(
    xp: Any,
    y: Any,
    weight: Any,
    shape: tuple[int, ...],
    stride: Sizes,
    padding: Pairs,
    dilation: Sizes,
    groups: int,
    channels_last: bool,
) -> Any:
    """The transpose of `conv` in its input: spreads each element of `y` over the window it was
    gathered from.
    """
    return _xla_grad_input(xp, y, weight, shape, stride, padding, dilation, groups, channels_last)


@op(
    "x y",
    contracts=True,
    infer=_infer_shape_attribute,
    grad={
        "x": lambda g, y, x_aval, stride, padding, dilation, groups, channels_last: conv_grad_input(
            y, g, x_aval.shape, stride, padding, dilation, groups, channels_last
        ),
        "y": lambda g, x, stride, padding, dilation, groups, channels_last: conv(
            x, g, None, stride, padding, dilation, groups, channels_last
        ),
    },
    family="convolution",
    padding=rules.windows.conv_grad_weight,
)
def conv_grad_weight(
    xp: Any,
    x: Any,
    y: Any,
    shape: tuple[int, ...],
    stride: Sizes,
    padding: Pairs,
    dilation: Sizes,
    groups: int,
    channels_last: bool,
) -> Any:
    """The transpose of `conv` in its weight: products of `y` with the windows of `x`, summed over
    positions.
    """
    return _xla_grad_weight(xp, x, y, shape, stride, padding, dilation, groups, channels_last)


conv.operation.kernels["cpu"] = in_float32(native_convolution(_xla_conv_with_bias), bfloat_convolution)
conv_grad_input.operation.kernels["cpu"] = in_float32(native_grad_input(_xla_grad_input), bfloat_grad_input)
conv_grad_weight.operation.kernels["cpu"] = in_float32(native_grad_weight(_xla_grad_weight), bfloat_grad_weight)
conv.operation.kernels["cupy"] = cold.convolution(_numpy_conv)
conv_grad_input.operation.kernels["cupy"] = cold.grad_input(_numpy_grad_input)
conv_grad_weight.operation.kernels["cupy"] = cold.grad_weight(_numpy_grad_weight)
conv.operation.kernels["numpy"] = on_host(native_convolution, _numpy_conv)
conv_grad_input.operation.kernels["numpy"] = on_host(native_grad_input, _numpy_grad_input)
conv_grad_weight.operation.kernels["numpy"] = on_host(native_grad_weight, _numpy_grad_weight)
