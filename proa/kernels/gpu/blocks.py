"""Products of few rows with weights in blocks (`ops/quantised/blocks.py`), on a GPU: the bytes are read once, as they lie.

Generating is as fast as weights come out of memory, if little is computed for each of them. A program of the grid takes one
panel of sixteen outputs and some of its groups; the bytes of a group are numbers [words, 16, 4], then scales and minima of
the sixteen. A thread has sixteen bytes in hand, words of four outputs, and multiplies four numbers at once with four of x's
(`dp4a`): these are whole numbers, too, until their scales meet them. Many rows are worth the weight as floats, which XLA
multiplies.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .pallas import call

_PANEL = 16
_FEW = 8  # rows
_MOST_WORDS = 128  # of a group
_VECTOR = 4  # words of 32 bits that a thread loads at once
_THREADS = 32  # of a warp
# A float whose last bits are a whole number's: between 2**23 and 2**24 floats are the whole numbers, here from -2**22 on. A
# conversion costs four times as much as taking the number off again.
_WHOLE_BITS, _WHOLE = 0x4B400000, np.float32(1.5 * 2**23)


@dataclass(frozen=True)
class Tiling:
    """How the work is cut, the best of what was tried on an H200: each thread has `loads` vectors on their way at a time."""

    warps: int = 4
    loads: int = 4
    enough: int = 1024  # programs that keep a GPU busy


def few_rows(
    otherwise: Callable[..., Any], levels: Callable[..., Any], rows_of: Callable[..., Any], interpret: bool = False,
    tiling: Tiling | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """The kernel of `block_product`: `levels` is what becomes of x, `rows_of` the weight as floats."""

    def kernel(
        xp: Any, x: Any, blocks: Any, bias: Any, outputs: int, bits: int, zero: int, half: bool, has_minima: bool
    ) -> Any:
        rows, (_, groups, num_bytes) = math.prod(x.shape[:-1]), blocks.shape
        split = num_bytes - _PANEL * (2 if half else 4) * (2 if has_minima else 1)
        words = split // (4 * _PANEL)
        if not rows or words & (words - 1) or words > _MOST_WORDS:
            return otherwise(xp, x, blocks, bias, outputs, bits, zero, half, has_minima)
        flat = x.reshape(rows, x.shape[-1]).astype(np.float32)
        group = words * 32 // bits
        numbers, steps = levels(xp, xp.pad(flat, ((0, 0), (0, groups * group - flat.shape[1]))), groups)
        if rows <= _FEW:
            form = _Form(words, bits, zero, half, has_minima)
            result = _product(numbers, steps[..., 0], blocks, form, tiling or Tiling(), interpret)
        else:  # both factors in the type of x: what tensor cores multiply
            weight = rows_of(xp, blocks, bits, zero, half, has_minima).astype(x.dtype)
            flat = (numbers * steps).reshape(rows, groups * group)
            result = xp.matmul(flat.astype(x.dtype), weight.T, preferred_element_type=np.float32)
        result = result[:, :outputs]
        if bias is not None:
            result = result + bias.astype(np.float32)
        return result.reshape(*x.shape[:-1], outputs).astype(x.dtype)

    return kernel


@dataclass(frozen=True)
class _Form:
    """What a group of a panel holds."""

    words: int  # of each output
    bits: int
    zero: int
    half: bool
    has_minima: bool


def _product(numbers: Any, steps: Any, blocks: Any, form: _Form, tiling: Tiling, interpret: bool) -> Any:
    """float32 [rows, 16 * panels] of x's numbers [rows, groups, inputs of a group] and steps [rows, groups]."""
    from jax import lax
    from jax import numpy as jnp
    from jax.experimental.pallas import program_id
    from jax.experimental.pallas.triton import debug_barrier

    (panels, groups, _), rows, words = blocks.shape, numbers.shape[0], form.words
    vectors = tiling.warps * _THREADS * _VECTOR  # words that all threads load at once
    tile = max(1, vectors // (words * _PANEL))  # groups of them
    loads = max(1, (tiling.loads if rows <= _FEW // 2 else tiling.loads // 2) * vectors // (tile * words * _PANEL))
    rounds = -(-groups // (tile * loads))
    each = -(-rounds // max(1, min(rounds, -(-tiling.enough // panels))))
    splits = -(-rounds // each)
    numbers = numbers.astype(np.int8).reshape(rows, groups, 8 // form.bits, words, 4)
    numbers = lax.bitcast_convert_type(numbers, np.int32)  # four in a word, as the words of a weight meet them

    def kernel(x_ref: Any, step_ref: Any, b_ref: Any, out_ref: Any) -> None:
        panel, split = program_id(0), program_id(1)
        word = jnp.arange(words, dtype=jnp.int32)[None]

        def step(number: Any, sums_so_far: Any) -> Any:
            first = (split * each + number) * loads
            at = [(first + load) * tile + jnp.arange(tile, dtype=jnp.int32) for load in range(loads)]
            held = [jnp.minimum(index, groups - 1) for index in at]
            weights = [_weights(b_ref, panel, group, form) for group in held]
            if not interpret:
                debug_barrier()  # else each load of weights is moved to where it is wanted; x is loaded behind them
            sums = list(sums_so_far)
            for index, group, (packed, scale, low) in zip(at, held, weights, strict=True):
                parts = _parts(packed, form.bits)
                for row in range(rows):
                    x = [x_ref[row, group[:, None], n, word] for n in range(len(parts))]
                    wide = [jnp.broadcast_to(met[:, :, None], packed.shape) for met in x]
                    found = _dots(parts, wide, interpret) * scale
                    if low is not None:
                        ones = jnp.full(x[0].shape, 0x01010101, jnp.uint32)
                        found = found + low * _dots([ones] * len(x), x, interpret)[:, :, None]
                    size = jnp.where(index < groups, step_ref[row, group], jnp.float32(0))
                    sums[row] = sums[row] + found * size[:, None, None]
            return tuple(sums)

        none = jnp.zeros((tile, words, _PANEL), jnp.float32)
        done = lax.fori_loop(0, each, step, (none,) * rows)
        for row in range(rows):
            out_ref[split, row, panel, :] = jnp.sum(done[row].reshape(tile * words, _PANEL), axis=0)

    (parts,) = call(
        kernel, (panels, splits), [((splits, rows, panels, _PANEL), np.float32)], numbers, steps, blocks,
        interpret=interpret, warps=tiling.warps,
    )  # fmt: skip
    return parts.sum(0).reshape(rows, panels * _PANEL)


# ---- inside the kernel -------------------------------------------------------------------------------


def _weights(blocks: Any, panel: Any, group: Any, form: _Form) -> tuple[Any, Any, Any]:
    """Of some groups: words [groups, words, 16] of numbers, scales, and what is added to each weight, if anything.

    Scales are loaded once for each word, so that they lie in the registers of the threads that want them; the words of a
    group find them in the cache.
    """
    from jax import lax
    from jax import numpy as jnp

    shape = (*group.shape, form.words, _PANEL)

    def bytes_at(first: int, width: int, again: bool) -> Any:
        place = jnp.arange(math.prod(shape[1:]) * width, dtype=jnp.int32)
        place = first + (lax.rem(place, np.int32(_PANEL * width)) if again else place)
        kind = jnp.uint16 if width == 2 else jnp.uint32
        # Bytes that lie side by side are loaded sixteen at a time, and become words without an instruction.
        found = blocks[panel, group[:, None], place[None]].astype(kind).reshape(shape[0], -1, width)
        shifts = (8 * jnp.arange(width, dtype=jnp.int32)).astype(kind)
        return jnp.sum(found << shifts[None, None], axis=2, dtype=kind).reshape(shape)

    def floats_at(number: int) -> Any:
        width, kind = (2, jnp.float16) if form.half else (4, jnp.float32)
        first = _PANEL * (4 * form.words + width * number)
        return lax.bitcast_convert_type(bytes_at(first, width, True), kind).astype(jnp.float32)

    packed, scale = bytes_at(0, 4, False), floats_at(0)
    if form.has_minima:
        return packed, scale, floats_at(1)
    return packed, scale, scale * np.float32(-form.zero) if form.zero else None


def _parts(packed: Any, bits: int) -> list[Any]:
    """Words of four numbers, one in each byte, in the order in which x meets them."""
    if bits == 8:
        return [packed]
    return [packed & np.uint32(0x0F0F0F0F), (packed >> np.uint32(4)) & np.uint32(0x0F0F0F0F)]


def _dots(parts: list[Any], xs: list[Any], interpret: bool) -> Any:
    """Products of four unsigned bytes with four signed ones, added up over the words of two lists, as a float."""
    import jax
    from jax import lax
    from jax import numpy as jnp
    from jax.experimental.pallas import triton

    found = jnp.full(parts[0].shape, _WHOLE_BITS, jnp.int32)
    for part, x in zip(parts, xs, strict=True):
        if interpret:
            for shift in (0, 8, 16, 24):
                unsigned = ((part >> np.uint32(shift)) & np.uint32(255)).astype(jnp.int32)
                found = found + unsigned * ((x << np.int32(24 - shift)) >> np.int32(24))
        else:
            (found,) = triton.elementwise_inline_asm(
                "dp4a.u32.s32 $0, $1, $2, $3;", args=[part, x, found], constraints="=r,r,r,r", pack=1,
                result_shape_dtypes=[jax.ShapeDtypeStruct(part.shape, jnp.int32)],
            )  # fmt: skip
    return lax.bitcast_convert_type(found, jnp.float32) - _WHOLE
