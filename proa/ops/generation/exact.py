"""Kernels of programs whose rows do not notice each other (`ir/transforms/exactness.py`): products and attention.

A product's row is summed in an order that its depth alone decides: native code adds up blocks of the depth one by one, for
any number of rows but one, and pieces of the depth are short enough that threads never share a sum. Attention goes through
keys in pieces of 128, from the first key on; what stands behind the last key, in a table of any width, adds zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.cpu.products import multiply
from ..linear.linalg import linear
from .choosing import choose, choose_tokens, scores_of, token_scores
from .pages import gathered, paged_attention, visible

_DEPTH = 1536  # native code divides sums of 2048 and more among threads
_KEYS = 128


def product(xp: Any, x: Any, y: Any, transpose_y: bool = False) -> Any:
    """x [..., rows, depth] times y [..., depth, columns], the leading axes equal; every row as it would be alone."""
    depth = x.shape[-1]
    if x.shape[-2] == 1:  # a lone row takes another way through native code
        return product(xp, xp.concatenate([x, x], axis=-2), y, transpose_y)[..., :1, :]
    total = None
    for begin in range(0, depth, _DEPTH):
        left = x[..., begin : begin + _DEPTH]
        right = y[..., begin : begin + _DEPTH] if transpose_y else y[..., begin : begin + _DEPTH, :]
        part = multiply(left, right, False, transpose_y, None, 0)
        part = _row_by_row(xp, left, right, transpose_y) if part is None else part
        total = part if total is None else total + part
    return total


def _row_by_row(xp: Any, x: Any, y: Any, transpose_y: bool) -> Any:
    """Without native code: one row at a time, all by the same loop."""
    if xp is np:
        return np.matmul(x, np.swapaxes(y, -1, -2) if transpose_y else y)
    from jax import lax

    right = xp.swapaxes(y, -1, -2) if transpose_y else y
    rows = lax.map(lambda row: xp.matmul(row[..., None, :], right)[..., 0, :], xp.moveaxis(x, -2, 0))
    return xp.moveaxis(rows, 0, -2)


def _exact_linear(xp: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    wide = x.astype(np.float32).reshape(-1, x.shape[-1])
    out = product(xp, wide, weight.astype(np.float32)).reshape(*x.shape[:-1], weight.shape[-1])
    return (out if bias is None else out + bias).astype(x.dtype)


def _exact_attention(
    xp: Any, query: Any, keys: Any, values: Any, tables: Any, positions: Any, sinks: Any = None, key_scales: Any = None,
    value_scales: Any = None, scale: float = 1.0, window: int | None = None, cap: float = 0.0,
) -> Any:  # fmt: skip
    rows, length, heads, size = query.shape
    shared = keys.shape[2]
    groups = heads // shared
    k, v = gathered(xp, keys, key_scales, tables), gathered(xp, values, value_scales, tables)
    count = k.shape[1]
    more = ((0, 0), (0, -count % _KEYS), (0, 0), (0, 0))
    k, v = xp.pad(k, more), xp.pad(v, more)
    q = query.astype(np.float32).reshape(rows, length, shared, groups, size)
    q = xp.transpose(q, (0, 2, 3, 1, 4)).reshape(rows, shared, groups * length, size)
    scores = product(xp, q, xp.transpose(k, (0, 2, 1, 3)), True) * np.float32(scale)
    if cap:
        scores = np.float32(cap) * xp.tanh(scores / np.float32(cap))
    allowed = visible(xp, positions, k.shape[1], window)[:, None, None]
    scores = scores.reshape(rows, shared, groups, length, -1)
    scores = xp.where(allowed, scores, np.float32(-np.inf))
    most = xp.max(scores, axis=-1, keepdims=True)
    sink = None if sinks is None else sinks.astype(np.float32).reshape(1, shared, groups, 1, 1)
    most = most if sink is None else xp.maximum(most, sink)
    weights = xp.where(allowed, xp.exp(scores - most), np.float32(0.0)).reshape(
        rows, shared, groups * length, -1, _KEYS
    )
    # A column of ones beside the values adds the weights up in the same order.
    columns = xp.concatenate(
        [xp.transpose(v, (0, 2, 1, 3)), xp.ones((rows, shared, v.shape[1], 1), np.float32)], axis=-1
    )
    columns = columns.reshape(rows, shared, -1, _KEYS, v.shape[3] + 1)
    parts = product(xp, xp.moveaxis(weights, 3, 2), columns)
    total = parts[:, :, 0]
    for number in range(1, parts.shape[2]):
        total = total + parts[:, :, number]
    total = total.reshape(rows, shared, groups, length, -1)
    divisor = total[..., -1:] if sink is None else total[..., -1:] + xp.exp(sink - most)
    out = xp.transpose(total[..., :-1] / divisor, (0, 3, 1, 2, 4))
    return out.reshape(rows, length, heads, v.shape[3]).astype(query.dtype)


def _exact_sums(xp: Any, rows: Any) -> Any:
    """Sums of rows [rows, n], as products with ones; two levels of them, so that few numbers wait for each other."""
    count, length = rows.shape
    for size in (1024, -(-length // 1024)):
        rows = xp.pad(rows, ((0, 0), (0, -rows.shape[1] % size)))
        rows = product(xp, rows.reshape(-1, size), xp.ones((size, 2), np.float32))[:, 0].reshape(count, -1)
    return rows[:, 0]


def _exact_choice(xp: Any, *operands: Any) -> Any:
    return choose(xp, *operands, sums=_exact_sums)


def _exact_scores(xp: Any, logits: Any, targets: Any) -> Any:
    return scores_of(xp, logits, targets, _exact_sums)


choose_tokens.operation.kernels["exact"] = _exact_choice
token_scores.operation.kernels["exact"] = _exact_scores
linear.operation.kernels["exact"] = _exact_linear
paged_attention.operation.kernels["exact"] = _exact_attention
