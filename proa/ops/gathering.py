"""The primitives of indexing by tensors: take elements, put them, add to them.

`take_at(x, a, b, …, axes)` is `x[:, a, b, :]` with as many index tensors as `axes` names: they are
broadcast together, and their common shape stands where the first indexed axis was, or in front when the
indexed axes are not neighbours (as in NumPy). `axes` holds a pair (axis, size) for each index; a size of
-1 says that the indices are known to be good. Negative indices count from the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.dtype import is_reduced_precision
from ..eager.declare import op
from ..eager.infer import broadcast_shapes
from ..eager.tensor import Tensor
from ..ir.operation import Check
from .basic import expand_to, full_of, reshape_to, transpose_to

Axes = tuple[tuple[int, int], ...]
# How many index tensors the primitives take; more are gathered into one (see `take_elements`).
_MOST = 4


class IndexOutOfRange(IndexError, ValueError):
    """An index is out of range. Also a ValueError, which Paddle raises in half of these functions."""


# ---- shapes and checks -------------------------------------------------------------------------------


def _taken_shape(operation: Any, operands: Any, x: Aval, indices: Sequence[Any], axes: Axes) -> tuple[int, ...]:
    common = broadcast_shapes(operation, operands, [i.shape for i in indices])
    positions = [axis for axis, _ in axes]
    if math.prod(common) and any(x.shape[axis] == 0 for axis in positions):
        raise operation.error(IndexOutOfRange, "an axis without elements has no valid index", operands)
    rest = [n for axis, n in enumerate(x.shape) if axis not in positions]
    front = positions[0] if _are_neighbours(positions) else 0
    return (*rest[:front], *common, *rest[front:])


def _are_neighbours(positions: Sequence[int]) -> bool:
    return list(positions) == list(range(positions[0], positions[0] + len(positions)))


def _present(indices: Sequence[Any]) -> list[Any]:
    return [i for i in indices if i is not None]


def _infer_take(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(
        _taken_shape(operation, operands, operands[0], _present(operands[1:]), attributes[0])
    )


def _infer_put(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, value, *indices = operands
    target = _taken_shape(operation, operands, x, _present(indices), attributes[0])
    check_fits(operation, operands, value.shape, target)
    return x


def check_fits(operation: Any, operands: Any, shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    """ValueError for a value that cannot be broadcast to the place where it is to go."""
    aligned = target[len(target) - len(shape) :]
    if len(shape) > len(target) or any(n not in (1, m) for n, m in zip(shape, aligned)):
        raise operation.error(
            ValueError, f"a value of shape {list(shape)} cannot be broadcast to the indexed shape {list(target)}", operands
        )


def _in_range(first: int) -> Any:
    def condition(xp: Any, *arguments: Any) -> Any:
        *operands, axes = arguments
        good = np.asarray(True)
        for index, (_, size) in zip(operands[first:], axes):
            if size >= 0:
                good = good & xp.all((index >= -size) & (index < size))
        return good

    return condition


def _explain(kinds: Any, attributes: tuple[Any, ...]) -> str:
    checked = [(axis, size) for axis, size in attributes[-1] if size >= 0]
    limits = ", ".join(f"{-size} to {size - 1} for axis {axis}" for axis, size in checked)
    return f"an index is out of range; allowed: {limits}"


def _check(first: int) -> Check:
    return Check(_in_range(first), _explain, IndexOutOfRange, tuple(range(first, first + _MOST)))


# ---- kernels -----------------------------------------------------------------------------------------


def _index(xp: Any, ndim: int, indices: Sequence[Any], axes: Axes) -> tuple[Any, ...]:
    result: list[Any] = [slice(None)] * ndim
    for index, (axis, _) in zip(indices, axes):
        result[axis] = index
    return tuple(result)


def _tamed(index: Any, size: int) -> Any:
    """Indices from 0 to size - 1, whatever was given: a bad one is reported by the check, not by NumPy."""
    return np.clip(np.where(index < 0, index + size, index), 0, size - 1)


def _take_numpy(xp: Any, x: Any, a: Any, b: Any, c: Any, d: Any, axes: Axes) -> Any:
    indices = [_tamed(i, x.shape[axis]) for i, (axis, _) in zip(_present([a, b, c, d]), axes)]
    if len(axes) == 1:
        return np.take(x, indices[0], axis=axes[0][0], mode="clip")
    return x[_index(np, x.ndim, indices, axes)]


def _put_numpy(xp: Any, x: Any, value: Any, a: Any, b: Any, c: Any, d: Any, axes: Axes) -> Any:
    indices = [_tamed(i, x.shape[axis]) for i, (axis, _) in zip(_present([a, b, c, d]), axes)]
    out = x.copy()
    out[_index(np, x.ndim, indices, axes)] = value
    return out


def _add_numpy(xp: Any, x: Any, value: Any, a: Any, b: Any, c: Any, d: Any, axes: Axes) -> Any:
    """Rows are numbered by the indexed axes, sorted, and each run of equal numbers is summed at once."""
    positions = [axis for axis, _ in axes]
    sizes = [x.shape[axis] for axis in positions]
    indices = [_tamed(i, n) for i, n in zip(_present([a, b, c, d]), sizes)]
    common = np.broadcast_shapes(*(i.shape for i in indices))
    rest = [axis for axis in range(x.ndim) if axis not in positions]
    columns = math.prod(x.shape[axis] for axis in rest)
    front = positions[0] if _are_neighbours(positions) else 0
    rest_shape = [x.shape[axis] for axis in rest]
    target = (*rest_shape[:front], *common, *rest_shape[front:])
    value = np.broadcast_to(value, target)
    value = np.moveaxis(value, range(front, front + len(common)), range(len(common)))
    rows = np.zeros(common, np.int64)
    for index, size in zip(indices, sizes):
        rows = rows * size + index
    sums = add_rows(rows.reshape(-1), value.reshape(rows.size, columns), math.prod(sizes))
    perm = [*positions, *rest]
    back = np.argsort(perm)
    return x + sums.reshape([*sizes, *rest_shape]).transpose(back)


def add_rows(rows: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """`count` rows, where row r is the sum of the values whose number is r."""
    dtype = values.dtype
    if is_reduced_precision(dtype):
        values = values.astype(np.float32)
    out = np.zeros((count, values.shape[1]), values.dtype)
    if rows.size and values.shape[1] == 1 and values.dtype.kind == "f":
        out[:, 0] = np.bincount(rows, values[:, 0], count)
    elif rows.size and out.size:
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
        values = values[order]
        out[rows[starts]] = values if len(starts) == len(rows) else np.add.reduceat(values, starts, axis=0)
    return out.astype(dtype, copy=False)


# ---- the primitives ----------------------------------------------------------------------------------


@op(
    "x a",
    optional="b c d",
    infer=_infer_take,
    check=_check(1),
    grad={"x": lambda g, x_aval, a, b, c, d, axes: _added_to_zeros(g, x_aval, a, b, c, d, axes)},
)
def take_at(xp: Any, x: Any, a: Any, b: Any = None, c: Any = None, d: Any = None, axes: Axes = ()) -> Any:
    """`x` at the places that the index tensors name."""
    return x.at[_index(xp, x.ndim, _present([a, b, c, d]), axes)].get(mode="clip")


@op(
    "x value a",
    optional="b c d",
    infer=_infer_put,
    check=_check(2),
    grad={
        "x": lambda g, a, b, c, d, axes: put_at(g, full_of(0, (), g._aval.dtype), a, b, c, d, _trusted(axes)),
        "value": lambda g, a, b, c, d, axes: take_at(g, a, b, c, d, _trusted(axes)),
    },
)
def put_at(xp: Any, x: Any, value: Any, a: Any, b: Any = None, c: Any = None, d: Any = None, axes: Axes = ()) -> Any:
    """`x` with `value` at the places that the index tensors name; of equal places the last wins."""
    return x.at[_index(xp, x.ndim, _present([a, b, c, d]), axes)].set(value, mode="drop")


@op(
    "x value a",
    optional="b c d",
    infer=_infer_put,
    check=_check(2),
    grad={
        "x": lambda g: g,
        "value": lambda g, a, b, c, d, axes: take_at(g, a, b, c, d, _trusted(axes)),
    },
)
def add_at(xp: Any, x: Any, value: Any, a: Any, b: Any = None, c: Any = None, d: Any = None, axes: Axes = ()) -> Any:
    """`x` plus `value` at the places that the index tensors name; equal places add up."""
    return x.at[_index(xp, x.ndim, _present([a, b, c, d]), axes)].add(value, mode="drop")


take_at.operation.kernels["numpy"] = _take_numpy  # type: ignore[attr-defined]
put_at.operation.kernels["numpy"] = _put_numpy  # type: ignore[attr-defined]
add_at.operation.kernels["numpy"] = _add_numpy  # type: ignore[attr-defined]


def _trusted(axes: Axes) -> Axes:
    """The axes with indices that a check has passed already."""
    return tuple((axis, -1) for axis, _ in axes)


def _added_to_zeros(g: Tensor, aval: Aval, a: Any, b: Any, c: Any, d: Any, axes: Axes) -> Tensor:
    return add_at(full_of(0, aval.shape, g._aval.dtype), g, a, b, c, d, _trusted(axes))


# ---- any number of index tensors ---------------------------------------------------------------------


def axes_of(x: Tensor, positions: Sequence[int], trusted: bool = False) -> Axes:
    return tuple((axis, -1 if trusted else x._aval.shape[axis]) for axis in positions)


def _absent(indices: Sequence[Tensor]) -> tuple[None, ...]:
    return (None,) * (_MOST - len(indices))


def take_elements(x: Tensor, indices: Sequence[Tensor], positions: Sequence[int], trusted: bool = False) -> Tensor:
    """`x` indexed by tensors at some axes."""
    if len(indices) > _MOST:
        x, indices, positions, front = _merged(x, indices, positions)
        return _moved_back(take_elements(x, indices, positions, trusted), indices, front)
    return take_at(x, *indices, *_absent(indices), axes_of(x, positions, trusted))


def put_elements(
    x: Tensor, value: Tensor, indices: Sequence[Tensor], positions: Sequence[int], trusted: bool = False, add: bool = False
) -> Tensor:
    """`x` with `value` written (or added) where index tensors point."""
    if len(indices) > _MOST:
        shape = x._aval.shape
        order = [*positions, *(a for a in range(len(shape)) if a not in positions)]
        x, indices, positions, front = _merged(x, indices, positions)
        value = _moved_front(value, x, indices, front)
        changed = put_elements(x, value, indices, positions, trusted, add)
        changed = reshape_to(changed, tuple(shape[axis] for axis in order))
        return transpose_to(changed, tuple(int(a) for a in np.argsort(order)))
    write = add_at if add else put_at
    return write(x, value, *indices, *_absent(indices), axes_of(x, positions, trusted))


def _merged(x: Tensor, indices: Sequence[Tensor], positions: Sequence[int]) -> tuple[Tensor, list[Tensor], list[int], int]:
    """The indexed axes in front, all but the last of them merged into one with one index for them."""
    shape = x._aval.shape
    order = [*positions, *(a for a in range(len(shape)) if a not in positions)]
    sizes = [shape[axis] for axis in positions]
    x = transpose_to(x, tuple(order))
    merged = (math.prod(sizes[:-1]), *(shape[axis] for axis in order[len(sizes) - 1 :]))
    flat = indices[0]
    for count, index in enumerate(indices[1:-1], start=1):
        flat = row_number(flat, index, math.prod(sizes[:count]), sizes[count])
    front = positions[0] if _are_neighbours(positions) else 0
    common = np.broadcast_shapes(*(i._aval.shape for i in indices))
    last = indices[-1]
    both = [t if t._aval.shape == common else expand_to(t, common) for t in (flat, last)]
    return reshape_to(x, merged), both, [0, 1], front


def _moved_back(taken: Tensor, indices: Sequence[Tensor], front: int) -> Tensor:
    depth, ndim = indices[0]._aval.ndim, taken._aval.ndim
    perm = [*range(depth, depth + front), *range(depth), *range(depth + front, ndim)]
    return transpose_to(taken, tuple(perm)) if front else taken


def _moved_front(value: Tensor, x: Tensor, indices: Sequence[Tensor], front: int) -> Tensor:
    if not front or value._aval.ndim == 0:
        return value
    depth = indices[0]._aval.ndim
    rest = x._aval.shape[2:]
    value = expand_to(value, (*rest[:front], *indices[0]._aval.shape, *rest[front:]))
    perm = [*range(front, front + depth), *range(front), *range(front + depth, value._aval.ndim)]
    return transpose_to(value, tuple(perm))


def _infer_row_number(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    shape = broadcast_shapes(operation, operands, [a.shape for a in operands])
    return operands[0].with_shape(shape).with_dtype(np.dtype(np.int64))


def _both_in_range(xp: Any, x: Any, y: Any, before: int, size: int) -> Any:
    return xp.all((x >= -before) & (x < before)) & xp.all((y >= -size) & (y < size))


@op(
    "x y",
    infer=_infer_row_number,
    check=Check(
        _both_in_range, lambda kinds, sizes: f"an index is out of range; the axes have {list(sizes)} elements",
        IndexOutOfRange, (0, 1),
    ),
)  # fmt: skip
def row_number(xp: Any, x: Any, y: Any, before: int, size: int) -> Any:
    """The position in two merged axes that a pair of indices names."""
    x, y = xp.where(x < 0, x + before, x), xp.where(y < 0, y + size, y)
    return x.astype(np.int64) * size + y
