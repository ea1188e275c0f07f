"""The primitives of indexing by tensors: take elements, put them, add to them.

`take_at(x, a, b, …, axes)` is `x[:, a, b, :]` with as many index tensors as `axes` names: they are
broadcast together, and their common shape stands where the first indexed axis was, or in front when
the indexed axes are not neighbours (as in NumPy). `axes` holds a pair (axis, size) for each index;
a size of -1 says that the indices are known to be good. Negative indices count from the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import INT64, is_reduced_precision
from ...core.namespaces import can_write
from ...eager import series
from ...eager.declare import op
from ...eager.infer import broadcast_shapes
from ...eager.tensor import Tensor
from ...ir.operation import Check
from ...ir.padding import rules
from ..basic import cast_to, expand_to, full_of, transpose_to
from ..shape.joining import stack_along

Axes = tuple[tuple[int, int], ...]
# How many index tensors the primitives take; more are gathered into one (see `take_elements`).
_MOST = 4
_UINT64 = np.dtype(np.uint64)
_largest = np.maximum.reduce  # what `max` comes to, without its wrapper


class IndexOutOfRange(IndexError, ValueError):
    """An index is out of range. Also a ValueError, which Paddle raises in half of these
    functions."""


# ---- shapes and checks ---------------------------------------------------------------------------


def _taken_shape(operation: Any, operands: Any, x: Aval, indices: Sequence[Any], axes: Axes) -> tuple[int, ...]:
    common = broadcast_shapes(operation, operands, [i.shape for i in indices])
    positions = [axis for axis, _ in axes]
    if math.prod(common) and any(x.shape[axis] == 0 for axis in positions):
        raise operation.error(IndexOutOfRange, "an axis without elements has no valid index", operands)
    if len(positions) == 1:
        return (*x.shape[: positions[0]], *common, *x.shape[positions[0] + 1 :])
    rest = [n for axis, n in enumerate(x.shape) if axis not in positions]
    front = positions[0] if _are_neighbours(positions) else 0
    return (*rest[:front], *common, *rest[front:])


def _are_neighbours(positions: Sequence[int]) -> bool:
    return list(positions) == list(range(positions[0], positions[0] + len(positions)))


def _present(indices: Sequence[Any]) -> list[Any]:
    return [i for i in indices if i is not None]


def _infer_take(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(_taken_shape(operation, operands, operands[0], _present(operands[1:]), attributes[0]))


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
            ValueError,
            f"a value of shape {list(shape)} cannot be broadcast to the indexed {list(target)}",
            operands,
        )


def is_plain(xp: Any, index: Any, size: int) -> bool:
    """Whether indices on the host are known to be from 0 to size - 1: one pass over them, for a negative number is a very
    large one without its sign. Small graphs spend their time in such checks."""
    return xp is np and index.dtype is INT64 and index.size > 0 and bool(_largest(index.view(_UINT64), None) < size)


def _in_range(first: int) -> Any:
    def condition(xp: Any, *arguments: Any) -> Any:
        *operands, axes = arguments
        good = np.True_
        for index, (_, size) in zip(operands[first:], axes):
            if size >= 0 and not is_plain(xp, index, size):
                good = good & xp.all((index >= -size) & (index < size))
        return good

    return condition


def _explain(kinds: Any, attributes: tuple[Any, ...]) -> str:
    checked = [(axis, size) for axis, size in attributes[-1] if size >= 0]
    limits = ", ".join(f"{-size} to {size - 1} for axis {axis}" for axis, size in checked)
    return f"an index is out of range; allowed: {limits}"


def _has_doubtful(attributes: tuple[Any, ...]) -> bool:
    return any(size.__class__ is not int or size >= 0 for _, size in attributes[-1])  # (a symbol is a size)


def _check(first: int) -> Check:
    return Check(_in_range(first), _explain, IndexOutOfRange, tuple(range(first, first + _MOST)), _has_doubtful)


# ---- kernels -------------------------------------------------------------------------------------


def _index(xp: Any, ndim: int, indices: Sequence[Any], axes: Axes) -> tuple[Any, ...]:
    result: list[Any] = [slice(None)] * ndim
    for index, (axis, _) in zip(indices, axes):
        result[axis] = index
    return tuple(result)


def _tamed(xp: Any, index: Any, size: int) -> Any:
    """Indices from 0 to size - 1, whatever was given: a bad one is reported by the check, not by
    NumPy."""
    if is_plain(xp, index, size):
        return index
    return xp.clip(xp.where(index < 0, index + size, index), 0, size - 1)


def _take_in_place(xp: Any, x: Any, a: Any, b: Any, c: Any, d: Any, axes: Axes) -> Any:
    if b is None and xp is np and a.dtype is INT64:
        try:
            return x.take(a, axes[0][0])  # NumPy looks at the indices itself, and counts negative ones from the end
        except IndexError:  # is reported by the check
            pass
    indices = [_tamed(xp, i, x.shape[axis]) for i, (axis, _) in zip(_present([a, b, c, d]), axes)]
    if len(axes) == 1:
        return xp.take(x, indices[0], axis=axes[0][0], mode="clip")
    return x[_index(xp, x.ndim, indices, axes)]


def _put_in_place(xp: Any, x: Any, value: Any, a: Any, b: Any, c: Any, d: Any, axes: Axes) -> Any:
    return _put_rows_of(xp, x, value, _present([a, b, c, d]), axes)


def _add_in_place(xp: Any, x: Any, value: Any, a: Any, b: Any, c: Any, d: Any, axes: Axes) -> Any:
    return _add_rows_of(xp, x, value, _present([a, b, c, d]), axes)


def _put_rows_of(xp: Any, x: Any, value: Any, indices: Sequence[Any], axes: Axes) -> Any:
    out = x.copy()
    out[_index(xp, x.ndim, [_tamed(xp, i, x.shape[axis]) for i, (axis, _) in zip(indices, axes)], axes)] = value
    return out


def _add_rows_of(xp: Any, x: Any, value: Any, indices: Sequence[Any], axes: Axes) -> Any:
    """Rows are numbered by the indexed axes, sorted, and each run of equal numbers is summed at
    once."""
    if len(axes) == 1 and axes[0][0] == 0 and indices[0].ndim == 1 and x.ndim == 2:
        # What follows comes to this for rows of a matrix, as graphs have them.
        rows = _tamed(xp, indices[0], x.shape[0])
        return x + add_rows(xp, rows, xp.broadcast_to(value, (rows.size, x.shape[1])), x.shape[0])
    positions = [axis for axis, _ in axes]
    sizes = [x.shape[axis] for axis in positions]
    indices = [_tamed(xp, i, n) for i, n in zip(indices, sizes)]
    common = np.broadcast_shapes(*(i.shape for i in indices))
    rest = [axis for axis in range(x.ndim) if axis not in positions]
    rest_shape = [x.shape[axis] for axis in rest]
    front = positions[0] if _are_neighbours(positions) else 0
    value = xp.broadcast_to(value, (*rest_shape[:front], *common, *rest_shape[front:]))
    value = xp.moveaxis(value, tuple(range(front, front + len(common))), tuple(range(len(common))))
    rows = xp.zeros(common, np.int64)
    for index, size in zip(indices, sizes):
        rows = rows * size + index
    sums = add_rows(xp, rows.reshape(-1), value.reshape(rows.size, math.prod(rest_shape)), math.prod(sizes))
    return x + sums.reshape([*sizes, *rest_shape]).transpose(np.argsort([*positions, *rest]).tolist())


def add_rows(xp: Any, rows: Any, values: Any, count: int) -> Any:
    """`count` rows, where row r is the sum of the values whose number is r."""
    dtype = values.dtype
    if is_reduced_precision(dtype):
        values = values.astype(np.float32)
    out = xp.zeros((count, values.shape[1]), values.dtype)
    if xp is not np:
        xp.add.at(out, rows, values)  # on a GPU thousands add at once
    elif rows.size and values.shape[1] == 1 and values.dtype.kind == "f":
        out[:, 0] = np.bincount(rows, values[:, 0], count)
    elif rows.size and out.size:
        order = rows.argsort(kind="stable")
        rows = rows[order]
        starts = np.concatenate([[True], rows[1:] != rows[:-1]]).nonzero()[0]
        values = values.take(order, 0)
        out[rows[starts]] = values if len(starts) == len(rows) else np.add.reduceat(values, starts, axis=0)
    return out.astype(dtype, copy=False)


# ---- the primitives ------------------------------------------------------------------------------


@op(
    "x a",
    optional="b c d",
    infer=_infer_take,
    check=_check(1),
    grad={"x": lambda g, x_aval, a, b, c, d, axes: _added_to_zeros(g, x_aval, a, b, c, d, axes)},
    name="index_get",
    family="movement",
    paddle_name="gather",
    padding=rules.indexing.index_get,
    series=series.algebra.linear("x"),
)
def take_at(xp: Any, x: Any, a: Any, b: Any = None, c: Any = None, d: Any = None, axes: Axes = ()) -> Any:
    """`x` at the places that the index tensors name."""
    return x.at[_index(xp, x.ndim, _present([a, b, c, d]), axes)].get(mode="clip")


def _without_the_places(g: Tensor, a: Any, b: Any, c: Any, d: Any, axes: Axes) -> Tensor:
    """A gradient with zeros where another value was put."""
    return put_at(g, full_of(0, (), g._aval.dtype), a, b, c, d, _trusted(axes))


@op(
    "x value a",
    optional="b c d",
    infer=_infer_put,
    check=_check(2),
    grad={
        "x": _without_the_places,
        "value": lambda g, a, b, c, d, axes: take_at(g, a, b, c, d, _trusted(axes)),
    },
    name="index_set",
    family="movement",
    amp="never",
    padding=rules.indexing.index_set,
    series=series.algebra.linear("x value"),
)
def put_at(
    xp: Any,
    x: Any,
    value: Any,
    a: Any,
    b: Any = None,
    c: Any = None,
    d: Any = None,
    axes: Axes = (),
) -> Any:
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
    name="index_accumulate",
    amp="never",
    padding=rules.indexing.index_accumulate,
    series=series.algebra.linear("x value"),
)
def add_at(
    xp: Any,
    x: Any,
    value: Any,
    a: Any,
    b: Any = None,
    c: Any = None,
    d: Any = None,
    axes: Axes = (),
) -> Any:
    """`x` plus `value` at the places that the index tensors name; equal places add up."""
    return x.at[_index(xp, x.ndim, _present([a, b, c, d]), axes)].add(value, mode="drop")


for _operation, _in_place in ((take_at, _take_in_place), (put_at, _put_in_place), (add_at, _add_in_place)):
    _operation.operation.kernels.update(numpy=_in_place, cupy=_in_place)


def _trusted(axes: Axes) -> Axes:
    """The axes with indices that a check has passed already."""
    return tuple((axis, -1) for axis, _ in axes)


def _added_to_zeros(g: Tensor, aval: Aval, a: Any, b: Any, c: Any, d: Any, axes: Axes) -> Tensor:
    return add_at(full_of(0, aval.shape, g._aval.dtype), g, a, b, c, d, _trusted(axes))


# ---- positions in the last dimension of one index tensor -----------------------------------------


def _nd_shape(x: Aval, index: Aval) -> tuple[int, ...]:
    return (*index.shape[:-1], *x.shape[index.shape[-1] :])


def _infer_take_nd(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(_nd_shape(*operands))


def _infer_put_nd(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, value, index = operands
    check_fits(operation, operands, value.shape, _nd_shape(x, index))
    return x


def _check_nd(first: int) -> Check:
    def condition(xp: Any, *arguments: Any) -> Any:
        index, sizes = arguments[first], xp.asarray(np.array(arguments[first + 1], np.int64))
        return np.True_ if not len(sizes) else xp.all((index >= -sizes) & (index < sizes))

    return Check(
        condition,
        lambda kinds, a: f"an index is out of range; the indexed axes have {list(a[0])} elements",
        IndexOutOfRange,
        (first,),
    )


def _columns(index: Any) -> tuple[list[Any], Axes]:
    """The index tensors that the last dimension holds, and the axes that they belong to."""
    count = index.shape[-1]
    return [index[..., k] for k in range(count)], tuple((k, -1) for k in range(count))


@op(
    "x index",
    infer=_infer_take_nd,
    check=_check_nd(1),
    grad={"x": lambda g, index, x_aval: put_nd(full_of(0, x_aval.shape, g._aval.dtype), g, index, (), True)},
    name="gather_nd",
    family="movement",
    padding=rules.indexing.gather_nd,
    series=series.algebra.linear("x"),
)
def take_nd(xp: Any, x: Any, index: Any, sizes: tuple[int, ...]) -> Any:
    """`x[index[..., 0], index[..., 1], …]`; `sizes` are those of the indexed axes, none if all is
    known to be good."""
    indices, axes = _columns(index)
    if can_write(xp):
        return x[_index(xp, x.ndim, [_tamed(xp, i, n) for i, n in zip(indices, x.shape)], axes)]
    return x.at[_index(xp, x.ndim, indices, axes)].get(mode="clip")


@op(
    "x value index",
    infer=_infer_put_nd,
    check=_check_nd(2),
    grad={
        "x": lambda g, index, add: g if add else put_nd(g, full_of(0, (), g._aval.dtype), index, (), False),
        "value": lambda g, index: take_nd(g, index, ()),
    },
    name="scatter_nd",
    padding=rules.indexing.scatter_nd,
)
def put_nd(xp: Any, x: Any, value: Any, index: Any, sizes: tuple[int, ...], add: bool) -> Any:
    """`x` with `value` written or added at `x[index[..., 0], index[..., 1], …]`."""
    indices, axes = _columns(index)
    if can_write(xp):
        return (_add_rows_of if add else _put_rows_of)(xp, x, value, indices, axes)
    target = x.at[_index(xp, x.ndim, indices, axes)]
    return target.add(value, mode="drop") if add else target.set(value, mode="drop")


# ---- any number of index tensors -----------------------------------------------------------------


def axes_of(x: Tensor, positions: Sequence[int], trusted: bool = False) -> Axes:
    return tuple((axis, -1 if trusted else x._aval.shape[axis]) for axis in positions)


def _absent(indices: Sequence[Tensor]) -> tuple[None, ...]:
    return (None,) * (_MOST - len(indices))


def take_elements(x: Tensor, indices: Sequence[Tensor], positions: Sequence[int], trusted: bool = False) -> Tensor:
    """`x` indexed by tensors at some axes."""
    if len(indices) == 1:  # as below, for what loops are made of
        axis = positions[0]
        return take_at(x, indices[0], None, None, None, ((axis, -1 if trusted else x._aval.shape[axis]),))
    if len(indices) <= _MOST:
        return take_at(x, *indices, *_absent(indices), axes_of(x, positions, trusted))
    moved = transpose_to(x, _indexed_first(x, positions))
    index, sizes = _one_index(x, indices, positions)
    taken = take_nd(moved, index, sizes)
    depth, front = index._aval.ndim - 1, positions[0] if _are_neighbours(positions) else 0
    perm = [*range(depth, depth + front), *range(depth), *range(depth + front, taken._aval.ndim)]
    return transpose_to(taken, tuple(perm))


def put_elements(
    x: Tensor,
    value: Tensor,
    indices: Sequence[Tensor],
    positions: Sequence[int],
    trusted: bool = False,
    add: bool = False,
) -> Tensor:
    """`x` with `value` written (or added) where index tensors point."""
    if len(indices) <= _MOST:
        write = add_at if add else put_at
        return write(x, value, *indices, *_absent(indices), axes_of(x, positions, trusted))
    order = _indexed_first(x, positions)
    index, sizes = _one_index(x, indices, positions)
    depth, front = index._aval.ndim - 1, positions[0] if _are_neighbours(positions) else 0
    rest = [x._aval.shape[axis] for axis in order[len(positions) :]]
    value = expand_to(value, (*rest[:front], *index._aval.shape[:-1], *rest[front:]))
    perm = [*range(front, front + depth), *range(front), *range(front + depth, value._aval.ndim)]
    changed = put_nd(transpose_to(x, order), transpose_to(value, tuple(perm)), index, sizes, add)
    return transpose_to(changed, tuple(int(a) for a in np.argsort(order)))


def _indexed_first(x: Tensor, positions: Sequence[int]) -> tuple[int, ...]:
    return (*positions, *(axis for axis in range(x._aval.ndim) if axis not in positions))


def _one_index(x: Tensor, indices: Sequence[Tensor], positions: Sequence[int]) -> tuple[Tensor, tuple[int, ...]]:
    """Many index tensors as one, with the sizes of their axes."""
    common = np.broadcast_shapes(*(i._aval.shape for i in indices))
    columns = [expand_to(cast_to(i, INT64), common) for i in indices]
    return stack_along(columns, len(common)), tuple(x._aval.shape[axis] for axis in positions)
