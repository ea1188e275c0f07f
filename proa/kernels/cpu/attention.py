"""Scaled dot-product attention by native code, for the op table's CPU backend.

One call gives the result and two numbers for each row of scores, one call all three gradients. The operations ask for what
they need of these with equal operands, and XLA makes equal calls once: in a training step the gradient finds the numbers
of the forward pass, and its three parts are one computation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough

WORTHWHILE = 1 << 16  # scores times width; less is fused with its neighbours by XLA


def _suits(query: Any, keys: Any, values: Any, mask: Any, *others: Any) -> bool:
    if any(a.dtype != np.float32 or not a.size for a in (query, keys, values, *others)):
        return False
    if mask is not None and mask.dtype not in (np.float32, np.bool_):
        return False
    if not enough(query.size * keys.shape[1], WORTHWHILE):
        return False
    return library.target("Attention") is not None


def _mask_operand(mask: Any) -> list[Any]:
    """The mask with four dimensions, if there is one."""
    return [] if mask is None else [mask.reshape((1,) * (4 - mask.ndim) + mask.shape)]


def result_of(xp: Any, query: Any, keys: Any, values: Any, mask: Any, scale: float, causal: bool) -> tuple[Any, Any]:
    """The result and the statistics of the rows of scores: the largest of each, and one over the sum of its powers."""
    batch, length, heads = query.shape[:3]
    outputs = (library.shaped((batch, length, heads, values.shape[3])), library.shaped((batch, heads, length, 2)))
    return library.call(
        "Attention", outputs, query, keys, values, np.float32(scale), *_mask_operand(mask), causal=bool(causal)
    )


def gradients_of(
    xp: Any, y: Any, query: Any, keys: Any, values: Any, mask: Any, scale: float, causal: bool
) -> tuple[Any, Any, Any]:
    result, statistics = result_of(xp, query, keys, values, mask, scale, causal)
    return library.call(
        "AttentionGrad", tuple(library.shaped(x.shape) for x in (query, keys, values)), query, keys, values,
        np.float32(scale), result, y, statistics, *_mask_operand(mask), causal=bool(causal),
    )  # fmt: skip


@chosen
def native_attention(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `attention`."""

    def kernel(xp: Any, query: Any, keys: Any, values: Any, mask: Any, scale: float, causal: bool) -> Any:
        if not _suits(query, keys, values, mask):
            return fallback(xp, query, keys, values, mask, scale, causal)
        return result_of(xp, query, keys, values, mask, scale, causal)[0]

    return kernel


def _gradient_of(fallback: Callable[..., Any], operand: int) -> Callable[..., Any]:
    def kernel(xp: Any, y: Any, query: Any, keys: Any, values: Any, mask: Any, scale: float, causal: bool) -> Any:
        if not _suits(query, keys, values, mask, y):
            return fallback(xp, y, query, keys, values, mask, scale, causal)
        return gradients_of(xp, y, query, keys, values, mask, scale, causal)[operand]

    return kernel


# These are not `@chosen` one by one: only together are they one computation.


def native_grad_query(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `attention_grad_query`."""
    return _gradient_of(fallback, 0)


def native_grad_key(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `attention_grad_key`."""
    return _gradient_of(fallback, 1)


def native_grad_value(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `attention_grad_value`."""
    return _gradient_of(fallback, 2)
