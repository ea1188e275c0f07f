"""Attention over pages of keys and values, and writing into them, by native code, for the op table's CPU backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtype import BFLOAT16
from . import library
from .choice import chosen

_FLOATS = (np.dtype(np.float32), np.dtype(np.float16), BFLOAT16)


def _suits(query: Any, keys: Any, values: Any, *scales: Any) -> bool:
    if query.dtype != np.float32 or not (query.size and keys.size and values.size):
        return False
    for pool, steps in zip((keys, values), scales, strict=True):
        known = pool.dtype in _FLOATS if steps is None else pool.dtype == np.int8 and steps.dtype == np.float32
        if not known:
            return False
    return library.target("PagedAttention") is not None


@chosen
def native_paged_attention(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `paged_attention`."""

    def kernel(
        xp: Any, query: Any, keys: Any, values: Any, tables: Any, positions: Any, sinks: Any, key_scales: Any,
        value_scales: Any, scale: float, window: int | None, cap: float,
    ) -> Any:  # fmt: skip
        if not _suits(query, keys, values, key_scales, value_scales):
            return fallback(
                xp, query, keys, values, tables, positions, sinks, key_scales, value_scales, scale, window, cap
            )
        whole = [a if a.dtype == np.int32 else a.astype(np.int32) for a in (tables, positions)]
        more = [a if a.dtype == np.float32 else a.astype(np.float32) for a in (sinks, key_scales, value_scales)
                if a is not None]  # fmt: skip
        return library.call(
            "PagedAttention", library.shaped((*query.shape[:3], values.shape[3])), query, keys, values, *whole, *more,
            has_sinks=sinks is not None, window=np.int64(window or 0), scale=np.float32(scale), cap=np.float32(cap),
        )  # fmt: skip

    return kernel


@chosen(donates=True)
def native_write_pages(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `write_pages`: XLA would go through the elements of a row one by one."""

    def kernel(xp: Any, pool: Any, rows: Any, slots: Any) -> Any:
        if not pool.size or not rows.size or library.target("WritePages") is None:
            return fallback(xp, pool, rows, slots)
        where = slots if slots.dtype == np.int32 else slots.astype(np.int32)
        return library.call("WritePages", library.shaped(pool.shape, pool.dtype), pool, rows, where, over={0: 0})

    return kernel
