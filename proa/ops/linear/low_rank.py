"""Approximate decompositions by random projection: svd_lowrank, pca_lowrank."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import integer, require_tensor
from ..basic import cast_to, sum_over
from ..create.random import draw, normal_of
from .common import adjoint, adjoint_times, matrix_argument
from .factors import qr_of
from .linalg import matmul
from .spectra import svd_of

_DEFAULT_RANK = 6


def _settings(where: str, x: Any, q: Any, niter: Any) -> tuple[int, int]:
    smaller = min(matrix_argument(where, "x", x)._aval.shape[-2:])
    rank = min(_DEFAULT_RANK, smaller) if q is None else integer(where, "q", q)
    rounds = integer(where, "niter", niter)
    if not 0 <= rank <= smaller:
        raise value_error(where, f"q must be from 0 to {smaller}", f"q: {q}, x: {x._aval}")
    if rounds < 0:
        raise value_error(where, "niter cannot be negative", f"niter: {niter}")
    return rank, rounds


def _range(x: Tensor, rank: int, rounds: int) -> Tensor:
    """Orthonormal columns that span nearly what `x` reaches: a random projection, then power steps."""
    dtype = x._aval.dtype
    kind = np.dtype(np.float64) if dtype.itemsize // (2 if dtype.kind == "c" else 1) == 8 else np.dtype(np.float32)
    seed, offset = draw()
    start = cast_to(normal_of(0.0, 1.0, seed, offset, (x._aval.shape[-1], rank), kind), dtype)
    basis = qr_of(matmul(x, start), False)[0]
    for _ in range(rounds):
        basis = qr_of(adjoint_times(x, basis), False)[0]
        basis = qr_of(matmul(x, basis), False)[0]
    return basis


def _decompose(x: Tensor, rank: int, rounds: int) -> tuple[Tensor, Tensor, Tensor]:
    rows, columns = x._aval.shape[-2:]
    if rows < columns:
        left, values, right = _decompose(adjoint(x), rank, rounds)
        return right, values, left
    basis = _range(x, rank, rounds)
    inner, values, right = svd_of(adjoint_times(basis, x), False)
    return matmul(basis, inner), values, adjoint(right)


_WHY = "the projection is random: what the factors amount to is checked in tests/ops/linear/test_linalg_factors.py"


@samples(
    S(A(6, 4), 2),
    S(A(6, 4), 3, niter=0),
    S(A(2, 4, 6, dtype="float64"), 3, M=A(1, 4, 6, dtype="float64")),
    S(A(2, 0, 3)),
    random=True,
    gradient=False,
    why=_WHY,
)
@public(module="linalg", method=True)
def svd_lowrank(
    x: Tensor, q: int | None = None, niter: int = 2, M: Tensor | None = None, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The largest singular values of a matrix with their vectors, nearly.

    Args:
        x: `[..., rows, columns]`.
        q: how many; None for 6, or the shorter side if that is less.
        niter: how many power steps make the result better.
        M: what is taken off `x` first, or None.
        name: a label; it changes nothing.

    Returns:
        `U`, `S` and `V`.

    Examples:
        >>> x = paddle.diag(paddle.to_tensor([5.0, 3.0, 1.0]))
        >>> print(paddle.linalg.svd_lowrank(x, q=2)[1].numpy().round(3))
        [5. 3.]
    """
    rank, rounds = _settings("svd_lowrank", x, q, niter)
    if M is not None:
        x = x - require_tensor("svd_lowrank", "M", M)
    return _decompose(x, rank, rounds)


@samples(
    S(A(6, 4), 2),
    S(A(2, 4, 6), 3, center=False, niter=1),
    S(A(5, 5, dtype="float64"), 4),  # five centred rows span four dimensions: nothing decides on the sign of a fifth
    S(A(0, 4, 3), center=False),
    random=True,
    gradient=False,
    why=_WHY,
)
@public(module="linalg", method=True)
def pca_lowrank(
    x: Tensor, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components: `svd_lowrank` of `x` less the mean of its rows.

    Args:
        x: `[..., rows, columns]`.
        q: how many; None for 6, or the shorter side if that is less.
        center: whether the mean is taken off.
        niter: how many power steps make the result better.
        name: a label; it changes nothing.

    Returns:
        `U`, `S` and `V`.

    Examples:
        >>> x = paddle.arange(12.0).reshape([4, 3])
        >>> u, s, v = paddle.linalg.pca_lowrank(x, q=1)
        >>> u.shape, v.shape
        (paddle.Size([4, 1]), paddle.Size([3, 1]))
        >>> print(s.numpy().round(3))
        [11.619]
    """
    rank, rounds = _settings("pca_lowrank", x, q, niter)
    if center:
        rows = x._aval.shape[-2]
        x = x - sum_over(x, (x._aval.ndim - 2,), True) * (1.0 / max(rows, 1))
    return _decompose(x, rank, rounds)
