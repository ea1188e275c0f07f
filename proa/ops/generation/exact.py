"""Kernels of programs whose rows do not notice each other (`ir/transforms/exactness.py`): products and attention.

A product's row is summed in an order that its depth alone decides: native code adds up blocks of the depth one by one, for
any number of rows but one, and pieces of the depth are short enough that threads never share a sum. Attention goes through
keys in pieces of 128, from the first key on; what stands behind the last key, in a table of any width, adds zeros.

On a GPU products and sums have kernels of their own (`kernels/gpu/exact.py`), in norms and for the chances of a draw, too:
there XLA chooses by the number of rows how one is summed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...kernels.cpu.products import multiply
from ...kernels.gpu import exact as gpu
from ..linear.linalg import linear
from ..neural.normalization import normalise
from .choosing import Sums, choose, choose_tokens, scores_of, token_scores
from .pages import gathered, paged_attention, visible

_DEPTH = 1536  # native code divides sums of 2048 and more among threads
_KEYS = 128
Product = Callable[..., Any]  # as `product`


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


def _exact_linear(multiplied: Product, xp: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    wide = x.astype(np.float32).reshape(-1, x.shape[-1])
    out = multiplied(xp, wide, weight.astype(np.float32)).reshape(*x.shape[:-1], weight.shape[-1])
    return (out if bias is None else out + bias).astype(x.dtype)


def _exact_attention(
    multiplied: Product, xp: Any, query: Any, keys: Any, values: Any, tables: Any, positions: Any, sinks: Any = None,
    key_scales: Any = None, value_scales: Any = None, scale: float = 1.0, window: int | None = None, cap: float = 0.0,
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
    scores = multiplied(xp, q, xp.transpose(k, (0, 2, 1, 3)), True) * np.float32(scale)
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
    parts = multiplied(xp, xp.moveaxis(weights, 3, 2), columns)
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


def _exact_norm(
    sums: Sums, otherwise: Callable[..., Any], xp: Any, x: Any, weight: Any, bias: Any, epsilon: float, view:
    tuple[int, ...], axes: tuple[int, ...], broadcast: tuple[int, ...], centred: bool,
) -> Any:  # fmt: skip
    """Layer norm and RMS norm over the last axis."""
    from jax import lax

    if view != x.shape or axes != (x.ndim - 1,):
        return otherwise(xp, x, weight, bias, epsilon, view, axes, broadcast, centred)
    share = np.float32(1 / x.shape[-1])  # how XLA divides by a constant is its own choice
    rows = x.astype(np.float32).reshape(-1, x.shape[-1])
    if centred:
        rows = rows - (sums(xp, rows) * share)[:, None]
    factor = lax.rsqrt(sums(xp, rows * rows) * share + np.float32(epsilon))
    out = (rows * factor[:, None]).reshape(x.shape)
    out = out if weight is None else out * weight.astype(np.float32).reshape(broadcast)
    return (out if bias is None else out + bias.astype(np.float32).reshape(broadcast)).astype(x.dtype)


def _exact_choice(sums: Sums, walked: Sums | None, xp: Any, *operands: Any) -> Any:
    return choose(xp, *operands, sums=sums, walked=walked)


def _exact_scores(sums: Sums, xp: Any, logits: Any, targets: Any) -> Any:
    return scores_of(xp, logits, targets, sums)


def _kernels(multiplied: Product, sums: Sums, walked: Sums | None) -> dict[Any, Callable[..., Any]]:
    """The exact kernels of operations, by a way to multiply and to add up."""
    return {
        choose_tokens: partial(_exact_choice, sums, walked),
        token_scores: partial(_exact_scores, sums),
        linear: partial(_exact_linear, multiplied),
        paged_attention: partial(_exact_attention, multiplied),
    }


def on_gpu(interpret: bool = False) -> dict[Any, Callable[..., Any]]:
    """The exact kernels of operations on a GPU; interpreted they run anywhere."""

    def multiplied(xp: Any, x: Any, y: Any, transpose_y: bool = False) -> Any:
        return gpu.product(x, y, transpose_y, interpret)

    def sums(xp: Any, rows: Any) -> Any:
        return gpu.row_sums(rows, interpret)

    return {
        **_kernels(multiplied, sums, sums),
        normalise: partial(_exact_norm, sums, normalise.operation.kernels["gpu"]),
    }


for _primitive, _kernel in _kernels(product, _exact_sums, None).items():
    _primitive.operation.kernels["exact"] = _kernel
for _primitive, _kernel in on_gpu().items():
    _primitive.operation.kernels["exact gpu"] = _kernel
