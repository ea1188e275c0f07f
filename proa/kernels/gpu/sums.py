"""Sums over rows as a product with ones, for the op table's GPU backend.

The gradient of a bias is such a sum. XLA's own reduction along columns reaches a small part of the memory's speed; a product
reads the array once, at full speed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.xla import started_jax

_LEAST_ROWS = 2048
_LEAST_COLUMNS = 64
_ONES = 8  # rows of ones: with a single one XLA would make a reduction of the product again


def sum_by_product(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `sum`, for many rows of a half-precision or float32 matrix."""

    def kernel(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
        leading = axis == tuple(range(len(axis))) and 0 < len(axis) < x.ndim
        rows = math.prod(x.shape[: len(axis)])
        columns = math.prod(x.shape[len(axis) :])
        suits = leading and rows >= _LEAST_ROWS and columns >= _LEAST_COLUMNS and not keepdim
        if not suits or np.dtype(x.dtype).name not in ("bfloat16", "float16", "float32"):
            return fallback(xp, x, axis, keepdim)
        lax = started_jax().lax
        ones = xp.ones((_ONES, rows), x.dtype)
        sums = lax.dot(
            ones, x.reshape(rows, columns), precision=lax.Precision.HIGHEST, preferred_element_type=xp.float32
        )
        return sums[0].reshape(x.shape[len(axis) :]).astype(x.dtype)

    return kernel
