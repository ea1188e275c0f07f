"""Pooling over one, two and three spatial axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.dtype import is_floating
from ....core.errors import type_error, value_error
from ....core.symbols import fixed, maximum, whole
from ....eager.annotations import PaddingLike, SizesLike
from ....eager.declare import public
from ....eager.one_operator import one_operator
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from .pooling_kernels import (
    Window,
    adaptive_average,
    adaptive_range,
    avg_pool,
    max_pool,
    window_max,
)
from .window_references import (
    reference_adaptive_avg,
    reference_adaptive_max,
    reference_avg_pool,
    reference_max_pool,
)
from .windows import (
    Pairs,
    Sizes,
    check_rank,
    is_channels_last,
    paddings,
    same_padding,
    sizes,
    spatial_axes,
    spatial_shape,
)


def _window_arguments(
    where: str,
    num_spatial: int,
    x: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    channels_last: bool,
) -> tuple[Sizes, Sizes, Pairs]:
    """Kernel, stride and a padding that makes the windows fit exactly."""
    check_rank(where, x, num_spatial)
    kernel = sizes(where, "kernel_size", kernel_size, num_spatial)
    step = kernel if stride is None else sizes(where, "stride", stride, num_spatial)
    pads = paddings(where, padding, num_spatial, channels_last)
    extents = spatial_shape(x._aval, channels_last)
    if pads == "SAME":
        return kernel, step, same_padding(extents, kernel, step)
    if isinstance(pads, str):
        if ceil_mode:
            raise value_error(where, "padding='VALID' goes with ceil_mode=False only", "ceil_mode: True")
        pads = ((0, 0),) * num_spatial
    fitted = []
    for extent, width, stride_along, (before, after) in zip(extents, kernel, step, pads, strict=True):
        room = extent + before + after - width
        if not ceil_mode and room >= 0:
            fitted.append((before, after))
            continue
        # A window wider than the input counts as one window, as Paddle's division towards zero has
        # it.
        count = (-(-room // stride_along) if ceil_mode else int(room / stride_along)) + 1
        fitted.append((before, maximum(after, (count - 1) * stride_along + width - extent - before)))
    return kernel, step, tuple(fitted)


def _pool_maximum(
    where: str,
    num_spatial: int,
    x: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    return_mask: bool,
    ceil_mode: bool,
    data_format: str,
) -> Any:
    channels_last = is_channels_last(where, data_format, num_spatial)
    kernel, step, pads = _window_arguments(
        where, num_spatial, x, kernel_size, stride, padding, ceil_mode, channels_last
    )
    if not return_mask:
        return max_pool(x, kernel, step, pads, channels_last)
    if channels_last:
        raise value_error(
            where,
            "return_mask needs a format with the channels first",
            f"data_format: {data_format!r}",
        )
    window = Window(x._aval.shape, kernel, step, pads, False)
    ranges = tuple(
        tuple((i * s - before, i * s - before + width) for i in range(fixed(count)))
        for count, s, (before, _), width in zip(window.out, step, pads, kernel, strict=True)
    )
    for along, extent in zip(ranges, window.extents, strict=True):
        if any(stop <= 0 or start >= extent for start, stop in along):
            raise value_error(
                where,
                "a window lies in the padding alone and has no position",
                f"x: {x._aval}",
                "use less padding",
            )
    return window_max(x, ranges)


def _pool_average(
    where: str,
    num_spatial: int,
    x: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    exclusive: bool,
    divisor_override: Any,
    data_format: str,
) -> Tensor:
    channels_last = is_channels_last(where, data_format, num_spatial)
    kernel, step, pads = _window_arguments(
        where, num_spatial, x, kernel_size, stride, padding, ceil_mode, channels_last
    )
    divisor: str | float = "exclusive" if exclusive else "inclusive"
    if divisor_override is not None:
        divisor = float(divisor_override)
        if divisor <= 0:
            raise value_error(
                where,
                "divisor_override must be positive",
                f"divisor_override: {divisor_override!r}",
            )
    return avg_pool(x, kernel, step, pads, divisor, channels_last)


@samples(
    S(A(2, 3, 7, unique=True), 2),
    S(A(1, 2, 7, unique=True), 3, stride=2, padding=1),
    S(A(1, 2, 6, unique=True), 4, stride=3, ceil_mode=True),
    reference=reference_max_pool,
)
@public(module="nn.functional")
def max_pool1d(
    x: Tensor,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """The largest element of each window.

    Args:
        x: `[batch, channels, length]`.
        kernel_size: the windows' length.
        stride: from window to window; None for `kernel_size`.
        padding: at both ends, which never wins: a number, a list, 'SAME' or 'VALID'.
        return_mask: whether the positions are given too.
        ceil_mode: whether a window that is not full counts.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, windows]`; with `return_mask` also the positions.

    Examples:
        >>> paddle.nn.functional.max_pool1d(paddle.to_tensor([[[1.0, 5.0, 7.0, 2.0]]]), 2).tolist()
        [[[5.0, 7.0]]]
    """
    return _pool_maximum("max_pool1d", 1, x, kernel_size, stride, padding, return_mask, ceil_mode, "NCL")


@samples(
    S(A(1, 2, 6, 7, unique=True), 2),
    S(A(1, 2, 7, 7, unique=True), 3, stride=2, padding=1),
    S(A(2, 1, 5, 5, unique=True), [3, 2], stride=1, padding=[1, 0, 0, 1]),
    S(A(1, 5, 6, 2, unique=True), 2, data_format="NHWC"),
    S(A(1, 1, 6, 6, unique=True), 3, stride=2, ceil_mode=True),
    S(A(1, 1, 9, 9, unique=True), 8, stride=1, padding="SAME"),
    S(A(0, 2, 4, 4), 2),
    reference=reference_max_pool,
)
@public(module="nn.functional")
def max_pool2d(
    x: Tensor,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The largest element of each window of images.

    NaN wins over every number.

    Args:
        x: `[batch, channels, height, width]`, or with the channels last.
        kernel_size: the windows' size; one number, or height and width.
        stride: from window to window; None for `kernel_size`.
        padding: at the borders, which never wins: a number, a list, 'SAME' or 'VALID'.
        return_mask: whether the positions in the flattened image are given too (int32).
        ceil_mode: whether a window that is not full counts.
        data_format: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, height, width]`, in the layout of `x`; with `return_mask` also the positions.

    Examples:
        >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
        >>> paddle.nn.functional.max_pool2d(x, 2).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
        >>> paddle.nn.functional.max_pool2d(x, 2, return_mask=True)[1].tolist()
        [[[[5, 7], [13, 15]]]]
    """
    return _pool_maximum("max_pool2d", 2, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


@samples(
    S(A(1, 1, 4, 4, 4, unique=True), 2),
    S(A(1, 2, 3, 4, 5, unique=True), 2, stride=1, padding=1),
    S(A(1, 4, 4, 4, 2, unique=True), [2, 1, 3], data_format="NDHWC"),
    reference=reference_max_pool,
)
@public(module="nn.functional")
def max_pool3d(
    x: Tensor,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The largest element of each window of volumes.

    Args:
        x: `[batch, channels, depth, height, width]`, or with the channels last.
        kernel_size: the windows' size; one number, or three.
        stride: from window to window; None for `kernel_size`.
        padding: at the borders, which never wins: a number, a list, 'SAME' or 'VALID'.
        return_mask: whether the positions in the flattened volume are given too.
        ceil_mode: whether a window that is not full counts.
        data_format: 'NCDHW' or 'NDHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, depth, height, width]`, in the layout of `x`; with `return_mask` also the
        positions.

    Examples:
        >>> paddle.nn.functional.max_pool3d(paddle.arange(8.0).reshape([1, 1, 2, 2, 2]), 2).item()
        7.0
    """
    return _pool_maximum("max_pool3d", 3, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


@samples(
    S(A(2, 3, 7), 2),
    S(A(1, 2, 7), 3, stride=2, padding=1),
    S(A(1, 2, 7), 3, stride=2, padding=1, exclusive=False),
    reference=reference_avg_pool,
)
@public(module="nn.functional")
def avg_pool1d(
    x: Tensor,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean of each window.

    Args:
        x: `[batch, channels, length]`.
        kernel_size: the windows' length.
        stride: from window to window; None for `kernel_size`.
        padding: zeros at both ends: a number, a list, 'SAME' or 'VALID'.
        exclusive: whether the padding is left out of the count.
        ceil_mode: whether a window that is not full counts.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, windows]`.

    Examples:
        >>> paddle.nn.functional.avg_pool1d(paddle.to_tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2).tolist()
        [[[2.0, 6.0]]]
    """
    return _pool_average("avg_pool1d", 1, x, kernel_size, stride, padding, ceil_mode, exclusive, None, "NCL")


@samples(
    S(A(1, 2, 6, 7), 2),
    S(A(1, 2, 7, 7), 3, stride=2, padding=1),
    S(A(1, 2, 5, 5), 3, stride=2, padding=1, exclusive=False),
    S(A(1, 2, 5, 5), 2, ceil_mode=True, exclusive=False),
    S(A(2, 5, 6, 2), [2, 3], stride=1, data_format="NHWC"),
    S(A(1, 1, 9, 9), 8, stride=1),
    S(A(1, 2, 5, 5), 2, padding="SAME"),
    reference=reference_avg_pool,
)
@public(module="nn.functional")
def avg_pool2d(
    x: Tensor,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: int | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of images.

    Args:
        x: `[batch, channels, height, width]`, or with the channels last.
        kernel_size: the windows' size; one number, or height and width.
        stride: from window to window; None for `kernel_size`.
        padding: zeros at the borders: a number, a list, 'SAME' or 'VALID'.
        ceil_mode: whether a window that is not full counts.
        exclusive: whether the padding is left out of the count.
        divisor_override: what the sum is divided by in place of the count.
        data_format: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, height, width]`, in the layout of `x`.

    Examples:
        >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
        >>> paddle.nn.functional.avg_pool2d(x, 2).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    return _pool_average(
        "avg_pool2d",
        2,
        x,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        exclusive,
        divisor_override,
        data_format,
    )


@samples(
    S(A(1, 1, 4, 4, 4), 2),
    S(A(1, 2, 3, 4, 5), 2, stride=1, padding=1),
    S(A(1, 4, 4, 4, 2), 3, data_format="NDHWC"),
    reference=reference_avg_pool,
)
@public(module="nn.functional")
def avg_pool3d(
    x: Tensor,
    kernel_size: SizesLike,
    stride: SizesLike | None = None,
    padding: PaddingLike = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: int | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of volumes.

    Args:
        x: `[batch, channels, depth, height, width]`, or with the channels last.
        kernel_size: the windows' size; one number, or three.
        stride: from window to window; None for `kernel_size`.
        padding: zeros at the borders: a number, a list, 'SAME' or 'VALID'.
        ceil_mode: whether a window that is not full counts.
        exclusive: whether the padding is left out of the count.
        divisor_override: what the sum is divided by in place of the count.
        data_format: 'NCDHW' or 'NDHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, depth, height, width]`, in the layout of `x`.

    Examples:
        >>> paddle.nn.functional.avg_pool3d(paddle.arange(8.0).reshape([1, 1, 2, 2, 2]), 2).item()
        3.5
    """
    return _pool_average(
        "avg_pool3d",
        3,
        x,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        exclusive,
        divisor_override,
        data_format,
    )


# Adaptive windows are written down one by one before anything is computed.
_MOST_WINDOWS = 1 << 22


def _adaptive_sizes(where: str, output_size: Any, extents: tuple[int, ...]) -> Sizes:
    """Wanted extents; None keeps an axis as it is."""
    count = len(extents)
    wanted = list(output_size) if isinstance(output_size, (list, tuple)) else [output_size] * count
    if len(wanted) != count:
        raise value_error(where, f"output_size must have {count} entries", f"output_size: {output_size!r}")
    found = []
    for size, extent in zip(wanted, extents, strict=True):
        if size is not None and not isinstance(size, (int, np.integer, Tensor)):
            raise type_error(where, "output_size must be ints or None", f"output_size: {output_size!r}")
        found.append(extent if size is None else whole(size))
    if any(n < 1 for n in (*found, *extents)):
        raise value_error(
            where,
            "output_size and the input's extents must be positive",
            f"{found} from {list(extents)}",
        )
    if math.prod(found) > _MOST_WINDOWS:
        raise value_error(where, f"the result would have more than {_MOST_WINDOWS} windows", f"output_size: {found}")
    return tuple(found)


def _adapt_average(where: str, num_spatial: int, x: Tensor, output_size: Any, data_format: str) -> Tensor:
    channels_last = is_channels_last(where, data_format, num_spatial)
    check_rank(where, x, num_spatial)
    extents = spatial_shape(x._aval, channels_last)
    wanted = _adaptive_sizes(where, output_size, extents)
    if not is_floating(x._aval.dtype):
        raise type_error(where, "only floating tensors can be pooled", f"x: {x._aval}", "convert with astype()")
    axes = spatial_axes(num_spatial, channels_last)
    if all(size == 1 for size in wanted):
        return x.mean(axes, keepdim=True)
    return adaptive_average(x, wanted, axes)


def _adapt_maximum(where: str, num_spatial: int, x: Tensor, output_size: Any, return_mask: bool) -> Any:
    check_rank(where, x, num_spatial)
    extents = spatial_shape(x._aval, False)
    wanted = _adaptive_sizes(where, output_size, extents)
    if not (return_mask or x._aval.symbolic) and all(n % size == 0 for n, size in zip(extents, wanted, strict=True)):
        kernel = tuple(n // size for n, size in zip(extents, wanted, strict=True))
        return max_pool(x, kernel, kernel, ((0, 0),) * num_spatial, False)
    found = window_max(x, tuple(adaptive_range(n, size) for n, size in zip(extents, wanted, strict=True)))
    return found if return_mask else found[0]


@samples(S(A(2, 3, 6), 3), S(A(1, 2, 7), 3), S(A(1, 2, 4), 1), reference=reference_adaptive_avg)
@public(module="nn.functional")
def adaptive_avg_pool1d(x: Tensor, output_size: SizesLike, name: str | None = None) -> Tensor:
    """Means over windows that divide the length as evenly as possible.

    Args:
        x: [batch, channels, length].
        output_size: the number of windows.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.adaptive_avg_pool1d(paddle.to_tensor([[[1.0, 3.0, 5.0, 7.0]]]), 2).tolist()
        [[[2.0, 6.0]]]
    """
    return _adapt_average("adaptive_avg_pool1d", 1, x, output_size, "NCL")


@samples(
    S(A(2, 3, 6, 6), 1),
    S(A(1, 2, 6, 4), [3, 2]),
    S(A(1, 2, 7, 5), [3, None]),
    S(A(1, 7, 5, 2), 3, data_format="NHWC"),
    S(A(1, 1, 2, 2), 3),
    reference=reference_adaptive_avg,
)
@public(module="nn.functional")
@one_operator("pool2d")
def adaptive_avg_pool2d(
    x: Tensor, output_size: SizesLike, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Means over windows that divide height and width as evenly as possible.

    Args:
        x: `[batch, channels, height, width]`, or with the channels last.
        output_size: the height and width of the result; None keeps one.
        data_format: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, *output_size]`, in the layout of `x`.

    Examples:
        >>> x = paddle.arange(12.0).reshape([1, 1, 3, 4])
        >>> paddle.nn.functional.adaptive_avg_pool2d(x, [1, 2]).tolist()
        [[[[4.5, 6.5]]]]
        >>> paddle.nn.functional.adaptive_avg_pool2d(x, [None, 1]).tolist()
        [[[[1.5], [5.5], [9.5]]]]
    """
    return _adapt_average("adaptive_avg_pool2d", 2, x, output_size, data_format)


@samples(
    S(A(1, 2, 4, 4, 4), 2),
    S(A(1, 2, 3, 4, 5), [2, 3, 1]),
    S(A(1, 3, 3, 3, 2), 1, data_format="NDHWC"),
    reference=reference_adaptive_avg,
)
@public(module="nn.functional")
def adaptive_avg_pool3d(
    x: Tensor, output_size: SizesLike, data_format: str = "NCDHW", name: str | None = None
) -> Tensor:
    """Means over windows that divide depth, height and width as evenly as possible.

    Args:
        x: `[batch, channels, depth, height, width]`, or with the channels last.
        output_size: the depth, height and width of the result; None keeps one.
        data_format: 'NCDHW' or 'NDHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, *output_size]`, in the layout of `x`.

    Examples:
        >>> paddle.nn.functional.adaptive_avg_pool3d(paddle.arange(8.0).reshape([1, 1, 2, 2, 2]), 1).item()
        3.5
    """
    return _adapt_average("adaptive_avg_pool3d", 3, x, output_size, data_format)


@samples(
    S(A(2, 3, 6, unique=True), 3),
    S(A(1, 2, 7, unique=True), 3),
    S(A(1, 2, 4, unique=True), 1),
    reference=reference_adaptive_max,
)
@public(module="nn.functional", aliases="return_mask=return_indices")
def adaptive_max_pool1d(x: Tensor, output_size: SizesLike, return_mask: bool = False, name: str | None = None) -> Any:
    """Maxima over windows that divide the length as evenly as possible.

    Args:
        x: `[batch, channels, length]`.
        output_size: the number of windows.
        return_mask: whether the positions are given too.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, output_size]`; with `return_mask` also the positions.

    Examples:
        >>> paddle.nn.functional.adaptive_max_pool1d(paddle.to_tensor([[[1.0, 5.0, 2.0, 3.0]]]), 2).tolist()
        [[[5.0, 3.0]]]
    """
    return _adapt_maximum("adaptive_max_pool1d", 1, x, output_size, return_mask)


@samples(
    S(A(1, 2, 6, 4, unique=True), [3, 2]),
    S(A(1, 2, 7, 5, unique=True), [3, 2]),
    S(A(1, 1, 2, 2, unique=True), 3),
    reference=reference_adaptive_max,
)
@public(module="nn.functional", aliases="return_mask=return_indices")
def adaptive_max_pool2d(x: Tensor, output_size: SizesLike, return_mask: bool = False, name: str | None = None) -> Any:
    """Maxima over windows that divide height and width as evenly as possible.

    Args:
        x: `[batch, channels, height, width]`.
        output_size: the height and width of the result; None keeps one.
        return_mask: whether the positions in the flattened image are given too.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, *output_size]`; with `return_mask` also the positions.

    Examples:
        >>> x = paddle.arange(4.0).reshape([1, 1, 2, 2])
        >>> values, places = paddle.nn.functional.adaptive_max_pool2d(x, 1, return_mask=True)
        >>> values.item(), places.item()
        (3.0, 3)
    """
    return _adapt_maximum("adaptive_max_pool2d", 2, x, output_size, return_mask)


@samples(
    S(A(1, 2, 4, 4, 4, unique=True), 2),
    S(A(1, 2, 3, 4, 5, unique=True), [2, 3, 1]),
    S(A(1, 1, 3, 3, 3, unique=True), 1),
    reference=reference_adaptive_max,
)
@public(module="nn.functional", aliases="return_mask=return_indices")
def adaptive_max_pool3d(x: Tensor, output_size: SizesLike, return_mask: bool = False, name: str | None = None) -> Any:
    """Maxima over windows that divide depth, height and width as evenly as possible.

    Args:
        x: `[batch, channels, depth, height, width]`.
        output_size: the depth, height and width of the result; None keeps one.
        return_mask: whether the positions in the flattened volume are given too.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, channels, *output_size]`; with `return_mask` also the positions.

    Examples:
        >>> paddle.nn.functional.adaptive_max_pool3d(paddle.arange(8.0).reshape([1, 1, 2, 2, 2]), [1, 1, 2]).tolist()
        [[[[[6.0, 7.0]]]]]
    """
    return _adapt_maximum("adaptive_max_pool3d", 3, x, output_size, return_mask)
