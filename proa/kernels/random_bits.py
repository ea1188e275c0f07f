"""Random bits: Philox4x32-10, a counter-based generator (Salmon et al., 2011), on NumPy, CuPy and XLA.

The numbers are a pure function of (seed, offset, position), computed with integers, so that both
tiers draw the same bits. The counter holds the block number (two words) and the offset (two words),
the key holds the seed; a block gives four 32-bit words, which are shared out to `per_block`
elements: element `i` is lane `i % per_block` of block `i // per_block`.

NumPy and CuPy compute each block once and write the lanes side by side. XLA computes the block of every
element and selects its lane: four times the arithmetic, but purely elementwise, so that it fuses
with whatever uses the numbers, where interleaving would cost twenty times as much.

Words travel as uint64 arrays whose upper half is zero, because the rounds need 64-bit products.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.namespaces import can_write
from .gpu.philox import words_of_blocks

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS = (np.uint64(0x9E3779B9), np.uint64(0xBB67AE85))
_ROUNDS = 10

# Blocks that NumPy computes at a time: each temporary is 64 KiB and stays in the cache.
_CHUNK = 8192

Words = tuple[Any, Any, Any, Any]


def philox(counter: Words, key: tuple[Any, Any]) -> Words:
    """The four output words for each counter; all arguments are uint64 arrays below 2**32."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        first, second = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c1 = (second >> _HALF) ^ (c1 ^ k0), second & _LOW
        c2, c3 = (first >> _HALF) ^ (c3 ^ k1), first & _LOW
        k0, k1 = (k0 + _KEY_STEPS[0]) & _LOW, (k1 + _KEY_STEPS[1]) & _LOW
    return c0, c1, c2, c3


def _words_of(blocks: Any, seed: Any, offset: Any) -> Words:
    seed, offset = seed.astype(np.uint64), offset.astype(np.uint64)
    counter = (blocks & _LOW, blocks >> _HALF, offset & _LOW, offset >> _HALF)
    return philox(counter, (seed & _LOW, seed >> _HALF))


def _draw(
    xp: Any,
    shape: tuple[int, ...],
    dtype: Any,
    seed: Any,
    offset: Any,
    per_block: int,
    pick: Callable[[Words, int], tuple[Any, ...]],
    finish: Callable[..., Any],
) -> Any:
    """Elements `finish(*pick(words of the block, lane))` in the given shape and type."""
    if not can_write(xp):
        position = _positions(shape)
        lane = position % np.uint64(per_block)
        words = _words_of(position // np.uint64(per_block), seed, offset)
        chosen = pick(words, 0)
        for other in range(1, per_block):
            here = lane == np.uint64(other)
            chosen = tuple(xp.where(here, b, a) for a, b in zip(chosen, pick(words, other)))
        return finish(*chosen).astype(dtype)
    size = math.prod(shape)
    count = -(-size // per_block)
    out = xp.empty((count, per_block), dtype)
    chunk = _CHUNK if xp is np else max(count, 1)
    for start in range(0, count, chunk):
        stop = min(start + chunk, count)
        if xp is np:
            words = _words_of(np.arange(start, stop, dtype=np.uint64), seed, offset)
        else:
            words = words_of_blocks(count, seed.astype(np.uint64), offset.astype(np.uint64))
        for lane in range(per_block):
            out[start:stop, lane] = finish(*pick(words, lane))
    return out.reshape(-1)[:size].reshape(shape)


def _positions(shape: tuple[int, ...]) -> Any:
    """The number of each element in row-major order, without a reshape (which would not shard or
    fuse as well)."""
    import jax.numpy as jnp
    from jax import lax

    position = jnp.zeros(shape, np.uint64)
    for axis in range(len(shape)):
        stride = np.uint64(math.prod(shape[axis + 1 :]))
        position = position + lax.broadcasted_iota(np.uint64, shape, axis) * stride
    return position


def _word(words: Words, lane: int) -> tuple[Any, ...]:
    return (words[lane],)


def _pair(words: Words, lane: int) -> tuple[Any, ...]:
    return ((words[2 * lane] << _HALF) | words[2 * lane + 1],)


def words32(xp: Any, shape: tuple[int, ...], seed: Any, offset: Any) -> Any:
    """One uniform 32-bit word for each element."""
    return _draw(xp, shape, np.uint32, seed, offset, 4, _word, lambda word: word)


def words64(xp: Any, shape: tuple[int, ...], seed: Any, offset: Any) -> Any:
    """One uniform 64-bit word for each element."""
    return _draw(xp, shape, np.uint64, seed, offset, 2, _pair, lambda pair: pair)


def uniform(xp: Any, shape: tuple[int, ...], dtype: np.dtype, seed: Any, offset: Any) -> Any:
    """Uniform numbers in [0, 1): multiples of the type's resolution below 1, so that none is
    rounded to 1."""
    if dtype.itemsize == 8:
        return _draw(xp, shape, dtype, seed, offset, 2, _pair, _fraction64)
    bits = 24 if dtype.itemsize == 4 else 11 if dtype == np.float16 else 8 if dtype.itemsize == 2 else 3
    unit = np.float32(2.0**-bits)

    def finish(word: Any) -> Any:
        return _single(word >> np.uint64(32 - bits)) * unit

    return _draw(xp, shape, dtype, seed, offset, 4, _word, finish)


def _single(word: Any) -> Any:
    # By way of uint32, from which processors convert many at a time.
    return word.astype(np.uint32).astype(np.float32)


def _fraction64(pair: Any) -> Any:
    return (pair >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normal(xp: Any, shape: tuple[int, ...], dtype: np.dtype, seed: Any, offset: Any) -> Any:
    """Standard normal numbers (Box and Muller); half types are computed in float32.

    A pair of lanes shares a radius; the second one's angle is a quarter turn behind, which makes a
    sine of its cosine. NumPy and XLA start from the same bits and may differ in the last digits, as
    their logarithms and cosines do.
    """
    if dtype.itemsize == 8:

        def pick64(words: Words, lane: int) -> tuple[Any, ...]:
            angle = _pair(words, 1)[0]
            return _pair(words, 0)[0], angle - np.uint64(1 << 62) if lane else angle

        def finish64(radius: Any, angle: Any) -> Any:
            return xp.sqrt(-2 * xp.log(_fraction64(radius) + 2.0**-54)) * xp.cos(_fraction64(angle) * (2 * math.pi))

        return _draw(xp, shape, dtype, seed, offset, 2, pick64, finish64)

    def pick(words: Words, lane: int) -> tuple[Any, ...]:
        angle = words[(lane & 2) + 1]
        return words[lane & 2], (angle - np.uint64(1 << 30)) & _LOW if lane & 1 else angle

    def finish(radius: Any, angle: Any) -> Any:
        # All 32 bits go into the radius, whose logarithm decides how far the tails reach (6.7
        # here).
        uniform_radius = _single(radius) * np.float32(2.0**-32) + np.float32(2.0**-33)
        turn = _single(angle >> np.uint64(8)) * np.float32(2.0**-24)
        return xp.sqrt(-2 * xp.log(uniform_radius)) * xp.cos(turn * np.float32(2 * math.pi))

    return _draw(xp, shape, dtype, seed, offset, 4, pick, finish)


def integers(
    xp: Any,
    shape: tuple[int, ...],
    dtype: np.dtype,
    low: Any,
    span: Any,
    seed: Any,
    offset: Any,
    small: bool,
) -> Any:
    """Uniform integers in [low, low + span); `small` says that the span is below 2**32.

    A 64-bit word is scaled (small span) or reduced; the bias of at most span / 2**64 cannot be
    seen.
    """
    span = span.astype(np.uint64)

    def scale(pair: Any) -> Any:
        if small:
            reduced = ((pair >> _HALF) * span + (((pair & _LOW) * span) >> _HALF)) >> _HALF
        else:
            reduced = pair % span
        return reduced.astype(np.int64) + low

    return _draw(xp, shape, dtype, seed, offset, 2, _pair, scale)
