"""Abstract values: shape, data type and place of a tensor, without its numbers.

Equal abstract values are (almost always) the same object, so that they can be dictionary keys by identity at the cost
of a pointer. The table is bounded: when it overflows it is emptied, which costs cache misses, never wrong answers.
"""

from __future__ import annotations

import math

import numpy as np

from .dtype import name_of
from .place import CPU, Place

_TABLE_LIMIT = 200_000


class Aval:
    """Shape (a tuple), NumPy dtype and place."""

    __slots__ = ("dtype", "ndim", "place", "shape", "size")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, place: Place) -> None:
        self.shape = shape
        self.dtype = dtype
        self.place = place
        self.ndim = len(shape)
        self.size = math.prod(shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"{name_of(self.dtype)}{list(self.shape)}"

    def with_dtype(self, dtype: np.dtype) -> Aval:
        return self if dtype is self.dtype else make_aval(self.shape, dtype, self.place)

    def with_shape(self, shape: tuple[int, ...]) -> Aval:
        return self if shape == self.shape else make_aval(shape, self.dtype, self.place)


_TABLE: dict[tuple[tuple[int, ...], np.dtype, Place], Aval] = {}


def make_aval(shape: tuple[int, ...], dtype: np.dtype, place: Place = CPU) -> Aval:
    key = (shape, dtype, place)
    aval = _TABLE.get(key)
    if aval is None:
        if len(_TABLE) >= _TABLE_LIMIT:
            _TABLE.clear()
        aval = _TABLE[key] = Aval(shape, dtype, place)
    return aval
