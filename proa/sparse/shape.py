"""Sparse tensors in other shapes, and sums over dimensions: new patterns for the same values.

The values' own (dense) dimensions come last and stay there; what would mix them with sparse ones is refused.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtype import INT64, to_numpy_dtype
from ..core.errors import value_error
from ..eager.annotations import AxisLike, DTypeLike, ShapeLike
from ..eager.backward.tape import stand_in
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor
from ..ops.arguments import integers, several_axes
from ..ops.basic import cast_to, resolve_shape, shape_tuple, sum_over, transpose_to
from .convert import as_coo, in_layout_of
from .pattern import CooPattern, Lookup
from .rows import sum_rows, take_rows
from .tensor import SparseCooTensor, SparseCsrTensor, require_sparse

_SLICE = builtins.slice

_COO, _CSR, _BATCH = A(3, 4, layout="coo"), A(3, 4, layout="csr"), A(2, 3, 4, layout="csr")
_CUBE, _DENSE_ROWS = A(2, 3, 4, layout="coo"), A(3, 4, 2, 3, dtype="float64", layout="coo", sparse_dim=2)


@samples(
    S(_COO, [1, 0]), S(_CSR, [1, 0]), S(_CUBE, [2, 0, 1]), S(_BATCH, [0, 2, 1]), S(_DENSE_ROWS, [1, 0, 3, 2]),
    reference=np.transpose,
)  # fmt: skip
def transpose(x: Tensor, perm: Sequence[int] | int, name: str | None = None) -> Tensor:
    """The dimensions in another order.

    Args:
        x: a sparse tensor.
        perm: the order.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.transpose(x, [1, 0]).to_dense().tolist()
        [[0.0, 3.0], [2.0, 0.0]]
    """
    where = "sparse.transpose"
    x = require_sparse(where, "x", x)
    order = several_axes(where, perm, x._aval.ndim)
    if len(order) != x._aval.ndim:
        raise value_error(where, "perm must name every dimension once", f"perm: {list(order)}, x: {x._aval}")
    coo = as_coo(x)
    pattern, sparse_dim = coo._pattern, coo.sparse_dim()
    if sorted(order[:sparse_dim]) != list(range(sparse_dim)):
        raise value_error(
            where, "a dense dimension cannot change places with a sparse one",
            f"perm: {list(order)}, x: {x._aval} with {sparse_dim} sparse dimensions",
        )  # fmt: skip

    def make() -> CooPattern:
        shape = tuple(pattern.shape[axis] for axis in order[:sparse_dim])
        return CooPattern(pattern.indices[list(order[:sparse_dim])], shape, False, pattern.dtype)

    values = coo._values
    rest = (0, *(axis - sparse_dim + 1 for axis in order[sparse_dim:]))
    values = stand_in(values) if rest == tuple(range(len(rest))) else transpose_to(values, rest)
    changed = pattern.remember(("transpose", order[:sparse_dim]), make)
    return in_layout_of(x, SparseCooTensor(changed, values))


def _reference_reshape(x: Any, shape: Any) -> Any:
    return x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape)])


@samples(
    S(_COO, [2, 6]), S(_CSR, [4, -1]), S(_CUBE, [0, 12]), S(_COO, [12]), S(_DENSE_ROWS, [12, 2, 3]),
    reference=_reference_reshape,
)  # fmt: skip
def reshape(x: Tensor, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The same elements in another shape.

    Args:
        x: a sparse tensor.
        shape: the shape; one dimension may be -1, and 0 keeps the dimension at that place.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.reshape(x, [1, -1]).to_dense().tolist()
        [[0.0, 2.0, 3.0, 0.0]]
    """
    where = "sparse.reshape"
    x = require_sparse(where, "x", x)
    wanted = resolve_shape(where, x._aval, shape_tuple(where, shape))
    coo = as_coo(x)
    rest = coo._values._aval.shape[1:]
    sparse = wanted[: len(wanted) - len(rest)]
    if wanted[len(sparse) :] != rest or not sparse:
        raise value_error(
            where, f"the dense dimensions {list(rest)} must stay as they are, at the end", f"shape: {list(wanted)}"
        )
    if isinstance(x, SparseCsrTensor) and len(wanted) not in (2, 3):
        raise value_error(where, "a CSR tensor has two or three dimensions", f"shape: {list(wanted)}")
    pattern = coo._pattern

    def make() -> CooPattern:
        return CooPattern.of_keys(pattern.keys.array, sparse, pattern.coalesced, pattern.dtype)

    return in_layout_of(x, SparseCooTensor(pattern.remember(("reshape", sparse), make), stand_in(coo._values)))


def _reference_slice(x: Any, axes: Any, starts: Any, ends: Any) -> Any:
    places = [_SLICE(None)] * x.ndim
    for axis, start, end in zip(axes, starts, ends, strict=True):
        places[axis] = _SLICE(start, end)
    return x[tuple(places)]


@samples(
    S(_COO, [0, 1], [1, 0], [3, 2]), S(_CSR, [1], [-3], [4]), S(_BATCH, [1, 2], [0, 1], [2, 9]),
    S(_DENSE_ROWS, [1, 3], [1, 0], [3, 2]), S(_COO, [0], [1], [1]),
    reference=_reference_slice,
)  # fmt: skip
def slice(
    x: Tensor,
    axes: AxisLike,
    starts: Sequence[int | Tensor] | Tensor,
    ends: Sequence[int | Tensor] | Tensor,
    name: str | None = None,
) -> Tensor:
    """A part of a sparse tensor.

    Args:
        x: a sparse tensor.
        axes: the axes that are cut.
        starts: where each begins; negative numbers count from the end.
        ends: before which place it ends.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.slice(x, [1], [1], [2]).to_dense().tolist()
        [[2.0], [0.0]]
    """
    where = "sparse.slice"
    x = require_sparse(where, "x", x)
    along = several_axes(where, axes, x._aval.ndim)
    first, last = integers(where, "starts", starts), integers(where, "ends", ends)
    if not len(along) == len(first) == len(last):
        raise value_error(
            where, "axes, starts and ends must have the same length", f"{len(along)}, {len(first)} and {len(last)}"
        )
    coo = as_coo(x)
    pattern, sparse_dim = coo._pattern, coo.sparse_dim()
    bounds = [(0, n) for n in x._aval.shape]
    for axis, start, end in zip(along, first, last, strict=True):
        low, high, _ = _SLICE(start, end).indices(x._aval.shape[axis])
        bounds[axis] = (low, max(low, high))

    def make() -> tuple[CooPattern, Lookup]:
        inside = np.ones(pattern.nnz, bool)
        for positions, (low, high) in zip(pattern.indices, bounds):
            inside &= (positions >= low) & (positions < high)
        moved = pattern.indices[:, inside] - np.array([[low] for low, _ in bounds[:sparse_dim]])
        shape = tuple(high - low for low, high in bounds[:sparse_dim])
        return CooPattern(moved, shape, pattern.coalesced, pattern.dtype), Lookup(np.flatnonzero(inside))

    kept, rows = pattern.remember(("slice", tuple(bounds[:sparse_dim])), make)
    values = take_rows(coo._values, rows)
    if any(bounds[axis] != (0, x._aval.shape[axis]) for axis in range(sparse_dim, x._aval.ndim)):
        values = values[(_SLICE(None), *(_SLICE(*pair) for pair in bounds[sparse_dim:]))]
    return in_layout_of(x, SparseCooTensor(kept, values))


def _reference_sum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False) -> Any:
    result = np.sum(x, tuple(axis) if isinstance(axis, list) else axis, dtype, keepdims=keepdim)
    return result.reshape(result.shape or (1,))


@samples(
    S(_COO), S(_COO, 0), S(_COO, -1, keepdim=True), S(_CUBE, [0, 2]), S(_CSR, -1, keepdim=True), S(_COO, 1, "float64"),
    S(_DENSE_ROWS, 3), S(A(3, 4, dtype="int32", layout="coo"), 0),
    reference=_reference_sum,
)  # fmt: skip
def sum(
    x: Tensor,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum over some dimensions, sparse again.

    A sparse tensor has at least one sparse dimension (a CSR tensor two): where all would vanish, they stay with size
    1.

    Args:
        x: a sparse tensor.
        axis: the dimensions; None for all.
        dtype: that of the sum; None for that of `x`.
        keepdim: whether the dimensions stay, with size 1.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> paddle.sparse.sum(paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2), axis=0).to_dense().tolist()
        [3.0, 2.0]
    """
    where = "sparse.sum"
    x = require_sparse(where, "x", x)
    ndim, coo = x._aval.ndim, as_coo(x)
    axes = tuple(range(ndim)) if axis is None else tuple(sorted(several_axes(where, axis, ndim)))
    pattern, values, sparse_dim = coo._pattern, coo._values, coo.sparse_dim()
    if dtype is not None:
        values = cast_to(values, to_numpy_dtype(dtype))
    elif values._aval.dtype.kind in "bi" and values._aval.dtype != INT64:
        values = cast_to(values, INT64)
    dense = tuple(a - sparse_dim + 1 for a in axes if a >= sparse_dim)
    if dense:
        values = sum_over(values, dense, bool(keepdim))
    reduced = tuple(a for a in axes if a < sparse_dim)
    if not reduced:
        return in_layout_of(x, SparseCooTensor(pattern, values if dense else stand_in(values)))
    left = tuple(a for a in range(sparse_dim) if a not in reduced)
    least = 2 if isinstance(x, SparseCsrTensor) else 1
    if keepdim or len(left) < least:
        # What is kept only because something must be is cut down to the least, as in Paddle.
        shape = tuple(1 if a in reduced else n for a, n in enumerate(pattern.shape))
        shape = shape if keepdim or left else (1,) * least
    else:
        shape = tuple(pattern.shape[a] for a in left)

    def make() -> tuple[CooPattern, Lookup]:
        keys = pattern.numbered(left).array
        # A sum over everything is an element also where nothing is stored.
        found, rows = np.unique(keys, return_inverse=True) if left else (np.zeros(1, np.int64), keys)
        return CooPattern.of_keys(found, shape, True, pattern.dtype), Lookup(rows.reshape(-1))

    result, rows = pattern.remember(("sum", reduced, shape), make)
    return in_layout_of(x, SparseCooTensor(result, sum_rows(values, rows, result.nnz)))
