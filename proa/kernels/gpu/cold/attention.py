"""Attention: products of all heads at once, and the softmax of their scores in one call. The gradients share theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .memo import once
from .raw import is_float32
from .rows import softmax_rows, softmax_rows_grad


def attention(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `attention`."""

    def kernel(xp: Any, query: Any, keys: Any, values: Any, mask: Any, scale: float, causal: bool) -> Any:
        if not _suits(query, keys, values, mask):
            return otherwise(xp, query, keys, values, mask, scale, causal)
        q, k, v = [_heads_first(xp, array) for array in (query, keys, values)]
        return xp.ascontiguousarray(xp.matmul(_shares(xp, q, k, scale, causal), v).swapaxes(1, 2))

    return kernel


def attention_grad(otherwise: Callable[..., Any], operand: int) -> Callable[..., Any]:
    """The kernel of the gradient of operand 0 (query), 1 (keys) or 2 (values)."""

    def kernel(xp: Any, y: Any, query: Any, keys: Any, values: Any, mask: Any, scale: float, causal: bool) -> Any:
        if not _suits(query, keys, values, mask) or not is_float32(y):
            return otherwise(xp, y, query, keys, values, mask, scale, causal)
        given = (y, query, keys, values)
        grads = once("attention", given, (scale, causal), lambda: _gradients(xp, *given, scale, causal))
        return xp.ascontiguousarray(grads[operand].swapaxes(1, 2))

    return kernel


def _gradients(xp: Any, y: Any, query: Any, keys: Any, values: Any, scale: float, causal: bool) -> tuple[Any, Any, Any]:
    y, q, k, v = [_heads_first(xp, array) for array in (y, query, keys, values)]
    shares = _shares(xp, q, k, scale, causal)
    scores = softmax_rows_grad(xp, shares, xp.matmul(y, v.swapaxes(-1, -2)), scale)
    return xp.matmul(scores, k), xp.matmul(scores.swapaxes(-1, -2), q), xp.matmul(shares.swapaxes(-1, -2), y)


def _suits(query: Any, keys: Any, values: Any, mask: Any) -> bool:
    sizes = query.size * keys.size * values.size
    return mask is None and sizes > 0 and query.shape[2] == keys.shape[2] and is_float32(query, keys, values)


def _heads_first(xp: Any, array: Any) -> Any:
    return xp.ascontiguousarray(array.swapaxes(1, 2))


def _shares(xp: Any, q: Any, k: Any, scale: float, causal: bool) -> Any:
    """The softmax of the scores."""
    return softmax_rows(xp, xp.matmul(q, k.swapaxes(-1, -2)), scale, q.shape[2] if causal else 0)
