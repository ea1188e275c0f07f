"""Convolutions over one, two and three spatial axes.

A convolution is linear in its input and in its weight, so three primitives close under differentiation to any order:
`conv` itself, and its transposes `conv_grad_input` (which is also the transposed convolution) and `conv_grad_weight`.
XLA has its own kernels; tier 0 gathers windows into a matrix and multiplies (im2col), one group after another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import is_floating
from ..core.errors import value_error
from ..eager.declare import op, public
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor
from .basic import reshape_to, sum_over
from .precision import wide
from .windows import (
    Pairs,
    Sizes,
    check_rank,
    is_channels_last,
    join_shape,
    paddings,
    same_padding,
    sizes,
    spatial_shape,
)

# ---- shapes ------------------------------------------------------------------------------------------------------


def _infer_conv(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, weight, bias = operands
    stride, padding, dilation, groups, channels_last = attributes
    _check_operands(operation, operands, x, weight)
    channels = x.shape[-1] if channels_last else x.shape[1]
    if channels % groups or weight.shape[0] % groups or weight.shape[1] * groups != channels:
        raise operation.error(
            ValueError, f"{channels} input channels do not fit a weight of shape {list(weight.shape)} with groups={groups}",
            operands, fix=f"the weight must be [out_channels, {channels} / groups, …], both divisible by groups",
        )  # fmt: skip
    if bias is not None and bias.shape != (weight.shape[0],):
        raise operation.error(ValueError, f"the bias must have the shape [{weight.shape[0]}]", operands)
    spatial = []
    for extent, width, step, pad, spread in zip(
        spatial_shape(x, channels_last), weight.shape[2:], stride, padding, dilation, strict=True
    ):
        room = extent + pad[0] + pad[1] - (spread * (width - 1) + 1)
        if room < 0:
            raise operation.error(
                ValueError, f"a kernel of {width} (dilation {spread}) does not fit into {extent} padded by {pad[0]} and {pad[1]}",
                operands, fix="use a smaller kernel or more padding",
            )  # fmt: skip
        spatial.append(room // step + 1)
    return make_aval(join_shape(x.shape[0], weight.shape[0], spatial, channels_last), x.dtype, place)


def _check_operands(operation: Any, operands: Any, x: Aval, weight: Aval) -> None:
    if weight.ndim != x.ndim:
        raise operation.error(ValueError, f"the weight must have {x.ndim} dimensions like x", operands)
    if not is_floating(x.dtype):
        raise operation.error(TypeError, "only floating tensors can be convolved", operands, fix="convert with astype()")
    if any(o is not None and o.dtype != x.dtype for o in operands):
        raise operation.error(TypeError, "the tensors have different data types", operands, fix="convert one with astype()")


def _infer_shape_attribute(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return make_aval(attributes[0], operands[0].dtype, place)


# ---- kernels: XLA ------------------------------------------------------------------------------------------------


def _xla_conv(x: Any, weight: Any, stride: Sizes, padding: Pairs, dilation: Sizes, groups: int, channels_last: bool) -> Any:
    from jax import lax

    letters = "DHW"[-len(stride) :]
    layout = f"N{letters}C" if channels_last else f"NC{letters}"
    return lax.conv_general_dilated(
        x, weight, stride, padding, rhs_dilation=dilation, feature_group_count=groups,
        dimension_numbers=(layout, f"OI{letters}", layout),
    )  # fmt: skip


def _xla_conv_with_bias(
    xp: Any, x: Any, weight: Any, bias: Any, stride: Sizes, padding: Pairs, dilation: Sizes, groups: int, channels_last: bool
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


# ---- kernels: NumPy ----------------------------------------------------------------------------------------------


def _channels_first(array: np.ndarray, channels_last: bool) -> np.ndarray:
    return np.moveaxis(array, -1, 1) if channels_last else array


def _channels_back(array: np.ndarray, channels_last: bool) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(array, 1, -1)) if channels_last else array


def _window_matrix(
    x: np.ndarray, kernel: Sizes, stride: Sizes, padding: Pairs, dilation: Sizes, groups: int
) -> tuple[np.ndarray, tuple[int, ...]]:
    """All windows of a channels-first array as [batch, group, channel x kernel, position], and the output's extents."""
    if any(before or after for before, after in padding):
        x = np.pad(x, ((0, 0), (0, 0), *padding))
    extents = tuple(spread * (width - 1) + 1 for width, spread in zip(kernel, dilation, strict=True))
    num_spatial = len(kernel)
    windows = np.lib.stride_tricks.sliding_window_view(x, extents, axis=tuple(range(2, 2 + num_spatial)))
    steps = tuple(slice(None, None, step) for step in stride)
    spreads = tuple(slice(None, None, spread) for spread in dilation)
    windows = windows[(slice(None), slice(None), *steps, *spreads)]
    out = windows.shape[2 : 2 + num_spatial]
    order = (0, 1, *range(2 + num_spatial, 2 + 2 * num_spatial), *range(2, 2 + num_spatial))
    batch, channels = x.shape[:2]
    depth = channels // groups * math.prod(kernel)
    return windows.transpose(order).reshape(batch, groups, depth, math.prod(out)), out


def _numpy_conv(
    xp: Any, x: Any, weight: Any, bias: Any, stride: Sizes, padding: Pairs, dilation: Sizes, groups: int, channels_last: bool
) -> np.ndarray:
    x, weight = wide(x), wide(weight)
    matrix, spatial = _window_matrix(_channels_first(x, channels_last), weight.shape[2:], stride, padding, dilation, groups)
    filters = weight.reshape(groups, weight.shape[0] // groups, matrix.shape[2])
    out = np.matmul(filters, matrix).reshape(x.shape[0], weight.shape[0], *spatial)
    if bias is not None:
        out += wide(bias).reshape((-1,) + (1,) * len(spatial))
    return _channels_back(out, channels_last)


def _numpy_grad_input(
    xp: Any, y: Any, weight: Any, shape: tuple[int, ...], stride: Sizes, padding: Pairs, dilation: Sizes, groups: int,
    channels_last: bool,
) -> np.ndarray:  # fmt: skip
    y, weight = _channels_first(wide(y), channels_last), wide(weight)
    kernel = weight.shape[2:]
    batch, spatial = y.shape[0], y.shape[2:]
    channels = weight.shape[1] * groups
    extents = shape[1:-1] if channels_last else shape[2:]
    filters = weight.reshape(groups, weight.shape[0] // groups, weight.shape[1] * math.prod(kernel))
    gathered = np.matmul(filters.swapaxes(1, 2), y.reshape(batch, groups, filters.shape[1], math.prod(spatial)))
    gathered = gathered.reshape(batch, channels, *kernel, *spatial)
    padded = [n + before + after for n, (before, after) in zip(extents, padding, strict=True)]
    out = np.zeros((batch, channels, *padded), y.dtype)
    for position in np.ndindex(*kernel):
        target = tuple(
            slice(at * spread, at * spread + step * (count - 1) + 1, step)
            for at, spread, step, count in zip(position, dilation, stride, spatial, strict=True)
        )
        out[(slice(None), slice(None), *target)] += gathered[(slice(None), slice(None), *position)]
    inner = tuple(slice(before, before + n) for n, (before, _) in zip(extents, padding, strict=True))
    return _channels_back(np.ascontiguousarray(out[(slice(None), slice(None), *inner)]), channels_last)


def _numpy_grad_weight(
    xp: Any, x: Any, y: Any, shape: tuple[int, ...], stride: Sizes, padding: Pairs, dilation: Sizes, groups: int,
    channels_last: bool,
) -> np.ndarray:  # fmt: skip
    x, y = _channels_first(wide(x), channels_last), _channels_first(wide(y), channels_last)
    matrix, _ = _window_matrix(x, shape[2:], stride, padding, dilation, groups)
    grads = y.reshape(y.shape[0], groups, shape[0] // groups, matrix.shape[3])
    parts = [np.tensordot(grads[:, k], matrix[:, k], axes=([0, 2], [0, 2])) for k in range(groups)]
    return np.concatenate(parts).reshape(shape)


# ---- primitives --------------------------------------------------------------------------------------------------


def _grad_bias(g: Tensor, channels_last: bool) -> Tensor:
    channel = g._aval.ndim - 1 if channels_last else 1
    return sum_over(g, tuple(axis for axis in range(g._aval.ndim) if axis != channel), False)


@op(
    "x weight",
    optional="bias",
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
)
def conv(
    xp: Any, x: Any, weight: Any, bias: Any = None, stride: Sizes = (), padding: Pairs = (), dilation: Sizes = (),
    groups: int = 1, channels_last: bool = False,
) -> Any:  # fmt: skip
    """Cross-correlation of `x` with `weight` [out channels, in channels / groups, kernel …]."""
    return _xla_conv_with_bias(xp, x, weight, bias, stride, padding, dilation, groups, channels_last)


@op(
    "y weight",
    infer=_infer_shape_attribute,
    grad={
        "y": lambda g, weight, stride, padding, dilation, groups, channels_last: conv(
            g, weight, None, stride, padding, dilation, groups, channels_last
        ),
        "weight": lambda g, y, weight_aval, stride, padding, dilation, groups, channels_last: conv_grad_weight(
            g, y, weight_aval.shape, stride, padding, dilation, groups, channels_last
        ),
    },
)
def conv_grad_input(
    xp: Any, y: Any, weight: Any, shape: tuple[int, ...], stride: Sizes, padding: Pairs, dilation: Sizes, groups: int,
    channels_last: bool,
) -> Any:  # fmt: skip
    """The transpose of `conv` in its input: spreads each element of `y` over the window it was gathered from."""
    return _xla_grad_input(xp, y, weight, shape, stride, padding, dilation, groups, channels_last)


@op(
    "x y",
    infer=_infer_shape_attribute,
    grad={
        "x": lambda g, y, x_aval, stride, padding, dilation, groups, channels_last: conv_grad_input(
            y, g, x_aval.shape, stride, padding, dilation, groups, channels_last
        ),
        "y": lambda g, x, stride, padding, dilation, groups, channels_last: conv(
            x, g, None, stride, padding, dilation, groups, channels_last
        ),
    },
)
def conv_grad_weight(
    xp: Any, x: Any, y: Any, shape: tuple[int, ...], stride: Sizes, padding: Pairs, dilation: Sizes, groups: int,
    channels_last: bool,
) -> Any:  # fmt: skip
    """The transpose of `conv` in its weight: products of `y` with the windows of `x`, summed over positions."""
    return _xla_grad_weight(xp, x, y, shape, stride, padding, dilation, groups, channels_last)


conv.operation.kernels["numpy"] = _numpy_conv
conv_grad_input.operation.kernels["numpy"] = _numpy_grad_input
conv_grad_weight.operation.kernels["numpy"] = _numpy_grad_weight


# ---- public functions --------------------------------------------------------------------------------------------


def _check_groups(where: str, groups: Any) -> int:
    if not isinstance(groups, (int, np.integer)) or groups < 1:
        raise value_error(where, "groups must be a positive int", f"groups: {groups!r}")
    return int(groups)


def _convolve(
    where: str, num_spatial: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any,
    groups: Any, data_format: str,
) -> Tensor:  # fmt: skip
    check_rank(where, x, num_spatial)
    channels_last = is_channels_last(where, data_format, num_spatial)
    steps = sizes(where, "stride", stride, num_spatial)
    spreads = sizes(where, "dilation", dilation, num_spatial)
    pads = paddings(where, padding, num_spatial, channels_last)
    if isinstance(pads, str):
        if pads == "SAME":
            # Paddle's SAME means an undilated kernel, whatever `dilation` says.
            spreads = (1,) * num_spatial
            pads = same_padding(spatial_shape(x._aval, channels_last), weight._aval.shape[2:], steps)
        else:
            pads = ((0, 0),) * num_spatial
    return conv(x, weight, bias, steps, pads, spreads, _check_groups(where, groups), channels_last)


def _reference(
    x: np.ndarray, weight: np.ndarray, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NC",
) -> np.ndarray:  # fmt: skip
    """Convolution by its definition, element by element (for the samples)."""
    n = weight.ndim - 2
    channels_last = data_format[1] != "C"
    if channels_last:
        x = np.moveaxis(x, -1, 1)
    stride, dilation = sizes("", "", stride, n), sizes("", "", dilation, n)
    pads = paddings("", padding, n, channels_last)
    if pads == "SAME":
        pads, dilation = same_padding(x.shape[2:], weight.shape[2:], stride), (1,) * n
    elif pads == "VALID":
        pads = ((0, 0),) * n
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    kernel = weight.shape[2:]
    out = [(x.shape[2 + i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(n)]
    result = np.zeros((x.shape[0], weight.shape[0], *out), x.dtype)
    per_group, filters = x.shape[1] // groups, weight.shape[0] // groups
    for channel in range(weight.shape[0]):
        first = channel // filters * per_group
        for at in np.ndindex(*out):
            cut = tuple(slice(a * s, a * s + d * (k - 1) + 1, d) for a, s, d, k in zip(at, stride, dilation, kernel))
            window = x[(slice(None), slice(first, first + per_group), *cut)]
            result[(slice(None), channel, *at)] = (window * weight[channel]).sum(tuple(range(1, n + 2)))
    if bias is not None:
        result = result + bias.reshape((-1,) + (1,) * n)
    return np.moveaxis(result, 1, -1) if channels_last else result


@samples(
    S(A(2, 3, 7), A(4, 3, 3), A(4), stride=2, padding=1), S(A(1, 4, 6), A(4, 2, 2), groups=2, dilation=2),
    S(A(2, 6, 3), A(4, 3, 3), A(4), padding=[2, 1], data_format="NLC"),
    reference=_reference,
)  # fmt: skip
@public(module="nn.functional")
def conv1d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NCL", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolution over one spatial axis: `x` [batch, channels, length], `weight` [out, channels / groups, kernel]."""
    return _convolve("conv1d", 1, x, weight, bias, stride, padding, dilation, groups, data_format)


@samples(
    S(A(2, 3, 6, 5), A(4, 3, 3, 2), A(4)), S(A(1, 3, 7, 7), A(2, 3, 3, 3), stride=2, padding=1),
    S(A(1, 4, 6, 6), A(6, 2, 3, 3), A(6), padding=[1, 0, 2, 1], groups=2), S(A(1, 2, 8, 8), A(2, 2, 3, 3), dilation=[2, 3]),
    S(A(2, 5, 5, 3), A(2, 3, 2, 2), A(2), padding="SAME", stride=2, data_format="NHWC"), S(A(0, 3, 4, 4), A(2, 3, 3, 3)),
    reference=_reference,
)  # fmt: skip
@public(module="nn.functional")
def conv2d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NCHW", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolution over two spatial axes: `x` [batch, channels, height, width], `weight` [out, channels / groups, kernel …].

    `padding` is an int, two ints, four ints (top, bottom, left, right), pairs for all four axes, 'SAME' or 'VALID'.
    """
    return _convolve("conv2d", 2, x, weight, bias, stride, padding, dilation, groups, data_format)


@samples(
    S(A(1, 2, 4, 5, 4), A(3, 2, 2, 3, 2), A(3)), S(A(1, 2, 4, 4, 4), A(2, 1, 3, 3, 3), padding=1, stride=2, groups=2),
    S(A(1, 4, 4, 4, 2), A(2, 2, 2, 2, 2), padding="VALID", data_format="NDHWC"),
    reference=_reference,
)  # fmt: skip
@public(module="nn.functional")
def conv3d(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NCDHW", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolution over three spatial axes: `x` [batch, channels, depth, height, width]."""
    return _convolve("conv3d", 3, x, weight, bias, stride, padding, dilation, groups, data_format)


def _convolve_transposed(
    where: str, num_spatial: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, output_padding: Any,
    dilation: Any, groups: Any, output_size: Any, data_format: str,
) -> Tensor:  # fmt: skip
    check_rank(where, x, num_spatial)
    channels_last = is_channels_last(where, data_format, num_spatial)
    steps = sizes(where, "stride", stride, num_spatial)
    spreads = sizes(where, "dilation", dilation, num_spatial)
    num_groups = _check_groups(where, groups)
    x_aval, w_aval = x._aval, weight._aval
    channels = x_aval.shape[-1] if channels_last else x_aval.shape[1]
    if w_aval.ndim != x_aval.ndim or w_aval.shape[0] != channels or channels % num_groups:
        raise value_error(
            where, "the weight must be [in_channels, out_channels / groups, kernel …] and in_channels divisible by groups",
            f"x: {x_aval}, weight: {w_aval}, groups: {num_groups}",
        )  # fmt: skip
    if x_aval.dtype != w_aval.dtype or not is_floating(x_aval.dtype):
        raise TypeError(f"({where}) x and weight must have one floating data type; received x: {x_aval}, weight: {w_aval}.")
    extents, kernel = spatial_shape(x_aval, channels_last), w_aval.shape[2:]
    pads = paddings(where, padding, num_spatial, channels_last)
    if isinstance(pads, str):
        if pads == "SAME":
            spreads = (1,) * num_spatial
            pads = same_padding(extents, kernel, steps)
        else:
            pads = ((0, 0),) * num_spatial
    spatial = [
        (extent - 1) * step - before - after + spread * (width - 1) + 1
        for extent, step, (before, after), spread, width in zip(extents, steps, pads, spreads, kernel, strict=True)
    ]
    spatial = _final_extents(where, spatial, output_padding, output_size, steps, spreads)
    if min(spatial) < 1:
        raise value_error(where, f"the result would have the extents {spatial}", f"x: {x_aval}", "use less padding")
    shape = join_shape(x_aval.shape[0], w_aval.shape[1] * num_groups, spatial, channels_last)
    out = conv_grad_input(x, weight, shape, steps, pads, spreads, num_groups, channels_last)
    if bias is None:
        return out
    if bias._aval.shape != (w_aval.shape[1] * num_groups,):
        raise value_error(where, f"the bias must have the shape [{w_aval.shape[1] * num_groups}]", f"bias: {bias._aval}")
    return out + (bias if channels_last else reshape_to(bias, (bias._aval.size,) + (1,) * num_spatial))


def _final_extents(
    where: str, least: Sequence[int], output_padding: Any, output_size: Any, steps: Sizes, spreads: Sizes
) -> list[int]:
    """Extents of a transposed convolution: several inputs of `conv` give the same output, so the caller may choose."""
    count = len(steps)
    if output_size is not None:
        if output_padding not in (0, [0] * count, (0,) * count):
            raise value_error(where, "give output_size or output_padding, not both", f"output_padding: {output_padding!r}")
        wanted = sizes(where, "output_size", output_size, count)
        for extent, lowest, step in zip(wanted, least, steps, strict=True):
            if not lowest <= extent < lowest + step:
                raise value_error(
                    where, f"output_size must be {lowest} to {lowest + step - 1} here", f"output_size: {output_size!r}"
                )
        return list(wanted)
    extra = sizes(where, "output_padding", output_padding, count, least=0)
    for more, step, spread in zip(extra, steps, spreads, strict=True):
        if more and more >= max(step, spread):
            raise value_error(
                where, f"output_padding must be less than the stride or dilation ({max(step, spread)})",
                f"output_padding: {output_padding!r}",
            )  # fmt: skip
    return [extent + more for extent, more in zip(least, extra, strict=True)]


def _transposed_reference(
    x: np.ndarray, weight: np.ndarray, bias: Any = None, stride: Any = 1, padding: int = 0, output_padding: int = 0,
    dilation: Any = 1, groups: int = 1, output_size: Any = None, data_format: str = "NC",
) -> np.ndarray:  # fmt: skip
    """Spreads every input element over its window, by the definition (for the samples)."""
    n = weight.ndim - 2
    channels_last = data_format[1] != "C"
    if channels_last:
        x = np.moveaxis(x, -1, 1)
    stride, dilation = sizes("", "", stride, n), sizes("", "", dilation, n)
    full = [(x.shape[2 + i] - 1) * stride[i] + dilation[i] * (weight.shape[2 + i] - 1) + 1 for i in range(n)]
    extents = output_size or [f - 2 * padding + output_padding for f in full]
    out = np.zeros((x.shape[0], weight.shape[1] * groups, *[f + 2 * (padding + output_padding + 8) for f in full]), x.dtype)
    per_group = x.shape[1] // groups
    for channel in range(x.shape[1]):
        first = channel // per_group * weight.shape[1]
        for at in np.ndindex(*x.shape[2:]):
            for k in np.ndindex(*weight.shape[2:]):
                cell = tuple(a * s + d * i for a, s, d, i in zip(at, stride, dilation, k))
                value = x[(slice(None), channel, *at)][:, None] * weight[(channel, slice(None), *k)][None]
                out[(slice(None), slice(first, first + weight.shape[1]), *cell)] += value
    out = out[(slice(None), slice(None), *[slice(padding, padding + e) for e in extents])]
    if bias is not None:
        out = out + bias.reshape((-1,) + (1,) * n)
    return np.moveaxis(out, 1, -1) if channels_last else out


@samples(
    S(A(2, 3, 5), A(3, 4, 3), A(4), stride=2, padding=1), S(A(1, 4, 4), A(4, 2, 3), groups=2),
    S(A(1, 4, 2), A(2, 3, 2), A(3), data_format="NLC"),
    reference=lambda x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1, output_size=None,
    data_format="NC": _transposed_reference(x, weight, bias, stride, padding, output_padding, dilation, groups, output_size,
                                            data_format),
)  # fmt: skip
@public(module="nn.functional")
def conv1d_transpose(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1, output_size: Any = None, data_format: str = "NCL", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Transposed convolution over one spatial axis; `weight` is [in, out / groups, kernel]."""
    return _convolve_transposed(
        "conv1d_transpose", 1, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format
    )


@samples(
    S(A(1, 3, 4, 3), A(3, 2, 3, 3), A(2)), S(A(1, 2, 4, 4), A(2, 3, 3, 3), stride=2, padding=1, output_padding=1),
    S(A(1, 4, 3, 3), A(4, 2, 2, 2), A(4), stride=2, groups=2, dilation=2),
    S(A(1, 2, 5, 5), A(2, 3, 3, 3), stride=2, padding=1, output_size=[10, 10]),
    S(A(1, 3, 3, 2), A(2, 2, 2, 2), A(2), data_format="NHWC"),
    reference=_transposed_reference,
)  # fmt: skip
@public(module="nn.functional")
def conv2d_transpose(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    dilation: Any = 1, groups: int = 1, output_size: Any = None, data_format: str = "NCHW", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Transposed convolution over two spatial axes; `weight` is [in, out / groups, kernel …].

    With a stride several sizes are possible: `output_size` or `output_padding` chooses.
    """
    return _convolve_transposed(
        "conv2d_transpose", 2, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format
    )


@samples(
    S(A(1, 2, 2, 3, 2), A(2, 2, 2, 2, 2), A(2)), S(A(1, 2, 2, 2, 2), A(2, 1, 2, 2, 2), stride=2, groups=2),
    S(A(1, 2, 2, 2, 2), A(2, 3, 3, 3, 3), stride=2, padding=1, output_padding=1),
    reference=lambda x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1, output_size=None,
    data_format="NC": _transposed_reference(x, weight, bias, stride, padding, output_padding, dilation, groups, output_size,
                                            data_format),
)  # fmt: skip
@public(module="nn.functional")
def conv3d_transpose(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1, output_size: Any = None, data_format: str = "NCDHW", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Transposed convolution over three spatial axes; `weight` is [in, out / groups, kernel …]."""
    return _convolve_transposed(
        "conv3d_transpose", 3, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format
    )
