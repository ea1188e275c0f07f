"""Products in bfloat16 by native code, on processors that multiply it by themselves.

Operands are bfloat16, or float32 inside `precision.low_products`, and are rounded to bfloat16 while they are packed; sums are
float32, and the result, of the operands' type, is rounded once. Each function takes what the operation's kernel takes and
gives None where the kernel for float32 should do it.
"""

from __future__ import annotations

import math
from typing import Any

from . import library
from .choice import enough
from .precision import is_low

# Multiplications from which on a call pays: fewer than of float32, which XLA multiplies well by itself.
_WORTHWHILE = 200_000


def _multiply(x: Any, y: Any, transpose_x: bool, transpose_y: bool, bias: Any = None) -> Any:
    """The product of two batches of matrices of equal rank."""
    rows, depth = x.shape[-2:][::-1] if transpose_x else x.shape[-2:]
    columns = y.shape[-2] if transpose_y else y.shape[-1]
    if not enough(math.prod(x.shape[:-2]) * rows * columns * depth, _WORTHWHILE):
        return None
    return library.call(
        "BfloatProduct", library.shaped((*x.shape[:-2], rows, columns), x.dtype), x, y, *([] if bias is None else [bias]),
        transpose_left=bool(transpose_x), transpose_right=bool(transpose_y),
    )  # fmt: skip


def bfloat_product(xp: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    """The kernel of `matmul`."""
    if x.ndim < 2 or y.ndim < 2 or not is_low("BfloatProduct", x, y):
        return None
    if y.ndim == 2 and not transpose_x:
        result = _multiply(x.reshape(-1, x.shape[-1]), y, False, transpose_y)
        return None if result is None else result.reshape(*x.shape[:-1], result.shape[-1])
    return _multiply(x, y, transpose_x, transpose_y) if x.shape[:-2] == y.shape[:-2] else None


def bfloat_linear(xp: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    """The kernel of `linear`, which adds a bias vector to each row while it is at hand."""
    if weight.ndim != 2 or not is_low("BfloatProduct", x, weight):
        return None
    columns = weight.shape[1]
    fused = bias is not None and bias.shape == (columns,) and bias.dtype == x.dtype
    result = _multiply(x.reshape(-1, x.shape[-1]), weight, False, False, bias if fused else None)
    if result is None:
        return None
    result = result.reshape(*x.shape[:-1], columns)
    return result if fused or bias is None else result + bias
