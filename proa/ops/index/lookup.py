"""Finding things: searchsorted, bucketize, nonzero, masked_select, unique.

Where the shape of a result depends on values (the last three), the recorded work is run and the
values are looked at on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import BOOL, INT32, INT64
from ...core.errors import type_error, value_error
from ...eager.annotations import AxisLike, DTypeLike
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ...ir.padding import rules
from ..arguments import require_tensor
from ..axes import flat, index_dtype, single_axis, widened
from ..basic import cast_to, expand_to
from .ordering import MANY_TO_SORT, distinct, insertions, nonzero_places
from .search import pick_along, require_order

# ---- searchsorted, bucketize ---------------------------------------------------------------------


def _infer_search(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    sequence, values = operands
    if sequence.ndim != 1 and sequence.shape[:-1] != values.shape[:-1]:
        raise operation.error(
            ValueError,
            "sorted_sequence must be a vector, or have the leading dimensions of values", operands,
        )  # fmt: skip
    return values.with_dtype(attributes[1])


@op(
    "sorted_sequence values",
    infer=_infer_search,
    host_from=MANY_TO_SORT,
    name="searchsorted",
    padding=rules.reductions.searched,
)
def insertion_places(xp: Any, sorted_sequence: Any, values: Any, right: bool, dtype: np.dtype) -> Any:
    side = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        return insertions(sorted_sequence, values, side).astype(dtype, copy=False)
    result = np.empty(values.shape, dtype)
    for row in np.ndindex(*values.shape[:-1]):
        result[row] = np.searchsorted(sorted_sequence[row], values[row], side)
    return result


def _insertion_places_xla(xp: Any, sorted_sequence: Any, values: Any, right: bool, dtype: np.dtype) -> Any:
    import jax

    def find(sequence: Any, wanted: Any) -> Any:
        return xp.searchsorted(sequence, wanted, side="right" if right else "left")

    if sorted_sequence.ndim > 1:
        for _ in range(sorted_sequence.ndim - 1):
            find = jax.vmap(find)
    return find(sorted_sequence, values).astype(dtype)


def _insertion_places_cupy(xp: Any, sorted_sequence: Any, values: Any, right: bool, dtype: np.dtype) -> Any:
    if sorted_sequence.ndim != 1:
        raise NotImplementedError("CuPy searches one sequence at a time")
    return xp.searchsorted(sorted_sequence, values, side="right" if right else "left").astype(dtype)


insertion_places.operation.kernels["xla"] = _insertion_places_xla
insertion_places.operation.kernels["cupy"] = _insertion_places_cupy


def _reference_searchsorted(sorted_sequence: Any, values: Any, out_int32: bool = False, right: bool = False) -> Any:
    wide = sorted_sequence if sorted_sequence.ndim == 1 else sorted_sequence[..., None, :]
    compared = wide <= values[..., None] if right else wide < values[..., None]
    return compared.sum(-1).astype("int32" if out_int32 else "int64")


@samples(
    S(A(values=[1.0, 3.0, 5.0]), A(values=[1.0, 2.0, 5.0, 6.0])),
    S(A(values=[1.0, 3.0, 3.0, 5.0]), A(values=[[3.0, 9.0]]), True, True),
    S(A(values=[[1, 3, 5], [2, 4, 6]], dtype="int64"), A(values=[[1, 2], [5, 6]], dtype="int64")),
    S(A(values=[1, 3, 5], dtype="int64"), A(values=[0.5, 3.5])), S(A(0), A(2)), S(A(3), A(0)),
    S(A(values=[1.0, 2.0]), A()),
    reference=_reference_searchsorted, gradient=False, why="positions are integers",
)  # fmt: skip
@public(aliases="values=input")
def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
    *,
    side: str | None = None,
    out: Tensor | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where values belong in a sorted sequence.

    Args:
        sorted_sequence: rising along its last axis.
        values: what is looked for.
        out_int32: give int32 numbers instead of int64.
        right: take the place behind equal elements instead of before them.
        name: a label; it changes nothing.
        side: "left" or "right", which means the same as `right`.
        out: a tensor that takes the result.
        sorter: positions that sort the sequence, if it is not sorted.

    Examples:
        >>> paddle.searchsorted(paddle.to_tensor([1, 3, 5]), paddle.to_tensor([3, 4])).tolist()
        [1, 2]
        >>> paddle.searchsorted(paddle.to_tensor([1, 3, 5]), paddle.to_tensor([3, 4]), right=True).tolist()
        [2, 2]
    """
    require_order("searchsorted", sorted_sequence, "sorted_sequence")
    require_order("searchsorted", values, "values")
    if side not in (None, "left", "right"):
        raise value_error("searchsorted", "side is 'left' or 'right'", f"side: {side!r}")
    if sorter is not None:
        sorted_sequence = pick_along(sorted_sequence, sorter, sorted_sequence._aval.ndim - 1, True)
    dtypes = sorted_sequence._aval.dtype, values._aval.dtype
    if dtypes[0] != dtypes[1]:
        common = np.promote_types(*dtypes)
        sorted_sequence, values = cast_to(sorted_sequence, common), cast_to(values, common)
    chosen = INT32 if out_int32 else INT64
    is_right = bool(right) or side == "right"
    return deliver(insertion_places(sorted_sequence, values, is_right, chosen), out)


def _reference_bucketize(x: Any, edges: Any, out_int32: bool = False, right: bool = False) -> Any:
    return np.digitize(x, edges, right=not right).astype("int32" if out_int32 else "int64")


@samples(
    S(A(2, 3), A(values=[-1.0, 0.0, 1.0])),
    S(A(values=[0.0, 1.0]), A(values=[0.0, 1.0]), True, True), S(A(0), A(2)),
    S(A(), A(values=[0.0])),
    reference=_reference_bucketize,
    gradient=False, why="positions are integers",
)  # fmt: skip
@public(method=True, aliases="sorted_sequence=boundaries")
def bucketize(
    x: Tensor,
    sorted_sequence: Tensor,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The number of the interval between sorted boundaries that each element is in.

    Args:
        x: the elements.
        sorted_sequence: the boundaries, a rising vector.
        out_int32: give int32 numbers instead of int64.
        right: whether a boundary belongs to the interval above it.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.bucketize(paddle.to_tensor([0.5, 2.5, 9.0]), paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
        [0, 2, 3]
    """
    if require_tensor("bucketize", "sorted_sequence", sorted_sequence)._aval.ndim != 1:
        raise value_error(
            "bucketize", "sorted_sequence must have one dimension",
            f"sorted_sequence: {sorted_sequence._aval}",
        )  # fmt: skip
    return searchsorted(sorted_sequence, x, out_int32, right, out=out)


# ---- results whose shape depends on values -------------------------------------------------------


def _host(x: Tensor) -> np.ndarray:
    """The values; runs whatever they wait for."""
    return np.asarray(x._data())


def _like(x: Tensor, array: np.ndarray) -> Tensor:
    """A tensor from host values, on the device of `x`."""
    return tensor_from_data(array, place=x._aval.place)


@samples(
    S(A(values=[[1, 0], [0, 2]], dtype="int64")), S(A(3, 4, dtype="bool")), S(A(0, 3)),
    S(A(2, 3, dtype="bool"), as_tuple=True), S(A(values=[0.0, np.nan, 2.0])),
    reference=lambda x, as_tuple=False: np.nonzero(x) if as_tuple else np.argwhere(x),
)  # fmt: skip
@public(method=True)
def nonzero(x: Tensor, as_tuple: bool = False, *, out: Tensor | None = None) -> Tensor | tuple[Tensor, ...]:
    """Positions of the elements that are not zero.

    It looks at the values, because they decide the shape.

    Args:
        x: the tensor.
        as_tuple: give one tensor for each axis, instead of one row for each position.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.nonzero(paddle.to_tensor([[0, 1], [2, 0]])).tolist()
        [[0, 1], [1, 0]]
        >>> [part.tolist() for part in paddle.nonzero(paddle.to_tensor([0, 1, 2]), as_tuple=True)]
        [[1, 2]]
    """
    if require_tensor("nonzero", "x", x)._aval.ndim == 0:
        raise value_error("nonzero", "x must have a dimension", f"x: {x._aval}", "reshape it to [1]")
    found = nonzero_places(_host(x))
    if as_tuple:
        return tuple([_like(x, positions) for positions in found])
    rows = found[0].reshape(-1, 1) if len(found) == 1 else np.stack(found, axis=1)
    return deliver(_like(x, rows), out)


def _reference_masked_select(x: Any, mask: Any) -> Any:
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask].reshape(-1)


@samples(
    S(A(2, 3), A(2, 3, dtype="bool")), S(A(2, 3), A(3, dtype="bool")),
    S(A(3), A(2, 3, dtype="bool")), S(A(), A(values=True, dtype="bool")),
    S(A(0, 3), A(3, dtype="bool")), S(A(4, dtype="int32"), A(values=[False] * 4, dtype="bool")),
    reference=_reference_masked_select,
)  # fmt: skip
@public(method=True)
def masked_select(x: Tensor, mask: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The elements of `x` where the mask is true, along one axis.

    It looks at the values of the mask, because they decide the shape.

    Args:
        x: the tensor.
        mask: a bool tensor; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> x = paddle.to_tensor([1.0, -2.0, 3.0])
        >>> paddle.masked_select(x, x > 0).tolist()
        [1.0, 3.0]
    """
    require_tensor("masked_select", "x", x)
    if require_tensor("masked_select", "mask", mask)._aval.dtype != BOOL:
        raise type_error("masked_select", "mask must be boolean", f"mask: {mask._aval}", "use astype()")
    try:
        shape = np.broadcast_shapes(x._aval.shape, mask._aval.shape)
    except ValueError:
        raise value_error(
            "masked_select", "x and mask cannot be broadcast together",
            f"x: {x._aval}, mask: {mask._aval}", "make the dimensions equal or 1",
        ) from None  # fmt: skip
    chosen = _like(x, np.flatnonzero(np.broadcast_to(_host(mask), shape)))
    if shape != x._aval.shape:
        x = expand_to(x, shape)
    return deliver(pick_along(flat(x), chosen, 0, True), out)


def _reference_unique(x: Any, *flags: bool, axis: Any = None, dtype: str = "int64", **named: bool) -> Any:
    options: dict[str, Any] = dict(zip(("return_index", "return_inverse", "return_counts"), flags, strict=False))
    options.update(named)
    options.pop("sorted", None)
    result = np.unique(x, axis=axis, equal_nan=False, **options)
    if not isinstance(result, tuple):
        return result
    return [result[0], *[part.astype(dtype).reshape(-1) for part in result[1:]]]


@samples(
    S(A(values=[3, 1, 2, 1, 3], dtype="int64"), True, True, True), S(A(9, dtype="int32")),
    S(A(values=[[1, 2], [1, 2], [0, 3]], dtype="int64"), True, True, True, axis=0),
    S(A(2, 4, dtype="int64"), return_inverse=True, dtype="int32"), S(A(0, dtype="int64")),
    S(A(values=[1.0, np.nan, 1.0, np.nan], grad=False)), S(A(6, dtype="int64"), sorted=False),
    reference=_reference_unique, gradient=False, why="which elements are equal has no gradient",
)  # fmt: skip
@public(method=True)
def unique(
    x: Tensor,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: AxisLike | None = None,
    dtype: DTypeLike = "int64",
    sorted: bool = True,
    name: str | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The different elements, in order.

    It looks at the values, because they decide the shape; there is no gradient.

    Args:
        x: the tensor.
        return_index: also give the first position of each.
        return_inverse: also say which of them each element is.
        return_counts: also say how often each occurs.
        axis: compare slices along an axis instead of elements.
        dtype: the type of positions and counts.
        sorted: accepted; the result is always in order.
        name: a label; it changes nothing.

    Returns:
        A tensor, or a tuple with what was asked for.

    Examples:
        >>> paddle.unique(paddle.to_tensor([3, 1, 3])).tolist()
        [1, 3]
        >>> values, counts = paddle.unique(paddle.to_tensor([3, 1, 3]), return_counts=True)
        >>> values.tolist(), counts.tolist()
        ([1, 3], [1, 2])
    """
    require_order("unique", x)
    if axis is not None:
        axis = single_axis("unique", axis, x._aval.ndim)
    positions = index_dtype("unique", dtype)
    if axis is None or x._aval.ndim < 2:
        values, rest = distinct(
            widened(_host(x)).reshape(-1), bool(return_index), bool(return_inverse), bool(return_counts)
        )
        values = _like(x, values.astype(x._aval.dtype, copy=False))
        return (values, *[_like(x, part.astype(positions, copy=False)) for part in rest]) if rest else values
    found = np.unique(
        widened(_host(x)), bool(return_index), bool(return_inverse), bool(return_counts),
        axis=axis, equal_nan=False,
    )  # fmt: skip
    if not isinstance(found, tuple):
        return _like(x, found.astype(x._aval.dtype))
    values, *rest = found
    parts = [_like(x, part.reshape(-1).astype(positions)) for part in rest]
    return (_like(x, values.astype(x._aval.dtype)), *parts)
