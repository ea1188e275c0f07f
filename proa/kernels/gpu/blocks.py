"""Products of few rows with weights in blocks (`ops/quantised/blocks.py`), on a GPU: the bytes are read once, as they lie.

Generating is as fast as weights come out of memory. A program of the grid takes one panel of sixteen outputs and some of
its groups; the bytes of a group are numbers [words, 16, 4], then scales and minima of the sixteen. Many rows are worth the
weight as floats, which XLA multiplies.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .pallas import call

_PANEL = 16
_FEW = 8  # rows
_WORDS = 128  # of each output that a program has in hand at a time
_ENOUGH = 1024  # programs that keep a GPU busy


def few_rows(
    otherwise: Callable[..., Any], rounded: Callable[..., Any], rows_of: Callable[..., Any], interpret: bool = False
) -> Callable[..., Any]:
    """The kernel of `block_product`: `rounded` is what becomes of x, `rows_of` the weight as floats."""

    def kernel(
        xp: Any, x: Any, blocks: Any, bias: Any, outputs: int, bits: int, zero: int, half: bool, has_minima: bool
    ) -> Any:
        rows, (_, groups, num_bytes) = math.prod(x.shape[:-1]), blocks.shape
        split = num_bytes - _PANEL * (2 if half else 4) * (2 if has_minima else 1)
        words = split // (4 * _PANEL)
        if not rows or words & (words - 1) or words > _WORDS:
            return otherwise(xp, x, blocks, bias, outputs, bits, zero, half, has_minima)
        flat = x.reshape(rows, x.shape[-1]).astype(np.float32)
        group = words * 32 // bits
        flat = rounded(xp, xp.pad(flat, ((0, 0), (0, groups * group - flat.shape[1]))), groups)
        if rows <= _FEW:
            result = _product(flat, blocks, words, bits, zero, half, has_minima, interpret)
        else:  # both factors in the type of x: what tensor cores multiply
            weight = rows_of(xp, blocks, bits, zero, half, has_minima).astype(x.dtype)
            result = xp.matmul(flat.astype(x.dtype), weight.T, preferred_element_type=np.float32)
        result = result[:, :outputs]
        if bias is not None:
            result = result + bias.astype(np.float32)
        return result.reshape(*x.shape[:-1], outputs).astype(x.dtype)

    return kernel


def _floats_at(half: bool, blocks: Any, panel: Any, group: Any, first: int) -> Any:
    """The bytes of each lane behind `first` as a float, [groups, 16]; inside a kernel."""
    from jax import lax
    from jax import numpy as jnp

    width, kind = (2, jnp.uint16) if half else (4, jnp.uint32)
    at = first + width * jnp.arange(_PANEL, dtype=jnp.int32)[None, :]
    found = [blocks[panel, group[:, None], at + n].astype(kind) << (8 * n) for n in range(width)]
    together = functools.reduce(operator.or_, found)
    return lax.bitcast_convert_type(together, jnp.float16 if half else jnp.float32).astype(jnp.float32)


def _product(
    x: Any, blocks: Any, words: int, bits: int, zero: int, half: bool, has_minima: bool, interpret: bool
) -> Any:
    """float32 [rows, 16 * panels] of x [rows, inputs] that is rounded already."""
    from jax import lax
    from jax import numpy as jnp
    from jax.experimental.pallas import program_id

    floats_at = functools.partial(_floats_at, half)
    (panels, groups, _), rows = blocks.shape, x.shape[0]
    halves, width, tile = 8 // bits, 2 if half else 4, _WORDS // words
    tiles = -(-groups // tile)
    splits = max(1, min(tiles, _ENOUGH // panels))
    each = -(-tiles // splits)
    # Beside the numbers of a group: its inputs as a byte meets them, [halves, words, 4], and their sum.
    x = x.reshape(rows, groups, halves, words, 4)
    sums = x.sum((2, 3, 4))

    def kernel(x_ref: Any, sum_ref: Any, b_ref: Any, out_ref: Any) -> None:
        panel, split = program_id(0), program_id(1)
        word, lane, byte = (jnp.arange(n, dtype=jnp.int32) for n in (words, _PANEL, 4))
        place = (word[:, None, None] * _PANEL + lane[None, :, None]) * 4 + byte[None, None, :]

        def step(number: Any, sums_so_far: Any) -> Any:
            index = (split * each + number) * tile + jnp.arange(tile, dtype=jnp.int32)
            group = jnp.minimum(index, groups - 1)
            held = (index < groups).astype(jnp.float32)[:, None]
            packed = b_ref[panel, group[:, None, None, None], place[None]]  # [groups, words, 16, 4]
            scale = floats_at(b_ref, panel, group, 4 * _PANEL * words) * held
            minimum = floats_at(b_ref, panel, group, 4 * _PANEL * words + width * _PANEL) * held if has_minima else None
            if bits == 4:
                parts = [packed & jnp.uint8(15), packed >> jnp.uint8(4)]
            else:
                parts = [packed]
            floats = [part.astype(jnp.float32) for part in parts]
            found = []
            for row in range(rows):
                met = sum(
                    numbers
                    * x_ref[row, group[:, None, None, None], n, word[None, :, None, None], byte[None, None, None, :]]
                    for n, numbers in enumerate(floats)
                )
                dots = jnp.sum(jnp.sum(met, axis=3), axis=1)  # [groups, 16]
                whole = sum_ref[row, group][:, None]
                weighted = (dots - zero * whole) * scale if zero else dots * scale
                if minimum is not None:
                    weighted = weighted + minimum * whole
                found.append(sums_so_far[row] + jnp.sum(weighted, axis=0))
            return tuple(found)

        done = lax.fori_loop(0, each, step, tuple(jnp.zeros((_PANEL,), jnp.float32) for _ in range(rows)))
        for row in range(rows):
            out_ref[split, row, panel, :] = done[row]

    (parts,) = call(
        kernel, (panels, splits), [((splits, rows, panels, _PANEL), np.float32)], x, sums, blocks, interpret=interpret
    )
    return parts.sum(0).reshape(rows, panels * _PANEL)
