"""Taking and putting elements along one axis: take_along_axis, put_along_axis, index_sample.

The index has the dimensions of `x`; element `[i, j, k]` of it says where to go along the axis while
the other coordinates stay `i`, `j` or `k`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import is_reduced_precision
from ...core.errors import value_error
from ...core.namespaces import can_write
from ...eager import series
from ...eager.annotations import AxisLike, Number
from ...eager.declare import op, public
from ...eager.infer import broadcast_shapes, same
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import assign_in_place
from ...ir.operation import Check
from ...ir.padding import rules
from ..arguments import one_axis, require_tensor
from ..basic import cast_to, expand_to, full_of
from ..create.creation import scalar_of
from .gather import index_tensor, same_type
from .indexing_kernels import IndexOutOfRange, add_rows

_REDUCE = {
    "assign": "assign",
    "add": "add",
    "mul": "multiply",
    "multiply": "multiply",
    "amax": "amax",
    "amin": "amin",
    "mean": "mean",
}


def _infer_take(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(attributes[2])


def _infer_put(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0]


def _check(position: int) -> Check:
    """The index within the axis, whose extent is the second attribute (-1: known to be good)."""

    def condition(xp: Any, *arguments: Any) -> Any:
        index, size = arguments[position], arguments[position + 2]
        return np.True_ if size < 0 else xp.all((index >= -size) & (index < size))

    return Check(
        condition,
        lambda kinds, a: f"an index is out of range for axis {a[0]}; allowed: {-a[1]} to {a[1] - 1}",
        IndexOutOfRange,
        (position,),
    )


def _positive(xp: Any, index: Any, size: int) -> Any:
    index = xp.where(index < 0, index + size, index)
    return xp.clip(index, 0, max(size - 1, 0)) if can_write(xp) else index


def _coordinates(xp: Any, shape: tuple[int, ...], index: Any, axis: int) -> tuple[Any, ...]:
    """Index arrays for every axis: the given one, and each element's own coordinate elsewhere."""
    result = [xp.arange(n).reshape([n if a == k else 1 for a in range(len(shape))]) for k, n in enumerate(index.shape)]
    result[axis] = _positive(xp, index, shape[axis])
    return tuple(result)


@op(
    "x index",
    infer=_infer_take,
    check=_check(1),
    grad={"x": lambda g, index, x_aval, axis: put_along(_zeros(x_aval), g, index, axis, -1, "add")},
    name="take_along_axis",
    family="movement",
    padding=rules.indexing.take_along,
    series=series.algebra.linear("x"),
)
def take_along(xp: Any, x: Any, index: Any, axis: int, size: int, shape: tuple[int, ...]) -> Any:
    """`x` at the index, broadcast to a shape, along an axis; it may be shorter than `x` along the
    others."""
    index = xp.broadcast_to(index, shape)
    if can_write(xp):
        return x[_coordinates(xp, x.shape, index, axis)]
    return x.at[_coordinates(xp, x.shape, index, axis)].get(mode="clip")


def _zeros(aval: Aval) -> Tensor:
    return full_of(0, aval.shape, aval.dtype)


def _put_grad_x(g: Tensor, x: Any, value: Any, index: Any, out: Any, axis: int, reduce: str) -> Tensor:
    if reduce == "add":
        return g
    if reduce == "assign":
        return put_along(g, full_of(0, value._aval.shape, g._aval.dtype), index, axis, -1, "assign")
    if reduce == "multiply":
        factors = put_along(full_of(1, g._aval.shape, g._aval.dtype), value, index, axis, -1, "multiply")
        return g * factors
    return g * (chosen(x, out) / _winners(x, value, index, out, axis))


def _put_grad_value(g: Any, x: Any, value: Any, index: Any, out: Any, axis: int, reduce: str) -> Tensor:
    if reduce in ("add", "assign"):
        return take_along(g, index, axis, -1, value._aval.shape)
    if reduce == "multiply":
        return take_along(g * out, index, axis, -1, value._aval.shape) / value
    shared = take_along(g / _winners(x, value, index, out, axis), index, axis, -1, value._aval.shape)
    return shared * chosen(value, take_along(out, index, axis, -1, value._aval.shape))


def _winners(x: Tensor, value: Tensor, index: Tensor, out: Tensor, axis: int) -> Tensor:
    """How many of the candidates for each place equal the largest (smallest): they share its
    gradient."""
    reached = take_along(out, index, axis, -1, value._aval.shape)
    return put_along(chosen(x, out), chosen(value, reached), index, axis, -1, "add")


@op("x y", infer=same)
def chosen(xp: Any, x: Any, y: Any) -> Any:
    """1 where the two are equal, 0 elsewhere, in the type of `x`."""
    return (x == y).astype(x.dtype, copy=False)


@op(
    "x value index",
    infer=_infer_put,
    check=_check(2),
    grad={
        "x": lambda g, x, value, index, out, axis, reduce: _put_grad_x(g, x, value, index, out, axis, reduce),
        "value": lambda g, x, value, index, out, axis, reduce: _put_grad_value(g, x, value, index, out, axis, reduce),
    },
    name="put_along_axis",
    padding=rules.indexing.put_along,
)
def put_along(xp: Any, x: Any, value: Any, index: Any, axis: int, size: int, reduce: str) -> Any:
    """`x` combined with `value` where the index, broadcast to the shape of `value`, points along an
    axis."""
    index = xp.broadcast_to(index, value.shape)
    where = x.at[_coordinates(xp, x.shape, index, axis)]
    if reduce == "assign":
        return where.set(value, mode="drop")
    if reduce == "add":
        return where.add(value, mode="drop")
    if reduce == "multiply":
        return where.multiply(value, mode="drop")
    return where.max(value, mode="drop") if reduce == "amax" else where.min(value, mode="drop")


def _put_along_in_place(xp: Any, x: Any, value: Any, index: Any, axis: int, size: int, reduce: str) -> Any:
    index = xp.broadcast_to(index, value.shape)
    coordinates = _coordinates(xp, x.shape, index, axis)
    if reduce == "add":
        rows = xp.ravel_multi_index(tuple(xp.broadcast_arrays(*coordinates)), x.shape) if x.size else index
        return x + add_rows(xp, rows.reshape(-1), value.reshape(-1, 1), x.size).reshape(x.shape)
    wide = np.float32 if is_reduced_precision(x.dtype) else x.dtype
    out = x.astype(wide)
    if reduce == "assign":
        out[coordinates] = value
    else:
        if xp is not np and wide == np.float64:
            raise NotImplementedError("CuPy's atomic maximum of float64 goes through float32")
        function = {"multiply": xp.multiply, "amax": xp.maximum, "amin": xp.minimum}[reduce]
        function.at(out, coordinates, value.astype(wide))
    return out.astype(x.dtype, copy=False)


put_along.operation.kernels["numpy"] = _put_along_in_place
put_along.operation.kernels["cupy"] = _put_along_in_place


def _prepared(
    where: str, x: Tensor, index: Any, axis: Any, broadcast: bool
) -> tuple[Tensor, Tensor, int, tuple[int, ...]]:
    """Tensor, index, axis, and the shape that the index is to be broadcast to."""
    aval = require_tensor(where, "arr", x)._aval
    index = index_tensor(where, index, "indices", short=where == "take_along_axis")
    if index._aval.ndim != aval.ndim or not aval.ndim:
        raise value_error(
            where,
            "indices and arr must have the same number of dimensions, at least one",
            f"arr: {aval}, indices: {index._aval}",
        )
    along = one_axis(where, axis, aval.ndim)
    extents = index._aval.shape
    if broadcast:
        ones = tuple(1 if a == along else n for a, n in enumerate(aval.shape))
        target = broadcast_shapes(take_along.operation, [aval, index._aval], [ones, extents])
        for a, (wanted, n) in enumerate(zip(target, aval.shape)):
            if a != along and wanted != n:
                x = expand_to(x, tuple(m if b != a else wanted for b, m in enumerate(x._aval.shape)))
        extents = target
    elif any(n > m for a, (n, m) in enumerate(zip(extents, aval.shape)) if a != along):
        raise value_error(
            where,
            f"indices must not be larger than arr apart from axis {along}",
            f"arr: {aval}, indices: {index._aval}",
        )
    if aval.shape[along] == 0 and index._aval.size:
        raise IndexOutOfRange(f"({where}) axis {along} has no elements; received arr: {aval}.")
    return x, index, along, extents


def _reference_take(arr: Any, indices: Any, axis: int, broadcast: bool = True) -> Any:
    if not broadcast:
        arr = arr[tuple(slice(None) if a == axis % arr.ndim else slice(n) for a, n in enumerate(indices.shape))]
    return np.take_along_axis(arr, indices, axis)


@samples(
    S(A(2, 3), A(2, 2, dtype="int64", values=[[0, 1], [2, 2]]), 1),
    S(A(2, 3), A(1, 2, dtype="int32", values=[[-1, 1]]), -1),
    S(A(2, 3), A(3, 1, dtype="int64", values=[[0], [1], [0]]), 0),
    S(A(2, 3), A(1, 2, dtype="int64", values=[[2, 0]]), 1, broadcast=False),
    S(A(3), A(0, dtype="int64", values=np.zeros(0)), 0),
    reference=_reference_take,
)
@public(method=True, aliases="arr=input")
def take_along_axis(
    arr: Tensor, indices: Tensor, axis: AxisLike | None, broadcast: bool = True, *, out: Tensor | None = None
) -> Tensor:
    """The elements of a tensor at positions along an axis.

    Args:
        arr: the tensor.
        indices: positions along the axis, with as many axes as `arr`.
        axis: the axis.
        broadcast: whether `indices` is broadcast to the shape of `arr` along the other axes.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.take_along_axis(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]]), axis=1).tolist()
        [[2], [3]]
    """
    x, index, along, shape = _prepared("take_along_axis", arr, indices, axis, broadcast)
    taken = take_along(x, index, along, x._aval.shape[along], shape)
    return taken if out is None else assign_in_place(out, taken, "take_along_axis")


def _reference_put(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Any:
    out = arr.copy()
    if broadcast:
        indices = np.broadcast_to(
            indices,
            [n if a == axis % arr.ndim else m for a, (n, m) in enumerate(zip(indices.shape, arr.shape))],
        )
    values = np.broadcast_to(np.asarray(values, arr.dtype), indices.shape)
    count = np.full(arr.shape, int(include_self))
    for place in np.ndindex(*indices.shape):
        target = list(place)
        target[axis] = indices[place]
        where = tuple(target)
        count[where] += 1
        if reduce == "assign" or count[where] == 1:
            out[where] = values[place]
        elif reduce in ("add", "mean"):
            out[where] += values[place]
        elif reduce in ("mul", "multiply"):
            out[where] *= values[place]
        else:
            out[where] = (max if reduce == "amax" else min)(out[where], values[place])
    return out / np.maximum(count, 1) if reduce == "mean" else out


_PLACES = A(2, 2, dtype="int64", values=[[0, 0], [1, 2]])


@samples(
    S(A(2, 3), A(1, 1, dtype="int64", values=[[0]]), 9.0, 1),
    S(A(2, 3), A(2, 2, dtype="int64", values=[[0, 1], [2, 0]]), A(2, 2), 1),
    S(A(2, 3), _PLACES, A(2, 2), 1, "add"),
    S(A(2, 3), _PLACES, A(2, 2, low=0.5), 1, "mul"),
    S(A(2, 3, unique=True), _PLACES, A(2, 2, low=-1.5, high=1.5, unique=True), 1, "amax"),
    S(
        A(2, 3, unique=True),
        _PLACES,
        A(2, 2, low=-1.5, high=1.5, unique=True),
        1,
        "amin",
        include_self=False,
    ),
    S(A(2, 3), _PLACES, A(2, 2), 1, "mean"),
    S(A(2, 3), _PLACES, A(2, 2), 1, "mean", include_self=False),
    S(A(2, 3), A(1, 2, dtype="int32", values=[[-1, 0]]), A(1, 2), 1, broadcast=False),
    reference=_reference_put,
)
@public(method=True, inplace=True)
@one_operator("put_along_axis")
def put_along_axis(
    arr: Tensor,
    indices: Tensor,
    values: Number,
    axis: AxisLike | None,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Tensor:
    """A tensor with values put at positions along an axis.

    Args:
        arr: the tensor.
        indices: positions along the axis.
        values: what is put there, a tensor or a number.
        axis: the axis.
        reduce: "assign", or how to combine with what is there: "add", "multiply" (or "mul"), "amax", "amin", "mean".
        include_self: whether what is there takes part.
        broadcast: whether `indices` and `values` are broadcast to the shape of `arr`.

    Examples:
        >>> paddle.put_along_axis(paddle.zeros([1, 3]), paddle.to_tensor([[2]]), 5.0, axis=1).tolist()
        [[0.0, 0.0, 5.0]]
    """
    if reduce not in _REDUCE:
        raise value_error("put_along_axis", f"reduce is one of {', '.join(map(repr, _REDUCE))}", repr(reduce))
    kind = _REDUCE[reduce]
    x, index, along, shape = _prepared("put_along_axis", arr, indices, axis, broadcast)
    if x is not arr:
        raise value_error(
            "put_along_axis",
            "indices are larger than arr",
            f"arr: {arr._aval}, indices: {indices._aval}",
        )
    dtype = x._aval.dtype
    if isinstance(values, Tensor):
        same_type("put_along_axis", x, values, "values")
        value = values
    else:
        value = full_of(scalar_of("put_along_axis", "values", values), (), dtype)
    if value._aval.shape != shape:
        if value._aval.size != 1 and not broadcast:
            raise value_error(
                "put_along_axis",
                "values must have the shape of indices",
                f"indices: {index._aval}, values: {value._aval}",
            )
        broadcast_shapes(put_along.operation, [value._aval, index._aval], [value._aval.shape, shape])
        value = expand_to(value, shape)
    size = x._aval.shape[along]
    if kind == "assign":
        return put_along(x, value, index, along, size, "assign")
    if not include_self:
        x = put_along(x, full_of(_neutral(kind, dtype), shape, dtype), index, along, size, "assign")
    if kind != "mean":
        return put_along(x, value, index, along, size, kind)
    ones = full_of(1, shape, dtype)
    if include_self:
        counts = put_along(full_of(1, x._aval.shape, dtype), ones, index, along, -1, "add")
    else:
        counts = put_along(full_of(0, x._aval.shape, dtype), ones, index, along, -1, "add")
        counts = put_where_zero(counts)
    total = put_along(x, value, index, along, size, "add")
    return total / counts if dtype.kind == "f" else cast_to(total // counts, dtype)


@op(infer=_infer_put, padding=rules.refused("its result depends on all positions together"))
def put_where_zero(xp: Any, x: Any) -> Any:
    """The counts, 1 where there were none."""
    return xp.maximum(x, x.dtype.type(1))


def _neutral(kind: str, dtype: np.dtype) -> Any:
    """What combining begins with when the old element takes no part."""
    if kind in ("add", "mean"):
        return 0
    if kind == "multiply":
        return 1
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return int(limits.min if kind == "amax" else limits.max)
    return float("-inf") if kind == "amax" else float("inf")


@samples(
    S(A(2, 3), A(2, 2, dtype="int64", values=[[0, 1], [2, 2]])),
    S(A(2, 3), A(2, 1, dtype="int32", values=[[2], [0]])),
    S(A(2, 3, dtype="int64"), A(2, 3, dtype="int64", values=[[2, 1, 0], [0, 0, 0]])),
    reference=lambda x, index: np.take_along_axis(x, index, 1),
)
@public(method=True)
def index_sample(x: Tensor, index: Tensor) -> Tensor:
    """For each row of `x`, the elements that the same row of `index` names.

    Args:
        x: a matrix.
        index: integers, with as many rows.

    Examples:
        >>> paddle.index_sample(paddle.to_tensor([[1, 2, 3], [4, 5, 6]]), paddle.to_tensor([[0, 2], [1, 1]])).tolist()
        [[1, 3], [5, 5]]
    """
    require_tensor("index_sample", "x", x)
    index = index_tensor("index_sample", index)
    if x._aval.ndim != 2 or index._aval.ndim != 2 or x._aval.shape[0] != index._aval.shape[0]:
        raise value_error(
            "index_sample",
            "x and index are matrices with the same number of rows",
            f"x: {x._aval}, index: {index._aval}",
        )
    return take_along(x, index, 1, x._aval.shape[1], index._aval.shape)
