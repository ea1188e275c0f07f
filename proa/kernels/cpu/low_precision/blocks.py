"""Products with weights in blocks of 8 or 4 bits by native code, for the op table's CPU backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import library
from ..choice import chosen


@chosen
def native_block_product(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `block_product`."""

    def kernel(
        xp: Any, x: Any, blocks: Any, bias: Any, outputs: int, bits: int, zero: int, half: bool, has_minima: bool
    ) -> Any:
        suits = x.dtype == np.float32 and (bias is None or bias.dtype == np.float32) and x.size and outputs
        if not suits or library.target("BlockProduct") is None:
            return fallback(xp, x, blocks, bias, outputs, bits, zero, half, has_minima)
        rows = x.reshape(-1, x.shape[-1])
        result = library.call(
            "BlockProduct", library.shaped((rows.shape[0], outputs)), rows, blocks, *([] if bias is None else [bias]),
            bits=np.int64(bits), zero=np.int64(zero), half=bool(half), has_minima=bool(has_minima),
        )  # fmt: skip
        return result.reshape(*x.shape[:-1], outputs)

    return kernel
