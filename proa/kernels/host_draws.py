"""Uniform and normal numbers drawn on the host, large arrays by all processors at once.

A large array is drawn in pieces, each from a stream of its own (the piece's number is the upper word of the generator's
counter), so the numbers depend on the seed alone and never on how many threads there were. Half types are drawn in float32
and rounded piece by piece: a model of billions of parameters never exists in float32.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

_PIECE = 1 << 20  # numbers; a piece in float32 stays in the cache

Draw = Callable[[Any, Any, Any], np.ndarray]  # by a generator, of a shape, in a type


def stream(seed: int, offset: int, piece: int = 0) -> np.random.Generator:
    """The generator of one piece."""
    return np.random.Generator(np.random.Philox(counter=[0, 0, 0, piece], key=(offset << 64) | seed))


def uniform(seed: int, offset: int, shape: tuple[int, ...], dtype: np.dtype, low: float, high: float) -> np.ndarray:
    """Numbers in [low, high)."""

    def draw(generator: np.random.Generator, size: Any, kind: Any) -> np.ndarray:
        numbers = generator.random(size, dtype=kind)  # a name: see normal
        return numbers * kind(high - low) + kind(low)

    return _drawn(seed, offset, shape, dtype, draw)


def normal(seed: int, offset: int, shape: tuple[int, ...], dtype: np.dtype, mean: float, std: float) -> np.ndarray:
    """Normal numbers."""

    def draw(generator: np.random.Generator, size: Any, kind: Any) -> np.ndarray:
        # A name, so that NumPy computes beside it and not in place: the C library then keeps the freed piece for the next
        # draw instead of returning it to the system and having it cleared anew (a third of the time of making a layer).
        numbers = generator.standard_normal(size, dtype=kind)
        return numbers * kind(std) + kind(mean)

    return _drawn(seed, offset, shape, dtype, draw)


def _drawn(seed: int, offset: int, shape: tuple[int, ...], dtype: np.dtype, draw: Draw) -> np.ndarray:
    kind: Any = np.float64 if dtype == np.float64 else np.float32
    size = math.prod(shape)
    if size <= _PIECE:
        return np.asarray(draw(stream(seed, offset), shape, kind)).astype(dtype, copy=False)
    out = np.empty(shape, dtype)
    flat = out.reshape(-1)

    def fill(piece: int) -> None:
        part = flat[piece * _PIECE : (piece + 1) * _PIECE]
        _write(draw(stream(seed, offset, piece), part.size, kind), part)

    pieces = range(-(-size // _PIECE))
    with ThreadPoolExecutor(min(len(pieces), os.cpu_count() or 1)) as threads:
        list(threads.map(fill, pieces))
    return out


def _write(numbers: np.ndarray, out: np.ndarray) -> None:
    """Writes numbers in a type. bfloat16 by integers: its own cast would let one thread work at a time."""
    if out.dtype.name != "bfloat16":
        out[...] = numbers.astype(out.dtype, copy=False)
        return
    bits = numbers.view(np.uint32)
    bits += ((bits >> np.uint32(16)) & np.uint32(1)) + np.uint32(0x7FFF)  # to the nearest, ties to even
    bits >>= np.uint32(16)
    out.view(np.uint16)[...] = bits
