"""Keys and values in pages: writing new ones, and attending to those of a sequence through its table of pages.

A pool is [pages, page_size, heads, size]. Sequence r of a step owns the pages `tables[r]`, in the order of its positions;
the key of position p lies in page `tables[r, p // page_size]`, row `p % page_size`. Tables are as wide as the longest
sequence of the step, and filled up with page 0, which belongs to nobody: whatever lies there is finite and never attended
to.

A pool in 8 bits has int8 elements, and `scales` [pages, page_size, heads] of float32 beside it: a row of a head is divided
by its largest magnitude.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...eager.declare import op
from ...ir.padding import rules
from ...kernels.cpu.direct import on_host
from ...kernels.cpu.pages import native_paged_attention, native_write_pages
from ...kernels.gpu.pages import single_queries

_LEVELS = 127.0


def _infer_written(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    pool, rows, slots = operands
    if pool.ndim < 2 or rows.shape[slots.ndim :] != pool.shape[2:] or rows.shape[: slots.ndim] != slots.shape:
        raise operation.error(
            ValueError, "rows must be [*slots, *elements of a pool's row]", operands, fix="give one slot for each row"
        )
    if rows.dtype != pool.dtype or slots.dtype.kind != "i":
        raise operation.error(TypeError, "rows must have the pool's dtype, slots must be integers", operands)
    return pool


@op("pool rows slots", infer=_infer_written, padding=rules.refused("an engine's steps have few shapes of their own"))
def write_pages(xp: Any, pool: Any, rows: Any, slots: Any) -> Any:
    """The pool with `rows` at `slots` (page * page_size + row of the page). Where the pool is donated it is written in
    place."""
    flat = pool.reshape(-1, *pool.shape[2:])
    where, what = slots.reshape(-1), rows.reshape(-1, *pool.shape[2:])
    if xp is np:
        flat = flat.copy()
        flat[where] = what
    else:
        if where.shape[0] == 1:  # XLA makes another operation of a single row, for which it copies the pool
            where, what = xp.concatenate([where, where]), xp.concatenate([what, what])
        # Slots are the engine's own and never out of range; telling XLA so saves a clamp of every row.
        flat = flat.at[where].set(what, mode="promise_in_bounds")
    return flat.reshape(pool.shape)


def _infer_levels(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, Aval]:
    (rows,) = operands
    return rows.with_dtype(np.dtype("int8")), rows.with_shape(rows.shape[:-1]).with_dtype(np.dtype("float32"))


@op("rows", outputs=2, infer=_infer_levels, padding=rules.refused("an engine's steps have few shapes of their own"))
def page_levels(xp: Any, rows: Any) -> Any:
    """Rows in 8 bits, and the scale of each."""
    wide = rows.astype(np.float32)
    scales = xp.max(xp.abs(wide), axis=-1) / np.float32(_LEVELS)
    divisor = xp.where(scales > 0, scales, np.float32(1.0))
    return xp.rint(wide / divisor[..., None]).astype(np.int8), scales


def _infer_attention(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    query, keys, values, tables, positions = operands[:5]
    if query.ndim != 4 or keys.ndim != 4 or values.ndim != 4 or keys.shape[:3] != values.shape[:3]:
        raise operation.error(
            ValueError, "query must be [rows, length, heads, size], pools [pages, page_size, heads, size]", operands
        )
    if tables.ndim != 2 or tables.shape[0] != query.shape[0] or positions.shape != query.shape[:2]:
        raise operation.error(ValueError, "tables must be [rows, pages], positions [rows, length]", operands)
    if query.shape[3] != keys.shape[3] or not keys.shape[2] or query.shape[2] % keys.shape[2]:
        raise operation.error(ValueError, "the heads or sizes of query and keys do not fit together", operands)
    return query.with_shape((*query.shape[:3], values.shape[3]))


def gathered(xp: Any, pool: Any, scales: Any, tables: Any) -> Any:
    """The rows of each table, in float32 [rows, keys, heads, size]."""
    rows, width = tables.shape
    found = _take(xp, pool, tables).reshape(rows, width * pool.shape[1], *pool.shape[2:]).astype(np.float32)
    if scales is None:
        return found
    return found * _take(xp, scales, tables).reshape(*found.shape[:3], 1)


def _take(xp: Any, pool: Any, tables: Any) -> Any:
    if xp is np:
        return pool[tables]
    return pool.at[tables].get(mode="promise_in_bounds")


def visible(xp: Any, positions: Any, count: int, window: int | None) -> Any:
    """Which of `count` keys a query at each position attends to: [rows, length, count]."""
    index = xp.arange(count, dtype=np.int32)
    own = positions[:, :, None].astype(np.int32)
    allowed = index <= own
    return allowed if window is None else allowed & (index > own - np.int32(window))


@op(
    "query keys values tables positions",
    optional="sinks key_scales value_scales",
    contracts=True,
    infer=_infer_attention,
    padding=rules.refused("an engine's steps have few shapes of their own"),
)
def paged_attention(
    xp: Any,
    query: Any,
    keys: Any,
    values: Any,
    tables: Any,
    positions: Any,
    sinks: Any = None,
    key_scales: Any = None,
    value_scales: Any = None,
    scale: float = 1.0,
    window: int | None = None,
    cap: float = 0.0,
) -> Any:
    """Attention of each query to the keys at its position and before, found through the tables.

    `window`: only the last so many; `cap`: scores are held within it by tanh; `sinks` [heads]: scores of nothing, which take
    their share of the weights.
    """
    rows, length, heads, size = query.shape
    groups = heads // keys.shape[2]
    k = gathered(xp, keys, key_scales, tables)
    v = gathered(xp, values, value_scales, tables)
    q = query.astype(np.float32).reshape(rows, length, keys.shape[2], groups, size)
    # [rows, kv heads, groups * length, keys]: the queries that share keys are one product
    q = xp.transpose(q, (0, 2, 3, 1, 4)).reshape(rows, keys.shape[2], groups * length, size)
    scores = xp.matmul(q, xp.transpose(k, (0, 2, 3, 1))) * np.float32(scale)
    if cap:
        scores = np.float32(cap) * xp.tanh(scores / np.float32(cap))
    allowed = visible(xp, positions, k.shape[1], window)
    scores = scores.reshape(rows, keys.shape[2], groups, length, k.shape[1])
    scores = xp.where(allowed[:, None, None], scores, np.float32(-np.inf))
    most = xp.max(scores, axis=-1, keepdims=True)
    if sinks is not None:
        sink = sinks.astype(np.float32).reshape(1, keys.shape[2], groups, 1, 1)
        most = xp.maximum(most, sink)
    weights = xp.exp(scores - most)
    total = xp.sum(weights, axis=-1, keepdims=True)
    if sinks is not None:
        total = total + xp.exp(sink - most)
    weights = (weights / total).reshape(rows, keys.shape[2], groups * length, k.shape[1])
    out = xp.matmul(weights, xp.swapaxes(v, 1, 2)).reshape(rows, keys.shape[2], groups, length, v.shape[3])
    return xp.transpose(out, (0, 3, 1, 2, 4)).reshape(rows, length, heads, v.shape[3]).astype(query.dtype)


for _primitive, _native in ((paged_attention, native_paged_attention), (write_pages, native_write_pages)):
    _operation = _primitive.operation
    _operation.kernels["cpu"] = _native(_operation.kernel)
    _operation.kernels["numpy"] = on_host(_native, _operation.kernel)
paged_attention.operation.kernels["gpu"] = single_queries(paged_attention.operation.kernel)
