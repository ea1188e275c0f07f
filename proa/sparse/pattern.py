"""Where the stored elements of a sparse tensor are: index arithmetic on the host, in NumPy.

A pattern is immutable and knows nothing of values or devices. Tensors that are computed element by element from one
another share one pattern object, so that whatever is derived from it (an order, a table for a convolution, its copies on
devices) is computed once and kept with it.

    CooPattern  positions as a matrix [sparse dimensions, stored elements]; any order, duplicates add up
    CsrPattern  row offsets and columns of a matrix, or of a batch of matrices
    Lookup      one array of positions with its copies on devices: what recorded operations gather and scatter by
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ..core.aval import make_aval
from ..core.dtype import INT64
from ..core.errors import value_error
from ..core.place import CPU, Place
from ..eager.tensor import Tensor, move_value, wrap

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]

# Positions are numbered through in int64.
_MOST_POSITIONS = 2**63 - 1


class Lookup:
    """An array of positions and its copies on devices."""

    __slots__ = ("_tensors", "array")

    def __init__(self, array: Array) -> None:
        self.array = array
        self._tensors: dict[Place, Tensor] = {}

    def on(self, place: Place) -> Tensor:
        """The positions as a tensor where they are needed."""
        found = self._tensors.get(place)
        if found is None:
            value = self.array if place is CPU else move_value(self.array, place)
            found = self._tensors[place] = wrap(value, make_aval(self.array.shape, self.array.dtype, place))
        return found


class Pattern:
    """What both kinds of pattern share: the sizes of the sparse dimensions and a memory for what is derived."""

    __slots__ = ("__weakref__", "_memory", "_pairs", "dtype", "shape")

    def __init__(self, shape: Shape, dtype: np.dtype) -> None:
        if math.prod(shape) > _MOST_POSITIONS:
            raise value_error("sparse", "the shape has more positions than int64 can number", f"shape: {list(shape)}")
        self.shape = shape
        self.dtype = dtype  # of the indices that users see; inside all is int64
        self._memory: dict[Hashable, Any] = {}
        self._pairs: weakref.WeakKeyDictionary[Pattern, dict[Hashable, Any]] | None = None

    def remember(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make()` gives, computed once for each key."""
        if key not in self._memory:
            self._memory[key] = make()
        return self._memory[key]

    def remember_with(self, other: Pattern, key: Hashable, make: Callable[[], Any]) -> Any:
        """The same for something derived from two patterns; forgotten when either is."""
        if self._pairs is None:
            self._pairs = weakref.WeakKeyDictionary()
        memory = self._pairs.setdefault(other, {})
        if key not in memory:
            memory[key] = make()
        return memory[key]


class CooPattern(Pattern):
    """Positions as a matrix: a row for each sparse dimension, a column for each stored element."""

    __slots__ = ("coalesced", "indices")

    def __init__(self, indices: Array, shape: Shape, coalesced: bool = False, dtype: np.dtype = INT64) -> None:
        super().__init__(shape, dtype)
        self.indices = indices
        self.coalesced = coalesced  # known to be in order and without duplicates

    @staticmethod
    def of_keys(keys: Array, shape: Shape, coalesced: bool = False, dtype: np.dtype = INT64) -> CooPattern:
        """From positions that are numbered through row by row."""
        if not math.prod(shape):
            return CooPattern(np.zeros((len(shape), 0), np.int64), shape, coalesced, dtype)
        return CooPattern(np.stack(np.unravel_index(keys, shape)).astype(np.int64), shape, coalesced, dtype)

    @property
    def nnz(self) -> int:
        return self.indices.shape[1]

    @property
    def keys(self) -> Lookup:
        """Each stored element's position, numbered through row by row."""
        return self.remember("keys", lambda: self.numbered(range(len(self.shape))))

    def numbered(self, axes: Any) -> Lookup:
        """The positions along some axes only, numbered through in the order given."""
        keys = np.zeros(self.nnz, np.int64)
        for axis in axes:
            keys = keys * self.shape[axis] + self.indices[axis]
        return Lookup(keys)

    @property
    def is_ordered(self) -> bool:
        """Whether the elements are in order and none is there twice (looked up, unlike the flag `coalesced`)."""
        if self.coalesced:
            return True
        return self.remember("ordered", lambda: bool((np.diff(self.keys.array) > 0).all()))

    def coalesce(self) -> tuple[CooPattern, Lookup | None]:
        """The ordered pattern without duplicates, and where each element goes there (None: it stays)."""
        return self.remember("coalesce", self._coalesce)

    def _coalesce(self) -> tuple[CooPattern, Lookup | None]:
        if self.is_ordered:
            return self if self.coalesced else CooPattern(self.indices, self.shape, True, self.dtype), None
        keys, inverse = np.unique(self.keys.array, return_inverse=True)
        return CooPattern.of_keys(keys, self.shape, True, self.dtype), Lookup(inverse.reshape(-1))

    def is_same(self, other: Pattern) -> bool:
        """Whether the other one lists the same positions in the same order."""
        if self is other:
            return True
        return (
            isinstance(other, CooPattern) and self.shape == other.shape and np.array_equal(self.indices, other.indices)
        )

    def with_dtype(self, dtype: np.dtype) -> CooPattern:
        return self if dtype == self.dtype else CooPattern(self.indices, self.shape, self.coalesced, dtype)

    def to_csr(self) -> CsrPattern:
        """The same elements by rows; the pattern must be ordered."""

        def make() -> CsrPattern:
            *batch, rows, _ = self.shape
            counts = np.bincount(self.numbered(range(len(self.shape) - 1)).array, minlength=math.prod(self.shape[:-1]))
            ends = np.cumsum(counts.reshape(math.prod(batch), rows), axis=1)
            crows = np.concatenate([np.zeros((len(ends), 1), np.int64), ends], axis=1).reshape(-1)
            return CsrPattern(crows, self.indices[-1], self.shape, self.dtype)

        return self.remember("csr", make)


class CsrPattern(Pattern):
    """Row offsets and columns; of a batch of matrices, one after the other, each with offsets that begin at 0."""

    __slots__ = ("cols", "crows")

    def __init__(self, crows: Array, cols: Array, shape: Shape, dtype: np.dtype = INT64) -> None:
        super().__init__(shape, dtype)
        self.crows = crows
        self.cols = cols

    @property
    def nnz(self) -> int:
        return len(self.cols)

    def to_coo(self) -> CooPattern:
        """The same elements in the same order, by their positions."""

        def make() -> CooPattern:
            offsets = self.crows.reshape(-1, self.shape[-2] + 1)
            rows = np.repeat(np.arange(math.prod(self.shape[:-1])), np.diff(offsets, axis=1).reshape(-1))
            leading = np.unravel_index(rows, self.shape[:-1]) if len(rows) else np.zeros((len(self.shape) - 1, 0), int)
            return CooPattern(np.stack([*leading, self.cols]).astype(np.int64), self.shape, False, self.dtype)

        return self.remember("coo", make)

    def is_same(self, other: Pattern) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, CsrPattern)
            and self.shape == other.shape
            and np.array_equal(self.crows, other.crows)
            and np.array_equal(self.cols, other.cols)
        )

    def with_dtype(self, dtype: np.dtype) -> CsrPattern:
        return self if dtype == self.dtype else CsrPattern(self.crows, self.cols, self.shape, dtype)
