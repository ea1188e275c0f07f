"""Maximum pooling by native code, for the op table's CPU backend: XLA goes over its windows number by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough

_WORTHWHILE = 4096  # elements


@chosen
def native_max_pool(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `max_pool`, over one or two axes of space with channels first."""

    def kernel(
        xp: Any,
        x: Any,
        kernel: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[tuple[int, int], ...],
        channels_last: bool,
    ) -> Any:
        fits = x.dtype == np.float32 and enough(x.size, _WORTHWHILE) and len(kernel) == x.ndim - 2 and x.ndim in (3, 4)
        if not fits or channels_last or library.target("MaxPooling") is None:
            return fallback(xp, x, kernel, stride, padding, channels_last)
        size = [
            (extent + before + after - width) // step + 1
            for extent, (before, after), width, step in zip(x.shape[2:], padding, kernel, stride, strict=True)
        ]
        before = [first for first, _ in padding]
        images = x
        if x.ndim == 3:
            kernel, stride, before, size, images = (1, *kernel), (1, *stride), [0, *before], [1, *size], x[:, :, None]
        found = library.call(
            "MaxPooling", library.shaped((*x.shape[:2], *size)), images,
            window=np.array([*kernel, *stride, *before], np.int64),
        )  # fmt: skip
        return found[:, :, 0] if x.ndim == 3 else found

    return kernel
