"""A model of Paddle's tensors on NumPy: who shares memory with whom, and first derivatives.

A tensor is a storage and an array of positions in it. Every view is a NumPy view of positions, so NumPy's own strides
decide where `reshape` can share memory and where it must copy, which is Paddle's rule too. A storage keeps, for each
leaf that its numbers depend on, the derivative by every element of that leaf (forward mode), so that gradients follow
memory as values do. What Paddle does, 3.3.1 was seen to do; what it does wrongly is in `../known.py`, not here.

The module stands in for `paddle` in memory programs: `import tests.fuzz.memory.strided as paddle`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

_recording = [True]  # whether derivatives are followed


class Refused(Exception):
    """What Paddle refuses, or what no program should do."""


class Storage:
    """Numbers in a row, and their derivatives: for a leaf of m elements an array of [m, numbers]."""

    __slots__ = ("has_changed_leaf", "has_leaf", "is_shared", "slopes", "values")

    def __init__(self, values: np.ndarray, slopes: dict[Tensor, np.ndarray] | None = None) -> None:
        self.values = values
        self.slopes: dict[Tensor, np.ndarray] = slopes or {}
        self.is_shared = False  # whether there ever was a second tensor
        self.has_leaf = False  # whether a tensor whose gradient is wanted was made with it
        self.has_changed_leaf = False  # whether that was changed through a view, which was recorded


class Tensor:
    """Positions in a storage. Derivatives are those of the storage, unless `stop_gradient`."""

    def __init__(self, storage: Storage, positions: np.ndarray, stop_gradient: bool = True) -> None:
        self.storage = storage
        self.positions = positions
        self.stop_gradient = stop_gradient
        self.is_leaf = True
        self.is_detached = False  # its changes are values without a history
        self.has_twin = False  # Paddle gave another tensor the same shape object: by `detach`, by a slice of all
        self.grad: Tensor | None = None

    # What it is

    @property
    def shape(self) -> list[int]:
        return list(self.positions.shape)

    @property
    def values(self) -> np.ndarray:
        return self.storage.values[self.positions]

    def numpy(self) -> np.ndarray:
        return self.values.astype(np.float32)

    def tolist(self) -> Any:
        return self.values.tolist()

    def item(self) -> float:
        return float(self.values)

    def __float__(self) -> float:
        return float(self.values)

    def __len__(self) -> int:
        return len(self.positions)

    def __str__(self) -> str:
        return str(self.values)

    def __iter__(self) -> Iterator[Tensor]:
        return iter([self[number] for number in range(len(self.positions))])

    def slopes(self) -> dict[Tensor, np.ndarray]:
        """The derivatives of its elements: for a leaf of m elements an array of [m, *shape]."""
        if self.stop_gradient:
            return {}
        if self.is_leaf:
            size = self.positions.size
            return {self: np.eye(size).reshape(size, *self.positions.shape)}
        # Copied, as NumPy only shows what a single position picks, and the change that asks may be one of that very number.
        return {leaf: slope[:, self.positions].copy() for leaf, slope in self.storage.slopes.items()}

    # Views

    def _shown(self, positions: np.ndarray, detached: bool = False) -> Tensor:
        result = Tensor(self.storage, positions)
        result.is_detached = detached or self.is_detached
        self.storage.is_shared = True
        if not (self.stop_gradient or detached) and _recording[0]:
            result.stop_gradient, result.is_leaf = False, False
            if self.is_leaf:  # a leaf's own derivative is written down where a view of it needs it
                _put_slopes(self.storage, self.positions, self.slopes())
        return result

    def __getitem__(self, index: Any) -> Tensor:
        if isinstance(index, Tensor):
            index = index.values if index.values.dtype == bool else index.values.astype(int)
            return _computed(self.values[index], {leaf: one[:, index] for leaf, one in self.slopes().items()})
        result = self._shown(np.asarray(self.positions[index]))
        if np.array_equal(result.positions, self.positions):
            if self.is_leaf and not self.stop_gradient:
                raise Refused("a slice of all of a leaf, which is a leaf itself in Paddle")
            self.has_twin = result.has_twin = True
        return result

    def _reshaped(self, shape: Sequence[int]) -> np.ndarray | None:
        """Positions in another shape, or None where Paddle copies."""
        result = self.positions.reshape(tuple(shape))
        if not self.positions.shape and shape:
            raise Refused("Paddle copies what has no dimensions, and a module may share it: no program tells")
        return result if np.shares_memory(result, self.positions) or not result.size else None

    def reshape(self, shape: Sequence[int]) -> Tensor:
        return self if list(shape) == self.shape else self._shown_or_copied(shape)

    def _shown_or_copied(self, shape: Sequence[int]) -> Tensor:
        positions = self._reshaped(shape)
        if positions is not None:
            return self._shown(positions)
        copy = self.clone()
        copy.positions = copy.positions.reshape(tuple(shape))
        return copy

    def view(self, shape: Sequence[int]) -> Tensor:
        positions = self._reshaped(shape)
        if positions is None:
            raise Refused("a view that would have to be a copy")
        return self._shown(positions)

    def flatten(self, start_axis: int = 0, stop_axis: int = -1) -> Tensor:
        return self._shown_or_copied(_flat_shape(self.shape, start_axis, stop_axis))

    def transpose(self, perm: Sequence[int]) -> Tensor:
        return self._shown(self.positions.transpose(perm))

    @property
    def T(self) -> Tensor:
        return self._shown(self.positions.T)

    def t(self) -> Tensor:
        if self.positions.ndim > 2:
            raise Refused("t of more than two dimensions")
        return self.T

    def squeeze(self, axis: int | None = None) -> Tensor:
        return self._shown(_squeezed(self.positions, axis))

    def unsqueeze(self, axis: int) -> Tensor:
        return self._shown(np.expand_dims(self.positions, axis))

    def diagonal(self, offset: int = 0) -> Tensor:
        positions = np.diagonal(self.positions, offset)
        if not positions.size:
            raise Refused("an empty diagonal")
        return self._shown(positions)

    def detach(self) -> Tensor:
        result = self._shown(self.positions, detached=True)
        self.has_twin = result.has_twin = True
        return result

    def contiguous(self) -> Tensor:
        """Of a tensor without a name: Paddle gives `self` memory of its own, which a name would see."""
        if 1 in self.shape:
            raise Refused("strides that mean nothing, which Paddle looks at")
        expected = np.empty(self.positions.shape, self.positions.dtype).strides
        return self if self.positions.strides == expected else self.clone()

    def unbind(self, axis: int = 0) -> list[Tensor]:
        return [self._shown(one) for one in np.moveaxis(self.positions, axis, 0)]

    # Copies

    def clone(self) -> Tensor:
        return _computed(self.values, self.slopes())

    def split(self, parts: int | Sequence[int], axis: int = 0) -> list[Tensor]:
        if isinstance(parts, int):
            if self.shape[axis] % parts:
                raise Refused("parts of unequal size")
            parts = [self.shape[axis] // parts] * parts
        if sum(parts) != self.shape[axis]:
            raise Refused("parts that do not add up")
        ends = np.cumsum(parts)[:-1]
        axis = _from_the_front(axis, self.positions.ndim)
        split = np.split(self.values, ends, axis)
        slopes = {leaf: np.split(one, ends, axis + 1) for leaf, one in self.slopes().items()}
        return [_computed(one, {leaf: part[k] for leaf, part in slopes.items()}) for k, one in enumerate(split)]

    def sum(self, axis: int | None = None) -> Tensor:
        axes = tuple(range(self.positions.ndim)) if axis is None else (_from_the_front(axis, self.positions.ndim or 1),)
        later = tuple(one + 1 for one in axes)
        return _computed(self.values.sum(axes), {leaf: one.sum(later) for leaf, one in self.slopes().items()})

    def __add__(self, other: Any) -> Tensor:
        return _combined(self, other, np.add, 1.0, 1.0)

    def __sub__(self, other: Any) -> Tensor:
        return _combined(self, other, np.subtract, 1.0, -1.0)

    def __mul__(self, other: Any) -> Tensor:
        return _combined(self, other, np.multiply, _values(other), self.values)

    def __gt__(self, other: Any) -> Tensor:
        return _computed(self.values > _values(other), {})

    # Changes in place

    def _become(self, source: Any, *, quiet: bool = False) -> Tensor:
        """Take the values of `source`, and its derivatives unless the change is not recorded."""
        if self.is_leaf and not self.stop_gradient and _recording[0] and not quiet:
            raise Refused("a change of a leaf")
        values = _values(source)
        shape = np.broadcast_shapes(self.positions.shape, np.shape(values))
        if shape != self.positions.shape:
            raise Refused("a result that does not fit")
        slopes = source.slopes() if isinstance(source, Tensor) else {}
        recorded = _recording[0] and not quiet and not self.is_detached
        if slopes and (self.is_detached or (self.stop_gradient and self.storage.is_shared)):
            raise Refused("a history for some of the names of a memory only")
        if (
            recorded
            and self.stop_gradient
            and any(one[:, self.positions].any() for one in self.storage.slopes.values())
        ):
            raise Refused("a recorded change through a view that was not recorded")
        self.storage.values[self.positions] = values
        if recorded:
            self.storage.has_changed_leaf |= self.storage.has_leaf
            if slopes:
                self.stop_gradient, self.is_leaf = False, False
            for known in self.storage.slopes.values():
                known[:, self.positions] = 0.0
            _put_slopes(self.storage, self.positions, slopes)
        return self

    def zero_(self) -> Tensor:
        return self._become(0.0)

    def fill_(self, value: float) -> Tensor:
        return self._become(value)

    def scale_(self, scale: float, bias: float = 0.0) -> Tensor:
        return self._become(self * scale + bias)

    def add_(self, other: Any) -> Tensor:
        return self._become(self + other)

    def subtract_(self, other: Any) -> Tensor:
        return self._become(self - other)

    def multiply_(self, other: Any) -> Tensor:
        return self._become(self * other)

    def neg_(self) -> Tensor:
        return self._become(self * -1.0)

    def clip_(self, low: float, high: float) -> Tensor:
        inside = (self.values >= low) & (self.values <= high)
        slopes = {leaf: one * inside for leaf, one in self.slopes().items()}
        return self._become(_computed(np.clip(self.values, low, high), slopes))

    def set_value(self, other: Any) -> None:
        if list(np.shape(_values(other))) != self.shape:
            raise Refused("set_value of another shape")
        self._become(other.detach() if isinstance(other, Tensor) else other, quiet=True)

    def copy_(self, other: Tensor, blocking: bool = True) -> Tensor:
        if other.shape != self.shape:
            raise Refused("copy_ of another shape")
        return self._become(other.detach(), quiet=True)

    def masked_fill_(self, mask: Tensor, value: float) -> Tensor:
        kept = ~mask.values
        slopes = {leaf: one * kept for leaf, one in self.slopes().items()}
        return self._become(_computed(np.where(kept, self.values, value), slopes))

    def fill_diagonal_(self, value: float) -> Tensor:
        if self.positions.ndim != 2:
            raise Refused("fill_diagonal_ is tried on matrices")
        if self.is_leaf and not self.stop_gradient and _recording[0]:
            raise Refused("a change of a leaf")
        self.diagonal()._become(value)
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.is_leaf and not self.stop_gradient and _recording[0]:
            raise Refused("a change of a leaf")
        if isinstance(index, Tensor):
            index = index.values if index.values.dtype == bool else index.values.astype(int)
        part = Tensor(self.storage, np.asarray(self.positions[index]), self.stop_gradient)
        part.is_leaf, part.is_detached = self.is_leaf, self.is_detached
        part._become(value)
        self.stop_gradient, self.is_leaf = part.stop_gradient, part.is_leaf

    # Changes of the shape in place

    def _reshape_self(self, shape: Sequence[int]) -> Tensor:
        positions = self._reshaped(shape)
        if positions is None:  # its own memory from here on
            if not self.stop_gradient:
                raise Refused("a copy in place with a history")
            copy = self.clone()
            self.storage, positions = copy.storage, copy.positions.reshape(tuple(shape))
        self.positions = positions
        return self

    def reshape_(self, shape: Sequence[int]) -> Tensor:
        return self._changed_shape(lambda: self._reshape_self(shape))

    def flatten_(self) -> Tensor:
        if not self.shape:
            raise Refused("flatten_ of no dimensions")
        return self._changed_shape(lambda: self._reshape_self(_flat_shape(self.shape, 0, -1)))

    def unsqueeze_(self, axis: int) -> Tensor:
        return self._changed_shape(lambda: self._with(np.expand_dims(self.positions, axis)))

    def squeeze_(self, axis: int | None = None) -> Tensor:
        return self._changed_shape(lambda: self._with(_squeezed(self.positions, axis)))

    def transpose_(self, perm: Sequence[int]) -> Tensor:
        return self._changed_shape(lambda: self._with(self.positions.transpose(perm)))

    def _with(self, positions: np.ndarray) -> Tensor:
        self.positions = positions
        return self

    def _changed_shape(self, change: Callable[[], Tensor]) -> Tensor:
        if not self.stop_gradient:
            raise Refused("a change of the shape of a tensor with a history")
        return change()

    # Gradients

    def backward(self) -> None:
        for leaf, slope in self.slopes().items():
            found = slope.reshape(slope.shape[0], -1).sum(1).reshape(leaf.shape)
            if leaf.grad is not None:
                found = found + leaf.grad.values
            leaf.grad = _computed(found, {})

    def clear_grad(self) -> None:
        if self.grad is not None:
            self.grad = _computed(np.zeros(self.shape), {})


def _put_slopes(storage: Storage, positions: np.ndarray, slopes: dict[Tensor, np.ndarray]) -> None:
    for leaf, slope in slopes.items():
        known = storage.slopes.get(leaf)
        if known is None:
            known = storage.slopes[leaf] = np.zeros((slope.shape[0], storage.values.size))
        known[:, positions] = np.broadcast_to(_padded(slope, positions.ndim), (slope.shape[0], *positions.shape))


def _padded(slope: np.ndarray, rank: int) -> np.ndarray:
    """With its first axis kept, ready to be broadcast to `rank` further ones."""
    return slope.reshape(slope.shape[0], *(1,) * (rank + 1 - slope.ndim), *slope.shape[1:])


def _values(value: Any) -> Any:
    return value.values if isinstance(value, Tensor) else value


def _computed(values: Any, slopes: dict[Tensor, np.ndarray]) -> Tensor:
    """A new tensor with memory of its own."""
    values = np.asarray(values)
    positions = np.arange(values.size).reshape(values.shape)
    flat = (
        {leaf: np.array(slope.reshape(slope.shape[0], -1)) for leaf, slope in slopes.items()} if _recording[0] else {}
    )
    result = Tensor(Storage(values.reshape(-1).copy(), flat), positions)
    if flat:
        result.stop_gradient, result.is_leaf = False, False
    return result


def _combined(first: Tensor, second: Any, function: Callable[..., Any], of_first: Any, of_second: Any) -> Tensor:
    """An elementwise function of two, by the derivatives of its result with respect to each."""
    values = function(first.values, _values(second))
    slopes: dict[Tensor, np.ndarray] = {}
    for operand, factor in ((first, of_first), (second, of_second)):
        for leaf, slope in (operand.slopes() if isinstance(operand, Tensor) else {}).items():
            term = np.broadcast_to(_padded(slope, values.ndim) * factor, (slope.shape[0], *values.shape))
            slopes[leaf] = slopes[leaf] + term if leaf in slopes else term
    return _computed(values, slopes)


def _from_the_front(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:  # a branch that is taken in some repetitions only may change the rank
        raise Refused("an axis that is not there")
    return axis % ndim


def _flat_shape(shape: Sequence[int], start: int, stop: int) -> list[int]:
    if not shape:
        return [1]
    start, stop = range(len(shape))[start], range(len(shape))[stop]
    if stop < start:
        raise Refused("axes the wrong way round")
    return [*shape[:start], math.prod(shape[start : stop + 1]), *shape[stop + 1 :]]


def _squeezed(positions: np.ndarray, axis: int | None) -> np.ndarray:
    if axis is None:
        return positions.squeeze()
    return positions.squeeze(axis) if positions.shape[axis] == 1 else positions[...]


# Functions of the module


def to_tensor(values: Any, dtype: str | None = None, stop_gradient: bool = True) -> Tensor:
    array = np.asarray(values)
    result = _computed(array if array.dtype == bool else array.astype(np.float64), {})
    result.stop_gradient = stop_gradient
    result.storage.has_leaf = not stop_gradient
    return result


@contextlib.contextmanager
def no_grad() -> Iterator[None]:
    before, _recording[0] = _recording[0], False
    try:
        yield
    finally:
        _recording[0] = before


def reshape(x: Tensor, shape: Sequence[int]) -> Tensor:
    return x.reshape(shape)


def transpose(x: Tensor, perm: Sequence[int]) -> Tensor:
    return x.transpose(perm)


def unbind(x: Tensor, axis: int = 0) -> list[Tensor]:
    return x.unbind(axis)


def split(x: Tensor, parts: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    return x.split(parts, axis)


def chunk(x: Tensor, parts: int, axis: int = 0) -> list[Tensor]:
    return x.split(parts, axis)


def concat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    leaves = {leaf: one.shape[0] for x in tensors for leaf, one in x.slopes().items()}
    axis = _from_the_front(axis, tensors[0].positions.ndim)
    slopes = {
        leaf: np.concatenate([x.slopes().get(leaf, np.zeros((size, *x.shape))) for x in tensors], axis + 1)
        for leaf, size in leaves.items()
    }
    return _computed(np.concatenate([x.values for x in tensors], axis), slopes)


def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    mask = condition.values.astype(np.float64)
    return x * to_tensor(mask) + y * to_tensor(1.0 - mask)
