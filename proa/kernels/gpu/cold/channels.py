"""Normalisation over channels (batch norm): each array is read once for its sums, and once to be changed.

Sums are those of `x - s`, where `s` is an element of the channel: nothing is lost to cancellation when the mean is large.
Forward pass, running statistics and gradients share what they have in common (`memo.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .memo import once
from .raw import function, in_order, is_float32, threads_for

Shape = tuple[int, ...]
_ENOUGH = 2048  # blocks that keep a GPU busy
_THREADS = 256
_CHUNK = 2048  # elements of a channel of a sample that a block changes

_SOURCE = """
// Sums over some samples of one channel: of x - s and its square; or, given y, of y and y (x - mean).
extern "C" __global__ void channel_parts(
    const float* x, const float* y, const float* mean, float* parts, int samples, int channels, int inner, int each
) {
    const int channel = blockIdx.x, first = blockIdx.y * each, count = min(samples - first, each);
    const float centre = y ? mean[channel] : x[(long long) channel * inner];
    const long long step = (long long) channels * inner;
    const long long start = first * step + (long long) channel * inner;
    float one = 0.0f, two = 0.0f;
    int sample = threadIdx.x / inner, place = threadIdx.x % inner;
    while (sample < count) {
        const long long at = start + sample * step + place;
        const float moved = x[at] - centre;
        if (y) { one += y[at]; two += y[at] * moved; } else { one += moved; two += moved * moved; }
        for (place += blockDim.x; place >= inner; place -= inner) ++sample;
    }
    one = block_sum(one); two = block_sum(two);
    if (threadIdx.x == 0) {
        parts[2 * (blockIdx.y * channels + channel)] = one;
        parts[2 * (blockIdx.y * channels + channel) + 1] = two;
    }
}
// Of all parts: mean and variance, or the two sums.
extern "C" __global__ void channel_whole(
    const float* x, const float* parts, float* one, float* two, int channels, int inner, int splits, float count,
    bool are_sums
) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels) return;
    float a = 0.0f, b = 0.0f;
    for (int split = 0; split < splits; ++split) {
        a += parts[2 * (split * channels + channel)];
        b += parts[2 * (split * channels + channel) + 1];
    }
    if (!are_sums) {
        const float moved = a / count;
        b = fmaxf(b / count - moved * moved, 0.0f);
        a = x[(long long) channel * inner] + moved;
    }
    one[channel] = a;
    two[channel] = b;
}
// A block for a part of one channel of one sample.
extern "C" __global__ void channel_normalise(
    const float* x, const float* mean, const float* variance, const float* weight, const float* bias, float* out,
    int channels, int inner, int chunk, float epsilon
) {
    const int channel = blockIdx.x % channels;
    const float factor = rsqrtf(variance[channel] + epsilon) * (weight ? weight[channel] : 1.0f);
    const float centre = mean[channel], shift = bias ? bias[channel] : 0.0f;
    const long long start = (long long) blockIdx.x * inner;
    const int end = min(inner, (int) (blockIdx.y + 1) * chunk);
    for (int place = blockIdx.y * chunk + threadIdx.x; place < end; place += blockDim.x)
        out[start + place] = (x[start + place] - centre) * factor + shift;
}
extern "C" __global__ void channel_move(
    const float* mean, const float* variance, const float* old_mean, const float* old_variance, float* new_mean,
    float* new_variance, int channels, float kept
) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels) return;
    new_mean[channel] = kept * old_mean[channel] + (1.0f - kept) * mean[channel];
    new_variance[channel] = kept * old_variance[channel] + (1.0f - kept) * variance[channel];
}
extern "C" __global__ void channel_weight_grad(
    const float* along, const float* variance, float* out, int channels, float epsilon
) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel < channels) out[channel] = along[channel] * rsqrtf(variance[channel] + epsilon);
}
extern "C" __global__ void channel_grad(
    const float* x, const float* y, const float* mean, const float* variance, const float* total, const float* along,
    const float* weight, float* out, int channels, int inner, int chunk, float count, float epsilon
) {
    const int channel = blockIdx.x % channels;
    const float factor = rsqrtf(variance[channel] + epsilon), centre = mean[channel];
    const float level = total[channel] / count, slope = along[channel] * factor * factor / count;
    const float scale = factor * (weight ? weight[channel] : 1.0f);
    const long long start = (long long) blockIdx.x * inner;
    const int end = min(inner, (int) (blockIdx.y + 1) * chunk);
    for (int place = blockIdx.y * chunk + threadIdx.x; place < end; place += blockDim.x)
        out[start + place] = (y[start + place] - level - (x[start + place] - centre) * slope) * scale;
}
"""


def normalise(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise`."""

    def kernel(
        xp: Any,
        x: Any,
        weight: Any,
        bias: Any,
        epsilon: float,
        view: Shape,
        axes: Shape,
        broadcast: Shape,
        centred: bool,
    ) -> Any:
        if not _suits(x, view, axes, centred, weight, bias):
            return otherwise(xp, x, weight, bias, epsilon, view, axes, broadcast, centred)
        mean, variance = _moments(xp, x)
        out = xp.ndarray(x.shape, np.float32)
        arrays = (*in_order(xp, x), mean, variance, *in_order(xp, weight, bias), out)
        _start_on_all("channel_normalise", x, arrays, np.float32(epsilon))
        return out

    return kernel


def grad_input(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise_grad_input`."""

    def kernel(
        xp: Any, x: Any, y: Any, weight: Any, epsilon: float, view: Shape, axes: Shape, broadcast: Shape, centred: bool
    ) -> Any:
        if not _suits(x, view, axes, centred, y, weight):
            return otherwise(xp, x, y, weight, epsilon, view, axes, broadcast, centred)
        mean, variance = _moments(xp, x)
        total, along = _grad_sums(xp, x, y)
        out = xp.ndarray(x.shape, np.float32)
        arrays = (*in_order(xp, x, y), mean, variance, total, along, *in_order(xp, weight), out)
        _start_on_all("channel_grad", x, arrays, np.float32(x.size // x.shape[1]), np.float32(epsilon))
        return out

    return kernel


def grad_weight(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise_grad_weight`."""

    def kernel(
        xp: Any, x: Any, y: Any, epsilon: float, view: Shape, axes: Shape, broadcast: Shape, centred: bool
    ) -> Any:
        if not _suits(x, view, axes, centred, y) or int(np.prod(broadcast)) != x.shape[1]:
            return otherwise(xp, x, y, epsilon, view, axes, broadcast, centred)
        out = xp.ndarray(broadcast, np.float32)
        arrays = (_grad_sums(xp, x, y)[1], _moments(xp, x)[1], out)
        _start_on_channels("channel_weight_grad", x, arrays, np.float32(epsilon))
        return out

    return kernel


def grad_bias(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise_grad_bias`."""

    def kernel(xp: Any, x: Any, y: Any, axes: Shape) -> Any:
        if not _suits(x, x.shape, axes, True, y) or x.shape != y.shape:
            return otherwise(xp, x, y, axes)
        return _grad_sums(xp, x, y)[0].reshape(tuple([n if axis == 1 else 1 for axis, n in enumerate(x.shape)]))

    return kernel


def running_statistics(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `running_statistics`."""

    def kernel(xp: Any, x: Any, mean: Any, variance: Any, momentum: Any, axes: Shape) -> Any:
        if not _suits(x, x.shape, axes, True, mean, variance):
            return otherwise(xp, x, mean, variance, momentum, axes)
        made = xp.ndarray(mean.shape, np.float32), xp.ndarray(variance.shape, np.float32)
        arrays = (*_moments(xp, x), *in_order(xp, mean, variance), *made)
        _start_on_channels("channel_move", x, arrays, np.float32(momentum))
        return made

    return kernel


def _suits(x: Any, view: Shape, axes: Shape, centred: bool, *others: Any) -> bool:
    """Whether the channels are axis 1 of `x`, of which all are there."""
    others_than_channel = (0, *range(2, x.ndim))
    is_whole = centred and view == x.shape and axes == others_than_channel
    return is_whole and x.ndim > 1 and x.size > 0 and is_float32(x, *others)


def _extents(x: Any) -> tuple[int, int, int]:
    return x.shape[0], x.shape[1], x.size // (x.shape[0] * x.shape[1])


def _moments(xp: Any, x: Any) -> tuple[Any, Any]:
    """Mean and variance of each channel."""
    return once("moments", (x,), None, lambda: _sums(xp, x, None, None))


def _grad_sums(xp: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """The sums of `y`, and of `y (x - mean)`."""
    return once("grad sums", (x, y), None, lambda: _sums(xp, x, y, _moments(xp, x)[0]))


def _sums(xp: Any, x: Any, y: Any, mean: Any) -> tuple[Any, Any]:
    samples, channels, inner = _extents(x)
    splits = max(1, min(samples, _ENOUGH // channels))
    each = -(-samples // splits)
    splits = -(-samples // each)
    parts = xp.ndarray((splits, channels, 2), np.float32)
    one, two = xp.ndarray(channels, np.float32), xp.ndarray(channels, np.float32)
    sizes = tuple(map(np.int32, (samples, channels, inner, each)))
    are_sums = np.bool_(y is not None)
    x, y, mean = in_order(xp, x, y, mean)
    function(_SOURCE, "channel_parts")((channels, splits), (_THREADS,), (x, y, mean, parts, *sizes))
    numbers = (*map(np.int32, (inner, splits)), np.float32(samples * inner), are_sums)
    _start_on_channels("channel_whole", x, (x, parts, one, two), *numbers)
    return one, two


def _start_on_channels(name: str, x: Any, arrays: tuple[Any, ...], *numbers: Any) -> None:
    """A thread for each channel of `x`."""
    channels = x.shape[1]
    function(_SOURCE, name)((-(-channels // _THREADS),), (_THREADS,), (*arrays, np.int32(channels), *numbers))


def _start_on_all(name: str, x: Any, arrays: tuple[Any, ...], *numbers: Any) -> None:
    samples, channels, inner = _extents(x)
    grid = (samples * channels, -(-inner // _CHUNK))
    sizes = tuple(map(np.int32, (channels, inner, _CHUNK)))
    function(_SOURCE, name)(grid, (threads_for(inner),), (*arrays, *sizes, *numbers))
