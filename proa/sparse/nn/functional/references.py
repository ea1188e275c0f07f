"""What the functions here must give, in plain NumPy on dense arrays: the references of their samples.

An element is stored where it is not zero (of an image [batch, *space, channels]: where a channel is not zero).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np


def softmax(x: Any, axis: int = -1) -> Any:
    with np.errstate(all="ignore"):
        powers = np.where(x != 0, np.exp(x), 0)
        return np.where(x != 0, powers / powers.sum(axis, keepdims=True), 0)


def attention(query: Any, key: Any, value: Any, sparse_mask: Any, key_padding_mask: Any = None, attn_mask: Any = None):
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
    kept = sparse_mask.reshape(scores.shape) != 0
    if key_padding_mask is not None:
        kept = kept & (key_padding_mask[:, None, None, :] != 0)
    if attn_mask is not None:
        kept = kept & (attn_mask != 0)
    powers = np.where(kept, np.exp(scores), 0)
    return powers / np.maximum(powers.sum(-1, keepdims=True), 1e-300) @ value


def convolution(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, **_: Any
) -> Any:
    """Stored wherever the window sees a stored element; only there is the bias added."""
    kernel = weight.shape[:-2]
    axes = tuple(range(1, len(kernel) + 1))
    stored = x.any(-1, keepdims=True)
    shape, places = _places(x.shape[1:-1], kernel, stride, padding, dilation)
    result = np.zeros((x.shape[0], *shape, weight.shape[-1]), x.dtype)
    padded, padded_stored = (_padded(array, kernel, padding) for array in (x, stored))
    for place, window in places:
        sums = np.tensordot(padded[(slice(None), *window)], weight, (range(1, x.ndim), range(x.ndim - 1)))
        seen = padded_stored[(slice(None), *window)].any(axes)
        result[(slice(None), *place)] = np.where(seen, sums if bias is None else sums + bias, 0)
    return result


def submanifold_convolution(x: Any, weight: Any, bias: Any = None, dilation: Any = 1, **_: Any) -> Any:
    """Stored exactly where `x` is, the kernel centred there."""
    kernel = weight.shape[:-2]
    dilations = _each(dilation, len(kernel))
    centred = [n // 2 * d for n, d in zip(kernel, dilations, strict=True)]
    return np.where(x.any(-1, keepdims=True), convolution(x, weight, bias, 1, centred, dilations), 0)


def max_pool(x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Any:
    """The largest stored element of each window."""
    spatial = x.ndim - 2
    kernel = _each(kernel_size, spatial)
    shape, places = _places(x.shape[1:-1], kernel, kernel if stride is None else stride, padding, 1)
    result = np.zeros((x.shape[0], *shape, x.shape[-1]), x.dtype)
    padded = _padded(np.where(x.any(-1, keepdims=True), x, -np.inf), kernel, padding, -np.inf)
    for place, window in places:
        largest = padded[(slice(None), *window)].max(tuple(range(1, spatial + 1)))
        result[(slice(None), *place)] = np.where(np.isfinite(largest), largest, 0)
    return result


def _each(value: Any, count: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,) * count


def _padded(x: Any, kernel: Any, padding: Any, fill: float = 0) -> Any:
    around = [(n, n) for n in _each(padding, len(kernel))]
    return np.pad(x, [(0, 0), *around, (0, 0)], constant_values=fill)


def _places(
    extents: Any, kernel: Any, stride: Any, padding: Any, dilation: Any
) -> tuple[tuple[int, ...], Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]]:
    """The shape of the output, and for each place there the window of the padded input that it sees."""
    count = len(kernel)
    steps, pads, dilations = _each(stride, count), _each(padding, count), _each(dilation, count)
    shape = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(extents, kernel, steps, pads, dilations)
    )

    def windows() -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        for place in itertools.product(*map(range, shape)):
            corners = [i * s for i, s in zip(place, steps)]
            yield place, tuple(slice(c, c + d * (k - 1) + 1, d) for c, k, d in zip(corners, kernel, dilations))

    return shape, windows()
