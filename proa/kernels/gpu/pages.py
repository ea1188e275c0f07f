"""Attention of single queries to keys in pages, on a GPU: pages are read where they lie.

XLA would first copy the pages of every sequence together, in float32: five times the traffic of reading them once. A
program of the grid takes some pages of one sequence and one head of keys with all its queries; what they found (the sum of
weights, and of weighted values, relative to their largest score) is put together afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .pallas import call, power_of_two

_LOWEST = float(np.finfo(np.float32).min / 2)


class _Tiling(NamedTuple):
    """How the work is cut."""

    tile: int  # keys at a time
    keys: int  # of a program, at least
    enough: int  # programs that keep a GPU busy
    warps: int


_HELD = 8192  # bytes of keys that a warp's registers have room for, beside as many of values
# One query needs few registers for each key: a warp alone waits for no other one (2,100 keys of 32 heads on an H200: 24 us,
# with four warps 40; 64 sequences 480 us and 980). Queries that share keys are several times the work.
_ALONE, _SHARING = _Tiling(32, 64, 4096, 1), _Tiling(64, 256, 1024, 4)


def single_queries(otherwise: Callable[..., Any], interpret: bool = False) -> Callable[..., Any]:
    """The kernel of `paged_attention`; what it is not made for is left to `otherwise`."""

    def kernel(
        xp: Any, query: Any, keys: Any, values: Any, tables: Any, positions: Any, sinks: Any = None,
        key_scales: Any = None, value_scales: Any = None, scale: float = 1.0, window: int | None = None, cap: float = 0.0,
    ) -> Any:  # fmt: skip
        sizes = (query.shape[3], values.shape[3], keys.shape[1])
        suits = query.shape[1] == 1 and all(power_of_two(size) == size and size >= 16 for size in sizes)
        if not suits or key_scales is not None or query.shape[2] // keys.shape[2] > 8:
            return otherwise(
                xp, query, keys, values, tables, positions, sinks, key_scales, value_scales, scale, window, cap
            )
        parts = _parts(query, keys, values, tables, positions, scale, window, cap, interpret)
        return _together(xp, parts, sinks, query)

    return kernel


def _cut(groups: int, row_bytes: int, programs: int, count: int) -> tuple[int, int, int, int]:
    """Keys at a time, parts of `count` keys, how many keys each has, and warps of a program."""
    tile, keys, enough, warps = _ALONE if groups == 1 else _SHARING
    if groups == 1:
        tile = max(8, min(tile, _HELD // row_bytes))
    splits = max(1, min(-(-count // keys), enough // programs))
    each = -(-count // (splits * tile)) * tile
    return tile, -(-count // each), each, warps


def _parts(
    query: Any, keys: Any, values: Any, tables: Any, positions: Any, scale: float, window: int | None, cap: float,
    interpret: bool,
) -> Any:  # fmt: skip
    """The largest score [rows, heads, splits], the sum of weights, and of weighted values [..., size]."""
    from jax import lax
    from jax import numpy as jnp
    from jax.experimental.pallas import program_id

    rows, _, heads, size = query.shape
    page, kv_heads, value_size = keys.shape[1], keys.shape[2], values.shape[3]
    groups, count = heads // kv_heads, tables.shape[1] * page
    tile, splits, each, warps = _cut(groups, max(size, value_size) * keys.dtype.itemsize, rows * kv_heads, count)
    wide, f32 = power_of_two(groups), jnp.float32  # JAX makes float64 of what has no type

    def kernel(
        q_ref: Any, k_ref: Any, v_ref: Any, t_ref: Any, p_ref: Any, most_ref: Any, sum_ref: Any, out_ref: Any
    ) -> None:
        row, head, split = program_id(0), program_id(1), program_id(2)
        position = p_ref[row]
        group = jnp.minimum(jnp.arange(wide, dtype=jnp.int32), groups - 1)
        q = q_ref[row, head, group, :].astype(jnp.float32) * scale
        begin, end = split * each, jnp.minimum((split + 1) * each, position + 1)
        if window is not None:
            begin = jnp.maximum(begin, (position + 1 - window) // tile * tile)

        def step(number: Any, state: Any) -> Any:
            most, total, out = state
            index = begin + number * tile + jnp.arange(tile, dtype=jnp.int32)
            seen = index < end
            if window is not None:
                seen = seen & (index > position - window)
            inside = jnp.where(seen, index, 0)
            pages = t_ref[row, inside // page]
            k = k_ref[pages, inside % page, head, :].astype(jnp.float32)
            v = v_ref[pages, inside % page, head, :].astype(jnp.float32)  # on its way while scores are computed
            scores = jnp.sum(q[:, None, :] * k[None, :, :], axis=2)
            if cap:
                scores = cap * jnp.tanh(scores / cap)
            scores = jnp.where(seen[None, :], scores, _LOWEST)
            larger = jnp.maximum(most, jnp.max(scores, axis=1))
            weights = jnp.where(seen[None, :], jnp.exp(scores - larger[:, None]), 0.0)
            old = jnp.exp(most - larger)
            summed = jnp.sum(weights[:, :, None] * v[None, :, :], axis=1)
            return larger, total * old + jnp.sum(weights, axis=1), out * old[:, None] + summed

        start = jnp.full((wide,), _LOWEST, f32), jnp.zeros((wide,), f32), jnp.zeros((wide, value_size), f32)
        rounds = jnp.maximum(end - begin + tile - 1, 0) // tile
        most, total, out = lax.fori_loop(0, rounds, step, start)
        most_ref[row, head, split, :] = most
        sum_ref[row, head, split, :] = total
        out_ref[row, head, split, :, :] = out

    lead = (rows, kv_heads, splits, wide)
    most, total, out = call(
        kernel, (rows, kv_heads, splits), [(lead, np.float32), (lead, np.float32), ((*lead, value_size), np.float32)],
        query.reshape(rows, kv_heads, groups, size), keys, values, tables, positions.reshape(rows), interpret=interpret,
        warps=warps,
    )  # fmt: skip
    return most[..., :groups], total[..., :groups], out[..., :groups, :]


def _together(xp: Any, parts: Any, sinks: Any, query: Any) -> Any:
    """The attention of all splits."""
    most, total, out = parts
    rows, kv_heads, _, groups = most.shape
    largest = xp.max(most, axis=2, keepdims=True)
    if sinks is not None:
        sink = sinks.astype(np.float32).reshape(1, kv_heads, 1, groups)
        largest = xp.maximum(largest, sink)
    share = xp.exp(most - largest)
    weight = xp.sum(total * share, axis=2)
    if sinks is not None:
        weight = weight + xp.exp(sink - largest)[:, :, 0]
    mixed = xp.sum(out * share[..., None], axis=2) / weight[..., None]
    return mixed.reshape(rows, 1, kv_heads * groups, out.shape[-1]).astype(query.dtype)
