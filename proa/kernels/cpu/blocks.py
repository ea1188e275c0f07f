"""Products with weights in blocks of 8 or 4 bits by native code, for the op table's CPU backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import library
from .choice import chosen


@chosen
def native_block_product(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `block_product`."""

    def kernel(
        xp: Any, x: Any, numbers: Any, scales: Any, minima: Any, bias: Any, outputs: int, bits: int, zero: int
    ) -> Any:
        suits = x.dtype == np.float32 and (bias is None or bias.dtype == np.float32) and x.size and outputs
        if not suits or library.target("BlockProduct") is None:
            return fallback(xp, x, numbers, scales, minima, bias, outputs, bits, zero)
        rows = x.reshape(-1, x.shape[-1])
        result = library.call(
            "BlockProduct", library.shaped((rows.shape[0], outputs)), rows, numbers, scales,
            *[operand for operand in (minima, bias) if operand is not None],
            bits=np.int64(bits), zero=np.int64(zero), has_minima=minima is not None, has_bias=bias is not None,
        )  # fmt: skip
        return result.reshape(*x.shape[:-1], outputs)

    return kernel
