"""Arithmetic of two sparse tensors, and sparse tensors cut out of dense ones by a mask."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import message, value_error
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor
from ..ops.basic import reshape_to
from ..ops.math.arithmetic import add as add_dense
from ..ops.math.arithmetic import divide as divide_dense
from ..ops.math.arithmetic import multiply as multiply_dense
from ..ops.math.arithmetic import subtract as subtract_dense
from .convert import as_coo, dense_of, in_layout_of, is_same_shape
from .pattern import CooPattern, Lookup
from .rows import sum_rows, take_rows
from .tensor import SparseCooTensor, SparseTensor, require_dense, require_sparse

_NUMBERS = (int, float, complex, np.number)

_COO, _CSR = A(3, 4, layout="coo"), A(3, 4, layout="csr")
_BATCH, _DENSE_ROWS = A(2, 3, 4, layout="csr"), A(3, 4, 2, dtype="float64", layout="coo", sparse_dim=2)
_PAIRS = (S(_COO, _COO), S(_CSR, _CSR), S(_BATCH, _BATCH), S(_DENSE_ROWS, _DENSE_ROWS))


def _reference_add(x: Any, y: Any) -> Any:
    if y.ndim == x.ndim:
        return x + y
    stored = x.any(axis=tuple(range(x.ndim - y.ndim, x.ndim)), keepdims=True)
    return np.where(stored, x + y, 0)


@samples(*_PAIRS, S(_DENSE_ROWS, A(2, dtype="float64")), reference=_reference_add)
def add(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`x + y`, stored where either is.

    Args:
        x: a sparse tensor.
        y: a sparse tensor of the same layout and shape; or a dense one in the shape of `x`'s dense dimensions, which
            is added to the stored rows (the bias of a sparse layer).
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.add(x, x).to_dense().tolist()
        [[0.0, 4.0], [6.0, 0.0]]
    """
    if _is_mixed(x, y):
        rows: Any = x
        if rows.dense_dim() and y._aval.shape == rows._values._aval.shape[1:]:
            return rows._with_values(add_dense(rows._values, y))
    return _combine("sparse.add", add_dense, x, y)


@samples(*_PAIRS, reference=np.subtract)
def subtract(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`x - y`, stored where either is.

    Args:
        x: a sparse tensor.
        y: a sparse tensor of the same layout and shape.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.subtract(x, x).values().tolist()
        [0.0, 0.0]
    """
    return _combine("sparse.subtract", subtract_dense, x, y)


@samples(*_PAIRS, S(_COO, 2.5), S(_CSR, 2), S(_COO, A(3, 4)), reference=np.multiply)
def multiply(x: Tensor, y: Tensor | float, name: str | None = None) -> Tensor:
    """`x * y`, stored where either is, as in Paddle.

    Args:
        x: a sparse tensor.
        y: a sparse tensor of the same shape; or a number or a dense tensor, and the result is stored where `x` is.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.multiply(x, x).to_dense().tolist(), (x * 10.0).values().tolist()
        ([[0.0, 4.0], [9.0, 0.0]], [20.0, 30.0])
    """
    if isinstance(y, _NUMBERS):
        return _by_number("sparse.multiply", multiply_dense, x, y)
    if _is_mixed(x, y):
        stored: Any = x
        return stored._with_values(multiply_dense(stored._values, _cut_out("sparse.multiply", y, stored)))
    return _combine("sparse.multiply", multiply_dense, x, y)


def _reference_divide(x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.divide(x, y)


# Of every element, because 0 / 0 has no gradient.
_FULL = A(values=[[1.0, -2.0], [0.5, 4.0]], layout="coo")


@samples(
    S(_FULL, _FULL), S(_COO, 2.5), S(_CSR, -4), S(A(3, 4, layout="coo", grad=False), A(3, 4, layout="coo", grad=False)),
    S(A(3, 4, layout="csr", grad=False), A(3, 4, layout="csr", grad=False)),
    reference=_reference_divide,
)  # fmt: skip
def divide(x: Tensor, y: Tensor | float, name: str | None = None) -> Tensor:
    """`x / y`.

    Of two sparse tensors every position is stored: where neither has an element, 0 / 0 is not a number.

    Args:
        x: a sparse tensor.
        y: a sparse tensor of the same shape, or a number.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.divide(x, 2.0).values().tolist()
        [1.0, 1.5]
        >>> paddle.sparse.divide(x, x).to_dense().tolist()
        [[nan, 1.0], [1.0, nan]]
    """
    if isinstance(y, _NUMBERS):
        return _by_number("sparse.divide", divide_dense, x, y)
    x, y = _pair("sparse.divide", x, y)
    quotient = divide_dense(dense_of(x), dense_of(y))
    shape = as_coo(x)._pattern.shape
    count = math.prod(shape)
    everywhere = CooPattern.of_keys(np.arange(count), shape, True, x._pattern.dtype)
    values = reshape_to(quotient, (count, *x._values._aval.shape[1:]))
    return in_layout_of(x, SparseCooTensor(everywhere, values))


def _reference_mask_as(x: Any, mask: Any) -> Any:
    return np.where(mask != 0, x, 0)


@samples(
    S(A(3, 4), A(3, 4, layout="coo", grad=False)), S(A(3, 4), A(3, 4, layout="csr", grad=False)),
    S(A(2, 3, 4, dtype="float64"), A(2, 3, 4, dtype="float64", layout="csr", grad=False)),
    S(A(3, 4, 2), A(3, 4, 2, layout="coo", sparse_dim=2, grad=False)),
    S(A(3, 4, dtype="int64"), A(values=np.eye(3, 4), dtype="int64", layout="coo")),
    reference=_reference_mask_as,
)  # fmt: skip
def mask_as(x: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """The elements of a dense tensor at the positions that a sparse one stores.

    Args:
        x: a dense tensor.
        mask: a sparse tensor of the same shape.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor of the layout of `mask`.

    Examples:
        >>> mask = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.mask_as(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), mask).values().tolist()
        [2.0, 3.0]
    """
    x, mask = require_dense("sparse.mask_as", "x", x), require_sparse("sparse.mask_as", "mask", mask)
    if x._aval.dtype != mask._aval.dtype:
        raise value_error("sparse.mask_as", "x and mask must have the same dtype", f"x: {x._aval}, mask: {mask._aval}")
    return mask._with_values(_cut_out("sparse.mask_as", x, mask))


def _is_mixed(x: Any, y: Any) -> bool:
    """Whether a sparse tensor meets a dense one."""
    return isinstance(x, SparseTensor) and isinstance(y, Tensor) and not isinstance(y, SparseTensor)


def _cut_out(where: str, x: Tensor, mask: SparseTensor) -> Tensor:
    """The rows of a dense tensor at a pattern's positions."""
    if x._aval.shape != mask._aval.shape:
        raise value_error(where, "the shapes must be the same", f"{x._aval} and sparse {mask._aval}")
    pattern = as_coo(mask)._pattern
    return take_rows(reshape_to(x, (math.prod(pattern.shape), *mask._values._aval.shape[1:])), pattern.keys)


def _by_number(where: str, function: Callable[..., Tensor], x: Any, y: Any) -> Tensor:
    x = require_sparse(where, "x", x)
    return x._with_values(function(x._values, y.item() if isinstance(y, np.number) else y))


def _pair(where: str, x: Any, y: Any) -> tuple[SparseTensor, SparseTensor]:
    for operand, other in ((x, y), (y, x)):
        if isinstance(operand, Tensor) and not isinstance(operand, SparseTensor) and isinstance(other, SparseTensor):
            raise NotImplementedError(
                message(
                    where,
                    "a sparse and a dense tensor cannot be combined here",
                    f"dense {operand._aval}, sparse {other._aval}",
                    "use to_dense() on one or to_sparse_coo() on the other",
                )
            )
    x, y = require_sparse(where, "x", x), require_sparse(where, "y", y)
    sparse = len(x._pattern.shape), len(y._pattern.shape)
    if x._aval.shape != y._aval.shape or sparse[0] != sparse[1]:
        received = f"x: {x._aval}, y: {y._aval}, {sparse[0]} and {sparse[1]} sparse dimensions"
        raise value_error(where, "the shapes must be the same", received)
    return x, y


def _combine(where: str, function: Callable[[Tensor, Tensor], Tensor], x: Any, y: Any) -> Tensor:
    """A function of elements at the same positions; where only one is stored, the other is zero."""
    x, y = _pair(where, x, y)
    one, other = as_coo(x), as_coo(y)
    if one._pattern.is_same(other._pattern) and one._pattern.is_ordered:
        return x._with_values(function(x._values, y._values))
    pattern, from_one, from_other = _union(one._pattern, other._pattern)
    values = function(
        sum_rows(one._values, from_one, pattern.nnz),
        sum_rows(other._values, from_other, pattern.nnz),
    )
    return in_layout_of(x, SparseCooTensor(pattern, values))


def _union(one: CooPattern, other: CooPattern) -> tuple[CooPattern, Lookup, Lookup]:
    """The positions of both in order, and where the elements of each go."""

    def make() -> tuple[CooPattern, Lookup, Lookup]:
        keys = np.union1d(one.keys.array, other.keys.array)
        pattern = CooPattern.of_keys(keys, one.shape, True, one.dtype)
        return (
            pattern,
            Lookup(np.searchsorted(keys, one.keys.array)),
            Lookup(np.searchsorted(keys, other.keys.array)),
        )

    return one.remember_with(other, "union", make)


__all__ = ["add", "divide", "is_same_shape", "mask_as", "multiply", "subtract"]
