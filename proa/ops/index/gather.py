"""Functions that index by tensors: gather and scatter by rows and by positions.

An index out of range is an IndexError that is a ValueError as well (Paddle raises now the one, now
the other), at the call when the indices are known there and when the work is run otherwise.
Negative indices count from the end where Paddle lets them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import INT32, INT64
from ...core.errors import type_error, value_error
from ...eager.annotations import AxisLike, Number, ShapeLike
from ...eager.declare import op, public
from ...eager.infer import same
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ...eager.views import assign_in_place
from ..arguments import new_shape, one_axis, require_tensor
from ..basic import cast_to, full_of, reshape_to
from ..create.creation import scalar_of
from .indexing_kernels import put_elements, put_nd, take_elements, take_nd
from .orders import gather_by_dim, index_add_by_dim, index_select_by_dim, scatter_by_dim


def index_tensor(where: str, index: Any, name: str = "index", short: bool = False) -> Tensor:
    """A tensor of int32 or int64; with `short` of any integer type."""
    dtype = require_tensor(where, name, index)._aval.dtype
    if dtype != INT64 and dtype != INT32 and not (short and dtype.kind in "iu"):
        raise type_error(
            where,
            f"{name} must have an integer type, int32 or int64",
            f"{name}: {index._aval}",
            "convert it with astype('int64')",
        )
    return index


def _flat_index(where: str, index: Any) -> Tensor:
    """Indices in one dimension (a column [n, 1] counts as one)."""
    index = index_tensor(where, index)
    shape = index._aval.shape
    if len(shape) == 2 and shape[1] == 1:
        return reshape_to(index, shape[:1])
    if len(shape) > 1:
        raise value_error(where, "index must have one dimension", f"index: {index._aval}")
    return index


def written(out: Tensor | None, result: Tensor, where: str) -> Tensor:
    return result if out is None else assign_in_place(out, result, where)


# ---- rows ----------------------------------------------------------------------------------------


@samples(
    S(A(3, 2), A(2, dtype="int64", values=[2, 0])),
    S(A(2, 3), A(1, dtype="int32", values=[-1]), axis=1),
    S(A(3, 2), A(dtype="int64", values=1)),
    S(A(3, 2), A(0, dtype="int64", values=np.zeros(0))),
    S(A(3, 2), A(2, 1, dtype="int64", values=[[1], [1]])),
    reference=lambda x, i, axis=0: np.take(x, i.reshape(-1) if i.ndim == 2 else i, axis),
)
@public(method=True, otherwise=gather_by_dim)
def gather(
    x: Tensor, index: Tensor, axis: AxisLike | None = None, name: str | None = None, out: Tensor | None = None
) -> Tensor:
    """The slices of a tensor along an axis that `index` names.

    Args:
        x: the tensor.
        index: integers, along one axis.
        axis: the axis; the first by default.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.gather(paddle.to_tensor([[1, 2], [3, 4], [5, 6]]), paddle.to_tensor([2, 0])).tolist()
        [[5, 6], [1, 2]]
    """
    require_tensor("gather", "x", x)
    along = one_axis("gather", 0 if axis is None else axis, x._aval.ndim)
    return written(out, take_elements(x, [_flat_index("gather", index)], [along]), "gather")


@samples(
    S(A(3, 2), A(2, dtype="int64", values=[2, 0])),
    S(A(2, 3), A(2, dtype="int32", values=[-1, 1]), axis=1),
    S(A(3, 2), A(0, dtype="int64", values=np.zeros(0))),
    reference=lambda x, i, axis=0: np.take(x, i, axis),
)
@public(method=True, otherwise=index_select_by_dim)
def index_select(
    x: Tensor, index: Tensor, axis: AxisLike = 0, name: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The slices of a tensor along an axis that a vector of integers names.

    Args:
        x: the tensor.
        index: the numbers of the slices.
        axis: the axis.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.index_select(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([1, 1]), axis=1).tolist()
        [[2, 2], [4, 4]]
    """
    require_tensor("index_select", "x", x)
    along = one_axis("index_select", axis, x._aval.ndim)
    index = _flat_index("index_select", index)
    if index._aval.ndim == 0:
        raise value_error("index_select", "index must have one dimension", f"index: {index._aval}")
    return written(out, take_elements(x, [index], [along]), "index_select")


def _reference_scatter(x: Any, index: Any, updates: Any, overwrite: bool = True) -> Any:
    out = x.copy()
    index = index.reshape(-1)
    if overwrite:
        out[index] = updates
    else:
        out[index] = 0
        np.add.at(out, index, updates)
    return out


@samples(
    S(A(3, 2), A(2, dtype="int64", values=[2, 0]), A(2, 2)),
    S(A(3), A(2, dtype="int32", values=[1, 2]), A(2)),
    S(A(3, 2), A(2, dtype="int64", values=[1, 1]), A(2, 2), overwrite=False),
    S(A(3, 2), A(0, dtype="int64", values=np.zeros(0)), A(0, 2)),
    reference=_reference_scatter,
)
@public(method=True, inplace=True, otherwise=scatter_by_dim)
@one_operator("scatter")
def scatter(
    x: Tensor,
    index: Tensor,
    updates: Tensor,
    overwrite: bool = True,
    name: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor with the rows that `index` names replaced.

    Args:
        x: the tensor.
        index: the numbers of the rows.
        updates: the new rows.
        overwrite: True replaces; False makes the named rows the sum of their updates.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.scatter(paddle.zeros([3]), paddle.to_tensor([2, 0]), paddle.to_tensor([5.0, 6.0])).tolist()
        [6.0, 0.0, 5.0]
    """
    require_tensor("scatter", "x", x)
    require_tensor("scatter", "updates", updates)
    index = _flat_index("scatter", index)
    same_type("scatter", x, updates, "updates")
    expected = (*index._aval.shape, *x._aval.shape[1:])
    if updates._aval.shape != expected:
        raise value_error(
            "scatter",
            f"updates must have the shape {list(expected)}",
            f"x: {x._aval}, index: {index._aval}, updates: {updates._aval}",
        )
    if overwrite:
        result = put_elements(x, updates, [index], [0])
    else:
        cleared = put_elements(x, full_of(0, (), x._aval.dtype), [index], [0])
        result = put_elements(cleared, updates, [index], [0], trusted=True, add=True)
    return written(out, result, "scatter")


def same_type(where: str, x: Tensor, value: Tensor, name: str) -> None:
    if x._aval.dtype != value._aval.dtype:
        raise value_error(
            where,
            f"x and {name} must have the same type",
            f"x: {x._aval}, {name}: {value._aval}",
            "convert one with astype()",
        )


def _reference_index_add(x: Any, index: Any, axis: int, value: Any, alpha: float = 1) -> Any:
    out = x.copy()
    np.add.at(out, (slice(None),) * (axis % x.ndim) + (index,), value * np.asarray(alpha, x.dtype))
    return out


@samples(
    S(A(3, 2), A(2, dtype="int64", values=[2, 2]), 0, A(2, 2)),
    S(A(2, 3), A(2, dtype="int32", values=[0, -1]), -1, A(2, 2)),
    S(A(3, 2), A(1, dtype="int64", values=[1]), 0, A(1, 2), alpha=2.5),
    reference=_reference_index_add,
)
@public(method=True, inplace=True, otherwise=index_add_by_dim)
def index_add(
    x: Tensor,
    index: Tensor,
    axis: AxisLike | None,
    value: Tensor,
    alpha: Number = 1,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A tensor with slices added where `index` says.

    Args:
        x: the tensor.
        index: the numbers of the slices that change; equal ones add up.
        axis: the axis that they are slices of.
        value: what is added.
        alpha: a number that `value` is multiplied by.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.index_add(paddle.zeros([2, 2]), paddle.to_tensor([1]), 0, paddle.ones([1, 2])).tolist()
        [[0.0, 0.0], [1.0, 1.0]]
    """
    require_tensor("index_add", "x", x)
    require_tensor("index_add", "value", value)
    along = one_axis("index_add", axis, x._aval.ndim)
    value = value if alpha.__class__ is int and alpha == 1 else value * scalar_of("index_add", "alpha", alpha)
    result = put_elements(x, value, [_flat_index("index_add", index)], [along], add=True)
    return written(out, result, "index_add")


@samples(
    S(A(3, 2), A(2, dtype="int64", values=[2, 0]), 0, 1.5),
    S(A(2, 3), A(1, dtype="int32", values=[-1]), 1, 0),
    S(A(3, dtype="int64"), A(1, dtype="int64", values=[1]), 0, 7),
    reference=lambda x, i, axis, value: _reference_index_fill(x, i, axis, value),
)
@public(method=True, inplace=True)
def index_fill(x: Tensor, index: Tensor, axis: AxisLike | None, value: Number, name: str | None = None) -> Tensor:
    """A tensor with one number in the slices that `index` names.

    Args:
        x: the tensor.
        index: the numbers of the slices.
        axis: the axis that they are slices of.
        value: the number.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.index_fill(paddle.zeros([2, 2]), paddle.to_tensor([1]), 0, 5.0).tolist()
        [[0.0, 0.0], [5.0, 5.0]]
    """
    require_tensor("index_fill", "x", x)
    along = one_axis("index_fill", axis, x._aval.ndim)
    dtype = x._aval.dtype
    if isinstance(value, Tensor):
        if value._aval.size != 1:
            raise value_error("index_fill", "value must be one number", f"value: {value._aval}")
        filling = reshape_to(cast_to(value, dtype), ())
    else:
        filling = full_of(scalar_of("index_fill", "value", value), (), dtype)
    return put_elements(x, filling, [_flat_index("index_fill", index)], [along])


def _reference_index_fill(x: Any, index: Any, axis: int, value: Any) -> Any:
    out = x.copy()
    out[(slice(None),) * axis + (index,)] = value
    return out


# ---- several axes --------------------------------------------------------------------------------


def _expanded_indices(where: str, x: Tensor, indices: Any) -> list[Tensor]:
    """Index tensors, with masks turned into the positions of their true elements (looked up on the
    host)."""
    if isinstance(indices, Tensor) or not isinstance(indices, (list, tuple)) or not indices:
        raise value_error(where, "indices must be a list or tuple of tensors", type(indices).__name__)
    found: list[Tensor] = []
    for position, index in enumerate(indices):
        require_tensor(where, f"indices[{position}]", index)
        if index._aval.dtype.kind == "b":
            found += [tensor_from_data(places) for places in np.nonzero(np.asarray(index._data()))]
        else:
            found.append(index_tensor(where, index, f"indices[{position}]"))
    if len(found) > x._aval.ndim:
        raise value_error(where, f"there are {len(found)} indices for {x._aval.ndim} axes", f"x: {x._aval}")
    return found


def _reference_index_put(x: Any, indices: Any, value: Any, accumulate: bool = False) -> Any:
    out = x.copy()
    if accumulate:
        np.add.at(out, tuple(indices), value)
    else:
        out[tuple(indices)] = value
    return out


@samples(
    S(A(3, 2), [A(2, dtype="int64", values=[2, 0]), A(2, dtype="int64", values=[1, 0])], A(2)),
    S(A(3, 2), [A(2, dtype="int64", values=[1, 1])], A(2), accumulate=True),
    S(A(3, 2), [A(3, dtype="bool", values=[True, False, True])], A()),
    reference=_reference_index_put,
)
@public(method=True, inplace=True)
@one_operator("index_put")
def index_put(x: Tensor, indices: Any, value: Tensor, accumulate: bool = False, name: str | None = None) -> Tensor:
    """A tensor with values at `x[indices]`.

    Args:
        x: the tensor.
        indices: a tuple of integer tensors, or of one bool tensor.
        value: what is put there; its shape broadcasts.
        accumulate: add to what is there instead.
        name: a label; it changes nothing.

    Examples:
        >>> where = (paddle.to_tensor([0, 1]), paddle.to_tensor([1, 0]))
        >>> paddle.index_put(paddle.zeros([2, 2]), where, paddle.to_tensor([7.0, 8.0])).tolist()
        [[0.0, 7.0], [8.0, 0.0]]
    """
    require_tensor("index_put", "x", x)
    require_tensor("index_put", "value", value)
    same_type("index_put", x, value, "value")
    found = _expanded_indices("index_put", x, indices)
    return put_elements(x, value, found, range(len(found)), add=bool(accumulate))


def _last_axis(where: str, x: Aval, index: Aval) -> int:
    if index.ndim == 0 or index.shape[-1] > x.ndim:
        raise value_error(
            where,
            "the last dimension of index says how many axes are indexed, at most all of x",
            f"x: {x}, index: {index}",
        )
    return index.shape[-1]


def _reference_gather_nd(x: Any, index: Any) -> Any:
    return x[tuple(np.moveaxis(index, -1, 0))] if index.shape[-1] else np.broadcast_to(x, index.shape[:-1] + x.shape)


@samples(
    S(A(2, 3, 2), A(2, 2, dtype="int64", values=[[1, 0], [0, 2]])),
    S(A(2, 3), A(1, dtype="int32", values=[1])),
    S(A(2, 3), A(2, 1, 2, dtype="int64", values=[[[0, 0]], [[1, -1]]])),
    S(A(2, 3), A(2, 0, dtype="int64")),
    reference=_reference_gather_nd,
)
@public(method=True)
def gather_nd(x: Tensor, index: Tensor, name: str | None = None) -> Tensor:
    """The elements, or slices, at several positions: `x[index[..., 0], index[..., 1], …]`.

    Args:
        x: the tensor.
        index: integers; its last axis holds one position.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.gather_nd(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[0, 1], [1, 0]])).tolist()
        [2, 3]
    """
    require_tensor("gather_nd", "x", x)
    depth = _last_axis("gather_nd", x._aval, index_tensor("gather_nd", index)._aval)
    if depth == 0:
        return x.expand((*index._aval.shape[:-1], *x._aval.shape))
    return take_nd(x, index, x._aval.shape[:depth])


def _reference_scatter_nd_add(x: Any, index: Any, updates: Any) -> Any:
    out = x.copy()
    np.add.at(out, tuple(np.moveaxis(index, -1, 0)), updates)
    return out


@samples(
    S(A(2, 3), A(2, 1, dtype="int64", values=[[1], [1]]), A(2, 3)),
    S(A(2, 3), A(1, 2, dtype="int32", values=[[1, -1]]), A(1)),
    S(A(3), A(3, 1, dtype="int64", values=[[2], [0], [2]]), A(3)),
    reference=_reference_scatter_nd_add,
)
@public(method=True)
@one_operator("scatter_nd_add")
def scatter_nd_add(x: Tensor, index: Tensor, updates: Tensor, name: str | None = None) -> Tensor:
    """A tensor with values added at several positions.

    Args:
        x: the tensor.
        index: integers; its last axis holds one position.
        updates: what is added; equal positions add up.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.scatter_nd_add(paddle.ones([3]), paddle.to_tensor([[1], [1]]), paddle.to_tensor([5.0, 6.0])).tolist()
        [1.0, 12.0, 1.0]
    """
    require_tensor("scatter_nd_add", "x", x)
    require_tensor("scatter_nd_add", "updates", updates)
    depth = _last_axis("scatter_nd_add", x._aval, index_tensor("scatter_nd_add", index)._aval)
    same_type("scatter_nd_add", x, updates, "updates")
    expected = (*index._aval.shape[:-1], *x._aval.shape[depth:])
    if updates._aval.shape != expected:
        raise value_error(
            "scatter_nd_add",
            f"updates must have the shape {list(expected)}",
            f"x: {x._aval}, index: {index._aval}, updates: {updates._aval}",
        )
    if depth == 0:
        leading = tuple(range(index._aval.ndim - 1))
        return x + (updates.sum(leading) if leading else updates)
    return put_nd(x, updates, index, x._aval.shape[:depth], True)


@samples(
    S(A(2, 1, dtype="int64", values=[[1], [2]]), A(2), [4]),
    S(A(2, 1, dtype="int64", values=[[1], [1]]), A(2, 3), [3, 3]),
    S(A(0, 1, dtype="int64"), A(0), [2]),
    reference=lambda i, updates, shape: _reference_scatter_nd_add(np.zeros(shape, updates.dtype), i, updates),
)
@public(values=True, method=True)
def scatter_nd(index: Tensor, updates: Tensor, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Zeros with values added at several positions.

    Args:
        index: integers; its last axis holds one position.
        updates: what is added; equal positions add up.
        shape: the shape of the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.scatter_nd(paddle.to_tensor([[1], [1]]), paddle.to_tensor([5.0, 6.0]), [3]).tolist()
        [0.0, 11.0, 0.0]
    """
    require_tensor("scatter_nd", "updates", updates)
    return scatter_nd_add(full_of(0, new_shape("scatter_nd", shape), updates._aval.dtype), index, updates)


@samples(
    S(A(2, 3), A(2, dtype="int64", values=[0, 5])),
    S(A(2, 3), A(1, 2, dtype="int64", values=[[-1, 1]])),
    S(A(2, 3), A(2, dtype="int64", values=[7, -8]), mode="wrap"),
    S(A(2, 3), A(2, dtype="int64", values=[7, -8]), mode="clip"),
    reference=lambda x, i, mode="raise": np.take(x, i, mode=mode),  # type: ignore[call-overload]
)
@public(method=True)
def take(x: Tensor, index: Tensor, mode: str = "raise", name: str | None = None) -> Tensor:
    """Elements of a tensor by their number in row-major order.

    Args:
        x: the tensor.
        index: the numbers.
        mode: what happens to a number out of range: "raise" an error, "wrap" to count on from the other end, "clip" to
            take the nearest element.
        name: a label; it changes nothing.

    Raises:
        IndexError: a number is out of range, in the mode "raise".

    Examples:
        >>> paddle.take(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([0, 3])).tolist()
        [1, 4]
        >>> paddle.take(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([5]), mode="wrap").tolist()
        [2]
    """
    if mode not in ("raise", "wrap", "clip"):
        raise value_error("take", "mode is 'raise', 'wrap' or 'clip'", repr(mode))
    size = require_tensor("take", "x", x)._aval.size
    index = index_tensor("take", index)
    if mode != "raise":
        index = folded(index, size, mode)
    return take_elements(reshape_to(x, (size,)), [index], [0], trusted=mode != "raise")


@op(infer=same)
def folded(xp: Any, x: Any, size: int, mode: str) -> Any:
    """Indices brought into range."""
    return xp.clip(x, 0, size - 1) if mode == "clip" else x % size
