"""How many elements the windows of an average pooling count, where the image is longer than its data."""

from __future__ import annotations

from typing import Any

import numpy as np

from .filling import Arrays, first, own, wide

Windows = tuple[tuple[int, int, int, int], ...]  # axis, width, stride, padding in front


@own("windows exclusive", infer=first)
def divided_by_windows(xp: Any, arrays: Arrays, windows: Windows, exclusive: bool) -> Any:
    """Sums of windows, divided by the number of elements in each: those of the data, or the padding too as far as it was
    asked for in front (`_divisors` in ops/neural/windowed/pooling_kernels.py)."""
    x, *extents = arrays
    result = wide(x)
    for (axis, width, stride, before), extent in zip(windows, extents, strict=True):
        start = xp.arange(x.shape[axis], dtype=np.int32) * np.int32(stride) - np.int32(before)
        stop = xp.minimum(start + width, extent if exclusive else extent + before)
        count = stop - (xp.maximum(start, 0) if exclusive else start)
        shape = [1] * x.ndim
        shape[axis] = -1
        result = result / count.reshape(shape).astype(result.dtype)
    return result.astype(x.dtype)
