"""How sorting, searching and scanning of much data are done on a CPU.

XLA's sort calls a comparison for each pair, and costs ten times NumPy's vector instructions; its scans
are slower than a plain loop. So an operation on many elements is declared to run at once with NumPy,
between two compiled segments (`host_from`), and what is compiled sorts integers in place of floating numbers.

A stable argsort is a plain sort of words: an order-preserving integer made of the element above, its
position below.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

# From here on cutting a segment costs less than what XLA's kernel would lose.
MANY_TO_SORT = 1 << 14
MANY_TO_SCAN = 1 << 20
_FEW = 1 << 11
# A sequence of more bytes is not searched from a core's own cache.
_CACHE = 1 << 20


def in_halves(work: Callable[[slice], None], size: int) -> None:
    """Does the two halves of some work at the same time; NumPy lets go of the interpreter meanwhile."""
    if size < MANY_TO_SCAN:
        work(slice(0, size))
        return
    errors: list[BaseException] = []

    def other() -> None:
        try:
            work(slice(size // 2, size))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=other)
    thread.start()
    try:
        work(slice(0, size // 2))
    finally:
        thread.join()
    if errors:
        raise errors[0]


def room(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Memory for a result, at an address from which XLA can read it without a copy."""
    dtype = np.dtype(dtype)
    count = math.prod(shape)
    raw = np.empty(count * dtype.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * dtype.itemsize].view(dtype).reshape(shape)


# ---- sorting -------------------------------------------------------------------------------------


def sorted_copy(x: np.ndarray, axis: int) -> np.ndarray:
    """The elements in order along an axis."""
    if x.size < MANY_TO_SORT:
        return np.sort(x, axis=axis)
    result = room(x.shape, x.dtype)
    np.copyto(result, x)
    result.sort(axis=axis)
    return result


def _ordered_word(x: np.ndarray, descending: bool) -> np.ndarray:
    """Unsigned integers in the order of the elements; NaN counts as largest, -0 equals 0."""
    size = x.dtype.itemsize
    unsigned, signed = np.dtype(f"u{size}"), np.dtype(f"i{size}")
    if x.dtype.kind == "f":
        bits = (x + x.dtype.type(0)).view(signed)
        isnan = x != x
        bits ^= (bits >> (8 * size - 1)) | np.iinfo(signed).min
        word = bits.view(unsigned)
        if isnan.any():
            word[isnan] = np.iinfo(unsigned).max
    elif x.dtype.kind == "i":
        word = (x ^ np.iinfo(signed).min).view(unsigned)
    else:
        word = x.view(unsigned)
    return ~word if descending else word


def _order_of_words(word: np.ndarray, axis: int, bits: int) -> np.ndarray:
    """Positions that sort words of at most `64 - bits` bits, by sorting them with their positions below."""
    packed = _with_positions(word, axis, bits, 0)
    packed.sort(axis=axis)
    packed &= np.uint64((1 << bits) - 1)
    return packed.view(np.int64)


def _with_positions(word: np.ndarray, axis: int, bits: int, drop: int) -> np.ndarray:
    """The words without their lowest `drop` bits, each with its position in the `bits` below it."""
    packed = room(word.shape, np.uint64)
    rows = np.moveaxis(packed, axis, 0)
    source = np.moveaxis(word, axis, 0)
    places = np.arange(len(rows), dtype=np.uint64).reshape([-1] + [1] * (word.ndim - 1))

    def fill(part: slice) -> None:
        np.right_shift(source[part], source.dtype.type(drop), out=rows[part], casting="unsafe")
        rows[part] <<= np.uint64(bits)
        rows[part] |= places[part]

    in_halves(fill, len(rows))
    return packed


def stable_order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """Positions that sort `x`; equal elements keep their order, NaN counts as largest."""
    count = x.shape[axis] if x.ndim else 1
    few = x.size < _FEW or count < 2
    if few or x.dtype.kind not in "iuf" or (x.dtype.itemsize < 4 and not descending):
        if not descending:
            return x.argsort(axis=axis, kind="stable")
        return count - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    word = _ordered_word(x, descending)
    bits = int(count - 1).bit_length()
    if word.dtype.itemsize * 8 + bits <= 64:
        return _order_of_words(word, axis, bits)
    low = word.min()
    surplus = int(word.max() - low).bit_length() + bits - 64
    word = word - low
    if surplus <= 0:
        return _order_of_words(word, axis, bits)
    if x.ndim == 1:
        order = _order_by_upper_bits(word, bits, surplus)
        if order is not None:
            return order
    # Two passes, the lower half of the bits first.
    first = _order_of_words(word & np.uint64(0xFFFFFFFF), axis, bits)
    upper = np.take_along_axis(word >> np.uint64(32), first, axis)
    return np.take_along_axis(first, _order_of_words(upper, axis, bits), axis)


def _order_by_upper_bits(word: np.ndarray, bits: int, drop: int) -> np.ndarray | None:
    """Sorts without the lowest bits, then what is equal in the others; None where that is much."""
    packed = _with_positions(word, 0, bits, drop)
    packed.sort()
    order = (packed & np.uint64((1 << bits) - 1)).view(np.int64)
    packed >>= np.uint64(bits)
    equal = np.flatnonzero(packed[1:] == packed[:-1])
    if equal.size > len(word) // 8:
        return None
    if equal.size:
        members = np.union1d(equal, equal + 1)
        chosen = order[members]
        order[members] = chosen[np.lexsort((chosen, word[chosen], packed[members]))]
    return order


def distinct(
    x: np.ndarray, want_index: bool, want_inverse: bool, want_counts: bool
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The different elements of a vector in order; first positions, which each is, and counts on request.

    NaN equals nothing, not even NaN.
    """
    order = stable_order(x, 0, False) if want_index or want_inverse else None
    ordered = sorted_copy(x, 0) if order is None else x[order]
    is_first = np.empty(len(x), bool)
    is_first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    values = ordered[is_first]
    extra: list[np.ndarray] = []
    if want_index:
        extra.append(order[is_first])  # type: ignore[index]
    if want_inverse:
        inverse = np.empty(len(x), np.int64)
        inverse[order] = np.cumsum(is_first) - 1
        extra.append(inverse)
    if want_counts:
        extra.append(np.diff(np.flatnonzero(is_first), append=len(x)))
    return values, extra


# ---- scanning and searching ----------------------------------------------------------------------


def running_sum(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The running sum of a vector."""
    result = room(x.shape, dtype)

    def sum_part(part: slice) -> None:
        np.cumsum(x[part], dtype=dtype, out=result[part])

    in_halves(sum_part, x.size)
    if x.size >= MANY_TO_SCAN:
        half = x.size // 2
        result[half:] += result[half - 1]
    return result


def insertions(sequence: np.ndarray, values: np.ndarray, side: Any) -> np.ndarray:
    """`np.searchsorted`; many values are looked up in order, which finds the memory they need at hand."""
    flat = values.reshape(-1)
    result = room(flat.shape, np.int64)
    order = None
    if flat.size >= MANY_TO_SCAN and sequence.nbytes > _CACHE:
        order = stable_order(flat, 0, False)
        flat = flat[order]

    def search_part(part: slice) -> None:
        found = np.searchsorted(sequence, flat[part], side)
        result[part if order is None else order[part]] = found

    in_halves(search_part, flat.size)
    return result.reshape(values.shape)


def nonzero_places(x: np.ndarray) -> tuple[np.ndarray, ...]:
    """`np.nonzero`; asking for booleans first is much the faster way."""
    mask = np.empty(x.size, bool)
    flat = x.reshape(-1)

    def ask(part: slice) -> None:
        np.not_equal(flat[part], 0, out=mask[part])

    in_halves(ask, flat.size)
    places = np.flatnonzero(mask)
    return (places,) if x.ndim == 1 else np.unravel_index(places, x.shape)


# ---- compiled for a CPU --------------------------------------------------------------------------


def _ordered_integers(xp: Any, x: Any) -> Any:
    """Signed integers in the order of floating numbers (NaN last), and their own inverse."""
    from jax import lax

    signed = np.dtype(f"i{x.dtype.itemsize}")
    bits = lax.bitcast_convert_type(xp.where(x != x, x.dtype.type(np.nan), x), signed)
    return _turned(xp, bits)


def _turned(xp: Any, bits: Any) -> Any:
    return xp.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def sort_on_xla(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    """XLA knows a plain comparison of integers, and sorts those without calling it."""
    from jax import lax

    floating = x.dtype.kind == "f"
    result = lax.sort(_ordered_integers(xp, x) if floating else x, dimension=axis)
    if floating:
        result = lax.bitcast_convert_type(_turned(xp, result), x.dtype)
    return xp.flip(result, axis) if descending else result


def order_on_xla(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    """As `stable_order`, for elements of 32 bits at most; None where XLA's own way has to do."""
    from jax import lax

    if x.dtype.itemsize > 4 or x.dtype.kind not in "iufb" or x.shape[axis] >= 1 << 31:
        return None
    if x.dtype.kind == "f":
        x = _ordered_integers(xp, xp.where(x == 0, xp.zeros_like(x), x))
    key = x.astype(np.int64)
    key = -key if descending else key
    packed = (key << 31) | lax.broadcasted_iota(np.int64, x.shape, axis)
    return lax.sort(packed, dimension=axis) & ((1 << 31) - 1)
