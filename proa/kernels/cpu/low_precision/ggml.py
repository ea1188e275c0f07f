"""Calls of the native code that computes as ggml, llama.cpp's library, does. There is no other code for it: whoever asks for
this arithmetic has made sure that native code is there (`llm/engine/ggml.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import library


def product(
    xp: Any, x: Any, blocks: Any, bias: Any, outputs: int, bits: int, zero: int, half: bool, has_minima: bool
) -> Any:
    """The kernel of `block_product`."""
    rows = x.reshape(-1, x.shape[-1])
    result = library.call(
        "GgmlProduct", library.shaped((rows.shape[0], outputs)), rows, blocks, bits=np.int64(bits), zero=np.int64(zero),
        has_minima=bool(has_minima),
    ).reshape(*x.shape[:-1], outputs)  # fmt: skip
    return result if bias is None else result + bias


def norm(
    xp: Any, x: Any, weight: Any, bias: Any, epsilon: float, view: Any, axes: Any, broadcast: Any, centred: bool
) -> Any:
    """The kernel of `normalise`, for roots of mean squares over the last axis."""
    rows = x.reshape(-1, x.shape[-1])
    shaped = library.shaped(rows.shape)
    return library.call("GgmlNorm", shaped, rows, weight, epsilon=np.float32(epsilon)).reshape(x.shape)


def silu(xp: Any, x: Any) -> Any:
    """The kernel of `silu`."""
    return library.call("GgmlSilu", library.shaped(x.shape), x)


def turn(xp: Any, x: Any, positions: Any, base: float) -> Any:
    """The kernel of `turn_by_positions`."""
    rows = x.reshape(-1, *x.shape[2:])
    whole = positions.astype(np.int32).reshape(-1)
    return library.call("GgmlTurn", library.shaped(rows.shape), rows, whole, base=np.float32(base)).reshape(x.shape)


def attention(
    xp: Any, query: Any, keys: Any, values: Any, tables: Any, positions: Any, sinks: Any, key_scales: Any,
    value_scales: Any, scale: float, window: int | None, cap: float,
) -> Any:  # fmt: skip
    """The kernel of `paged_attention`, for keys and values in float16."""
    whole = [a.astype(np.int32) for a in (tables, positions)]
    shaped = library.shaped(query.shape)
    return library.call("GgmlAttention", shaped, query, keys, values, *whole, scale=np.float32(scale))
