"""Pooling."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from .... import detection
from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ..registry import reads
from .shape import padded
from .windows import Windows, stacked

if TYPE_CHECKING:
    from ....formats.paddle.reading.registry import Integers


def _lowest(x: Tensor) -> Any:
    dtype = x._aval.dtype
    return np.iinfo(dtype).min if dtype.kind in "iu" else float("-inf")


@reads("MaxPool", translates_blocks=True)
def max_pool(translation: Any, op: Any, inputs: list[Any]) -> Any:
    x, given = translation.tensor(inputs[0]), op.attributes
    windows = Windows(
        x._aval.shape[2:], given["kernel_shape"], given.get("strides"), given.get("dilations"), given.get("pads"),
        given.get("auto_pad", "NOTSET"), given.get("ceil_mode", 0),
    )  # fmt: skip
    if len(op.outputs) > 1:
        return _with_positions(x, windows, given.get("storage_order", 0))
    if x.ndim > 5 or windows.is_dilated or windows.ceil_mode or x._aval.dtype.kind in "iu":
        return reduce(paddle.maximum, windows.elements(x, _lowest(x)))
    return getattr(F, f"max_pool{x.ndim - 2}d")(x, windows.kernel, windows.strides, windows.flat)


def _with_positions(x: Tensor, windows: Windows, by_columns: int) -> Any:
    """Positions count through the whole tensor."""
    sizes = x._aval.shape
    steps = paddle.arange(int(np.prod(sizes)), dtype="int64").reshape(list(sizes))
    if by_columns:
        order = [0, 1, *range(2, x.ndim)[::-1]]
        shape = [sizes[axis] for axis in order]
        steps = paddle.transpose(paddle.arange(int(np.prod(sizes)), dtype="int64").reshape(shape), order)
    values = stacked(windows.elements(x, _lowest(x)))
    places = stacked(windows.elements(steps, -1))
    chosen = paddle.argmax(values, 0, keepdim=True)
    taken = [paddle.take_along_axis(t, chosen, 0, broadcast=False).squeeze(0) for t in (values, places)]
    return tuple(taken)


@reads("AveragePool")
def average_pool(
    x: Tensor, *, kernel_shape: list[int], strides: Any = None, dilations: Any = None, pads: Any = None,
    auto_pad: str = "NOTSET", ceil_mode: int = 0, count_include_pad: int = 0,
) -> Tensor:  # fmt: skip
    windows = Windows(x._aval.shape[2:], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    if x.ndim <= 5 and not windows.is_dilated and not windows.ceil_mode:
        function = getattr(F, f"avg_pool{x.ndim - 2}d")
        return function(x, windows.kernel, windows.strides, windows.flat, exclusive=not count_include_pad)
    total = reduce(paddle.add, windows.elements(x, 0.0))
    # How many elements a window sees: those of the data, with the padding where that counts.
    ones = paddle.ones([1, 1, *x._aval.shape[2:]], x.dtype)
    if count_include_pad:
        ones = padded(ones, {axis + 2: pair for axis, pair in enumerate(windows.pairs)}, "constant", 1.0)
        counts = windows.counts
        windows = Windows(ones._aval.shape[2:], kernel_shape, strides, dilations, None, "NOTSET")
        windows.counts = counts
    return total / reduce(paddle.add, windows.elements(ones, 0.0))


@reads("LpPool")
def lp_pool(
    x: Tensor, *, kernel_shape: list[int], strides: Any = None, dilations: Any = None, pads: Any = None,
    auto_pad: str = "NOTSET", ceil_mode: int = 0, p: int = 2,
) -> Tensor:  # fmt: skip
    windows = Windows(x._aval.shape[2:], kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    return _root(reduce(paddle.add, windows.elements(paddle.pow(paddle.abs(x), float(p)), 0.0)), p)


def _root(x: Tensor, p: int) -> Tensor:
    return paddle.sqrt(x) if p == 2 else paddle.pow(x, 1.0 / p)


def _spatial(x: Tensor) -> list[int]:
    return list(range(2, x.ndim))


@reads("GlobalAveragePool")
def global_average_pool(x: Tensor) -> Tensor:
    return paddle.mean(x, _spatial(x), keepdim=True)


@reads("GlobalMaxPool")
def global_max_pool(x: Tensor) -> Tensor:
    return paddle.max(x, _spatial(x), keepdim=True)


@reads("GlobalLpPool")
def global_lp_pool(x: Tensor, *, p: int = 2) -> Tensor:
    return _root(paddle.sum(paddle.pow(paddle.abs(x), float(p)), _spatial(x), keepdim=True), p)


@reads("MaxUnpool")
def max_unpool(
    x: Tensor, indices: Tensor, size: Integers | None = None, *, kernel_shape: list[int], pads: Any = None,
    strides: Any = None,
) -> Tensor:  # fmt: skip
    """Indices count through a whole tensor of the size that pooling had; a larger `size` is filled up behind it."""
    rank = x.ndim - 2
    strides = strides or [1] * rank
    pads = pads or [0] * 2 * rank
    own = [
        (x._aval.shape[n + 2] - 1) * strides[n] + kernel_shape[n] - pads[n] - pads[rank + n] for n in range(rank)
    ]  # fmt: skip
    shape = [*x._aval.shape[:2], *own]
    flat = paddle.zeros([int(np.prod(shape))], x.dtype)
    made = paddle.put_along_axis(flat, indices.reshape([-1]), x.reshape([-1]), 0, broadcast=False).reshape(shape)
    if size is None:
        return made
    return padded(made, {axis: (0, wanted - had) for axis, (wanted, had) in enumerate(zip(size, shape))}, "constant", 0)


@reads("RoiAlign")
def roi_align(
    x: Tensor, rois: Tensor, batch: Tensor, *, coordinate_transformation_mode: Any = None, mode: str = "avg",
    output_height: int = 1, output_width: int = 1, sampling_ratio: int = 0, spatial_scale: float = 1.0, opset: int = 16,
) -> Tensor:  # fmt: skip
    if mode != "avg":
        raise NotImplementedError("(RoiAlign) only the mode 'avg' is here; received 'max'.")
    halved = (coordinate_transformation_mode or ("half_pixel" if opset >= 16 else "output_half_pixel")) == "half_pixel"
    size, samples = (output_height, output_width), sampling_ratio or -1
    counts = paddle.to_tensor([rois._aval.shape[0]], dtype="int32")
    parts = [  # regions come in any order: each is asked of every picture, and one answer is kept
        detection.roi_align(x[number : number + 1], rois, counts, size, spatial_scale, samples, halved)
        for number in range(x._aval.shape[0])
    ]
    chosen = batch.astype("int64").reshape([1, -1, 1, 1, 1])
    every = paddle.stack(parts, 0)
    return paddle.take_along_axis(
        every, paddle.expand(chosen, [1, *every._aval.shape[1:]]), 0, broadcast=False
    ).squeeze(0)


@reads("MaxRoiPool")
def max_roi_pool(x: Tensor, rois: Tensor, *, pooled_shape: list[int], spatial_scale: float = 1.0) -> Tensor:
    counts = paddle.sum((rois[:, :1] == paddle.arange(x._aval.shape[0]).astype("float32")).astype("int32"), 0)
    return detection.roi_pool(x, rois[:, 1:], counts.astype("int32"), tuple(pooled_shape), spatial_scale)
