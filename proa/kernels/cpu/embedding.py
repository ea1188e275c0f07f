"""The gradient of an embedding's table by native code, for the op table's CPU backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough

WORTHWHILE = 1 << 14  # elements of the table and of the vectors


def add_by_row(xp: Any, numbers: Any, vectors: Any, count: int) -> Any:
    """A table of `count` rows, each the sum of the vectors whose number it is, or None when XLA should do it.

    Numbers that are no row are left out.
    """
    if vectors.dtype != np.float32 or not vectors.size or not 0 < count < 2**31:
        return None
    if not enough(vectors.size + count * vectors.shape[-1], WORTHWHILE) or library.target("SumByRow") is None:
        return None
    numbers = xp.where((numbers >= 0) & (numbers < count), numbers, -1).astype(np.int32)
    return library.call("SumByRow", library.shaped((count, vectors.shape[-1])), numbers, vectors)


@chosen
def native_sum_of_rows(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `embedding_grad`."""

    def kernel(xp: Any, x: Any, values: Any, count: int, padding_idx: int) -> Any:
        if not values.size:
            return fallback(xp, x, values, count, padding_idx)
        numbers = x.reshape(-1)
        if padding_idx >= 0:
            numbers = xp.where(numbers == padding_idx, -1, numbers)
        found = add_by_row(xp, numbers, values.reshape(x.size, values.shape[-1]), count)
        return fallback(xp, x, values, count, padding_idx) if found is None else found

    return kernel
