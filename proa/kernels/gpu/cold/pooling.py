"""Pooling over two axes: a thread for each element of the result. What a window holds comes out of the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .raw import function, in_order, is_float32

Sizes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]
_THREADS = 256
_MOST_TAPS = 49  # every window is looked through once for each of its elements

_SOURCE = """
struct Window { int height, width, out_height, out_width, rows, columns, down, across, above, left; };

// The largest element of a window, NaN where one is, and its place: the first one of equals, never one of the padding.
__device__ float largest(const float* image, Window w, int y, int x, int* place) {
    const int top = y * w.down - w.above, begin = x * w.across - w.left;
    float best = LOWEST;
    bool is_first = true;
    for (int row = max(top, 0); row < min(top + w.rows, w.height); ++row)
        for (int column = max(begin, 0); column < min(begin + w.columns, w.width); ++column) {
            const float value = image[row * w.width + column];
            if (is_first || value > best) *place = row * w.width + column;
            is_first = false;
            if (best == best && !(value <= best)) best = value;
        }
    return best;
}
extern "C" __global__ void max_pool(
    const float* x, float* out, long long count, int height, int width, int out_height, int out_width, int rows,
    int columns, int down, int across, int above, int left
) {
    const Window w = {height, width, out_height, out_width, rows, columns, down, across, above, left};
    const long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int size = out_height * out_width, place = (int) (i % size);
    int unused = 0;
    out[i] = largest(x + i / size * height * width, w, place / out_width, place % out_width, &unused);
}
extern "C" __global__ void max_pool_grad(
    const float* x, const float* y, float* out, long long count, int height, int width, int out_height, int out_width,
    int rows, int columns, int down, int across, int above, int left
) {
    const Window w = {height, width, out_height, out_width, rows, columns, down, across, above, left};
    const long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int size = height * width, place = (int) (i % size);
    const int row = place / width + above, column = place % width + left;
    const float* image = x + i / size * size;
    const float* grads = y + i / size * out_height * out_width;
    float sum = 0.0f;
    for (int a = max(row - rows + down, 0) / down; a <= min(row / down, out_height - 1); ++a)
        for (int b = max(column - columns + across, 0) / across; b <= min(column / across, out_width - 1); ++b) {
            int chosen = -1;
            largest(image, w, a, b, &chosen);
            if (chosen == place) sum += grads[a * out_width + b];
        }
    out[i] = sum;
}
"""


def max_pool(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `max_pool`."""

    def kernel(xp: Any, x: Any, kernel: Sizes, stride: Sizes, padding: Pairs, channels_last: bool) -> Any:
        if not _suits(x, kernel, channels_last):
            return otherwise(xp, x, kernel, stride, padding, channels_last)
        extents = _out_extents(x.shape, kernel, stride, padding)
        out = xp.ndarray((*x.shape[:2], *extents), np.float32)
        _start("max_pool", (*in_order(xp, x), out), out.size, x.shape[2:], extents, kernel, stride, padding)
        return out

    return kernel


def max_pool_grad(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `max_pool_grad`."""

    def kernel(xp: Any, x: Any, y: Any, kernel: Sizes, stride: Sizes, padding: Pairs, channels_last: bool) -> Any:
        if not _suits(x, kernel, channels_last) or not y.size or not is_float32(y):
            return otherwise(xp, x, y, kernel, stride, padding, channels_last)
        out = xp.ndarray(x.shape, np.float32)
        _start("max_pool_grad", (*in_order(xp, x, y), out), x.size, x.shape[2:], y.shape[2:], kernel, stride, padding)
        return out

    return kernel


def _suits(x: Any, kernel: Sizes, channels_last: bool) -> bool:
    taps = kernel[0] * kernel[1] if len(kernel) == 2 else 0
    return not channels_last and 0 < taps <= _MOST_TAPS and x.ndim == 4 and x.size > 0 and is_float32(x)


def _out_extents(shape: Sizes, kernel: Sizes, stride: Sizes, padding: Pairs) -> Sizes:
    ways = zip(shape[2:], kernel, stride, padding, strict=True)
    return tuple((extent + before + after - width) // step + 1 for extent, width, step, (before, after) in ways)


def _start(
    name: str,
    arrays: tuple[Any, ...],
    count: int,
    extents: Sizes,
    out: Sizes,
    kernel: Sizes,
    stride: Sizes,
    padding: Pairs,
) -> None:
    befores = [before for before, _ in padding]
    sizes = tuple(map(np.int32, (*extents, *out, *kernel, *stride, *befores)))
    function(_SOURCE, name)((-(-count // _THREADS),), (_THREADS,), (*arrays, np.int64(count), *sizes))
