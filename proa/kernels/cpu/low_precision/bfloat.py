"""Products in bfloat16 by native code, on processors that multiply it by themselves.

Operands are bfloat16, or float32 inside `precision.low_products`, which is rounded to bfloat16 while it is packed; sums are
float32. A result of bfloat16 is rounded once; the gradient of a weight is left in float32, and whoever runs the kernel casts
it to the inferred type. Each function takes what the operation's kernel takes and gives None where the kernel for float32
should do it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.dtype import BFLOAT16, FLOAT32
from .. import attention, depthwise, library
from ..choice import enough
from ..convolution import Window, back, first, first_shape, out_shape, window_numbers, work_of
from .precision import is_low

# Multiplications from which on a call pays: fewer than of float32, which XLA multiplies well by itself.
_WORTHWHILE = 200_000


def _multiply(x: Any, y: Any, transpose_x: bool, transpose_y: bool, bias: Any = None) -> Any:
    """The product of two batches of matrices of equal rank."""
    rows, depth = x.shape[-2:][::-1] if transpose_x else x.shape[-2:]
    columns = y.shape[-2] if transpose_y else y.shape[-1]
    if not enough(math.prod(x.shape[:-2]) * rows * columns * depth, _WORTHWHILE):
        return None
    # A product over rows is the gradient of a weight, which is wanted in float32: whoever wants it low rounds it.
    dtype = FLOAT32 if transpose_x and not transpose_y else x.dtype
    return library.call(
        "BfloatProduct", library.shaped((*x.shape[:-2], rows, columns), dtype), x, y, *([] if bias is None else [bias]),
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


# ---- convolutions --------------------------------------------------------------------------------

# Fewer multiplications than this are not worth a call.
_WORTHWHILE_WINDOWS = 20_000


def _takes(symbol: str, x: Any, weight: Any, weight_shape: tuple[int, ...], y: tuple[int, ...], window: Window) -> bool:
    """Whether a convolution in bfloat16 is done natively: of pairs of channels, and not one channel by one."""
    if len(window[0]) > 3 or not is_low(symbol, x, weight) or not math.prod(y) or not math.prod(weight_shape):
        return False
    return enough(work_of(weight_shape, y, window[4]), _WORTHWHILE_WINDOWS)


def _call(symbol: str, out: Any, operands: list[Any], weight_shape: tuple[int, ...], window: Window) -> Any:
    return library.call(symbol, out, *operands, window=window_numbers(window, weight_shape))


def bfloat_convolution(xp: Any, x: Any, weight: Any, bias: Any, *attributes: Any) -> Any:
    """The kernel of `conv`."""
    window: Window = attributes  # type: ignore[assignment]
    y = out_shape(x.shape, weight.shape, window)
    if weight.shape[1] % 2 or not _takes("BfloatConvolution", x, weight, weight.shape, y, window):
        return None
    image = first(x, window)
    if depthwise.fits(image.shape, weight.shape, window):
        return None
    out = library.Image(library.shaped(first_shape(y, window), x.dtype))
    operands = [library.Image(image), weight, *([] if bias is None else [bias])]
    return back(_call("BfloatConvolution", out, operands, weight.shape, window), window)


def bfloat_grad_input(xp: Any, y: Any, weight: Any, shape: tuple[int, ...], *attributes: Any) -> Any:
    """The kernel of `conv_grad_input`."""
    window: Window = attributes  # type: ignore[assignment]
    odd = weight.shape[0] // window[3] % 2
    if (
        odd
        or not math.prod(shape)
        or not _takes("BfloatConvolutionGradInput", y, weight, weight.shape, y.shape, window)
    ):
        return None
    made = first_shape(shape, window)
    if depthwise.fits(made, weight.shape, window):
        return None
    out = library.Image(library.shaped(made, y.dtype))
    operands = [library.Image(first(y, window)), weight]
    return back(_call("BfloatConvolutionGradInput", out, operands, weight.shape, window), window)


def bfloat_grad_weight(xp: Any, x: Any, y: Any, shape: tuple[int, ...], *attributes: Any) -> Any:
    """The kernel of `conv_grad_weight`."""
    window: Window = attributes  # type: ignore[assignment]
    if not _takes("BfloatConvolutionGradWeight", x, y, shape, y.shape, window):
        return None
    image = first(x, window)
    if depthwise.fits(image.shape, shape, window):
        return None
    operands = [library.Image(image), library.Image(first(y, window))]
    return _call("BfloatConvolutionGradWeight", library.shaped(shape), operands, shape, window)


# ---- attention -----------------------------------------------------------------------------------


def _attends(query: Any, keys: Any, mask: Any, *others: Any) -> bool:
    low = all(a.dtype == BFLOAT16 for a in (query, keys, *others)) and is_low("Attention", query, keys, *others)
    known = mask is None or mask.dtype in (BFLOAT16, FLOAT32, np.bool_)
    return low and known and enough(query.size * keys.shape[1], attention.WORTHWHILE)


def _wide_mask(mask: Any) -> Any:
    return mask.astype(FLOAT32) if mask is not None and mask.dtype == BFLOAT16 else mask


def bfloat_attention(xp: Any, query: Any, keys: Any, values: Any, mask: Any, scale: float, causal: bool) -> Any:
    """The kernel of `attention`; whoever runs it rounds the result."""
    if not _attends(query, keys, mask, values):
        return None
    return attention.result_of(xp, query, keys, values, _wide_mask(mask), scale, causal)[0]


def bfloat_attention_gradient(operand: int) -> Any:
    """The kernel of `attention_grad_query`, `_key` or `_value`."""

    def kernel(xp: Any, y: Any, query: Any, keys: Any, values: Any, mask: Any, scale: float, causal: bool) -> Any:
        if not _attends(query, keys, mask, values, y):
            return None
        return attention.gradients_of(xp, y, query, keys, values, _wide_mask(mask), scale, causal)[operand]

    return kernel
