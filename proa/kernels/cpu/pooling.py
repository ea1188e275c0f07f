"""The gradient of maximum pooling by native code, for the op table's CPU backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough

_WORTHWHILE = 4096  # elements


@chosen
def native_max_pool_grad(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `max_pool_grad`, over one or two axes of space."""

    def kernel(
        xp: Any, x: Any, y: Any, kernel: tuple[int, ...], stride: tuple[int, ...],
        padding: tuple[tuple[int, int], ...], channels_last: bool,
    ) -> Any:  # fmt: skip
        fits = x.dtype == y.dtype == np.float32 and enough(x.size, _WORTHWHILE) and y.size and x.ndim in (3, 4)
        if not fits or len(kernel) != x.ndim - 2 or library.target("MaxPoolGrad") is None:
            return fallback(xp, x, y, kernel, stride, padding, channels_last)
        before = [first for first, _ in padding]
        images, grads = (a.transpose(0, a.ndim - 1, *range(1, a.ndim - 1)) if channels_last else a for a in (x, y))
        if x.ndim == 3:
            kernel, stride, before = (1, *kernel), (1, *stride), [0, *before]
            images, grads = images[:, :, None], grads[:, :, None]
        found = library.call(
            "MaxPoolGrad", library.shaped(images.shape), images, grads,
            window=np.array([*kernel, *stride, *before], np.int64),
        )  # fmt: skip
        if x.ndim == 3:
            found = found[:, :, 0]
        return found.transpose(0, *range(2, x.ndim), 1) if channels_last else found

    return kernel
