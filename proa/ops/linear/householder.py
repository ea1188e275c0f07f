"""Products of Householder reflections: householder_product, ormqr.

`H1 H2 … Hk` with `Hi = I - tau_i v_i v_i^H` is `I - V T V^H` with `T = (I + D S)^-1 D`, where `D` has
the taus on its diagonal and `S` is what `V^H V` has above its own. So the product is a few matrix
products and one triangular system, whatever `k` is, and so are its gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import FLOAT64
from ...core.errors import failed_check, failed_type_check, value_error
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from ..basic import cast_to, full_of
from .common import adjoint, adjoint_times, as_rows, identity, matrix_argument, with_main_diagonal
from .linalg import matmul
from .matrix import lower_triangle, upper_triangle
from .triangular import solve_triangular


def _whole(function: Any, *arguments: Any, **options: Any) -> Tensor | None:
    """For tensors of integers: the product by way of float64, as integers again (which it is made of). Else None."""
    if not all(isinstance(a, Tensor) and a._aval.dtype.kind in "iu" for a in arguments):
        return None
    exact = function(*(cast_to(a, FLOAT64) for a in arguments), **options)
    return cast_to(exact.round(), arguments[0]._aval.dtype)


def _reflections(where: str, x: Any, tau: Any) -> tuple[Tensor, Tensor]:
    matrix_argument(where, "x", x)
    require_tensor(where, "tau", tau)
    received = f"x: {x._aval}, tau: {tau._aval}"
    *batch, rows, columns = x._aval.shape
    if tau._aval.dtype != x._aval.dtype:
        raise failed_type_check(where, "x and tau must have one data type", received, "use astype()")
    if rows < columns:
        raise failed_check(where, "x must have as many rows as columns at least", received)
    if tau._aval.ndim != x._aval.ndim - 1 or list(tau._aval.shape[:-1]) != batch or tau._aval.shape[-1] > columns:
        raise value_error(where, "tau must have a number for each column of x, or for fewer", received)
    return x, tau


def _product(x: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of the reflections, as many as `x` has."""
    *batch, rows, columns = x._aval.shape
    count, dtype = tau._aval.shape[-1], x._aval.dtype
    start = identity(rows, dtype)[:, :columns]
    if not count or not columns:
        return start + full_of(0.0, (*batch, rows, columns), dtype)
    ones = full_of(1.0, (*batch, count), dtype)
    vectors = with_main_diagonal(lower_triangle(x[..., :count], -1), ones)
    # Only the part of V^H that meets the wanted columns of the identity is needed.
    meeting = adjoint(vectors[..., :columns, :])
    between = upper_triangle(adjoint_times(vectors, vectors), 1) * as_rows(tau)
    middle = solve_triangular(between, meeting * as_rows(tau), True, False, True)
    return start - matmul(vectors, middle)


def _reference_product(x: Any, tau: Any) -> Any:
    rows, columns = x.shape[-2:]
    result = np.broadcast_to(np.eye(rows), (*x.shape[:-2], rows, rows)).astype(x.dtype)
    for k in range(tau.shape[-1]):
        vector = np.where(np.arange(rows) < k, 0, x[..., k])
        vector = np.where(np.arange(rows) == k, 1, vector)[..., None]
        step = np.eye(rows) - tau[..., k, None, None] * vector @ np.swapaxes(vector, -1, -2).conj()
        result = result @ step
    return result[..., :columns]


@samples(
    S(A(4, 3), A(3)), S(A(2, 4, 3), A(2, 3)), S(A(3, 3), A(2)), S(A(4, 2), A(values=[0.0, 1.5])), S(A(0, 0), A(0)),
    S(A(4, 2), A(0)), S(A(4, 2, dtype="complex128"), A(2, dtype="complex128")),
    reference=_reference_product, tolerance=1e-4,
)  # fmt: skip
@public(module="linalg", method=True)
def householder_product(x: Tensor, tau: Tensor, name: str | None = None) -> Tensor:
    """The first columns of a product of reflections `H1 H2 … Hk`.

    Reflection `i` is `I - tau_i v v^H`, where `v` is column `i` of `x` below the diagonal, 1 on it and 0 above: the
    form in which LAPACK's geqrf leaves `Q`.

    Args:
        x: `[..., rows, columns]`.
        tau: `[..., k]`.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.linalg.householder_product(paddle.to_tensor([[1.0], [1.0]]), paddle.to_tensor([1.0])).tolist()
        [[0.0], [-1.0]]
    """
    whole = _whole(householder_product, x, tau)
    return _product(*_reflections("householder_product", x, tau)) if whole is None else whole


def _reference_ormqr(x: Any, tau: Any, y: Any, left: bool = True, transpose: bool = False) -> Any:
    q = _reference_product(x, tau)
    q = np.swapaxes(q, -1, -2).conj() if transpose else q
    return q @ y if left else y @ q


@samples(
    S(A(3, 3), A(3), A(3, 2)), S(A(4, 2), A(2), A(2, 3)), S(A(4, 2), A(2), A(4, 3), True, True),
    S(A(3, 3), A(3), A(2, 3), False), S(A(2, 3, 3), A(2, 3), A(2, 2, 3), False, True),
    S(A(3, 3, dtype="complex128"), A(3, dtype="complex128"), A(3, 2, dtype="complex128"), True, True),
    reference=_reference_ormqr, tolerance=1e-4,
)  # fmt: skip
@public(module="linalg", method=True)
def ormqr(
    x: Tensor, tau: Tensor, y: Tensor, left: bool = True, transpose: bool = False, name: str | None = None
) -> Tensor:
    """`Q y` or `y Q`, for `Q = householder_product(x, tau)`.

    Args:
        x: `[..., rows, columns]`.
        tau: `[..., k]`.
        y: what is multiplied.
        left: whether `Q` is on the left.
        transpose: whether `Q^H` takes the place of `Q`.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `y`.

    Examples:
        >>> x, tau = paddle.to_tensor([[1.0, 0.0], [1.0, 1.0]]), paddle.to_tensor([1.0, 0.0])
        >>> paddle.linalg.ormqr(x, tau, paddle.to_tensor([[1.0], [2.0]])).tolist()
        [[-2.0], [-1.0]]
    """
    whole = _whole(ormqr, x, tau, y, left=left, transpose=transpose)
    if whole is not None:
        return whole
    _reflections("ormqr", x, tau)
    matrix_argument("ormqr", "y", y)
    received = f"x: {x._aval}, tau: {tau._aval}, y: {y._aval}, left: {left}, transpose: {transpose}"
    if tau._aval.shape[-1] != x._aval.shape[-1]:
        raise value_error("ormqr", "tau must have a number for each column of x", received)
    inner = x._aval.shape[-2 if bool(left) == bool(transpose) else -1]
    if y._aval.shape[-2 if left else -1] != inner:
        raise value_error("ormqr", f"this product needs a y of {inner} {'row' if left else 'column'}(s)", received)
    q = _product(x, tau)
    q = adjoint(q) if transpose else q
    return matmul(q, y) if left else matmul(y, q)
