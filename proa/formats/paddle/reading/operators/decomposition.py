"""Linear algebra beyond products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....eager.tensor import Tensor
from ..functions import linalg, paddle
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Number


@reads("cholesky")
def cholesky(x: Tensor, *, upper: bool = False) -> Tensor:
    return linalg.cholesky(x, upper)


@reads("cholesky_solve")
def cholesky_solve(x: Tensor, y: Tensor, *, upper: bool = False) -> Tensor:
    return linalg.cholesky_solve(x, y, upper)


@reads("det")
def det(x: Tensor) -> Tensor:
    return linalg.det(x)


@reads("slogdet")
def slogdet(x: Tensor) -> Tensor:
    found = linalg.slogdet(x)
    return found if isinstance(found, Tensor) else paddle.stack(list(found))


@reads("slogdet_v2")
def slogdet_parts(x: Tensor) -> Any:
    found = linalg.slogdet(x)
    return (found[0], found[1])


@reads("inverse")
def inverse(x: Tensor) -> Tensor:
    return linalg.inv(x)


@reads("eig")
def eig(x: Tensor) -> Any:
    return tuple(linalg.eig(x))


@reads("eigh")
def eigh(x: Tensor, *, UPLO: str = "L") -> Any:
    return tuple(linalg.eigh(x, UPLO))


@reads("eigvals")
def eigvals(x: Tensor) -> Tensor:
    return linalg.eigvals(x)


@reads("eigvalsh")
def eigvalsh(x: Tensor, *, uplo: str = "L", is_test: bool = True) -> Tensor:
    return linalg.eigvalsh(x, uplo)


@reads("svd")
def svd(x: Tensor, *, full_matrices: bool = False) -> Any:
    return tuple(linalg.svd(x, full_matrices))


@reads("svdvals")
def svdvals(x: Tensor) -> Tensor:
    return linalg.svdvals(x)


@reads("qr")
def qr(x: Tensor, *, mode: str = "reduced") -> Any:
    found = linalg.qr(x, mode)
    return (None, found) if isinstance(found, Tensor) else tuple(found)


@reads("lu")
def lu(x: Tensor, *, pivot: bool = True) -> Any:
    return tuple(linalg.lu(x, pivot, get_infos=True))


@reads("lu_unpack")
def lu_unpack(x: Tensor, pivots: Tensor, *, unpack_ludata: bool = True, unpack_pivots: bool = True) -> Any:
    return tuple(linalg.lu_unpack(x, pivots, unpack_ludata, unpack_pivots))


@reads("lu_solve")
def lu_solve(b: Tensor, factors: Tensor, pivots: Tensor, *, trans: str = "N") -> Tensor:
    return linalg.lu_solve(b, factors, pivots, trans)


@reads("solve")
def solve(x: Tensor, y: Tensor) -> Tensor:
    return linalg.solve(x, y)


@reads("triangular_solve")
def triangular_solve(
    x: Tensor, y: Tensor, *, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Tensor:
    return linalg.triangular_solve(x, y, upper, transpose, unitriangular)


@reads("lstsq")
def lstsq(x: Tensor, y: Tensor, rcond: Number = None, *, driver: str = "gelsy") -> Any:
    return tuple(linalg.lstsq(x, y, rcond, driver))


@reads("matrix_power")
def matrix_power(x: Tensor, *, n: int) -> Tensor:
    return linalg.matrix_power(x, n)


@reads("matrix_rank")
def matrix_rank(x: Tensor, *, tol: float = 0.0, use_default_tol: bool = True, hermitian: bool = False) -> Tensor:
    return linalg.matrix_rank(x, None if use_default_tol else tol, hermitian)


@reads("matrix_rank_tol")
def matrix_rank_tol(x: Tensor, tol: Tensor, *, use_default_tol: bool = False, hermitian: bool = False) -> Tensor:
    return linalg.matrix_rank(x, None if use_default_tol else tol, hermitian)


@reads("matrix_rank_atol_rtol")
def matrix_rank_atol_rtol(x: Tensor, atol: Tensor, rtol: Tensor | None = None, *, hermitian: bool = False) -> Tensor:
    return linalg.matrix_rank(x, None, hermitian, atol, rtol)


@reads("renorm")
def renorm(x: Tensor, *, p: float, axis: int, max_norm: float) -> Tensor:
    return paddle.renorm(x, p, axis, max_norm)
