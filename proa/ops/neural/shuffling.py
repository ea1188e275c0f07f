"""Elements moved between channels, space and time: pixel_shuffle, channel_shuffle, unfold, fold, temporal_shift, maxout."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import failed_check, value_error
from ...core.namespaces import can_write
from ...eager import series
from ...eager.annotations import SizesLike
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import integer, one_axis, require_tensor
from ..basic import reshape_to, transpose_to
from ..math.reduction import max as maximum_over
from ..precision import wide
from ..shape.joining import concat_along
from ..shape.padding import pad_with
from ..shape.slicing import read_at
from .windowed.windows import Pairs, Sizes, is_channels_last, sizes


def _image(where: str, x: Any, data_format: str) -> tuple[bool, tuple[int, int, int, int]]:
    """Whether channels come last, and (batch, channels, height, width)."""
    aval = require_tensor(where, "x", x)._aval
    last = is_channels_last(where, data_format, 2)
    if aval.ndim != 4:
        raise value_error(where, "x must have 4 dimensions", f"x: {aval}")
    shape = aval.shape
    return last, ((shape[0], shape[3], shape[1], shape[2]) if last else shape)  # type: ignore[return-value]


def _moved(x: Tensor, first: tuple[int, ...], order: tuple[int, ...], then: tuple[int, ...]) -> Tensor:
    return reshape_to(transpose_to(reshape_to(x, first), order), then)


def _factor(where: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"({where}) {name} must be an int; received {name}: {value!r}.")
    if value < 1:
        raise value_error(where, f"{name} must be positive", f"{name}: {value}")
    return int(value)


def _reference_pixel_shuffle(x: np.ndarray, r: int, data_format: str = "NCHW") -> np.ndarray:
    y = x if data_format == "NCHW" else np.moveaxis(x, -1, 1)
    n, c, h, w = y.shape
    out = np.zeros((n, c // r // r, h * r, w * r), x.dtype)
    for i in range(r):
        for j in range(r):
            out[:, :, i::r, j::r] = y[:, i * r + j :: r * r]
    return out if data_format == "NCHW" else np.moveaxis(out, 1, -1)


@samples(
    S(A(1, 8, 2, 3), 2), S(A(2, 9, 1, 2), 3), S(A(1, 2, 3, 8), 2, "NHWC"), S(A(0, 4, 2, 2), 2),
    reference=_reference_pixel_shuffle,
)  # fmt: skip
@public(module="nn.functional")
def pixel_shuffle(x: Tensor, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Channels become a finer image: `[N, C r², H, W]` to `[N, C, H r, W r]`.

    Args:
        x: images.
        upscale_factor: r.
        data_format: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor with `r²` times fewer channels.

    Examples:
        >>> paddle.nn.functional.pixel_shuffle(paddle.arange(4.0).reshape([1, 4, 1, 1]), 2).tolist()
        [[[[0.0, 1.0], [2.0, 3.0]]]]
    """
    last, (n, c, h, w) = _image("pixel_shuffle", x, data_format)
    r = _factor("pixel_shuffle", "upscale_factor", upscale_factor)
    if c % (r * r):
        raise value_error("pixel_shuffle", f"the channels must be divisible by {r * r}", f"x: {x._aval}")
    rest = c // (r * r)
    if last:
        return _moved(x, (n, h, w, rest, r, r), (0, 1, 4, 2, 5, 3), (n, h * r, w * r, rest))
    return _moved(x, (n, rest, r, r, h, w), (0, 1, 4, 2, 5, 3), (n, rest, h * r, w * r))


def _reference_pixel_unshuffle(x: np.ndarray, r: int, data_format: str = "NCHW") -> np.ndarray:
    y = x if data_format == "NCHW" else np.moveaxis(x, -1, 1)
    n, c, h, w = y.shape
    out = np.zeros((n, c * r * r, h // r, w // r), x.dtype)
    for i in range(r):
        for j in range(r):
            out[:, i * r + j :: r * r] = y[:, :, i::r, j::r]
    return out if data_format == "NCHW" else np.moveaxis(out, 1, -1)


@samples(
    S(A(1, 2, 4, 6), 2), S(A(2, 1, 3, 3), 3), S(A(1, 4, 6, 2), 2, "NHWC"), S(A(0, 1, 2, 2), 2),
    reference=_reference_pixel_unshuffle,
)  # fmt: skip
@public(module="nn.functional")
def pixel_unshuffle(x: Tensor, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """A fine image becomes channels: `[N, C, H, W]` to `[N, C r², H / r, W / r]`.

    Args:
        x: images.
        downscale_factor: r.
        data_format: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor with `r²` times more channels.

    Examples:
        >>> paddle.nn.functional.pixel_unshuffle(paddle.arange(4.0).reshape([1, 1, 2, 2]), 2).flatten().tolist()
        [0.0, 1.0, 2.0, 3.0]
    """
    last, (n, c, h, w) = _image("pixel_unshuffle", x, data_format)
    r = _factor("pixel_unshuffle", "downscale_factor", downscale_factor)
    if h % r or w % r:
        raise value_error("pixel_unshuffle", f"height and width must be divisible by {r}", f"x: {x._aval}")
    if last:
        return _moved(x, (n, h // r, r, w // r, r, c), (0, 1, 3, 5, 2, 4), (n, h // r, w // r, c * r * r))
    return _moved(x, (n, c, h // r, r, w // r, r), (0, 1, 3, 5, 2, 4), (n, c * r * r, h // r, w // r))


def _reference_channel_shuffle(x: np.ndarray, groups: int, data_format: str = "NCHW") -> np.ndarray:
    axis = 1 if data_format == "NCHW" else 3
    order = np.arange(x.shape[axis]).reshape(groups, -1).T.ravel()
    return np.take(x, order, axis)


@samples(
    S(A(1, 6, 1, 2), 3), S(A(2, 4, 2, 2), 2), S(A(1, 1, 2, 6), 3, "NHWC"), S(A(1, 5, 1, 1), 5),
    reference=_reference_channel_shuffle,
)  # fmt: skip
@public(module="nn.functional")
def channel_shuffle(x: Tensor, groups: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Deals the channels out anew: the first of each group, then the second of each, and so on.

    Args:
        x: `[batch, channels, height, width]`, or with the channels last.
        groups: how many groups; they divide the channels.
        data_format: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> x = paddle.arange(4.0).reshape([1, 4, 1, 1])
        >>> paddle.nn.functional.channel_shuffle(x, 2).flatten().tolist()
        [0.0, 2.0, 1.0, 3.0]
    """
    last, (n, c, h, w) = _image("channel_shuffle", x, data_format)
    count = _factor("channel_shuffle", "groups", groups)
    if c % count:
        raise value_error("channel_shuffle", f"the channels must be divisible by {count}", f"x: {x._aval}")
    if last:
        return _moved(x, (n, h, w, count, c // count), (0, 1, 2, 4, 3), (n, h, w, c))
    return _moved(x, (n, count, c // count, h, w), (0, 2, 1, 3, 4), (n, c, h, w))


# ---- windows as columns --------------------------------------------------------------------------


def _counts(extents: Sizes, kernel: Sizes, stride: Sizes, padding: Pairs, dilation: Sizes) -> Sizes:
    return tuple(
        (n + before + after - (d * (k - 1) + 1)) // s + 1
        for n, k, s, (before, after), d in zip(extents, kernel, stride, padding, dilation, strict=True)
    )


def _infer_unfold(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    kernel, stride, padding, dilation = attributes
    n, c, *extents = operands[0].shape
    counts = _counts(tuple(extents), kernel, stride, padding, dilation)
    if min(counts) < 1:
        raise operation.error(ValueError, "the window is larger than the padded image", operands, attributes)
    return operands[0].with_shape((n, c * kernel[0] * kernel[1], counts[0] * counts[1]))


def _each_tap(shape: Any, kernel: Sizes, stride: Sizes, padding: Pairs, dilation: Sizes) -> Any:
    """The counts of windows, and for each position in a window the slices that it covers."""
    counts = _counts(tuple(shape[2:]), kernel, stride, padding, dilation)
    slices = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            at = (i * dilation[0], j * dilation[1])
            slices.append(tuple(slice(a, a + s * (m - 1) + 1, s) for a, s, m in zip(at, stride, counts, strict=True)))
    return counts, slices


@op(
    infer=_infer_unfold,
    grad={
        "x": lambda g, x_aval, kernel, stride, padding, dilation: columns_to_image(
            g, x_aval.shape[2:], kernel, stride, padding, dilation
        )
    },
    name="unfold",
    padding=rules.windows.unfold,
    series=series.algebra.linear("x"),
)
def image_to_columns(xp: Any, x: Any, kernel: Sizes, stride: Sizes, padding: Pairs, dilation: Sizes) -> Any:
    """The elements of each window as a column."""
    counts, slices = _each_tap(x.shape, kernel, stride, padding, dilation)
    padded = xp.pad(x, ((0, 0), (0, 0), *padding))
    parts = xp.stack([padded[(slice(None), slice(None), *taps)] for taps in slices], axis=2)
    return parts.reshape(x.shape[0], x.shape[1] * len(slices), counts[0] * counts[1])


def _infer_fold(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    extents, kernel, stride, padding, dilation = attributes
    n, rows, columns = operands[0].shape
    counts = _counts(extents, kernel, stride, padding, dilation)
    if rows % (kernel[0] * kernel[1]):
        what = f"the second dimension must be divisible by the size of the window, {kernel[0] * kernel[1]}"
        raise operation.error(ValueError, what, operands, attributes)
    if min(counts) < 1 or columns != counts[0] * counts[1]:
        what = f"the last dimension must be the number of windows, {counts[0]} * {counts[1]}"
        raise operation.error(ValueError, what, operands, attributes)
    return operands[0].with_shape((n, rows // (kernel[0] * kernel[1]), *extents))


@op(
    infer=_infer_fold,
    grad={
        "x": lambda g, extents, kernel, stride, padding, dilation: image_to_columns(
            g, kernel, stride, padding, dilation
        )
    },
    name="fold",
    padding=rules.windows.fold,
    series=series.algebra.linear("x"),
)
def columns_to_image(
    xp: Any, x: Any, extents: Sizes, kernel: Sizes, stride: Sizes, padding: Pairs, dilation: Sizes
) -> Any:
    """Columns put back to where the windows were, overlaps added up."""
    n, channels = x.shape[0], x.shape[1] // (kernel[0] * kernel[1])
    counts, slices = _each_tap((n, channels, *extents), kernel, stride, padding, dilation)
    parts = wide(x).reshape(n, channels, len(slices), *counts)
    whole = [e + before + after for e, (before, after) in zip(extents, padding, strict=True)]
    total = xp.zeros((n, channels, *whole), parts.dtype)
    for number, taps in enumerate(slices):
        where = (slice(None), slice(None), *taps)
        if can_write(xp):
            total[where] += parts[:, :, number]
        else:
            total = total.at[where].add(parts[:, :, number])
    inside = tuple(slice(before, before + e) for e, (before, _) in zip(extents, padding, strict=True))
    return total[(slice(None), slice(None), *inside)].astype(x.dtype, copy=False)


def _borders(where: str, value: Any) -> Pairs:
    """Paddle's order of four numbers is top, left, bottom, right."""
    if isinstance(value, (list, tuple)) and len(value) == 4:
        top, left, bottom, right = (integer(where, "paddings", v) for v in value)
        pairs: Pairs = ((top, bottom), (left, right))
    else:
        rows, columns = sizes(where, "paddings", value, 2, least=0)
        pairs = ((rows, rows), (columns, columns))
    if min(min(pair) for pair in pairs) < 0:
        raise value_error(where, "paddings cannot be negative", f"paddings: {value}")
    return pairs


def _reference_unfold(x: np.ndarray, kernel: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1) -> Any:
    def two(v: Any) -> Any:
        return (v, v) if isinstance(v, int) else tuple(v)

    (kh, kw), (sh, sw), (dh, dw) = two(kernel), two(strides), two(dilations)
    border = two(paddings)
    border = (*border, *border) if len(border) == 2 else border
    y = np.pad(x, ((0, 0), (0, 0), (border[0], border[2]), (border[1], border[3])))
    columns = [
        y[:, :, i : i + dh * (kh - 1) + 1 : dh, j : j + dw * (kw - 1) + 1 : dw].reshape(
            x.shape[0], x.shape[1] * kh * kw
        )
        for i in range(0, y.shape[2] - dh * (kh - 1), sh)
        for j in range(0, y.shape[3] - dw * (kw - 1), sw)
    ]
    return np.stack(columns, -1)


@samples(
    S(A(2, 2, 4, 5), 2), S(A(1, 2, 4, 5), [2, 3], [1, 2], [1, 0]), S(A(1, 1, 5, 5), 2, 1, [0, 1, 1, 0], 2),
    S(A(0, 2, 4, 5), 2), reference=_reference_unfold,
)  # fmt: skip
@public(module="nn.functional")
def unfold(
    x: Tensor,
    kernel_sizes: SizesLike,
    strides: SizesLike = 1,
    paddings: SizesLike = 0,
    dilations: SizesLike = 1,
    name: str | None = None,
) -> Tensor:
    """Each window of an image as a column: `[N, C, H, W]` to `[N, C * window, number of windows]`.

    Args:
        x: images.
        kernel_sizes: the windows' size.
        strides: from window to window.
        paddings: zeros at the borders.
        dilations: the distance between a window's elements.
        name: a label; it changes nothing.

    Returns:
        A tensor of columns.

    Examples:
        >>> paddle.nn.functional.unfold(paddle.arange(4.0).reshape([1, 1, 2, 2]), [1, 2]).tolist()
        [[[0.0, 2.0], [1.0, 3.0]]]
    """
    where = "unfold"
    if require_tensor(where, "x", x)._aval.ndim != 4:
        raise failed_check(where, "x must have 4 dimensions", f"x: {x._aval}")
    return image_to_columns(
        x, sizes(where, "kernel_sizes", kernel_sizes, 2), sizes(where, "strides", strides, 2),
        _borders(where, paddings), sizes(where, "dilations", dilations, 2),
    )  # fmt: skip


def _reference_fold(x: np.ndarray, output: Any, kernel: Any, strides: Any = 1, paddings: Any = 0) -> Any:
    def two(v: Any) -> Any:
        return (v, v) if isinstance(v, int) else tuple(v)

    (oh, ow), (kh, kw), (sh, sw), (ph, pw) = two(output), two(kernel), two(strides), two(paddings)
    total = np.zeros((x.shape[0], x.shape[1] // (kh * kw), oh + 2 * ph, ow + 2 * pw))
    column = 0
    for i in range(0, oh + 2 * ph - kh + 1, sh):
        for j in range(0, ow + 2 * pw - kw + 1, sw):
            total[:, :, i : i + kh, j : j + kw] += x[:, :, column].reshape(*total.shape[:2], kh, kw)
            column += 1
    return total[:, :, ph : ph + oh, pw : pw + ow].astype(x.dtype, copy=False)


@samples(
    S(A(2, 8, 9), [4, 4], 2), S(A(1, 8, 9), [4, 5], [2, 2], 2, [1, 1]), S(A(1, 6, 8), [3, 4], [2, 3], [1, 1], [0, 1]),
    S(A(0, 8, 9), 4, 2), reference=lambda x, *rest: _reference_fold(x, *rest) if len(x) else x.reshape(0, 2, 4, 4),
)  # fmt: skip
@public(module="nn.functional")
def fold(
    x: Tensor,
    output_sizes: SizesLike,
    kernel_sizes: SizesLike,
    strides: SizesLike = 1,
    paddings: SizesLike = 0,
    dilations: SizesLike = 1,
    name: str | None = None,
) -> Tensor:
    """Columns put back to where the windows of an image were, overlaps added up: the transpose of `unfold`.

    Args:
        x: `[N, C * window, number of windows]`.
        output_sizes: the height and width of the image.
        kernel_sizes: the windows' size.
        strides: from window to window.
        paddings: what `unfold` added at the borders.
        dilations: the distance between a window's elements.
        name: a label; it changes nothing.

    Returns:
        A tensor `[N, C, height, width]`.

    Examples:
        >>> columns = paddle.nn.functional.unfold(paddle.ones([1, 1, 3, 3]), 2)
        >>> paddle.nn.functional.fold(columns, [3, 3], 2)[0, 0].tolist()  # how many windows each place lies in
        [[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]
    """
    where = "fold"
    if require_tensor(where, "x", x)._aval.ndim != 3:
        raise failed_check(where, "x must have 3 dimensions", f"x: {x._aval}")
    return columns_to_image(
        x, sizes(where, "output_sizes", output_sizes, 2), sizes(where, "kernel_sizes", kernel_sizes, 2),
        sizes(where, "strides", strides, 2), _borders(where, paddings), sizes(where, "dilations", dilations, 2),
    )  # fmt: skip


# ---- along channels ------------------------------------------------------------------------------


def _slice(x: Tensor, axis: int, start: int, length: int) -> Tensor:
    whole = tuple((0, n, 1) for n in x._aval.shape[:axis])
    return read_at(x, 0, (*whole, (start, length, 1)))


def _reference_temporal(x: np.ndarray, segments: int, ratio: float = 0.25, data_format: str = "NCHW") -> np.ndarray:
    y = x if data_format == "NCHW" else np.moveaxis(x, -1, 1)
    y = y.reshape(-1, segments, *y.shape[1:])
    one, two = int(y.shape[2] * ratio), int(y.shape[2] * 2 * ratio)
    out = y.copy()
    out[:, :, :two] = 0
    out[:, 1:, :one] = y[:, :-1, :one]
    out[:, :-1, one:two] = y[:, 1:, one:two]
    out = out.reshape(-1, *out.shape[2:])
    return out if data_format == "NCHW" else np.moveaxis(out, 1, -1)


@samples(
    S(A(4, 4, 2, 2), 2), S(A(6, 5, 1, 2), 3, 0.3), S(A(4, 1, 2, 4), 2, data_format="NHWC"), S(A(2, 3, 1, 1), 1, 0.5),
    reference=_reference_temporal,
)  # fmt: skip
@public(module="nn.functional")
def temporal_shift(
    x: Tensor, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW"
) -> Tensor:
    """Moves a share of the channels one frame on, an equal share one frame back.

    Args:
        x: frames, `[clips * frames, channels, height, width]`, or with the channels last.
        seg_num: how many frames make a clip.
        shift_ratio: the share of the channels.
        data_format: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]).reshape([2, 4, 1, 1])
        >>> paddle.nn.functional.temporal_shift(x, seg_num=2).flatten(1).tolist()
        [[0.0, 6.0, 3.0, 4.0], [1.0, 0.0, 7.0, 8.0]]
    """
    where = "temporal_shift"
    last, (frames, c, h, w) = _image(where, x, data_format)
    segments = _factor(where, "seg_num", seg_num)
    if frames % segments:
        raise value_error(where, f"the batch must be divisible by seg_num, {segments}", f"x: {x._aval}")
    if not 0 < float(shift_ratio) <= 0.5:
        raise value_error(where, "shift_ratio must be above 0 and at most 0.5", f"shift_ratio: {shift_ratio}")
    image = x if not last else transpose_to(x, (0, 3, 1, 2))
    clips = reshape_to(image, (frames // segments, segments, c, h, w))
    one, two = int(c * shift_ratio), int(c * 2 * shift_ratio)
    still = ((0, 0),)
    parts = [
        pad_with(_slice(clips, 2, 0, one), 0, (*still, (1, -1), *still * 3)),
        pad_with(_slice(clips, 2, one, two - one), 0, (*still, (-1, 1), *still * 3)),
        _slice(clips, 2, two, c - two),
    ]
    moved = reshape_to(concat_along([part for part in parts if part._aval.shape[2]], 2), image._aval.shape)
    return moved if not last else transpose_to(moved, (0, 2, 3, 1))


@samples(
    S(A(2, 6, 2, 2, unique=True), 3), S(A(2, 4, 3, unique=True), 2, 1), S(A(1, 2, 2, 6, unique=True), 2, axis=-1),
    reference=lambda x, groups, axis=1: x.reshape(
        *x.shape[: axis % x.ndim], x.shape[axis] // groups, groups, *x.shape[axis % x.ndim + 1 :]
    ).max(axis % x.ndim + 1),
)  # fmt: skip
@public(module="nn.functional")
def maxout(x: Tensor, groups: int, axis: int = 1, name: str | None = None) -> Tensor:
    """The largest of every `groups` neighbouring channels.

    Args:
        x: the tensor.
        groups: how many channels make one; they divide the axis.
        axis: the axis of the channels.
        name: a label; it changes nothing.

    Returns:
        A tensor as `x`, with `1 / groups` of the channels.

    Examples:
        >>> paddle.nn.functional.maxout(paddle.arange(4.0).reshape([1, 4, 1, 1]), 2).flatten().tolist()
        [1.0, 3.0]
    """
    aval = require_tensor("maxout", "x", x)._aval
    place, count = one_axis("maxout", axis, aval.ndim), _factor("maxout", "groups", groups)
    if aval.shape[place] % count:
        raise value_error("maxout", f"the channels must be divisible by {count}", f"x: {aval}")
    shape = (*aval.shape[:place], aval.shape[place] // count, count, *aval.shape[place + 1 :])
    return maximum_over(reshape_to(x, shape), place + 1)
