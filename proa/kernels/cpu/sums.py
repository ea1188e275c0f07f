"""Sums over all but the channels of an image (the gradient of a convolution's bias) by native code.

Images lie in memory with their channels side by side; XLA's own reduction would bring them into another order first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtype import BFLOAT16
from . import library
from .choice import chosen, enough

_WORTHWHILE = 1 << 15  # elements


@chosen
def native_sum(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `sum`."""

    def kernel(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
        images = (
            x.ndim > 2
            and axis == (0, *range(2, x.ndim))
            and (x.dtype == np.float32 or (x.dtype == BFLOAT16 and library.THREAD.direct is None))
        )
        if not images or not enough(x.size, _WORTHWHILE) or library.target("ChannelSums") is None:
            return fallback(xp, x, axis, keepdim)
        total = library.call("ChannelSums", library.shaped((x.shape[1],)), library.Image(x))
        return total.reshape([1 if a in axis else n for a, n in enumerate(x.shape)]) if keepdim else total

    return kernel
