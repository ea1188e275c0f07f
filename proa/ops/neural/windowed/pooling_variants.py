"""Pooling's relatives: max_unpool, lp_pool, fractional_max_pool, local_response_norm."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ....core.dtype import INT64
from ....core.errors import failed_check, value_error
from ....core.generator import default_generator
from ....eager.annotations import PaddingLike, SizesLike
from ....eager.declare import public
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ...arguments import integer, integers, require_tensor
from ...basic import cast_to, full_of, reshape_to
from ...index.along import put_along_axis
from ...shape.padding import pad_with
from .pooling import _pool_average, _pool_maximum, avg_pool1d
from .pooling_kernels import window_max
from .windows import check_rank, is_channels_last, sizes, spatial_shape

# ---- max_unpool ----------------------------------------------------------------------------------


def _unpool(
    where: str, count: int, x: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any, data_format: str,
    output_size: Any,
) -> Tensor:  # fmt: skip
    if is_channels_last(where, data_format, count):
        raise value_error(where, "the channels must come first", f"data_format: {data_format!r}")
    check_rank(where, x, count)
    shape = x._aval.shape
    if require_tensor(where, "indices", indices)._aval.shape != shape:
        raise value_error(where, "indices must have the shape of x", f"x: {x._aval}, indices: {indices._aval}")
    kernel = sizes(where, "kernel_size", kernel_size, count)
    step = kernel if stride is None else sizes(where, "stride", stride, count)
    border = sizes(where, "padding", padding, count, least=0)
    natural = [(n - 1) * s - 2 * p + k for n, s, p, k in zip(shape[2:], step, border, kernel, strict=True)]
    if output_size is None:
        extents = natural
    else:
        extents = list(integers(where, "output_size", output_size))
        extents = extents[2:] if len(extents) == count + 2 else extents
        if len(extents) != count or any(not n - s < e < n + s for e, n, s in zip(extents, natural, step, strict=True)):
            raise failed_check(
                where, f"output_size must be within a stride of {natural}", f"output_size: {output_size}"
            )
    if min(extents) < 1:
        raise value_error(where, "the result would have no elements", f"x: {x._aval}")
    flat = (*shape[:2], math.prod(shape[2:]))
    zeros = full_of(0.0, (*shape[:2], math.prod(extents)), x._aval.dtype)
    # Overlapping windows may share a maximum: it is put there, not added up.
    spread = put_along_axis(zeros, cast_to(reshape_to(indices, flat), INT64), reshape_to(x, flat), 2)
    return reshape_to(spread, (*shape[:2], *extents))


def _reference_unpool(
    x: Any, index: Any, kernel: int, stride: Any = None, padding: int = 0, output_size: Any = None
) -> Any:
    step = kernel if stride is None else stride
    extents = (
        [(n - 1) * step - 2 * padding + kernel for n in x.shape[2:]]
        if output_size is None
        else output_size[-(x.ndim - 2) :]
    )
    out = np.zeros((*x.shape[:2], math.prod(extents)), x.dtype)
    for at in np.ndindex(*x.shape):
        out[at[0], at[1], index[at]] = x[at]
    return out.reshape(*x.shape[:2], *extents)


@samples(
    S(A(1, 1, 3), A(1, 1, 3, values=[[[0, 3, 4]]], dtype="int32"), 2),
    S(A(1, 2, 2), A(1, 2, 2, values=[[[1, 2], [0, 3]]], dtype="int32"), 2, 2),
    S(A(1, 1, 2), A(1, 1, 2, values=[[[1, 4]]], dtype="int32"), 2, output_size=[5]), reference=_reference_unpool,
)  # fmt: skip
@public(module="nn.functional")
def max_unpool1d(
    x: Tensor,
    indices: Tensor,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    data_format: str = "NCL",
    output_size: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Puts the maxima of `max_pool1d` back to where they were; zeros elsewhere.

    Args:
        x: the maxima, `[batch, channels, length]`.
        indices: their positions, as `max_pool1d(..., return_mask=True)` gives them.
        kernel_size: that of the pooling.
        stride: that of the pooling; None for `kernel_size`.
        padding: that of the pooling.
        data_format: 'NCL'.
        output_size: the length of the result, where the pooling leaves several open.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, length]`.

    Examples:
        >>> pooled, places = paddle.nn.functional.max_pool1d(paddle.to_tensor([[[1.0, 5.0, 7.0, 2.0]]]), 2, return_mask=True)
        >>> paddle.nn.functional.max_unpool1d(pooled, places, 2).tolist()
        [[[0.0, 5.0, 7.0, 0.0]]]
    """
    return _unpool("max_unpool1d", 1, x, indices, kernel_size, stride, padding, data_format, output_size)


_CORNERS = A(1, 1, 2, 2, values=[[[[0, 3], [9, 14]]]], dtype="int32")


@samples(
    S(A(1, 1, 2, 2), _CORNERS, 2), S(A(1, 1, 2, 2), _CORNERS, 2, 2, 0), S(A(1, 1, 2, 2), _CORNERS, 2, output_size=[5, 5]),
    reference=_reference_unpool,
)  # fmt: skip
@public(module="nn.functional")
def max_unpool2d(
    x: Tensor,
    indices: Tensor,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    data_format: str = "NCHW",
    output_size: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Puts the maxima of `max_pool2d` back to where they were; zeros elsewhere.

    Args:
        x: the maxima, `[batch, channels, height, width]`.
        indices: their positions, as `max_pool2d(..., return_mask=True)` gives them.
        kernel_size: that of the pooling.
        stride: that of the pooling; None for `kernel_size`.
        padding: that of the pooling.
        data_format: 'NCHW'.
        output_size: the size of the result, where the pooling leaves several open.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, height, width]`.

    Examples:
        >>> pooled, places = paddle.nn.functional.max_pool2d(paddle.arange(4.0).reshape([1, 1, 2, 2]), 2, return_mask=True)
        >>> paddle.nn.functional.max_unpool2d(pooled, places, 2).tolist()
        [[[[0.0, 0.0], [0.0, 3.0]]]]
    """
    return _unpool("max_unpool2d", 2, x, indices, kernel_size, stride, padding, data_format, output_size)


@samples(
    S(A(1, 1, 1, 1, 2), A(1, 1, 1, 1, 2, values=[[[[[1, 14]]]]], dtype="int32"), 2),
    S(A(1, 1, 1, 1, 1), A(1, 1, 1, 1, 1, values=[[[[[7]]]]], dtype="int32"), 2),
    S(A(2, 1, 1, 1, 1), A(2, 1, 1, 1, 1, values=[[[[[7]]]], [[[[0]]]]], dtype="int32"), 2), reference=_reference_unpool,
)  # fmt: skip
@public(module="nn.functional")
def max_unpool3d(
    x: Tensor,
    indices: Tensor,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    data_format: str = "NCDHW",
    output_size: SizesLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Puts the maxima of `max_pool3d` back to where they were; zeros elsewhere.

    Args:
        x: the maxima, `[batch, channels, depth, height, width]`.
        indices: their positions, as `max_pool3d(..., return_mask=True)` gives them.
        kernel_size: that of the pooling.
        stride: that of the pooling; None for `kernel_size`.
        padding: that of the pooling.
        data_format: 'NCDHW'.
        output_size: the size of the result, where the pooling leaves several open.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, depth, height, width]`.

    Examples:
        >>> x = paddle.arange(8.0).reshape([1, 1, 2, 2, 2])
        >>> pooled, places = paddle.nn.functional.max_pool3d(x, 2, return_mask=True)
        >>> paddle.nn.functional.max_unpool3d(pooled, places, 2).flatten().tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0]
    """
    return _unpool("max_unpool3d", 3, x, indices, kernel_size, stride, padding, data_format, output_size)


# ---- lp_pool -------------------------------------------------------------------------------------


def _pool_power(
    where: str, count: int, x: Any, norm_type: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    data_format: str,
) -> Any:  # fmt: skip
    power = float(norm_type)
    if power == 0:
        raise value_error(where, "norm_type must not be 0", f"norm_type: {norm_type}")
    if math.isinf(power):
        return _pool_maximum(where, count, x, kernel_size, stride, padding, False, ceil_mode, data_format)
    check_rank(where, x, count)
    powered = x if power == 1 else x * x if power == 2 else x**power
    # A sum is a mean with a divisor of 1.
    total: Any = _pool_average(where, count, powered, kernel_size, stride, padding, ceil_mode, False, 1.0, data_format)
    return total if power == 1 else total.sqrt() if power == 2 else total ** (1.0 / power)


def _reference_lp(x: Any, power: float, kernel: int, stride: Any = None) -> Any:
    step = stride or kernel
    axes = range(2, x.ndim)
    windows = np.lib.stride_tricks.sliding_window_view(
        x.astype(np.float64) ** power, (kernel,) * (x.ndim - 2), tuple(axes)
    )
    windows = windows[(slice(None), slice(None), *[slice(None, None, step)] * (x.ndim - 2))]
    return windows.sum(tuple(range(-(x.ndim - 2), 0))) ** (1 / power)


@samples(
    S(A(1, 2, 8, low=0.1), 2, 3, 2), S(A(1, 1, 6, low=0.1), 3.0, 2), S(A(2, 1, 4), 1, 2), reference=_reference_lp,
)  # fmt: skip
@public(module="nn.functional")
def lp_pool1d(
    x: Tensor,
    norm_type: float,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    ceil_mode: bool = False,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """`(Σ x ** p) ** (1 / p)` of each window; the maximum for an infinite p.

    Args:
        x: `[batch, channels, length]`, or with the channels last.
        norm_type: p.
        kernel_size: the windows' length.
        stride: from window to window; None for `kernel_size`.
        padding: zeros at both ends.
        ceil_mode: whether a window that is not full counts.
        data_format: 'NCL' or 'NLC'.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, windows]`, in the layout of `x`.

    Examples:
        >>> paddle.nn.functional.lp_pool1d(paddle.to_tensor([[[3.0, 4.0, 0.0, 2.0]]]), 2.0, 2).tolist()
        [[[5.0, 2.0]]]
    """
    return _pool_power("lp_pool1d", 1, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


@samples(
    S(A(1, 2, 4, 4, low=0.1), 2, 2), S(A(1, 1, 5, 5, low=0.1), 3.0, 3, 2), S(A(2, 1, 4, 4), 1, 2), reference=_reference_lp,
)  # fmt: skip
@public(module="nn.functional")
def lp_pool2d(
    x: Tensor,
    norm_type: float,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """`(Σ x ** p) ** (1 / p)` of each window; the maximum for an infinite p.

    Args:
        x: `[batch, channels, height, width]`, or with the channels last.
        norm_type: p.
        kernel_size: the windows' size.
        stride: from window to window; None for `kernel_size`.
        padding: zeros at the borders.
        ceil_mode: whether a window that is not full counts.
        data_format: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, height, width]`, in the layout of `x`.

    Examples:
        >>> paddle.nn.functional.lp_pool2d(paddle.to_tensor([[[[1.0, 1.0], [1.0, 1.0]]]]), 2.0, 2).tolist()
        [[[[2.0]]]]
    """
    return _pool_power("lp_pool2d", 2, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


# ---- fractional pooling --------------------------------------------------------------------------


def _fractional_range(extent: int, count: int, width: int, u: float) -> tuple[tuple[int, int], ...]:
    """Windows whose places are spread by a pseudo-random sequence; `width` 0 makes them touch. In float32, as Paddle."""
    f = np.float32
    if width:
        step = f(extent - width) / f(count - 1) if count > 1 else f(0)
        starts = [int((f(i) + f(u)) * step) - int(f(u) * step) for i in range(count)]
        starts[-1] = extent - width
        return tuple((start, start + width) for start in starts)
    alpha = f(extent) / f(count)
    base = extent // count
    largest = min(f(base + 2) / alpha - f(1), f(extent + 1 - base) / alpha - f(count - 1))
    share = f(u) * largest
    edges = [int((f(i) + share) * alpha) - int(share * alpha) for i in range(count + 1)]
    edges[0], edges[-1] = 0, extent
    return tuple((a, min(max(b, a + 1), extent)) for a, b in itertools.pairwise(edges))


def _fractional(where: str, count: int, x: Any, output_size: Any, kernel_size: Any, random_u: Any, mask: bool) -> Any:
    check_rank(where, x, count)
    extents = spatial_shape(x._aval, False)
    wanted = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * count
    if len(wanted) != count:
        raise value_error(where, f"output_size must have {count} entries", f"output_size: {output_size}")
    goal = [n if size is None else int(size) for n, size in zip(extents, wanted, strict=True)]
    widths = (0,) * count if kernel_size is None else sizes(where, "kernel_size", kernel_size, count)
    for n, m, k in zip(extents, goal, widths, strict=True):
        if not 0 < m <= n or k > n or (k and m + k - 1 > n):
            raise value_error(
                where, "the windows do not fit into x", f"x: {x._aval}, output_size: {goal}, kernel_size: {kernel_size}"
            )
    if random_u is None:
        seed, offset = default_generator.draw()
        random_u = np.random.Generator(np.random.Philox(key=(offset << 64) | seed)).uniform(0.01, 0.99)
    if not 0 < float(random_u) < 1:
        raise value_error(where, "random_u must be between 0 and 1", f"random_u: {random_u}")
    ranges = tuple(_fractional_range(n, m, k, float(random_u)) for n, m, k in zip(extents, goal, widths, strict=True))
    found = window_max(x, ranges)
    return found if mask else found[0]


def _reference_fractional(x: Any, output_size: Any, kernel_size: Any = None, random_u: float = 0.5) -> Any:
    count = x.ndim - 2
    goal = [output_size] * count if isinstance(output_size, int) else output_size
    widths = [kernel_size or 0] * count
    ranges = [_fractional_range(n, m, k, random_u) for n, m, k in zip(x.shape[2:], goal, widths, strict=True)]
    out = np.zeros((*x.shape[:2], *goal), x.dtype)
    for at in np.ndindex(*goal):
        window = tuple(slice(*ranges[axis][i]) for axis, i in enumerate(at))
        out[(slice(None), slice(None), *at)] = x[(slice(None), slice(None), *window)].max(tuple(range(2, x.ndim)))
    return out


@samples(
    S(A(1, 2, 7, 8, unique=True), [3, 4], random_u=0.3), S(A(1, 1, 6, 6, unique=True), 3, 2, random_u=0.7),
    S(A(2, 1, 5, 5, unique=True), 5, random_u=0.5), reference=_reference_fractional,
)  # fmt: skip
@public(module="nn.functional")
def fractional_max_pool2d(
    x: Tensor,
    output_size: SizesLike,
    kernel_size: SizesLike | None = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """Maxima of windows of slightly different widths, drawn at random, for any output size.

    Args:
        x: `[batch, channels, height, width]`.
        output_size: the height and width of the result; None keeps one.
        kernel_size: the windows' size; None for windows that do not overlap.
        random_u: a number between 0 and 1 that decides in place of a draw.
        return_mask: whether the positions are given too.
        name: a label; it changes nothing.

    Returns:
        The maxima; with `return_mask` also their positions.

    Examples:
        >>> x = paddle.arange(25.0).reshape([1, 1, 5, 5])
        >>> paddle.nn.functional.fractional_max_pool2d(x, 2, random_u=0.5).tolist()
        [[[[12.0, 14.0], [22.0, 24.0]]]]
    """
    return _fractional("fractional_max_pool2d", 2, x, output_size, kernel_size, random_u, return_mask)


@samples(
    S(A(1, 1, 5, 6, 7, unique=True), [3, 2, 4], random_u=0.3), S(A(1, 1, 4, 4, 4, unique=True), 2, 2, random_u=0.7),
    S(A(1, 2, 3, 3, 3, unique=True), 2, random_u=0.5), reference=_reference_fractional,
)  # fmt: skip
@public(module="nn.functional")
def fractional_max_pool3d(
    x: Tensor,
    output_size: SizesLike,
    kernel_size: SizesLike | None = None,
    random_u: float | None = None,
    return_mask: bool = False,
    name: str | None = None,
) -> Any:
    """Maxima of windows of slightly different widths, drawn at random, for any output size.

    Args:
        x: `[batch, channels, depth, height, width]`.
        output_size: the depth, height and width of the result; None keeps one.
        kernel_size: the windows' size; None for windows that do not overlap.
        random_u: a number between 0 and 1 that decides in place of a draw.
        return_mask: whether the positions are given too.
        name: a label; it changes nothing.

    Returns:
        The maxima; with `return_mask` also their positions.

    Examples:
        >>> paddle.nn.functional.fractional_max_pool3d(paddle.ones([1, 1, 5, 5, 5]), 2, random_u=0.5).shape
        paddle.Size([1, 1, 2, 2, 2])
    """
    return _fractional("fractional_max_pool3d", 3, x, output_size, kernel_size, random_u, return_mask)


# ---- local response normalisation ----------------------------------------------------------------


def _reference_response(x: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0,
                        data_format: str = "NCHW") -> Any:  # fmt: skip
    axis = 1 if data_format[1] == "C" else x.ndim - 1
    y = np.moveaxis(x, axis, 0)
    out = np.zeros_like(y)
    for c in range(len(y)):
        low = max(c - size // 2, 0)
        around = (y[low : c + (size - 1) // 2 + 1] ** 2).sum(0) / size
        out[c] = y[c] / (k + alpha * around) ** beta
    return np.moveaxis(out, 0, axis)


@samples(
    S(A(1, 5, 2, 2), 3, 0.5), S(A(1, 5, 4), 2, 0.5, 0.6, 2.0, "NCL"), S(A(1, 2, 2, 5), 4, 0.5, data_format="NHWC"),
    reference=_reference_response,
)  # fmt: skip
@public(module="nn.functional")
def local_response_norm(
    x: Tensor,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """`x / (k + alpha * mean of squares over neighbouring channels) ** beta`.

    Args:
        x: `[batch, channels, ...]`, or with the channels last.
        size: how many neighbouring channels.
        alpha: the factor of the mean.
        beta: the exponent.
        k: what is added.
        data_format: 'NCHW' or another name; its last letter says whether the channels are last.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> x = paddle.ones([1, 3, 1, 1])
        >>> print(paddle.nn.functional.local_response_norm(x, size=3, alpha=3.0, beta=1.0).flatten().numpy().round(4))
        [0.3333 0.25   0.3333]
    """
    where = "local_response_norm"
    aval = require_tensor(where, "x", x)._aval
    formats = ("NCL", "NLC", "NCHW", "NHWC", "NCDHW", "NDHWC")
    if data_format not in formats:  # all that counts is where the channels are
        raise value_error(where, f"data_format must be one of {', '.join(formats)}", f"data_format: {data_format!r}")
    if aval.ndim not in (3, 4, 5):
        raise value_error(where, "x must have 3, 4 or 5 dimensions", f"x: {aval}")
    size = integer(where, "size", size)
    if size < 1:
        raise value_error(where, "size must be positive", f"size: {size}")
    value: Any = x
    if not aval.size:
        return value
    axis = 1 if data_format[1] == "C" else aval.ndim - 1
    squares = (value * value).moveaxis(axis, aval.ndim - 1)
    channels = aval.shape[axis]
    rows = reshape_to(squares, (aval.size // channels, 1, channels))
    padded = pad_with(rows, 0, ((0, 0), (0, 0), (size // 2, (size - 1) // 2)))
    means: Any = avg_pool1d(padded, size, 1)
    means = reshape_to(means, squares._aval.shape).moveaxis(aval.ndim - 1, axis)
    return value / (means * float(alpha) + float(k)) ** float(beta)
