"""Abstract values: shape, data type and place of a tensor, without its numbers.

Equal abstract values are (almost always) the same object, so that they can be dictionary keys by identity at the cost
of a pointer. The table is bounded: when it overflows it is emptied, which costs cache misses, never wrong answers.

A shape may hold sizes that are not known before a program runs (`symbols.py`). They are equal to plain numbers, so such an
abstract value is another one than that of the plain shape: it is kept in a table of its own, by its expressions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .dtype import name_of
from .place import CPU, Place
from .symbols import SymbolicSize, size_from, sizes_in_words

_TABLE_LIMIT = 200_000
_SYMBOLIC_LIMIT = 20_000


class Aval:
    """Shape (a tuple), NumPy dtype and place; `symbolic`: some size is not known before a program runs."""

    __slots__ = ("dtype", "ndim", "place", "shape", "size", "symbolic")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, place: Place) -> None:
        self.shape = shape
        self.dtype = dtype
        self.place = place
        self.ndim = len(shape)
        self.size = math.prod(shape)
        self.symbolic = False

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        if not self.symbolic:
            return f"{name_of(self.dtype)}{list(self.shape)}"
        with sizes_in_words():
            return f"{name_of(self.dtype)}{list(self.shape)}"

    def with_dtype(self, dtype: np.dtype) -> Aval:
        return self if dtype is self.dtype else make_aval(self.shape, dtype, self.place)

    def with_shape(self, shape: tuple[int, ...]) -> Aval:
        if _State.symbols_exist:
            return make_aval(shape, self.dtype, self.place)
        return self if shape == self.shape else make_aval(shape, self.dtype, self.place)


_TABLE: dict[tuple[object, ...], Aval] = {}  # by shape, dtype, and place where that is not the CPU


_SYMBOLIC: dict[tuple[tuple[object, ...], np.dtype, Place], Aval] = {}


class _State:
    symbols_exist = False  # nobody pays for looking before the first one


def expect_symbols() -> None:
    """Called when the first symbol is made."""
    _State.symbols_exist = True


def make_aval(shape: tuple[int, ...], dtype: np.dtype, place: Place = CPU) -> Aval:
    if _State.symbols_exist:
        for size in shape:
            if size.__class__ is not int and isinstance(size, SymbolicSize):
                return _symbolic_aval(shape, dtype, place)
    key = (shape, dtype) if place is CPU else (shape, dtype, place)  # (hashing a place calls Python)
    aval = _TABLE.get(key)
    if aval is None:
        if len(_TABLE) >= _TABLE_LIMIT:
            _TABLE.clear()
        aval = _TABLE[key] = Aval(shape, dtype, place)
    return aval


def _symbolic_aval(shape: tuple[int, ...], dtype: np.dtype, place: Place) -> Aval:
    sizes = tuple(size_from(n.expression, n.bare()) if isinstance(n, SymbolicSize) else n for n in shape)
    key = (tuple(n.expression if isinstance(n, SymbolicSize) else n for n in sizes), dtype, place)
    aval = _SYMBOLIC.get(key)
    if aval is None:
        if len(_SYMBOLIC) >= _SYMBOLIC_LIMIT:
            _SYMBOLIC.clear()
        aval = _SYMBOLIC[key] = Aval(sizes, dtype, place)
        aval.symbolic = True
    return aval


def is_stated(stated: Sequence[int | None], shape: Sequence[int]) -> bool:
    """Whether a shape is what somebody states, where -1 or None is any size."""
    return len(stated) == len(shape) and all(s in (-1, None, size) for s, size in zip(stated, shape, strict=True))
