"""Between layouts: dense, COO, CSR; coalescing. Also the layout methods that every Tensor has.

Turning a dense tensor into a sparse one looks at its values (the number of stored elements depends on them).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..eager.attaching import attach
from ..eager.backward.tape import stand_in
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor
from ..ops.arguments import integer
from ..ops.basic import reshape_to
from .pattern import CooPattern
from .rows import sum_rows, take_rows
from .tensor import SparseCooTensor, SparseCsrTensor, SparseTensor


def as_coo(x: SparseTensor) -> SparseCooTensor:
    """The same tensor by coordinates, its elements in the same order."""
    if isinstance(x, SparseCooTensor):
        return x
    return SparseCooTensor(x._pattern.to_coo(), stand_in(x._values))


def in_layout_of(model: SparseTensor, x: SparseCooTensor) -> Any:
    """A result in the layout of what it was computed from."""
    return x if isinstance(model, SparseCooTensor) else coo_to_csr("to_sparse_csr", x)


def coalesced(x: SparseCooTensor) -> SparseCooTensor:
    """In order, elements at the same position added up."""
    pattern, rows = x._pattern.coalesce()
    if pattern is x._pattern:
        return x
    return SparseCooTensor(pattern, stand_in(x._values) if rows is None else sum_rows(x._values, rows, pattern.nnz))


def dense_of(x: SparseTensor) -> Tensor:
    """All positions, zeros where nothing is stored; elements at the same position add up."""
    pattern: CooPattern = as_coo(x)._pattern
    return reshape_to(sum_rows(x._values, pattern.keys, math.prod(pattern.shape)), x._aval.shape)


def coo_of_dense(x: Tensor, sparse_dim: int) -> SparseCooTensor:
    shape = x._aval.shape
    array = np.asarray(x._data())
    stored = array != 0
    if sparse_dim < len(shape):
        stored = stored.any(axis=tuple(range(sparse_dim, len(shape))))
    pattern = CooPattern(np.stack(np.nonzero(stored)).astype(np.int64), shape[:sparse_dim], True)
    rows = reshape_to(x, (math.prod(shape[:sparse_dim]), *shape[sparse_dim:]))
    return SparseCooTensor(pattern, take_rows(rows, pattern.keys))


def coo_to_csr(where: str, x: SparseCooTensor) -> SparseCsrTensor:
    if len(x._pattern.shape) not in (2, 3) or x.dense_dim():
        raise value_error(
            where, "only matrices and batches of matrices have a CSR form", f"x: {x._aval} ({x.dense_dim()} dense)"
        )
    ordered = coalesced(x)
    return SparseCsrTensor(ordered._pattern.to_csr(), stand_in(ordered._values))


# ---- methods of every tensor -------------------------------------------------------------------------------------------


def to_dense(self: Tensor) -> Tensor:
    """The tensor with all its positions; a dense one is returned as it is.

    Examples:
        >>> paddle.eye(2).to_sparse_coo(2).to_dense().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return dense_of(self) if isinstance(self, SparseTensor) else self


def to_sparse_coo(self: Tensor, sparse_dim: int) -> Tensor:
    """The elements that are not zero, by their coordinates.

    Args:
        sparse_dim: how many of the first axes are sparse; the others stay dense in the values.

    Examples:
        >>> sparse = paddle.to_tensor([[0.0, 5.0], [0.0, 0.0]]).to_sparse_coo(2)
        >>> sparse.indices().tolist(), sparse.values().tolist()
        ([[0], [1]], [5.0])
    """
    if isinstance(self, SparseTensor):
        return as_coo(self)
    count = integer("to_sparse_coo", "sparse_dim", sparse_dim)
    if not 0 < count <= self._aval.ndim:
        raise value_error(
            "to_sparse_coo",
            f"sparse_dim must be from 1 to {self._aval.ndim}",
            f"sparse_dim: {count}, x: {self._aval}",
        )
    return coo_of_dense(self, count)


def to_sparse_csr(self: Tensor) -> Tensor:
    """The elements that are not zero, by compressed rows: of a matrix, or of a batch of matrices.

    Examples:
        >>> sparse = paddle.to_tensor([[0.0, 5.0], [0.0, 0.0]]).to_sparse_csr()
        >>> sparse.crows().tolist(), sparse.cols().tolist(), sparse.values().tolist()
        ([0, 1, 1], [1], [5.0])
    """
    if isinstance(self, SparseCsrTensor):
        return self
    if isinstance(self, SparseCooTensor):
        return coo_to_csr("to_sparse_csr", self)
    if self._aval.ndim not in (2, 3):
        raise value_error("to_sparse_csr", "only matrices and batches of matrices have a CSR form", f"x: {self._aval}")
    return coo_to_csr("to_sparse_csr", coo_of_dense(self, self._aval.ndim))


@samples(
    S(A(3, 4, layout="coo")), S(A(2, 3, 2, layout="coo", sparse_dim=2)), S(A(5, dtype="float64", layout="coo")),
    reference=lambda x: x,
)  # fmt: skip
def coalesce(x: Tensor, name: str | None = None) -> Tensor:
    """The elements in order, those at the same position added up.

    Args:
        x: a COO tensor.
        name: a label; it changes nothing.

    Returns:
        A COO tensor.

    Examples:
        >>> x = paddle.sparse.sparse_coo_tensor([[1, 0, 1]], [10.0, 5.0, 1.0], [2])
        >>> y = paddle.sparse.coalesce(x)
        >>> y.indices().tolist(), y.values().tolist()
        ([[0, 1]], [5.0, 11.0])
    """
    if not isinstance(x, SparseCooTensor):
        raise type_error("coalesce", "only a sparse COO tensor can be coalesced", _kind(x))
    return coalesced(x)


@samples(
    S(A(3, 4, layout="coo"), A(3, 4, layout="csr")), S(A(3, 4, layout="csr"), A(3, 4)), S(A(3, 4), A(4, 3, layout="coo")),
    S(A(2), A(2)), S(A(2, 3), A(3)),
    reference=lambda x, y: x.shape == y.shape,
)  # fmt: skip
def is_same_shape(x: Tensor, y: Tensor) -> bool:
    """Whether two tensors, sparse or dense, have the same shape.

    Args:
        x: the first.
        y: the second.

    Returns:
        A bool.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> y = paddle.ones([2, 2])
        >>> paddle.sparse.is_same_shape(x, y)
        True
    """
    for name, tensor in (("x", x), ("y", y)):
        if not isinstance(tensor, Tensor):
            raise type_error("is_same_shape", f"{name} must be a Tensor", f"{name}: {type(tensor).__name__}")
    return x._aval.shape == y._aval.shape


def _kind(x: Any) -> str:
    if not isinstance(x, Tensor):
        return type(x).__name__
    return f"a {'CSR' if isinstance(x, SparseCsrTensor) else 'COO' if isinstance(x, SparseTensor) else 'dense'} tensor"


def _only(method: str, layout: str, call: str, shown: str) -> Any:
    """A method that tensors of another layout do not have, though Paddle gives it to all."""

    def refuse(self: Tensor) -> Any:
        raise type_error(method, f"only a sparse {layout} tensor has this", f"{_kind(self)}: {self._aval}")

    refuse.__name__ = refuse.__qualname__ = method
    refuse.__doc__ = f"""Of a sparse {layout} tensor only; see `paddle.sparse`.

    Raises:
        TypeError: the tensor is no such one.

    Examples:
        >>> paddle.eye(2).{call}
        {shown}
    """
    return refuse


def is_sparse_coo(self: Tensor) -> bool:
    """Whether the tensor is a sparse one in coordinate form.

    Examples:
        >>> paddle.ones([2, 3]).is_sparse_coo()
        False
    """
    return False


def is_sparse_csr(self: Tensor) -> bool:
    """Whether the tensor is a sparse one in compressed rows.

    Examples:
        >>> paddle.ones([2, 3]).is_sparse_csr()
        False
    """
    return False


def sparse_dim(self: Tensor) -> int:
    """How many dimensions are sparse.

    Examples:
        >>> paddle.ones([2, 3]).sparse_dim()
        0
    """
    return 0


def dense_dim(self: Tensor) -> int:
    """How many dimensions are dense.

    Examples:
        >>> paddle.ones([2, 3]).dense_dim()
        2
    """
    return self._aval.ndim


def _attach() -> None:
    for method in (to_dense, to_sparse_coo, to_sparse_csr, coalesce, is_same_shape):
        attach(__name__, **{method.__name__: method})
    for name, (layout, call, shown) in {
        "indices": ("COO", "to_sparse_coo(2).indices().tolist()", "[[0, 1], [0, 1]]"),
        "is_coalesced": ("COO", "to_sparse_coo(2).is_coalesced()", "True"),
        "crows": ("CSR", "to_sparse_csr().crows().tolist()", "[0, 1, 2]"),
        "cols": ("CSR", "to_sparse_csr().cols().tolist()", "[0, 1]"),
        "values": ("COO or CSR", "to_sparse_coo(2).values().tolist()", "[1.0, 1.0]"),
        "nnz": ("COO or CSR", "to_sparse_coo(2).nnz()", "2"),
    }.items():
        attach(__name__, **{name: _only(name, layout, call, shown)})
    for method in (is_sparse_coo, is_sparse_csr, sparse_dim, dense_dim):
        attach(__name__, **{method.__name__: method})


_attach()
