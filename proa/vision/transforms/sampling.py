"""Resizing and warping of NumPy arrays [H, W] or [H, W, C].

The definitions (where a pixel's centre lies, the cubic's coefficient, how 8-bit values are rounded) are
OpenCV's, because images held in arrays come from and go to programs that use it.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

METHODS = ("nearest", "bilinear", "bicubic", "area", "lanczos")
_FAR = 1e6  # farther than any image reaches
_FIXED_BITS = 11  # weights of 8-bit images are whole multiples of 2 ** -11


def resize(array: np.ndarray, height: int, width: int, method: str) -> np.ndarray:
    """`array` with `height` rows and `width` columns."""
    if array.shape[:2] == (height, width):
        return array.copy()
    if method == "nearest":
        rows, columns = _nearest(array.shape[0], height), _nearest(array.shape[1], width)
        return array[rows[:, None], columns[None, :]]
    shrinks = height <= array.shape[0] and width <= array.shape[1]
    if method == "bilinear" and (array.shape[0], array.shape[1]) == (2 * height, 2 * width):
        method = "area"
    kind = "enlarging area" if method == "area" and not shrinks else method
    rows, columns = _taps(kind, array.shape[0], height), _taps(kind, array.shape[1], width)
    if array.dtype == np.uint8 and kind != "area":
        return _resize_bytes(array, rows, columns, kind in ("bilinear", "enlarging area"))
    if kind == "area" and array.dtype == np.uint8 and array.shape[:2] == (2 * height, 2 * width):
        return _halved(array)
    wide = np.float64 if array.dtype == np.float64 else np.float32
    result = _combine(_combine(array.astype(wide), 1, *columns), 0, *rows)
    return _narrow(result, array.dtype)


def warp(array: np.ndarray, back: np.ndarray, height: int, width: int, method: str, fill: Any) -> np.ndarray:
    """The image whose pixel (x, y) is the source at `back @ (x, y, 1)`; outside of the source it is `fill`."""
    if not (height and width):
        return np.empty((height, width, *array.shape[2:]), array.dtype)
    x, y = np.arange(width, dtype=np.float64), np.arange(height, dtype=np.float64)[:, None]
    u, v = ((row[0] * x + row[1] * y) + row[2] for row in back[:2])
    if not (back[2] == (0.0, 0.0, 1.0)).all():
        w = (back[2, 0] * x + back[2, 1] * y) + back[2, 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            u, v = np.nan_to_num(u / w, nan=-_FAR), np.nan_to_num(v / w, nan=-_FAR)
    # Whatever lies far outside is outside; as an integer it must not wrap around.
    u, v = np.clip(u, -_FAR, _FAR), np.clip(v, -_FAR, _FAR)
    pixels = _Pixels(array, np.asarray(fill, np.float64), method != "nearest")
    if method == "nearest":
        return pixels.at(np.rint(v).astype(np.int32), np.rint(u).astype(np.int32))
    weights = _linear_weights if method == "bilinear" else _cubic_weights
    left, across = weights(u)
    top, down = weights(v)
    wide = pixels.dtype
    result = np.zeros((height, width, *array.shape[2:]), wide)
    spread = (...,) + (None,) * (array.ndim - 2)
    for i, row_weight in enumerate(down):
        for j, column_weight in enumerate(across):
            values = pixels.at(top + np.int32(i), left + np.int32(j))
            values *= (row_weight * column_weight).astype(wide)[spread]
            result += values
    return _narrow(result, array.dtype)


class _Pixels:
    """The pixels of an image by place, with one colour outside: the last row of a table, so that all are taken at once."""

    def __init__(self, array: np.ndarray, color: np.ndarray, to_combine: bool) -> None:
        self.height, self.width = array.shape[:2]
        self.dtype = array.dtype
        if to_combine:
            self.dtype = np.float64 if array.dtype.itemsize > 2 and array.dtype != np.float32 else np.float32
        self.table = np.empty((self.height * self.width + 1, *array.shape[2:]), self.dtype)
        self.table[:-1] = array.reshape(-1, *array.shape[2:])
        self.table[-1] = _narrow(color, array.dtype)

    def at(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """New memory, which the caller may change."""
        # As unsigned numbers, negative places are beyond the far edge.
        inside = (rows.view(np.uint32) < self.height) & (columns.view(np.uint32) < self.width)
        place = np.where(inside, rows.astype(np.intp) * self.width + columns, len(self.table) - 1)
        return self.table.take(place, axis=0, mode="clip")


def _linear_weights(place: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    first = np.floor(place)
    part = place - first
    return first.astype(np.int32), [1 - part, part]


def _cubic_weights(place: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    first = np.floor(place)
    return first.astype(np.int32) - np.int32(1), _cubic(place - first)


def _narrow(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Rounded (half to even) and clipped into the range of a whole-number type; floats as they are."""
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)
    return values.astype(dtype)


# ---- the taps of one axis: which sources a place reads, with which weights -----------------------


def _nearest(source: int, target: int) -> np.ndarray:
    return np.minimum(np.floor(np.arange(target) * (source / target)).astype(np.int64), source - 1)


@functools.lru_cache(maxsize=256)
def _taps(kind: str, source: int, target: int) -> tuple[np.ndarray, np.ndarray]:
    """(indices, weights), both [target, taps]."""
    scale = source / target
    if kind == "area":
        return _covered(source, target)
    place = np.arange(target, dtype=np.float64)
    if kind == "enlarging area":
        first = np.floor(place * scale)
        part = (place + 1) - (first + 1) / scale
        part = np.where(part <= 0, 0.0, part - np.floor(part))
    else:
        # Weights are made in single precision, as the 8-bit rounding below shows every bit of them.
        centre = ((place + 0.5) * scale - 0.5).astype(np.float32)
        first = np.floor(centre).astype(np.float64)
        part = centre.astype(np.float64) - first
    if kind in ("bilinear", "enlarging area"):
        part = np.where((first < 0) | (first >= source - 1), 0.0, part)
        weights, start = [1 - part, part], 0
    elif kind == "bicubic":
        weights, start = _cubic(part), -1
    else:
        weights, start = _lanczos(part), -3
    offsets = np.arange(start, start + len(weights))
    indices = np.clip(first.astype(np.int64)[:, None] + offsets, 0, source - 1)
    return indices, np.stack(weights, axis=1)


def _covered(source: int, target: int) -> tuple[np.ndarray, np.ndarray]:
    """Every target cell averages what it covers, cells at its ends in part."""
    scale = source / target
    starts, ends = np.arange(target) * scale, (np.arange(target) + 1) * scale
    first = np.floor(starts + 1e-9).astype(np.int64)
    count = math.ceil(scale) + 1
    indices = first[:, None] + np.arange(count)
    weights = np.minimum(indices + 1, ends[:, None]) - np.maximum(indices, starts[:, None])
    weights = np.where(weights > 1e-6, weights, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    return np.clip(indices, 0, source - 1), weights


def _cubic(part: np.ndarray) -> list[np.ndarray]:
    """Keys' cubic with coefficient -3/4, at distances 1 + t, t, 1 - t and 2 - t."""
    a = -0.75

    def near(t: np.ndarray) -> np.ndarray:
        return ((a + 2) * t - (a + 3)) * t * t + 1

    def far(t: np.ndarray) -> np.ndarray:
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a

    weights = [far(part + 1), near(part), near(1 - part)]
    return [*weights, 1 - weights[0] - weights[1] - weights[2]]


def _lanczos(part: np.ndarray) -> list[np.ndarray]:
    """Eight taps of sinc(t) sinc(t / 4), normalised."""
    weights = [np.sinc(part + 3 - k) * np.sinc((part + 3 - k) / 4) for k in range(8)]
    total = np.sum(weights, axis=0)
    return [weight / total for weight in weights]


# ---- application ---------------------------------------------------------------------------------


def _combine(array: np.ndarray, axis: int, indices: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weighted sum of the sources of every place along an axis."""
    shape = [1] * array.ndim
    shape[axis] = len(indices)
    result: Any = 0
    for k in range(indices.shape[1]):
        result = result + np.take(array, indices[:, k], axis) * weights[:, k].astype(array.dtype).reshape(shape)
    return result


def _halved(array: np.ndarray) -> np.ndarray:
    """Means of 2 x 2 bytes, halves rounded up."""
    wide = array.astype(np.uint16)
    rows = wide[::2] + wide[1::2]
    return ((rows[:, ::2] + rows[:, 1::2] + 2) >> 2).astype(np.uint8)


def _resize_bytes(array: np.ndarray, rows: Any, columns: Any, linear: bool) -> np.ndarray:
    """8-bit images in whole-number arithmetic, with the roundings of OpenCV's."""
    fixed = [(indices, np.rint(weights * 2**_FIXED_BITS).astype(np.int32)) for indices, weights in (rows, columns)]
    # Bytes are gathered before they are widened: a quarter of the memory moves.
    spread = (None, slice(None)) + (None,) * (array.ndim - 2)
    across: Any = 0
    for place, weight in zip(fixed[1][0].T, fixed[1][1].T, strict=True):
        across = across + np.multiply(array.take(place, axis=1), weight[spread], dtype=np.int32)
    indices, weights = fixed[0]
    if linear:
        spread = (slice(None),) + (None,) * (array.ndim - 1)
        upper = (weights[:, 0][spread] * (across[indices[:, 0]] >> 4)) >> 16
        lower = (weights[:, 1][spread] * (across[indices[:, 1]] >> 4)) >> 16
        return np.clip((upper + lower + 2) >> 2, 0, 255).astype(np.uint8)
    scaled = weights.astype(np.float32) * np.float32(2.0 ** (-2 * _FIXED_BITS))
    return _narrow(_combine(across.astype(np.float32), 0, indices, scaled), np.uint8)
