"""Matrix products by native code: the kernels of `matmul` and `linear` for the op table's CPU backend."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough

# Fewer multiplications than this take XLA no longer, and a step of many small products is quicker without foreign calls
# (measured: the loop of a small MLP loses up to a third with them).
WORTHWHILE = 1_500_000


def _suits(*arrays: Any) -> bool:
    return all(array.dtype == np.float32 and array.size for array in arrays)


def multiply(
    x: Any, y: Any, transpose_x: bool, transpose_y: bool, bias: Any = None, smallest: int | None = None
) -> Any:
    """The product of two batches of float32 matrices of equal rank, or None when XLA should do it."""
    rows, depth = x.shape[-2:][::-1] if transpose_x else x.shape[-2:]
    columns = y.shape[-2] if transpose_y else y.shape[-1]
    work = math.prod(x.shape[:-2]) * rows * columns * depth
    if (
        depth == 1
        or not enough(work, WORTHWHILE if smallest is None else smallest)
        or library.target("Product") is None
    ):
        return None
    operands = (x, y) if bias is None else (x, y, bias)
    return library.call(
        "Product",
        library.shaped((*x.shape[:-2], rows, columns)),
        *operands,
        transpose_left=bool(transpose_x),
        transpose_right=bool(transpose_y),
        relu=False,
    )


@chosen
def native_product(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `matmul`."""

    def kernel(xp: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
        result = None
        if _suits(x, y):
            if x.ndim == 1 or y.ndim == 1:
                result = _with_vector(x, y, transpose_x, transpose_y)
            elif y.ndim == 2 and not transpose_x:
                result = multiply(x.reshape(-1, x.shape[-1]), y, False, transpose_y)
                result = None if result is None else result.reshape(*x.shape[:-1], result.shape[-1])
            elif x.shape[:-2] == y.shape[:-2]:
                result = multiply(x, y, transpose_x, transpose_y)
        return fallback(xp, x, y, transpose_x, transpose_y) if result is None else result

    return kernel


def _with_vector(x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    """A matrix or a stack of them times a vector, or the other way round."""
    if x.ndim > 1 and (x.ndim == 2 or not transpose_x):
        rows = x if transpose_x else x.reshape(-1, x.shape[-1])
        result = multiply(rows, y[:, None], transpose_x, False)
        return None if result is None else result.reshape(x.shape[1:] if transpose_x else x.shape[:-1])
    if x.ndim == 1 and y.ndim == 2:
        result = multiply(x[None], y, False, transpose_y)
        return None if result is None else result[0]
    return None


@chosen
def native_linear(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `linear`, which adds a bias vector to each row while it is at hand."""

    def kernel(xp: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        if weight.ndim != 2 or not _suits(x, weight):
            return fallback(xp, x, weight, bias)
        columns = weight.shape[1]
        fused = bias is not None and bias.shape == (columns,) and bias.dtype == np.float32
        result = multiply(x.reshape(-1, x.shape[-1]), weight, False, False, bias if fused else None)
        if result is None:
            return fallback(xp, x, weight, bias)
        result = result.reshape(*x.shape[:-1], columns)
        return result if fused or bias is None else result + bias

    return kernel
