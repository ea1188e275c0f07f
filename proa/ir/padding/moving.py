"""Operations of padded programs that move data along padded axes: what comes behind data is put where the data ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from .filling import Arrays, Factors, first, own


def _along(ndim: int, axis: int) -> tuple[int, ...]:
    return tuple(-1 if i == axis else 1 for i in range(ndim))


def _taken(xp: Any, x: Any, index: Any, axis: int) -> Any:
    """`x` at positions along an axis; those outside take what is at the edge."""
    return xp.take(x, xp.clip(index, 0, max(x.shape[axis] - 1, 0)), axis=axis)


def _longer(_operation: Any, kinds: Any, attributes: Any, _place: Any) -> Aval:
    axis, length = attributes[:2]
    shape = kinds[0].shape
    return kinds[0].with_shape((*shape[:axis], length, *shape[axis + 1 :]))


@own("axis", infer=first)
def flip_within(xp: Any, arrays: Arrays, axis: int) -> Any:
    """The data along an axis in reverse."""
    x, size = arrays
    return _taken(xp, x, size - 1 - xp.arange(x.shape[axis], dtype=np.int32), axis)


@own("axis shift", infer=first)
def roll_within(xp: Any, arrays: Arrays, axis: int, shift: int) -> Any:
    """The data along an axis moved in a circle."""
    x, size = arrays
    return _taken(xp, x, (xp.arange(x.shape[axis], dtype=np.int32) - np.int32(shift)) % xp.maximum(size, 1), axis)


@own("axis length step", infer=_longer)
def slice_from(xp: Any, arrays: Arrays, axis: int, length: int, step: int) -> Any:
    """Every `step`-th element from a start that is data."""
    x, start = arrays
    return _taken(xp, x, start + np.int32(step) * xp.arange(length, dtype=np.int32), axis)


@own("axis length step", infer=_longer)
def place_from(xp: Any, arrays: Arrays, axis: int, length: int, step: int) -> Any:
    """The reverse of `slice_from`: zeros with the data of `x`, which ends at the second extent."""
    x, start, size = arrays
    offset = xp.arange(length, dtype=np.int32) - start
    index = offset // np.int32(step)
    here = (offset % np.int32(step) == 0) & (index >= 0) & (index < size)
    return xp.where(here.reshape(_along(x.ndim, axis)), _taken(xp, x, index, axis), xp.zeros((), x.dtype))


@own("axis step", infer=first)
def written_from(xp: Any, arrays: Arrays, axis: int, step: int) -> Any:
    """`x` with the data of a part, which ends at the second extent, in the place of every `step`-th element from a start."""
    x, part, start, size = arrays
    offset = xp.arange(x.shape[axis], dtype=np.int32) - start
    index = offset // np.int32(step)
    here = (offset % np.int32(step) == 0) & (index >= 0) & (index < size)
    return xp.where(here.reshape(_along(x.ndim, axis)), _taken(xp, part, index, axis), x)


def _joined(_operation: Any, kinds: Any, attributes: Any, _place: Any) -> Aval:
    axis, count = attributes
    shape = kinds[0].shape
    total = sum(kind.shape[axis] for kind in kinds[:count])
    return kinds[0].with_shape((*shape[:axis], total, *shape[axis + 1 :]))


@own("axis count", infer=_joined)
def concat_within(xp: Any, arrays: Arrays, axis: int, count: int) -> Any:
    """The data of `count` arrays one behind the other; where each begins comes behind them (of the first: at 0)."""
    parts, starts = arrays[:count], arrays[count:]
    total = sum(part.shape[axis] for part in parts)
    position = xp.arange(total, dtype=np.int32)
    result = _taken(xp, parts[0], position, axis)
    for part, start in zip(parts[1:], starts, strict=True):
        behind = (position >= start).reshape(_along(part.ndim, axis))
        result = xp.where(behind, _taken(xp, part, position - start, axis), result)
    return result


def _bordered(operation: Any, kinds: Any, attributes: Any, place: Any) -> Aval:
    axis, before, after = attributes
    return _longer(operation, kinds, (axis, kinds[0].shape[axis] + before + after), place)


@own("axis before after", infer=_bordered)
def pad_within(xp: Any, arrays: Arrays, axis: int, before: int, after: int) -> Any:
    """A border of a value, the second array, around the data of the first along an axis."""
    x, value, size = arrays
    offset = xp.arange(x.shape[axis] + before + after, dtype=np.int32) - np.int32(before)
    here = ((offset >= 0) & (offset < size)).reshape(_along(x.ndim, axis))
    return xp.where(here, _taken(xp, x, offset, axis), value.astype(x.dtype))


@own("limit", infer=first)
def index_within(xp: Any, arrays: Arrays, limit: int) -> Any:
    """Indices into an axis of which `size` elements are data: negative ones count from there, bad ones stay bad."""
    index, size = arrays
    size = size.astype(index.dtype)
    good = (index >= -size) & (index < size)
    return xp.where(good, xp.where(index < 0, index + size, index), xp.asarray(limit, index.dtype))


@own("axes", infer=first)
def as_drawn(xp: Any, arrays: Arrays, axes: tuple[int, ...]) -> Any:
    """Numbers that were drawn one after the other, at the places that they have in an array without surplus.

    The axes named are as long as the extents say; the last of them ends the part that is moved, row by row.
    """
    x, *extents = arrays
    depth = max(axes) + 1
    real = dict(zip(axes, extents, strict=True))
    position = xp.zeros((1,) * depth, np.int32)
    for axis in range(depth):
        steps = xp.arange(x.shape[axis], dtype=np.int32).reshape(_along(depth, axis))
        position = position * real.get(axis, np.int32(x.shape[axis])) + steps
    rows = x.reshape((-1, *x.shape[depth:]))
    return _taken(xp, rows, position.reshape(-1), 0).reshape(x.shape)


@own("axis factors", infer=first)
def gathered(xp: Any, arrays: Arrays, axis: int, factors: Factors) -> Any:
    """The data of an axis with several factors, one behind the other: the surplus that lay between it comes last."""
    x, *extents = arrays
    remaining = list(extents)
    rest = xp.arange(x.shape[axis], dtype=np.int32)
    place: Any = 0
    stride = 1
    for size, longer in reversed(factors):
        real = remaining.pop() if longer else np.int32(size)
        place = place + rest % xp.maximum(real, 1) * np.int32(stride)
        rest = rest // xp.maximum(real, 1)
        stride *= size
    return _taken(xp, x, place, axis)
