"""Order and position: argmax, argmin, sort, argsort, topk, kthvalue, mode.

Sorting is stable on both tiers: equal elements keep their order everywhere. Gradients go back to
the places that elements were taken from.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.aval import Aval
from ...core.dtype import FLOAT32, INT64
from ...core.errors import type_error, value_error
from ...eager import series
from ...eager.annotations import AxisLike, DTypeLike
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import flag, integer, require_tensor
from ..axes import flat, index_dtype, single_axis, widened
from ..basic import reshape_to
from .ordering import MANY_TO_SORT, order_on_xla, sort_on_xla, sorted_copy, stable_order

# ---- taking along an axis, and putting back ------------------------------------------------------


def _infer_pick(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(operands[1].shape)


def _infer_spread(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    axis, size, _ = attributes
    shape = operands[0].shape
    return operands[0].with_shape((*shape[:axis], size, *shape[axis + 1 :]))


@op(
    "x index",
    infer=_infer_pick,
    grad={"x": lambda g, index, x_aval, axis, once: spread_along(g, index, axis, x_aval.shape[axis], once)},
    name="pick_along",
    family="movement",
    padding=rules.indexing.pick_along,
    series=series.algebra.linear("x"),
)
def pick_along(xp: Any, x: Any, index: Any, axis: int, once: bool) -> Any:
    """`x` at positions along an axis that are known to be good; `once`: none is taken twice."""
    return xp.take_along_axis(x, index, axis)


@op(
    "x index",
    infer=_infer_spread,
    grad={"x": lambda g, index, axis, once: pick_along(g, index, axis, once)},
    name="spread_along",
    padding=rules.indexing.spread_along,
    series=series.algebra.linear("x"),
)
def spread_along(xp: Any, x: Any, index: Any, axis: int, size: int, once: bool) -> Any:
    """Zeros with the elements of `x` added at positions along an axis: the reverse of picking."""
    result = xp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    if once:
        xp.put_along_axis(result, index, x, axis)
    else:
        xp.add.at(result, _grid(xp, index, axis), x)
    return result


def _spread_along_xla(xp: Any, x: Any, index: Any, axis: int, size: int, once: bool) -> Any:
    result = xp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    place = result.at[_grid(xp, index, axis)]
    return place.add(x, unique_indices=once, mode="promise_in_bounds")


spread_along.operation.kernels["xla"] = _spread_along_xla


def _grid(xp: Any, index: Any, axis: int) -> tuple[Any, ...]:
    """Positions along one axis as an index into the whole array."""
    rest = [xp.arange(n).reshape([-1] + [1] * (index.ndim - i - 1)) for i, n in enumerate(index.shape)]
    rest[axis] = index
    return tuple(rest)


def require_order(where: str, x: Any, name: str = "x") -> Tensor:
    """`x` if it is a tensor whose elements can be compared, else TypeError."""
    if require_tensor(where, name, x)._aval.dtype.kind == "c":
        raise type_error(where, "complex numbers have no order", f"{name}: {x._aval}")
    return x


# ---- argmax, argmin ------------------------------------------------------------------------------


def _infer_arg(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    aval, (axis, keepdim, dtype) = operands[0], attributes
    if (aval.size if axis is None else aval.shape[axis]) == 0:
        raise operation.error(ValueError, "there are no elements to choose from", operands, attributes)
    shape = [1 if axis in (None, i) else n for i, n in enumerate(aval.shape)]
    if not keepdim:
        shape = [] if axis is None else [n for i, n in enumerate(aval.shape) if i != axis]
    return aval.with_shape(tuple(shape)).with_dtype(dtype)


@op(
    infer=_infer_arg,
    name="argmax",
    family="reduction",
    paddle_name="arg_max",
    padding=rules.reductions.position_of_extreme(rules.reductions.MINUS),
)
def position_of_max(xp: Any, x: Any, axis: int | None, keepdim: bool, dtype: np.dtype) -> Any:
    return xp.argmax(widened(x), axis=axis, keepdims=keepdim).astype(dtype)


@op(
    infer=_infer_arg,
    name="argmin",
    family="reduction",
    paddle_name="arg_min",
    padding=rules.reductions.position_of_extreme(rules.reductions.PLUS),
)
def position_of_min(xp: Any, x: Any, axis: int | None, keepdim: bool, dtype: np.dtype) -> Any:
    return xp.argmin(widened(x), axis=axis, keepdims=keepdim).astype(dtype)


def _arg_axis(where: str, x: Tensor, axis: Any) -> int | None:
    """The axis to search, None for the flattened tensor (and for a 0-d one, which has no axis)."""
    ndim = require_order(where, x)._aval.ndim
    if axis is None:
        return None
    chosen = single_axis(where, axis, ndim)
    return chosen if ndim else None


_ARG_SAMPLES = (
    S(A(3, 4)), S(A(3, 4), 1), S(A(3, 4), -2, True), S(A(3, 4), None, True), S(A()),
    S(A(0, 3), axis=1), S(A(9, dtype="int32"), dtype="int32"),
    S(A(4, 5, dtype="float16", grad=False), 0), S(A(values=[1.0, 3.0, 3.0, 1.0])),
    S(A(values=[1.0, np.nan, 3.0])), S(A(5, dtype="bool")),
)  # fmt: skip


@samples(
    *_ARG_SAMPLES,
    reference=lambda x, axis=None, keepdim=False, dtype="int64": np.argmax(x, axis=axis, keepdims=keepdim).astype(
        dtype
    ),
)
@public(method=True)
def argmax(
    x: Tensor,
    axis: AxisLike | None = None,
    keepdim: bool = False,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor:
    """The position of the largest element along an axis.

    Of equal elements the first is taken; NaN counts as largest.

    Args:
        x: the tensor.
        axis: the axis; the flattened tensor without one.
        keepdim: keep the reduced axes, with one element each.
        dtype: int32 or int64.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]])
        >>> paddle.argmax(x).item(), paddle.argmax(x, axis=1).tolist()
        (2, [1, 0])
    """
    axis = _arg_axis("argmax", x, axis)
    return position_of_max(x, axis, flag("keepdim", keepdim), index_dtype("argmax", dtype))


@samples(
    *_ARG_SAMPLES,
    reference=lambda x, axis=None, keepdim=False, dtype="int64": np.argmin(x, axis=axis, keepdims=keepdim).astype(
        dtype
    ),
)
@public(method=True)
def argmin(
    x: Tensor,
    axis: AxisLike | None = None,
    keepdim: bool = False,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Tensor:
    """The position of the smallest element along an axis.

    Of equal elements the first is taken; NaN counts as smallest.

    Args:
        x: the tensor.
        axis: the axis; the flattened tensor without one.
        keepdim: keep the reduced axes, with one element each.
        dtype: int32 or int64.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]])
        >>> paddle.argmin(x).item(), paddle.argmin(x, axis=1).tolist()
        (0, [0, 1])
    """
    axis = _arg_axis("argmin", x, axis)
    return position_of_min(x, axis, flag("keepdim", keepdim), index_dtype("argmin", dtype))


# ---- sort, argsort -------------------------------------------------------------------------------


def _stable_order(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    """Positions that sort `x`; equal elements keep their order, NaN counts as largest."""
    x = widened(x)
    if xp is np:
        return stable_order(x, axis, descending)
    if not descending:
        return xp.argsort(x, axis, stable=True)
    backwards = xp.flip(xp.argsort(xp.flip(x, axis), axis, stable=True), axis)
    return x.shape[axis] - 1 - backwards


def _infer_order(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_dtype(INT64)


@op(infer=_infer_order, host_from=MANY_TO_SORT, name="argsort", padding=rules.scans.sort)
def order_along(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    return _stable_order(xp, x, axis, descending)


def _order_along_cpu(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    order = order_on_xla(xp, widened(x), axis, descending)
    return _stable_order(xp, x, axis, descending) if order is None else order


order_along.operation.kernels["cpu"] = _order_along_cpu


def _sort_grad(g: Tensor, x: Tensor, axis: int, descending: bool) -> Tensor:
    order = order_along(x, axis, descending)
    return spread_along(g, order, axis, g._aval.shape[axis], True)


@op(
    infer=lambda _op, operands, attributes, place: operands[0],
    grad={"x": _sort_grad},
    host_from=MANY_TO_SORT,
    name="sort",
    paddle_name="argsort",
    padding=rules.scans.sort,
)
def sort_along(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    result = sorted_copy(widened(x), axis) if xp is np else xp.sort(widened(x), axis=axis)
    return (xp.flip(result, axis) if descending else result).astype(x.dtype, copy=False)


sort_along.operation.kernels["cpu"] = lambda xp, x, axis, descending: sort_on_xla(xp, widened(x), axis, descending)


_SORT_SAMPLES = (
    S(A(3, 4, unique=True)), S(A(3, 4, unique=True), 0), S(A(3, 4, unique=True), 1, True),
    S(A(0, 3), 0), S(A(6, dtype="int32"), descending=True), S(A(5, dtype="bfloat16", grad=False)),
    S(A(values=[2.0, np.nan, 1.0], grad=False), descending=True), S(A(4, dtype="bool")),
)  # fmt: skip


def _reference_argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    if not descending:
        return np.argsort(x, axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)


@samples(*_SORT_SAMPLES, S(A(9, dtype="int64"), stable=True), reference=_reference_argsort)
@public(method=True)
def argsort(
    x: Tensor,
    axis: int = -1,
    descending: bool = False,
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """Positions that sort a tensor along an axis. Equal elements keep their order.

    Args:
        x: the tensor.
        axis: the axis.
        descending: the largest first.
        stable: accepted; the order is always stable.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.argsort(paddle.to_tensor([3.0, 1.0, 2.0])).tolist()
        [1, 2, 0]
    """
    axis = single_axis("argsort", axis, require_order("argsort", x)._aval.ndim)
    if not x._aval.ndim:
        return reshape_to(order_along(flat(x), 0, bool(descending)), ())
    return order_along(x, axis, bool(descending))


def _reference_sort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    ordered = np.sort(x, axis)
    return np.flip(ordered, axis) if descending else ordered


@samples(*_SORT_SAMPLES, S(A(9, dtype="int64"), stable=True), reference=_reference_sort)
@public(method=True)
def sort(
    x: Tensor,
    axis: int = -1,
    descending: bool = False,
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The elements in order along an axis; NaN counts as largest.

    Args:
        x: the tensor.
        axis: the axis.
        descending: the largest first.
        stable: accepted; the order is always stable.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.sort(paddle.to_tensor([3.0, 1.0, 2.0]), descending=True).tolist()
        [3.0, 2.0, 1.0]
    """
    axis = single_axis("sort", axis, require_order("sort", x)._aval.ndim)
    return sort_along(x, axis, bool(descending)) if x._aval.ndim else x.clone()


# ---- topk, kthvalue, mode ------------------------------------------------------------------------


def _infer_topk(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Any:
    axis, k = attributes[0], attributes[1]
    shape = operands[0].shape
    aval = operands[0].with_shape((*shape[:axis], k, *shape[axis + 1 :]))
    return aval, aval.with_dtype(INT64)


def _put_back(g0: Tensor | None, out1: Tensor, x_aval: Aval, axis: int) -> Tensor | None:
    """The gradient of chosen elements, at the places they were chosen from."""
    return None if g0 is None else spread_along(g0, out1, axis, x_aval.shape[axis], True)


@op(
    infer=_infer_topk,
    outputs=2,
    grad={"x": _put_back},
    host_from=MANY_TO_SORT,
    name="topk",
    paddle_name="top_k_v2",
    padding=rules.scans.topk,
)
def top_along(xp: Any, x: Any, axis: int, k: int, largest: bool) -> tuple[Any, Any]:
    if x.ndim == 1 and x.dtype is FLOAT32 and k * 8 < x.size:
        order = _first_few_of_row(x, k, largest)
        if order is not None:
            return x[order], order
    rows = np.moveaxis(widened(x), axis, -1)
    order = _first_few(rows, k, largest) if k * 8 < rows.shape[-1] else None
    if order is None:
        order = _stable_order(np, rows, -1, largest)[..., :k]
    order = np.moveaxis(order, -1, axis)
    return np.take_along_axis(x, order, axis), order


def _first_few_of_row(row: np.ndarray, k: int, largest: bool) -> np.ndarray | None:
    """The same as below for one row of floats; None, too, where more equal the last than there is room for."""
    ranked = -row if largest else row
    limit = np.partition(ranked, k - 1)[k - 1]
    positions = (ranked <= limit).nonzero()[0]
    # NaN counts as largest: it is among the first, or perhaps the last was no number.
    if positions.size != k or (largest and np.isnan(row).any()):
        return None
    return positions[ranked[positions].argsort(kind="stable")]


def _first_few(rows: np.ndarray, k: int, largest: bool) -> np.ndarray | None:
    """Positions of the `k` largest or smallest in long rows, without sorting all of a row.

    None where NaN is among them.
    """
    if largest:
        bound = np.partition(rows, -k, axis=-1)[..., -k:]
        limit = bound.min(axis=-1, keepdims=True)
        chosen = rows >= limit
    else:
        bound = np.partition(rows, k - 1, axis=-1)[..., :k]
        limit = bound.max(axis=-1, keepdims=True)
        chosen = rows <= limit
    if (bound != bound).any():
        return None
    if np.count_nonzero(chosen) != bound.size:
        # More elements equal the limit than there is room for: the first ones are taken.
        equal = rows == limit
        room = k - np.sum(chosen & ~equal, axis=-1, keepdims=True)
        chosen &= ~equal | (np.cumsum(equal, axis=-1) <= room)
    positions = np.nonzero(chosen)[-1].reshape(*rows.shape[:-1], k)
    order = _stable_order(np, np.take_along_axis(rows, positions, -1), -1, largest)
    return np.take_along_axis(positions, order, -1)


def _top_along_xla(xp: Any, x: Any, axis: int, k: int, largest: bool) -> tuple[Any, Any]:
    if largest:
        from jax import lax

        # `top_k` takes the first of equal elements and NaN before all others, like the sort above; but 0.0 before -0.0.
        keys = xp.where(x == 0, xp.zeros((), x.dtype), x) if x.dtype.kind not in "biu" else x
        order = xp.moveaxis(lax.top_k(xp.moveaxis(keys, axis, -1), k)[1], -1, axis)
    else:
        order = xp.take(_stable_order(xp, x, axis, False), xp.arange(k), axis)
    return xp.take_along_axis(x, order, axis), order.astype(INT64)


def _top_along_sorted(xp: Any, x: Any, axis: int, k: int, largest: bool) -> tuple[Any, Any]:
    order = xp.take(_stable_order(xp, x, axis, largest), xp.arange(k), axis)
    return xp.take_along_axis(x, order, axis), order


top_along.operation.kernels["xla"] = _top_along_xla
top_along.operation.kernels["cupy"] = _top_along_sorted


def _reference_topk(x: Any, k: int, axis: Any = None, largest: bool = True, sorted: bool = True) -> Any:
    axis = -1 if axis is None else axis
    order = np.take(_reference_argsort(x, axis, largest), np.arange(k), axis)
    return np.take_along_axis(x, order, axis), order


class TopKRetType(NamedTuple):
    """What `topk` gives."""

    values: Tensor
    indices: Tensor


@samples(
    S(A(3, 5, unique=True), 2), S(A(3, 5, unique=True), 2, 0), S(A(3, 5, unique=True), 2, 1, False),
    S(A(0, 3), 1), S(A(9, dtype="int32"), 4), S(A(2, 40, unique=True), 3),
    S(A(50, dtype="int64"), 3), S(A(6, dtype="float16", unique=True, grad=False), 2, sorted=False),
    S(A(values=[1.0, 3.0, 3.0, 3.0], grad=False), 2, axis=0),
    S(A(values=[1.0, np.nan, 3.0], grad=False), 2),
    reference=_reference_topk, gradient=True,
)  # fmt: skip
@public(method=True)
def topk(
    x: Tensor,
    k: int | Tensor,
    axis: AxisLike | None = None,
    largest: bool = True,
    sorted: bool = True,
    name: str | None = None,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` largest elements along an axis, in order, and their positions.

    Of equal elements the first come first.

    Args:
        x: the tensor.
        k: how many.
        axis: the axis; the last by default.
        largest: the largest (True) or the smallest.
        sorted: accepted; the result is always in order.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        The values and the positions.

    Examples:
        >>> values, positions = paddle.topk(paddle.to_tensor([1.0, 5.0, 3.0]), 2)
        >>> values.tolist(), positions.tolist()
        ([5.0, 3.0], [1, 2])
    """
    require_order("topk", x)
    axis = single_axis("topk", -1 if axis is None else axis, x._aval.ndim)
    count = integer("topk", "k", k)
    _check_rank("topk", count, x._aval, axis)
    if x._aval.ndim:
        values, positions = top_along(x, axis, count, bool(largest))
    else:
        values, positions = (reshape_to(t, ()) for t in top_along(flat(x), 0, count, bool(largest)))
    if out is not None:
        return TopKRetType(deliver(values, out[0]), deliver(positions, out[1]))
    return TopKRetType(values, positions)


def _check_rank(where: str, k: int, aval: Aval, axis: int) -> None:
    size = aval.shape[axis] if aval.ndim else 1
    if not 1 <= k <= size:
        raise value_error(
            where,
            f"k must be between 1 and the {size} element(s) along axis {axis}",
            f"k: {k}, x: {aval}",
        )


def _infer_rank(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Any:
    axis, keepdim = attributes[0], attributes[1]
    shape = operands[0].shape
    aval = operands[0].with_shape((*shape[:axis], *((1,) if keepdim else ()), *shape[axis + 1 :]))
    return aval, aval.with_dtype(INT64)


def _put_one_back(g0: Tensor | None, out1: Tensor, x_aval: Aval, axis: int, keepdim: bool) -> Tensor | None:
    if g0 is None:
        return None
    if not keepdim:
        shape = (*x_aval.shape[:axis], 1, *x_aval.shape[axis + 1 :])
        g0, out1 = reshape_to(g0, shape), reshape_to(out1, shape)
    return spread_along(g0, out1, axis, x_aval.shape[axis], True)


def _take_one(xp: Any, x: Any, order: Any, place: Any, axis: int, keepdim: bool) -> tuple[Any, Any]:
    """The element (and its position) that stands at `place` of the sorted order, in each row."""
    position = xp.take_along_axis(order, place, axis)
    value = xp.take_along_axis(x, position, axis)
    return (value, position) if keepdim else (xp.squeeze(value, axis), xp.squeeze(position, axis))


@op(
    infer=_infer_rank,
    outputs=2,
    grad={"x": _put_one_back},
    host_from=MANY_TO_SORT,
    name="kthvalue",
    padding=rules.reductions.ranked,
)
def ranked_along(xp: Any, x: Any, axis: int, keepdim: bool, k: int, nan_first: bool) -> tuple[Any, Any]:
    """The element of rank `k` (1 is the smallest); with `nan_first`, a NaN if there is one."""
    order = _stable_order(xp, x, axis, False)
    place = xp.full(tuple([1 if i == axis else n for i, n in enumerate(x.shape)]), k - 1)
    if nan_first:
        nans = xp.sum(x != x, axis=axis, keepdims=True)
        place = xp.where(nans > 0, x.shape[axis] - nans, place)
    return _take_one(xp, x, order, place, axis, keepdim)


def _reference_kthvalue(x: Any, k: int, axis: Any = None, keepdim: bool = False) -> Any:
    axis = -1 if axis is None else axis
    place = np.take(np.argsort(x, axis, kind="stable"), [k - 1], axis)
    value = np.take_along_axis(x, place, axis)
    return (value, place) if keepdim else (value.squeeze(axis), place.squeeze(axis))


@samples(
    S(A(3, 5, unique=True), 2), S(A(3, 5, unique=True), 3, 0, True), S(A(7, dtype="int32"), 7),
    S(A(0, 3), 1, 1), S(A(5, dtype="float16", unique=True, grad=False), 1, -1),
    reference=_reference_kthvalue,
)  # fmt: skip
@public(method=True)
def kthvalue(
    x: Tensor, k: int, axis: AxisLike | None = None, keepdim: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The `k`-th smallest element along an axis, and its position.

    Args:
        x: the tensor.
        k: which, from 1.
        axis: the axis; the last by default.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.

    Returns:
        The values and the positions.

    Examples:
        >>> value, position = paddle.kthvalue(paddle.to_tensor([4.0, 1.0, 3.0]), 2)
        >>> value.item(), position.item()
        (3.0, 2)
    """
    require_order("kthvalue", x)
    axis = single_axis("kthvalue", -1 if axis is None else axis, x._aval.ndim)
    rank = integer("kthvalue", "k", k)
    _check_rank("kthvalue", rank, x._aval, axis)
    if not x._aval.ndim:
        return ranked_along(flat(x), 0, False, rank, False)
    return ranked_along(x, axis, flag("keepdim", keepdim), rank, False)


@op(
    infer=_infer_rank,
    outputs=2,
    grad={"x": _put_one_back},
    host_from=MANY_TO_SORT,
    name="mode",
    padding=rules.reductions.ranked,
)
def mode_along(xp: Any, x: Any, axis: int, keepdim: bool) -> tuple[Any, Any]:
    order = _stable_order(xp, x, axis, False)
    ordered = xp.moveaxis(xp.take_along_axis(widened(x), order, axis), axis, -1)
    places = xp.arange(x.shape[axis])
    # How long the run of equal elements is that ends here; the first longest run is the mode.
    starts = xp.concatenate([xp.ones_like(ordered[..., :1], dtype=bool), ordered[..., 1:] != ordered[..., :-1]], -1)
    first = _running_max(xp, xp.where(starts, places, 0))
    longest = xp.argmax(places - first, axis=-1, keepdims=True)
    return _take_one(xp, x, order, xp.moveaxis(longest, -1, axis), axis, keepdim)


def _running_max(xp: Any, x: Any) -> Any:
    if xp is np:
        return np.maximum.accumulate(x, axis=-1)
    from jax import lax

    return lax.cummax(x, axis=x.ndim - 1)


def _reference_mode(x: Any, axis: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    rows = np.moveaxis(x, axis, -1)
    places = np.zeros(rows.shape[:-1], np.int64)
    for row in np.ndindex(*places.shape):
        values, counts = np.unique(rows[row], return_counts=True)
        places[row] = np.flatnonzero(rows[row] == values[counts.argmax()])[-1]
    value = np.take_along_axis(rows, places[..., None], -1)[..., 0]
    if keepdim:
        return np.expand_dims(value, axis), np.expand_dims(places, axis)
    return value, places


@samples(
    S(A(values=[[2.0, 1.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0, 5.0]], grad=False)),
    S(A(3, 8, dtype="int32"), 0, True), S(A(3, 9, dtype="int64"), -1), S(A(0, 3)),
    S(A(4, unique=True)),
    reference=_reference_mode,
)  # fmt: skip
@public(method=True)
def mode(x: Tensor, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The commonest element along an axis, and its last position.

    Args:
        x: the tensor.
        axis: the axis.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.

    Returns:
        The values (the smallest of several that are as common) and the positions.

    Examples:
        >>> value, position = paddle.mode(paddle.to_tensor([2, 1, 2, 3]))
        >>> value.item(), position.item()
        (2, 2)
    """
    axis = single_axis("mode", axis, require_order("mode", x)._aval.ndim)
    if x._aval.ndim and x._aval.shape[axis] == 0:
        raise value_error("mode", f"axis {axis} has no elements to choose from", f"x: {x._aval}")
    if not x._aval.ndim:
        return mode_along(flat(x), 0, False)
    return mode_along(x, axis, flag("keepdim", keepdim))
