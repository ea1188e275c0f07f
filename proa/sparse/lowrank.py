"""The main directions of a sparse matrix, by random projection."""

from __future__ import annotations

from typing import Any

from ..core.dtype import is_differentiable
from ..core.errors import type_error, value_error
from ..eager.declare import PUBLIC
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor
from ..ops.arguments import integer
from ..ops.basic import transpose_to
from .product import matmul
from .shape import transpose
from .tensor import require_sparse


@samples(
    S(A(6, 5, layout="coo")), S(A(6, 5, layout="coo"), 3), S(A(5, 6, dtype="float64", layout="csr"), 2, False, 4),
    gradient=False, unspecified=True, why="by random projection, and up to signs: the factors are checked in tests/sparse",
)  # fmt: skip
def pca_lowrank(
    x: Tensor, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of a sparse matrix: `U diag(S) Vᵀ` close to it, of rank `q`.

    The range of `x` is found by multiplying it with random vectors (Halko, Martinsson and Tropp 2009); the centred
    matrix is never formed.

    Args:
        x: a sparse matrix.
        q: the rank; None for 6, or the smaller dimension if that is less.
        center: whether the column means are taken off.
        niter: how many power steps make the result better.
        name: a label; it changes nothing.

    Returns:
        `U`, `S` and `V`.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2)
        >>> u, s, v = paddle.sparse.pca_lowrank(x, center=False)
        >>> print(s.numpy().round(3))
        [3. 2.]
    """
    where = "sparse.pca_lowrank"
    x = require_sparse(where, "x", x)
    if not is_differentiable(x._aval.dtype) or x._aval.dtype.kind == "c":
        raise type_error(where, "x must be of a real floating type", f"x: {x._aval}")
    if x._aval.ndim != 2 or x.dense_dim():
        raise value_error(where, "x must be a matrix", f"x: {x._aval}")
    rows, columns = x._aval.shape
    rank = min(6, rows, columns) if q is None else integer(where, "q", q)
    if not 0 <= rank <= min(rows, columns):
        raise value_error(where, f"q must be from 0 to {min(rows, columns)}", f"q: {rank}, x: {x._aval}")
    rounds = integer(where, "niter", niter)
    if rounds < 0:
        raise value_error(where, "niter cannot be negative", f"niter: {rounds}")
    turned = transpose(x, [1, 0])
    ones = PUBLIC["ones"]([rows, 1], x.dtype)
    means = matmul(turned, ones) / rows if center else None  # [columns, 1]

    def apply(y: Tensor) -> Tensor:  # (x - 1 meansᵀ) y
        result = matmul(x, y)
        return result if means is None else result - ones @ (_t(means) @ y)

    def apply_turned(y: Tensor) -> Tensor:  # (x - 1 meansᵀ)ᵀ y
        result = matmul(turned, y)
        return result if means is None else result - means @ (_t(ones) @ y)

    qr: Any = PUBLIC["linalg.qr"]
    basis = qr(apply(PUBLIC["randn"]([columns, rank], x.dtype)))[0]
    for _ in range(rounds):
        basis = qr(apply_turned(basis))[0]
        basis = qr(apply(basis))[0]
    u, s, vh = PUBLIC["linalg.svd"](_t(apply_turned(basis)), full_matrices=False)
    return basis @ u, s, _t(vh)


def _t(x: Tensor) -> Tensor:
    return transpose_to(x, (1, 0))
