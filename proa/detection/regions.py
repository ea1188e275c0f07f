"""Features of regions: roi_align, roi_pool, psroi_pool and their layers.

All three read places of the feature maps, as rows of channels, and combine them. Only the features get a gradient, as in
Paddle. How many boxes an image has is looked up on the host; so are the boxes themselves where they decide how many
places are read (roi_pool, psroi_pool, and roi_align without a sampling ratio).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import value_error
from ..eager.annotations import SizesLike
from ..eager.tensor import Tensor
from ..nn import Layer
from ..ops.arguments import integer
from ..ops.basic import cast_to, reshape_to, transpose_to
from ..ops.index.indexing_kernels import take_elements
from ..ops.math.ternary import where as choose_by
from .arguments import boxes_tensor, counts, floating_tensor, host, pair, placed

_INTEGER = np.dtype("int64")


def _checked(where: str, x: Any, boxes: Any, boxes_num: Any, output_size: Any) -> tuple[np.ndarray, int, int]:
    """The image of each box, and the output's height and width."""
    floating_tensor(where, "x", x, 4)
    boxes_tensor(where, "boxes", boxes)
    if min(x._aval.shape) < 1:
        raise value_error(where, "x must have elements", f"x: {x._aval}")
    height, width = pair(where, "output_size", output_size)
    numbers = counts(where, "boxes_num", boxes_num, boxes._aval.shape[0], x._aval.shape[0])
    return np.repeat(np.arange(len(numbers)), numbers), height, width


def _rows(x: Tensor) -> Tensor:
    """[N, C, H, W] as rows of channels, [N * H * W, C]."""
    n, c, h, w = x._aval.shape
    return reshape_to(transpose_to(x, (0, 2, 3, 1)), (n * h * w, c))


# ---- roi_align -----------------------------------------------------------------------------------


def _sampled_axis(start: Any, length: Any, bins: int, extent: int, ratio: int, most: int) -> tuple[Any, Any]:
    """The two neighbours of each sampled coordinate, [2, R, bins * most], and their weights.

    A bin has `ratio` samples, or as many as its length says; `most` is the largest number of them.
    """
    number = np.arange(bins * most)
    dtype = start._aval.dtype
    which_bin = placed((number // most).astype(dtype), start)
    which_sample = placed((number % most).astype(dtype), start)
    size = (length / float(bins)).unsqueeze(1)
    samples = size.ceil() if ratio <= 0 else size * 0.0 + float(ratio)
    divisor = samples.clip(1.0)
    place = start.unsqueeze(1) + which_bin * size + (which_sample + 0.5) * size / divisor
    valid = (place >= -1.0) & (place <= float(extent)) & (which_sample < samples)
    place = choose_by(valid, place, 0.0).clip(0.0, extent - 1.0)
    low = place.floor()
    side = placed(np.array([0, 1], dtype).reshape(2, 1, 1), start)
    weight = (1.0 - side + (side * 2.0 - 1.0) * (place - low)) * (cast_to(valid, dtype) / divisor)
    return cast_to((low + side).clip(0.0, extent - 1.0), _INTEGER), weight


def _most_samples(where: str, lengths: np.ndarray, bins: int) -> int:
    if not lengths.size:
        return 1
    if not np.isfinite(lengths).all():
        raise value_error(where, "the boxes must be finite numbers")
    return max(int(np.ceil(lengths / lengths.dtype.type(bins)).max()), 1)


def roi_align(
    x: Tensor,
    boxes: Tensor,
    boxes_num: Tensor,
    output_size: SizesLike,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: str | None = None,
) -> Tensor:
    """The mean of interpolated samples in each bin of each box (Mask R-CNN): [boxes, channels, height, width].

    `boxes` are [x1, y1, x2, y2] in the image's units, `spatial_scale` brings them to those of `x`; `aligned` shifts
    them by half an element, so that coordinates are centres. `sampling_ratio` is the number of samples along each side
    of a bin; without one it follows from the box's size, for which the boxes are looked up on the host.

    Example:
        >>> x = paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> boxes = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]])
        >>> paddle.vision.ops.roi_align(x, boxes, paddle.to_tensor([1]), 2).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
    """
    where = "roi_align"
    images, bins_down, bins_across = _checked(where, x, boxes, boxes_num, output_size)
    ratio = integer(where, "sampling_ratio", sampling_ratio)
    _, channels, height, width = x._aval.shape
    num_boxes = boxes._aval.shape[0]
    dtype = x._aval.dtype
    corners: Any = cast_to(boxes.detach(), dtype) * spatial_scale - (0.5 if aligned else 0.0)
    left, top = corners[:, 0], corners[:, 1]
    across, down = corners[:, 2] - left, corners[:, 3] - top
    if not aligned:
        across, down = across.clip(1.0), down.clip(1.0)
    most_down = most_across = ratio
    if ratio <= 0:
        most_down, most_across = (
            _most_samples(where, host(v), n) for v, n in ((down, bins_down), (across, bins_across))
        )
    at_row, row_weight = _sampled_axis(top, down, bins_down, height, ratio, most_down)
    at_column, column_weight = _sampled_axis(left, across, bins_across, width, ratio, most_across)
    base = placed((images * height).reshape(-1, 1), x)
    # [2, 2, R, down, across]: the four neighbours of every sample, in one read.
    index = ((base + at_row) * width).unsqueeze([1, 4]) + at_column.unsqueeze([0, 3])
    weight = row_weight.unsqueeze([1, 4]) * column_weight.unsqueeze([0, 3])
    read: Any = take_elements(_rows(x), [index], [0], trusted=True) * weight.unsqueeze(5)
    shape = (4, num_boxes, bins_down, most_down, bins_across, most_across, channels)
    return transpose_to(reshape_to(read, shape).sum([0, 3, 5]), (0, 3, 1, 2))


# ---- roi_pool and psroi_pool ---------------------------------------------------------------------


def _away_from_zero(values: np.ndarray) -> np.ndarray:
    """Rounded to whole numbers, halves away from zero."""
    return np.where(values < 0, np.ceil(values - 0.5), np.floor(values + 0.5)).astype(values.dtype)


def _finite(where: str, boxes: Tensor) -> np.ndarray:
    values = host(boxes)
    values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float32)
    if not np.isfinite(values).all():
        raise value_error(where, "the boxes must be finite numbers", f"boxes: {boxes._aval}")
    return values


def _windows(
    images: np.ndarray,
    down: tuple[np.ndarray, np.ndarray],
    across: tuple[np.ndarray, np.ndarray],
    height: int,
    width: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Places [R, PH, PW, K] of each bin's window among all rows, row by row, and which of them belong to it."""
    (top, bottom), (left, right) = down, across
    tall, wide = (max(int((e - s).max(initial=0)), 1) for s, e in ((top, bottom), (left, right)))
    ys, xs = top[..., None] + np.arange(tall), left[..., None] + np.arange(wide)  # [R, PH, tall], [R, PW, wide]
    inside = (ys < bottom[..., None])[:, :, None, :, None] & (xs < right[..., None])[:, None, :, None, :]
    lines = images[:, None, None] * height + np.minimum(ys, height - 1)
    places = lines[:, :, None, :, None] * width + np.minimum(xs, width - 1)[:, None, :, None, :]
    shape = (*places.shape[:3], tall * wide)
    return places.reshape(shape), inside.reshape(shape)


def _bins(start: np.ndarray, length: np.ndarray, bins: int, extent: int, late: bool) -> tuple[np.ndarray, np.ndarray]:
    """First and last + 1 element of each bin, [R, bins]; `late` adds the start before rounding."""
    size = (length / length.dtype.type(bins))[:, None]
    number = np.arange(bins).astype(length.dtype)
    first, last = number * size, (number + 1) * size
    offset = start[:, None]
    if late:
        low, high = np.floor(first + offset), np.ceil(last + offset)
    else:
        low, high = np.floor(first) + offset, np.ceil(last) + offset
    return tuple(np.clip(edge, 0, extent).astype(np.int64) for edge in (low, high))  # type: ignore[return-value]


def roi_pool(
    x: Tensor,
    boxes: Tensor,
    boxes_num: Tensor,
    output_size: SizesLike,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """The maximum in each bin of each box (Fast R-CNN): [boxes, channels, height, width]; 0 where a bin is empty.

    Boxes are rounded to whole elements. They are looked up on the host, because they decide which elements are read.

    Example:
        >>> x = paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])
        >>> boxes = paddle.to_tensor([[0.0, 0.0, 3.0, 3.0]])
        >>> paddle.vision.ops.roi_pool(x, boxes, paddle.to_tensor([1]), 2).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    where = "roi_pool"
    images, bins_down, bins_across = _checked(where, x, boxes, boxes_num, output_size)
    _, channels, height, width = x._aval.shape
    values = _finite(where, boxes)
    edges = _away_from_zero(values * values.dtype.type(spatial_scale))
    lengths = np.maximum(edges[:, 2:] - edges[:, :2] + 1, 1)
    down = _bins(edges[:, 1], lengths[:, 1], bins_down, height, late=False)
    across = _bins(edges[:, 0], lengths[:, 0], bins_across, width, late=False)
    places, inside = _windows(images, down, across, height, width)
    rows = _rows(x)
    # The largest element is found without a gradient and then read once: ties go to the first, as in Paddle.
    seen: Any = take_elements(rows.detach(), [placed(places, x)], [0], trusted=True)
    seen = choose_by(placed(inside[..., None], x), seen, float(-np.finfo(np.float32).max))
    largest = seen.argmax(3, True)  # [R, PH, PW, 1, C]
    shape = (*places.shape[:3], channels)
    chosen = reshape_to(
        placed(places, x).unsqueeze(4).expand([*places.shape, channels]).take_along_axis(largest, 3), shape
    )
    channel = placed(np.arange(channels), x)
    result: Any = take_elements(rows, [chosen, channel.expand(list(shape))], [0, 1], trusted=True)
    result = result * cast_to(placed(np.asarray(inside.any(3, keepdims=True)), x), x._aval.dtype)
    return transpose_to(result, (0, 3, 1, 2))


def psroi_pool(
    x: Tensor,
    boxes: Tensor,
    boxes_num: Tensor,
    output_size: SizesLike,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> Tensor:
    """The mean in each bin of each box, every bin reading channels of its own (R-FCN); 0 where a bin is empty.

    `x` has a multiple of height times width of the output as channels; the result has that factor of them. The boxes
    are looked up on the host, because they decide which elements are read.

    Example:
        >>> x = paddle.ones([1, 8, 6, 6])
        >>> boxes = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]])
        >>> paddle.vision.ops.psroi_pool(x, boxes, paddle.to_tensor([1]), 2).shape
        paddle.Size([1, 2, 2, 2])
    """
    where = "psroi_pool"
    images, bins_down, bins_across = _checked(where, x, boxes, boxes_num, output_size)
    n, channels, height, width = x._aval.shape
    num_bins = bins_down * bins_across
    if channels % num_bins:
        raise value_error(
            where, f"the channels of x must be a multiple of {bins_down} * {bins_across}", f"x: {x._aval}"
        )
    deep = channels // num_bins
    values = _finite(where, boxes)
    scale = values.dtype.type(spatial_scale)
    whole = _away_from_zero(values)
    starts, ends = whole[:, :2] * scale, (whole[:, 2:] + 1) * scale
    lengths = np.maximum(ends - starts, values.dtype.type(0.1))
    down = _bins(starts[:, 1], lengths[:, 1], bins_down, height, late=True)
    across = _bins(starts[:, 0], lengths[:, 0], bins_across, width, late=True)
    places, inside = _windows(images, down, across, height, width)
    # Rows of the channels that belong to one bin: [N * H * W * bins, deep].
    shaped = reshape_to(x, (n, deep, num_bins, height, width))
    rows = reshape_to(transpose_to(shaped, (0, 3, 4, 2, 1)), (n * height * width * num_bins, deep))
    bin_number = np.arange(num_bins).reshape(1, bins_down, bins_across, 1)
    share = inside / np.maximum(inside.sum(3, keepdims=True), 1)
    read = take_elements(rows, [placed(places * num_bins + bin_number, x)], [0], trusted=True)
    result: Any = (read * placed(share[..., None].astype(x._aval.dtype), x)).sum(3)
    return transpose_to(result, (0, 3, 1, 2))


# ---- layers --------------------------------------------------------------------------------------


class RoIAlign(Layer):
    """`roi_align` as a layer.

    Args:
        output_size: height and width of the result.
        spatial_scale: the factor from the boxes' coordinates to those of the features.

    Examples:
        >>> layer = paddle.vision.ops.RoIAlign(2)
        >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> layer(paddle.ones([1, 3, 4, 4]), boxes, count).shape
        paddle.Size([1, 3, 2, 2])
    """

    def __init__(self, output_size: SizesLike, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor, aligned: bool = True) -> Tensor:
        """Interpolated means of each box.

        Args:
            x: features, `[batch, channels, height, width]`.
            boxes: `[boxes, 4]`: left, top, right, bottom.
            boxes_num: how many boxes each image has (int32).
            aligned: whether coordinates are moved by half a pixel.

        Returns:
            A tensor `[boxes, channels, *output_size]`.

        Examples:
            >>> layer = paddle.vision.ops.RoIAlign(2)
            >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
            >>> layer(paddle.ones([1, 1, 4, 4]), boxes, count).tolist()
            [[[[1.0, 1.0], [1.0, 1.0]]]]
        """
        return roi_align(x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned)


class RoIPool(Layer):
    """`roi_pool` as a layer.

    Args:
        output_size: height and width of the result.
        spatial_scale: the factor from the boxes' coordinates to those of the features.

    Examples:
        >>> layer = paddle.vision.ops.RoIPool(2)
        >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> layer(paddle.ones([1, 3, 4, 4]), boxes, count).shape
        paddle.Size([1, 3, 2, 2])
    """

    def __init__(self, output_size: SizesLike, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor:
        """The largest elements of each part of each box.

        Args:
            x: features, `[batch, channels, height, width]`.
            boxes: `[boxes, 4]`: left, top, right, bottom.
            boxes_num: how many boxes each image has (int32).

        Returns:
            A tensor `[boxes, channels, *output_size]`.

        Examples:
            >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
            >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 3.0, 3.0]]), paddle.to_tensor([1], dtype="int32")
            >>> paddle.vision.ops.RoIPool(2)(x, boxes, count).tolist()
            [[[[5.0, 7.0], [13.0, 15.0]]]]
        """
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)

    def extra_repr(self) -> str:
        """What `print` shows between the brackets.

        Examples:
            >>> paddle.vision.ops.RoIPool(2).extra_repr()
            'output_size=2, spatial_scale=1.0'
        """
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


class PSRoIPool(Layer):
    """`psroi_pool` as a layer.

    Args:
        output_size: height and width of the result.
        spatial_scale: the factor from the boxes' coordinates to those of the features.

    Examples:
        >>> layer = paddle.vision.ops.PSRoIPool(2)
        >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> layer(paddle.ones([1, 8, 4, 4]), boxes, count).shape
        paddle.Size([1, 2, 2, 2])
    """

    def __init__(self, output_size: SizesLike, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor:
        """Position-sensitive means of each box.

        Args:
            x: features, `[batch, channels, height, width]`.
            boxes: `[boxes, 4]`: left, top, right, bottom.
            boxes_num: how many boxes each image has (int32).

        Returns:
            A tensor `[boxes, channels / places, *output_size]`.

        Examples:
            >>> layer = paddle.vision.ops.PSRoIPool(2)
            >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
            >>> layer(paddle.ones([1, 8, 4, 4]), boxes, count).shape
            paddle.Size([1, 2, 2, 2])
        """
        return psroi_pool(x, boxes, boxes_num, self.output_size, self.spatial_scale)
