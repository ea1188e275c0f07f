"""Pooling by native code, for the op table's CPU backend: XLA goes over its windows number by number.

Channels lie side by side in memory. Means, and the gradients of means, are sums of boxes: for every axis a list says where
the boxes begin and end. What they are divided by is left to XLA, which fuses it with what stands around.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough

Sizes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]
Ranges = Sequence[Sequence[tuple[int, int]]]  # for each axis of space
_WORTHWHILE = 4096  # elements
_MOST_NUMBERS = 1 << 14  # that say where boxes lie
# Fewer channels are not worth a change of their order.
_FEWEST_CHANNELS = 8


def _suits(symbol: str, rank: int, *arrays: Any) -> bool:
    if rank not in (1, 2, 3) or any(a.dtype != np.float32 or a.ndim != rank + 2 or not a.size for a in arrays):
        return False
    return enough(max(a.size for a in arrays), _WORTHWHILE) and library.target(symbol) is not None


def _first(array: Any, channels_last: bool) -> Any:
    """An image with channels as its second axis."""
    return array.transpose(0, array.ndim - 1, *range(1, array.ndim - 1)) if channels_last else array


def _back(array: Any, channels_last: bool) -> Any:
    return array.transpose(0, *range(2, array.ndim), 1) if channels_last else array


def _out_extents(extents: Sequence[int], kernel: Sizes, stride: Sizes, padding: Pairs) -> list[int]:
    return [
        (extent + before + after - width) // step + 1
        for extent, (before, after), width, step in zip(extents, padding, kernel, stride, strict=True)
    ]


def _numbers(kernel: Sizes, stride: Sizes, padding: Pairs) -> Any:
    """Kernel, stride, padding before and dilation of each axis."""
    return np.array([*kernel, *stride, *(before for before, _ in padding), *(1 for _ in kernel)], np.int64)


# ---- maxima --------------------------------------------------------------------------------------


@chosen
def native_max_pool(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `max_pool`."""

    def kernel(xp: Any, x: Any, kernel: Sizes, stride: Sizes, padding: Pairs, channels_last: bool) -> Any:
        if not _suits("MaxPooling", len(kernel), x):
            return fallback(xp, x, kernel, stride, padding, channels_last)
        images = _first(x, channels_last)
        shape = (*images.shape[:2], *_out_extents(images.shape[2:], kernel, stride, padding))
        out = library.Image(library.shaped(shape))
        found = library.call("MaxPooling", out, library.Image(images), window=_numbers(kernel, stride, padding))
        return _back(found, channels_last)

    return kernel


@chosen
def native_max_pool_grad(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `max_pool_grad`."""

    def kernel(xp: Any, x: Any, y: Any, kernel: Sizes, stride: Sizes, padding: Pairs, channels_last: bool) -> Any:
        if not _suits("MaxPoolGrad", len(kernel), x, y):
            return fallback(xp, x, y, kernel, stride, padding, channels_last)
        images, grads = (library.Image(_first(a, channels_last)) for a in (x, y))
        out = library.Image(library.shaped(images.array.shape))
        found = library.call("MaxPoolGrad", out, images, grads, window=_numbers(kernel, stride, padding))
        return _back(found, channels_last)

    return kernel


# ---- sums of boxes -------------------------------------------------------------------------------


def _suits_boxes(x: Any, rank: int, out: Sequence[int]) -> bool:
    return sum(out) <= _MOST_NUMBERS and _suits("BoxSums", rank, x)


def _box_sums(images: Any, ranges: Ranges) -> Any:
    shape = (*images.shape[:2], *map(len, ranges))
    numbers = np.array([number for along in ranges for pair in along for number in pair], np.int64)
    return library.call("BoxSums", library.Image(library.shaped(shape)), library.Image(images), ranges=numbers)


def _inverse(along: Sequence[tuple[int, int]], extent: int) -> list[tuple[int, int]]:
    """For each element, which boxes it is in. Boxes that begin later do not end earlier."""
    inside: list[list[int]] = [[] for _ in range(extent)]
    for number, (first, last) in enumerate(along):
        for element in range(first, last):
            inside[element].append(number)
    return [(numbers[0], numbers[-1] + 1) if numbers else (0, 0) for numbers in inside]


def _window_ranges(extents: Sequence[int], kernel: Sizes, stride: Sizes, padding: Pairs) -> Ranges:
    out = _out_extents(extents, kernel, stride, padding)
    ranges = []
    for extent, (before, _), width, step, count in zip(extents, padding, kernel, stride, out, strict=True):
        starts = [place * step - before for place in range(count)]
        firsts = [min(max(start, 0), extent) for start in starts]
        ranges.append([(first, max(first, min(start + width, extent))) for first, start in zip(firsts, starts)])
    return ranges


def _spatial(shape: Sizes, channels_last: bool) -> Sizes:
    return shape[1:-1] if channels_last else shape[2:]


def native_avg_pool(scaling: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `avg_pool`. `scaling(shape of x, kernel, stride, padding, divisor)` is what sums are multiplied by."""

    @chosen
    def native_avg_pool(fallback: Callable[..., Any]) -> Callable[..., Any]:
        def kernel(
            xp: Any, x: Any, kernel: Sizes, stride: Sizes, padding: Pairs, divisor: Any, channels_last: bool
        ) -> Any:
            extents = _spatial(x.shape, channels_last)
            if not _suits_boxes(x, len(kernel), _out_extents(extents, kernel, stride, padding)):
                return fallback(xp, x, kernel, stride, padding, divisor, channels_last)
            images = _first(x, channels_last)
            sums = _box_sums(images, _window_ranges(extents, kernel, stride, padding))
            scaled = sums * scaling(images.shape, kernel, stride, padding, divisor).astype(np.float32)
            return _back(scaled, channels_last)

        return kernel

    return native_avg_pool


def native_avg_pool_grad(scaling: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `avg_pool_grad`."""

    @chosen
    def native_avg_pool_grad(fallback: Callable[..., Any]) -> Callable[..., Any]:
        def kernel(
            xp: Any, y: Any, shape: Sizes, kernel: Sizes, stride: Sizes, padding: Pairs, divisor: Any,
            channels_last: bool,
        ) -> Any:  # fmt: skip
            extents = _spatial(shape, channels_last)
            if not _suits_boxes(y, len(kernel), extents):
                return fallback(xp, y, shape, kernel, stride, padding, divisor, channels_last)
            grads = _first(y, channels_last)
            factor = scaling((*grads.shape[:2], *extents), kernel, stride, padding, divisor).astype(np.float32)
            along = _window_ranges(extents, kernel, stride, padding)
            ranges = [_inverse(a, extent) for a, extent in zip(along, extents, strict=True)]
            return _back(_box_sums(grads * factor, ranges), channels_last)

        return kernel

    return native_avg_pool_grad


def _adaptive_ranges(extents: Sequence[int], counts: Sequence[int]) -> Ranges:
    return [
        [(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count)]
        for extent, count in zip(extents, counts, strict=True)
    ]


def _adaptive_scaling(ranges: Ranges) -> Any:
    """One divided by the size of each box."""
    scale = np.ones(())
    for along in ranges:
        scale = scale[..., None] / np.array([last - first for first, last in along], np.float64)
    return scale.astype(np.float32)


def _is_space(ndim: int, axes: Sizes) -> bool | None:
    """Whether axes are those of space in an image with channels last (True) or second (False)."""
    if axes == tuple(range(2, ndim)):
        return False
    return True if axes == tuple(range(1, ndim - 1)) else None


@chosen
def native_adaptive_average(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `adaptive_average`."""

    def kernel(xp: Any, x: Any, extents: Sizes, axes: Sizes) -> Any:
        channels_last = _is_space(x.ndim, axes)
        if channels_last is None or not _suits_boxes(x, len(axes), extents):
            return fallback(xp, x, extents, axes)
        ranges = _adaptive_ranges([x.shape[axis] for axis in axes], extents)
        return _back(_box_sums(_first(x, channels_last), ranges) * _adaptive_scaling(ranges), channels_last)

    return kernel


@chosen
def native_adaptive_average_grad(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `adaptive_average_grad`."""

    def kernel(xp: Any, y: Any, extents: Sizes, axes: Sizes) -> Any:
        channels_last = _is_space(y.ndim, axes)
        if channels_last is None or not _suits_boxes(y, len(axes), extents):
            return fallback(xp, y, extents, axes)
        along = _adaptive_ranges(extents, [y.shape[axis] for axis in axes])
        ranges = [_inverse(a, extent) for a, extent in zip(along, extents, strict=True)]
        return _back(_box_sums(_first(y, channels_last) * _adaptive_scaling(along), ranges), channels_last)

    return kernel


def _sums_over_space(x: Any, axis: Sizes) -> Any:
    """The sums [images, channels, 1 ...] of an image, or None where that is not what is wanted."""
    if x.ndim not in (4, 5) or axis != tuple(range(2, x.ndim)) or x.shape[1] < _FEWEST_CHANNELS:
        return None
    if not _suits_boxes(x, len(axis), (1,)):
        return None
    return _box_sums(x, [[(0, extent)] for extent in x.shape[2:]])


@chosen
def native_mean_over_space(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `mean`, over the space of images: XLA's own would bring them into another order first."""

    def kernel(xp: Any, x: Any, axis: Sizes, keepdim: bool) -> Any:
        sums = _sums_over_space(x, axis)
        if sums is None:
            return fallback(xp, x, axis, keepdim)
        mean = sums * np.float32(1 / math.prod(x.shape[2:]))
        return mean if keepdim else mean.reshape(x.shape[:2])

    return kernel


@chosen
def native_sum_over_space(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `sum`, over the space of images."""

    def kernel(xp: Any, x: Any, axis: Sizes, keepdim: bool) -> Any:
        sums = _sums_over_space(x, axis)
        if sums is None:
            return fallback(xp, x, axis, keepdim)
        return sums if keepdim else sums.reshape(x.shape[:2])

    return kernel
