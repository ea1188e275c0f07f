"""Products with sparse matrices.

`sparse @ dense` takes the dense rows that the stored elements meet, scales them and adds them up by row. The product of
two sparse matrices pairs their elements on the host (which meets which depends on the patterns only) and multiplies and
adds up values in recorded operations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor
from ..ops.basic import reshape_to, sum_over, transpose_to
from .binary import add, multiply
from .convert import as_coo, in_layout_of
from .pattern import CooPattern, Lookup
from .rows import sum_rows, take_rows
from .shape import transpose
from .tensor import SparseCooTensor, SparseTensor, require_dense, require_sparse

_COO, _CSR, _BATCH = A(3, 4, layout="coo"), A(3, 4, layout="csr"), A(2, 3, 4, layout="csr")


@samples(
    S(_COO, A(4, 2)), S(_CSR, A(4, 2)), S(_CSR, A(4)), S(_BATCH, A(2, 4, 2)), S(A(2, 3), _COO),
    S(_COO, A(4, 5, layout="coo")), S(_CSR, A(4, 5, layout="csr")), S(_BATCH, A(2, 4, 3, layout="csr")),
    reference=np.matmul,
)  # fmt: skip
def matmul(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The matrix product.

    Args:
        x: a sparse or dense matrix.
        y: a sparse or dense matrix.
        name: a label; it changes nothing.

    Returns:
        A dense tensor where one of them is dense, a sparse one where both are sparse.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.matmul(x, paddle.to_tensor([[1.0], [10.0]])).tolist()
        [[20.0], [3.0]]
        >>> paddle.sparse.matmul(x, x).to_dense().tolist()
        [[6.0, 0.0], [0.0, 6.0]]
    """
    where = "sparse.matmul"
    for letter, operand in (("x", x), ("y", y)):
        if not isinstance(operand, Tensor):
            raise type_error(where, f"{letter} must be a Tensor", f"{letter}: {type(operand).__name__}")
    if isinstance(x, SparseTensor):
        return _sparse_by_sparse(where, x, y) if isinstance(y, SparseTensor) else _sparse_by_dense(where, x, y)
    y = require_sparse(where, "x or y", y)
    if x._aval.ndim < 2:
        raise value_error(where, "a dense x must be a matrix or a batch of them", f"x: {x._aval}")
    # x y = (yᵀ xᵀ)ᵀ
    return _turned(_sparse_by_dense(where, transpose(y, _last_two_swapped(y)), _turned(x)))  # type: ignore[arg-type]


@samples(
    S(_COO, A(4)), S(_CSR, A(4)), S(A(2, 5, dtype="float64", layout="csr"), A(5, dtype="float64")),
    reference=np.matmul,
)  # fmt: skip
def mv(x: Tensor, vec: Tensor, name: str | None = None) -> Tensor:
    """A sparse matrix by a dense vector.

    Args:
        x: the matrix.
        vec: the vector.
        name: a label; it changes nothing.

    Returns:
        A dense vector.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> vec = paddle.to_tensor([1.0, 10.0])
        >>> paddle.sparse.mv(x, vec).tolist()
        [20.0, 3.0]
    """
    x, vec = require_sparse("sparse.mv", "x", x), require_dense("sparse.mv", "vec", vec)
    if x._aval.ndim != 2 or vec._aval.ndim != 1:
        raise value_error("sparse.mv", "x must be a matrix and vec a vector", f"x: {x._aval}, vec: {vec._aval}")
    return _sparse_by_dense("sparse.mv", x, vec)


def _reference_addmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0) -> Any:
    return beta * input + alpha * (x @ y)


@samples(
    S(A(3, 2), _COO, A(4, 2)), S(A(3, 2), _CSR, A(4, 2), 0.5, 2.0), S(A(2, 3, 2), _BATCH, A(2, 4, 2), alpha=-1.0),
    S(A(3, 5, layout="coo"), _COO, A(4, 5, layout="coo"), 2.0), S(A(3, 5, layout="csr"), _CSR, A(4, 5, layout="csr")),
    reference=_reference_addmm,
)  # fmt: skip
def addmm(
    input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0, name: str | None = None
) -> Tensor:
    """`beta * input + alpha * (x @ y)`.

    Args:
        input: sparse if the product is, else dense.
        x: a sparse matrix.
        y: a sparse or dense matrix.
        beta: the factor of `input`.
        alpha: the factor of the product.
        name: a label; it changes nothing.

    Returns:
        A tensor, sparse if the product is.

    Examples:
        >>> input = paddle.ones([2, 2])
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> y = paddle.eye(2)
        >>> paddle.sparse.addmm(input, x, y, alpha=2.0).tolist()
        [[1.0, 5.0], [7.0, 1.0]]
    """
    where = "sparse.addmm"
    result = matmul(x, y)
    if isinstance(result, SparseTensor):
        return add(multiply(require_sparse(where, "input", input), beta), multiply(result, alpha))
    start = require_dense(where, "input", input)
    if start._aval.shape != result._aval.shape:
        raise value_error(where, "input must have the product's shape", f"input: {start._aval}, x @ y: {result._aval}")
    return start * beta + result * alpha


@samples(
    S(A(3, 2), A(2, 4), A(3, 4, layout="csr", grad=False)), S(A(3, 2), A(2, 4), A(3, 4, layout="coo", grad=False)),
    S(A(2, 3, 2), A(2, 2, 4), A(2, 3, 4, layout="csr", grad=False)),
    S(A(3, 1, dtype="float64"), A(1, 3, dtype="float64"), A(values=np.eye(3), dtype="float64", layout="csr", grad=False)),
    reference=lambda x, y, mask: np.where(mask != 0, x @ y, 0),
)  # fmt: skip
def masked_matmul(x: Tensor, y: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """The elements of the dense product `x @ y` at the positions that a sparse mask stores.

    No others are computed.

    Args:
        x: a dense matrix.
        y: a dense matrix.
        mask: a sparse matrix of the shape of the product.
        name: a label; it changes nothing.

    Returns:
        A sparse matrix of the layout of `mask`.

    Examples:
        >>> x, mask = paddle.ones([2, 3]), paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> paddle.sparse.masked_matmul(x, x.T, mask).values().tolist()
        [3.0, 3.0]
    """
    where = "sparse.masked_matmul"
    x, y, mask = require_dense(where, "x", x), require_dense(where, "y", y), require_sparse(where, "mask", mask)
    received = f"x: {x._aval}, y: {y._aval}, mask: {mask._aval}"
    ndim = x._aval.ndim
    if ndim < 2 or y._aval.ndim != ndim or mask._aval.ndim != ndim or mask.dense_dim():
        raise value_error(where, "x, y and mask must be matrices, or batches of them", received)
    *batch, rows, inner = x._aval.shape
    *other_batch, other_inner, columns = y._aval.shape
    if batch != other_batch or inner != other_inner or mask._aval.shape != (*batch, rows, columns):
        raise value_error(where, "the shapes do not fit", received, "x @ y must have the shape of mask")
    if x._aval.dtype != y._aval.dtype:
        raise value_error(where, "x and y must have the same dtype", received)
    row_of, column_of = _rows_and_columns(as_coo(mask)._pattern)
    left = take_rows(reshape_to(x, (math.prod(batch) * rows, inner)), row_of)
    right = take_rows(reshape_to(_turned(y), (math.prod(batch) * columns, inner)), column_of)
    return mask._with_values(sum_over(left * right, (1,), False))


def _last_two_swapped(x: Tensor) -> tuple[int, ...]:
    ndim = x._aval.ndim
    return (*range(ndim - 2), ndim - 1, ndim - 2)


def _turned(x: Tensor) -> Tensor:
    return transpose_to(x, _last_two_swapped(x))


def _rows_and_columns(pattern: CooPattern) -> tuple[Lookup, Lookup]:
    """For each element the number of its row, and of its column, counted through all matrices of the batch."""

    def make() -> tuple[Lookup, Lookup]:
        batch = range(len(pattern.shape) - 2)
        return pattern.numbered([*batch, len(batch)]), pattern.numbered([*batch, len(batch) + 1])

    return pattern.remember("rows and columns", make)


def _check(where: str, x: Tensor, y: Tensor, inner: int) -> None:
    received = f"x: {x._aval}, y: {y._aval}"
    if inner != x._aval.shape[-1]:
        raise value_error(where, f"x has {x._aval.shape[-1]} columns, y {inner} rows", received)
    if x._aval.dtype != y._aval.dtype:
        raise value_error(where, "x and y must have the same dtype", received, "convert one with astype()")


def _sparse_by_dense(where: str, x: SparseTensor, y: Tensor) -> Tensor:
    if x.dense_dim() or x._aval.ndim < 2 or y._aval.ndim < 1:
        raise value_error(where, "x and y must be matrices, or batches of them", f"x: {x._aval}, y: {y._aval}")
    is_vector = y._aval.ndim == 1
    matrix = reshape_to(y, (*y._aval.shape, 1)) if is_vector else y
    *batch, rows, _ = x._aval.shape
    *other_batch, inner, columns = matrix._aval.shape
    _check(where, x, y, inner)
    if batch != other_batch:
        raise value_error(where, "the batches must be the same", f"x: {x._aval}, y: {y._aval}")
    row_of, column_of = _rows_and_columns(as_coo(x)._pattern)
    count = math.prod(batch)
    met = take_rows(reshape_to(matrix, (count * inner, columns)), column_of)
    scaled = reshape_to(x._values, (x.nnz(), 1)) * met
    result = sum_rows(scaled, row_of, count * rows)
    return reshape_to(result, (*batch, rows) if is_vector else (*batch, rows, columns))


def _sparse_by_sparse(where: str, x: SparseTensor, y: SparseTensor) -> Tensor:
    ndim = x._aval.ndim
    if x.dense_dim() or y.dense_dim() or ndim < 2 or y._aval.ndim != ndim:
        raise value_error(where, "x and y must be matrices, or batches of them", f"x: {x._aval}, y: {y._aval}")
    _check(where, x, y, y._aval.shape[-2])
    if x._aval.shape[:-2] != y._aval.shape[:-2]:
        raise value_error(where, "the batches must be the same", f"x: {x._aval}, y: {y._aval}")
    left, right = as_coo(x), as_coo(y)
    pattern, from_left, from_right, to = _meetings(left._pattern, right._pattern)
    products = take_rows(left._values, from_left) * take_rows(right._values, from_right)
    return in_layout_of(x, SparseCooTensor(pattern, sum_rows(products, to, pattern.nnz)))


def _meetings(left: CooPattern, right: CooPattern) -> tuple[CooPattern, Lookup, Lookup, Lookup]:
    """Every pair of elements that meet in the product, and where each product goes."""

    def make() -> tuple[CooPattern, Lookup, Lookup, Lookup]:
        meets = _rows_and_columns(left)[1].array  # the row of `right`, counted through the batch
        rows = _rows_and_columns(right)[0].array
        order = np.argsort(rows, kind="stable")
        first = np.searchsorted(rows[order], meets, "left")
        counts = np.searchsorted(rows[order], meets, "right") - first
        from_left = np.repeat(np.arange(left.nnz), counts)
        within = np.arange(len(from_left)) - np.repeat(np.cumsum(counts) - counts, counts)
        from_right = order[np.repeat(first, counts) + within]
        shape = (*left.shape[:-1], right.shape[-1])
        keys = _rows_and_columns(left)[0].array[from_left] * shape[-1] + right.indices[-1][from_right]
        found, to = np.unique(keys, return_inverse=True)
        pattern = CooPattern.of_keys(found, shape, True, left.dtype)
        return pattern, Lookup(from_left), Lookup(from_right), Lookup(to.reshape(-1))

    return left.remember_with(right, "product", make)
