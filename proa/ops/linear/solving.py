"""Linear systems and inverses: solve, lu_solve, inverse, pinv, lstsq."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import INT64, real_dtype
from ...core.errors import type_error, value_error
from ...eager import series
from ...eager.annotations import Number
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import require_tensor
from ..basic import cast_to, full_of, reshape_to, sum_over
from ..math.arithmetic import conjugate
from ..math.unary import abs, square
from .common import (
    INVERTIBLE,
    adjoint,
    check_matrices,
    compiled,
    hermitian_part,
    infer_square,
    matrix_argument,
    swapped,
    times_adjoint,
    without_failure,
)
from .factors import permutation_of_pivots, qr_of
from .linalg import matmul
from .spectra import rank_of, singular_values_of
from .triangular import infer_solve, solve_triangular

# ---- solve ---------------------------------------------------------------------------------------


def _solve(xp: Any, x: Any, y: Any) -> Any:
    return without_failure(np.linalg.solve, x, y)


def _solve_xla(xp: Any, x: Any, y: Any) -> Any:
    return xp.linalg.solve(x, y)


def _solve_grad_x(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    return times_adjoint(solve_again(adjoint(x), g), out) * -1.0


_SOLVE_RULES = {"x": _solve_grad_x, "y": lambda g, x: solve_again(adjoint(x), g)}

# The same twice: gradients solve with a matrix that was found to be invertible already.
solve_square = op(
    "x y",
    infer=infer_solve,
    grad=_SOLVE_RULES,
    check=INVERTIBLE,
    name="solve",
    family="product",
    amp="wide",
    padding=rules.untouched.matrices,
    series=series.functions.solve,
)(_solve)
solve_again = op(
    "x y", infer=infer_solve, grad=_SOLVE_RULES, name="solve_again", amp="wide", padding=rules.untouched.matrices
)(_solve)
for _primitive in (solve_square, solve_again):
    compiled(_primitive)(_solve_xla)


def _well(*shape: int, dtype: str = "float32") -> A:
    """Matrices far from singular."""

    def values() -> np.ndarray:
        real = np.random.default_rng(sum(shape)).uniform(-1, 1, shape) + 2.5 * np.eye(shape[-1])
        is_complex = dtype.startswith("complex")
        return real + 1j * np.random.default_rng(9).uniform(-0.5, 0.5, shape) if is_complex else real

    return A(*shape, values=values, dtype=dtype)


def _reference_solve(x: Any, y: Any, left: bool = True) -> Any:
    if not left:
        return np.swapaxes(np.linalg.solve(np.swapaxes(x, -1, -2), np.swapaxes(y, -1, -2)), -1, -2)
    if y.ndim == 1 or y.shape == x.shape[:-1]:
        return np.linalg.solve(x, y[..., None])[..., 0]
    return np.linalg.solve(x, y)


@samples(
    S(_well(3, 3), A(3, 2)), S(_well(3, 3), A(3)), S(_well(2, 3, 3), A(3)), S(_well(2, 3, 3), A(2, 3)),
    S(_well(2, 3, 3), A(3, 2)), S(_well(1, 3, 3), A(4, 3, 2)), S(_well(3, 3), A(2, 3), False), S(A(0, 0), A(0, 2)),
    S(_well(3, 3), A(3, 0)), S(_well(3, 3, dtype="complex128"), A(3, 1, dtype="complex128")),
    reference=_reference_solve,
)  # fmt: skip
@public(module="linalg", method=True, aliases="x=A y=B")
def solve(x: Tensor, y: Tensor, left: bool = True, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The solution of `x z = y`, or of `z x = y` with `left=False`, for square invertible `x`.

    Args:
        x: `[..., n, n]`.
        y: matrices, or vectors where it has the shape of `x` without the last dimension or one dimension only.
        left: on which side `x` is.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `y`.

    Raises:
        ValueError: a matrix is singular.

    Examples:
        >>> paddle.linalg.solve(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]]), paddle.to_tensor([2.0, 2.0])).tolist()
        [1.0, 0.5]
    """
    require_tensor("solve", "y", y)
    shape = matrix_argument("solve", "x", x, square=True)._aval.shape
    received = f"x: {x._aval}, y: {y._aval}"
    if y._aval.dtype != x._aval.dtype:
        raise type_error("solve", "x and y must have one data type", received, "use astype()")
    is_vector = y._aval.ndim == 1 or y._aval.shape == shape[:-1]
    if not left:
        if y._aval.ndim < 2 or y._aval.shape[-1] != shape[-1]:
            raise value_error("solve", "the columns of y must be as many as those of x", received)
        return deliver(swapped(solve_square(swapped(x), swapped(y))), out)
    if not is_vector:
        return deliver(solve_square(x, y), out)
    result = solve_square(x, reshape_to(y, (*y._aval.shape, 1)))
    return deliver(reshape_to(result, result._aval.shape[:-1]), out)


def _reference_lu_solve(b: Any, lu: Any, pivots: Any, trans: str = "N") -> Any:
    low, high = np.tril(lu, -1) + np.eye(len(lu)), np.triu(lu)
    order = list(range(len(lu)))
    for i, pivot in enumerate(pivots):
        order[i], order[pivot - 1] = order[pivot - 1], order[i]
    x = np.eye(len(lu))[:, order] @ low @ high
    return np.linalg.solve({"N": x, "T": x.T, "C": x.T.conj()}[trans], b)


_PIVOTS = A(values=[2, 3, 3], dtype="int32")


@samples(
    S(A(3, 2), _well(3, 3), _PIVOTS), S(A(3, 1), _well(3, 3), _PIVOTS, "T"), S(A(4, 3, 1), _well(3, 3), _PIVOTS, "C"),
    S(A(3, 1, dtype="complex128"), _well(3, 3, dtype="complex128"), _PIVOTS, "C"),
    S(A(3, 1, dtype="complex128"), _well(3, 3, dtype="complex128"), _PIVOTS, "T"), S(A(0, 1), A(0, 0), A(0, dtype="int32")),
    reference=_reference_lu_solve,
)  # fmt: skip
@public(module="linalg")
def lu_solve(b: Tensor, lu: Tensor, pivots: Tensor, trans: str = "N", name: str | None = None) -> Tensor:
    """The solution of a linear system, given `lu` of its matrix.

    Args:
        b: the right side.
        lu: the factors in one matrix.
        pivots: the exchanges.
        trans: "N" for `A z = b`, "T" for `A^T z = b`, "C" for `A^H z = b`.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `b`.

    Examples:
        >>> factors, pivots = paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [4.0, 4.0]]))
        >>> print(paddle.linalg.lu_solve(paddle.to_tensor([[3.0], [8.0]]), factors, pivots).numpy().round(3))
        [[1.]
         [1.]]
    """
    matrix_argument("lu_solve", "lu", lu, square=True)
    matrix_argument("lu_solve", "b", b)
    require_tensor("lu_solve", "pivots", pivots)
    size = lu._aval.shape[-1]
    received = f"b: {b._aval}, lu: {lu._aval}, pivots: {pivots._aval}, trans: {trans!r}"
    if b._aval.shape[-2] != size or pivots._aval.shape != lu._aval.shape[:-1]:
        raise value_error("lu_solve", "b must have the rows of lu, and pivots one for each of them", received)
    if trans not in ("N", "T", "C"):
        raise value_error("lu_solve", "trans is 'N', 'T' or 'C'", received)
    order = permutation_of_pivots(pivots, size, lu._aval.dtype)
    if trans == "N":
        half = solve_triangular(lu, matmul(order, b, True, False), False, False, True)
        return solve_triangular(lu, half, True, False, False)
    factors = conjugate(lu) if trans == "C" else lu
    half = solve_triangular(factors, b, True, True, False)
    return matmul(order, solve_triangular(factors, half, False, True, True))


# ---- inverse -------------------------------------------------------------------------------------


def _inverse_grad(g: Tensor, out: Tensor) -> Tensor:
    back = adjoint(out)
    return matmul(matmul(back, g), back) * -1.0


@samples(
    S(_well(3, 3)), S(_well(2, 3, 3)), S(_well(1, 1)), S(A(0, 0)), S(A(0, 3, 3)), S(A(2, 0, 0)),
    S(_well(3, 3, dtype="complex128")),
    reference=np.linalg.inv,
)  # fmt: skip
@public(module="linalg", name="inv")
@public(method=True)
@op(
    infer=infer_square,
    grad={"x": _inverse_grad},
    check=INVERTIBLE,
    family="product",
    amp="wide",
    padding=rules.untouched.matrices,
    series=series.functions.inverse_matrix,
)
def inverse(xp: Any, x: Any) -> Any:
    """The inverse of square matrices.

    Args:
        x: matrices in the last two axes.
        name: a label; it changes nothing.

    Raises:
        ValueError: a matrix is singular.

    Examples:
        >>> paddle.inverse(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    return without_failure(np.linalg.inv, x)


@compiled(inverse)
def _inverse_xla(xp: Any, x: Any) -> Any:
    return xp.linalg.inv(x)


# ---- pinv ----------------------------------------------------------------------------------------


def _infer_pinv(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, (hermitian,) = operands[0], attributes
    check_matrices(operation, operands, square=hermitian)
    return x.with_shape((*x.shape[:-2], x.shape[-1], x.shape[-2]))


def _pinv_grad(g: Tensor, x: Tensor, out: Tensor, hermitian: bool) -> Tensor:
    """The derivative where the rank does not change (Golub and Pereyra)."""
    back, gradient = adjoint(out), adjoint(g)
    result = matmul(matmul(back, g), back) * -1.0
    seen = matmul(gradient, times_adjoint(out, out))
    result = result + seen - matmul(x, matmul(out, seen))
    seen = matmul(matmul(back, out), gradient)
    result = result + seen - matmul(matmul(seen, out), x)
    return hermitian_part(result) if hermitian else result


@op(
    "x rcond",
    infer=_infer_pinv,
    grad={"x": _pinv_grad},
    name="pinv",
    amp="wide",
    padding=rules.refused("it looks at all values together"),
)
def pseudo_inverse(xp: Any, x: Any, rcond: Any, hermitian: bool) -> Any:
    """`rcond` `[..., 1]`: singular values up to that part of the largest count as zero."""
    if not x.size:
        return xp.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    if hermitian:
        values, left = without_failure(np.linalg.eigh, x) if xp is np else xp.linalg.eigh(x)
        right = left.swapaxes(-1, -2).conj()
    else:
        left, values, right = without_failure(_thin_svd, x) if xp is np else xp.linalg.svd(x, full_matrices=False)
    size = xp.abs(values)
    is_kept = size > rcond * xp.max(size, axis=-1, keepdims=True)
    factors = xp.where(is_kept, 1 / xp.where(is_kept, values, 1), 0).astype(x.dtype, copy=False)
    return xp.matmul(right.swapaxes(-1, -2).conj() * factors[..., None, :], left.swapaxes(-1, -2).conj())


compiled(pseudo_inverse)(pseudo_inverse.operation.kernel)


def _thin_svd(x: Any) -> Any:
    return tuple(np.linalg.svd(x, full_matrices=False))


def _cutoff(where: str, rcond: Any, x: Tensor) -> Tensor:
    """The relative cutoff as a tensor that broadcasts against singular values."""
    dtype = real_dtype(x._aval.dtype)
    if not isinstance(rcond, Tensor):
        return full_of(float(rcond), (1,), dtype)
    rcond = cast_to(rcond, dtype)
    is_ready = rcond._aval.ndim == x._aval.ndim - 1 and rcond._aval.shape[-1] == 1
    result = rcond if is_ready else reshape_to(rcond, (*rcond._aval.shape, 1))
    batch = (*x._aval.shape[:-2], 1)
    try:
        fits = np.broadcast_shapes(result._aval.shape, batch) == batch
    except ValueError:
        fits = False
    if not fits:
        raise value_error(
            where, "rcond must be one number, or one for each matrix", f"x: {x._aval}, rcond: {rcond._aval}"
        )
    return result


@samples(
    S(A(4, 3)), S(A(2, 2, 3)), S(_well(3, 3), 0.1), S(A(0, 0)), S(A(2, 0, 3)), S(A(4, 2, dtype="complex128")),
    S(A(values=[[2.0, 1.0], [1.0, 3.0]], grad=False), hermitian=True), S(A(2, 4, 3), A(values=[0.01, 0.02], grad=False)),
    reference=lambda x, rcond=1e-15, hermitian=False: np.linalg.pinv(x, rcond, hermitian),
)  # fmt: skip
@public(module="linalg", method=True)
def pinv(x: Tensor, rcond: Number = 1e-15, hermitian: bool = False, name: str | None = None) -> Tensor:
    """The pseudo-inverse: the inverse on what `x` reaches, zero elsewhere.

    Args:
        x: `[..., rows, columns]`.
        rcond: singular values up to this times the largest count as zero.
        hermitian: whether the matrices are symmetric, which is quicker.
        name: a label; it changes nothing.

    Returns:
        A tensor `[..., columns, rows]`.

    Examples:
        >>> print(paddle.linalg.pinv(paddle.to_tensor([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0]])).numpy().round(3))
        [[0.5  0.   0.  ]
         [0.   0.   0.25]]
    """
    matrix_argument("pinv", "x", x, square=bool(hermitian))
    return pseudo_inverse(x, _cutoff("pinv", rcond, x), bool(hermitian))


# ---- lstsq ---------------------------------------------------------------------------------------


def _full_rank_solution(x: Tensor, y: Tensor) -> Tensor:
    rows, columns = x._aval.shape[-2:]
    if rows >= columns:
        q, r = qr_of(x, False)
        return solve_triangular(r, matmul(conjugate(q), y, True, False), True, False, False)
    q, r = qr_of(adjoint(x), False)
    return matmul(q, solve_triangular(conjugate(r), y, True, True, False))


def _reference_lstsq(x: Any, y: Any, rcond: Any = None, driver: Any = None) -> Any:
    solution = np.linalg.pinv(x, rcond=1e-6 if rcond is None else rcond) @ y
    values = np.linalg.svd(x, compute_uv=False)
    none = np.zeros(0)
    residuals = np.sum(np.abs(x @ solution - y) ** 2, -2) if x.shape[-2] > x.shape[-1] else none
    rank = (values > values.max(-1, initial=0, keepdims=True) * (1e-6 if rcond is None else rcond)).sum(-1)
    rank = np.zeros(0, "int64") if driver == "gels" else rank
    wanted = driver in ("gelsd", "gelss")
    return [solution, residuals if wanted or driver == "gels" else none, rank, values if wanted else none]


@samples(
    S(A(4, 3), A(4, 2)), S(A(2, 3), A(2, 2)), S(A(5, 4, 3), A(5, 4, 1), driver="gelsd"), S(A(4, 3), A(4, 2), driver="gels"),
    S(A(2, 3), A(2, 2), driver="gels"), S(A(4, 3), A(4, 2), 0.01, "gelss"), S(A(3, 3), A(3, 1)),
    S(A(4, 2, dtype="complex128"), A(4, 1, dtype="complex128"), driver="gelsd"),
    reference=_reference_lstsq, tolerance=1e-4,
)  # fmt: skip
@public(module="linalg", method=True)
def lstsq(
    x: Tensor, y: Tensor, rcond: float | None = None, driver: str | None = None, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The shortest `z` with the least `|x z - y|`.

    Args:
        x: `[..., rows, columns]`.
        y: `[..., rows, k]`.
        rcond: singular values up to this times the largest count as zero.
        driver: "gelsy" (the default), "gelsd" and "gelss" allow any rank; "gels" is quicker and wants full rank.
        name: a label; it changes nothing.

    Returns:
        The solution, the residuals (not from "gelsy", and only with more rows than columns), the rank (not from
        "gels") and the singular values (from "gelsd" and "gelss"). What is not given is an empty tensor.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> solution, _, rank, _ = paddle.linalg.lstsq(x, paddle.to_tensor([[1.0], [3.0], [5.0]]))
        >>> print(solution.flatten().numpy().round(3))
        [1. 2.]
        >>> rank.item()
        2
    """
    matrix_argument("lstsq", "x", x)
    matrix_argument("lstsq", "y", y)
    received = f"x: {x._aval}, y: {y._aval}"
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise value_error("lstsq", "driver is 'gels', 'gelsy', 'gelsd', 'gelss' or None", f"driver: {driver!r}")
    if x._aval.dtype != y._aval.dtype:
        raise type_error("lstsq", "x and y must have one data type", received, "use astype()")
    if x._aval.shape[:-1] != y._aval.shape[:-1]:
        raise value_error("lstsq", "x and y must have the same batch and as many rows", received)
    rows, columns = x._aval.shape[-2:]
    real_type = real_dtype(x._aval.dtype)
    residuals = values = full_of(0.0, (0,), real_type)
    if driver == "gels":
        rank = full_of(0, (0,), INT64)
        solution = _full_rank_solution(x, y)
    else:
        relative = float(np.finfo(real_type).eps) * max(rows, columns) if rcond is None else float(rcond)
        solution = matmul(pseudo_inverse(x, _cutoff("lstsq", relative, x), False), y)
        found = singular_values_of(x)
        rank = rank_of(found, full_of(0.0, (), real_type), full_of(relative, (), real_type), np.dtype(np.int32))
        values = found if driver in ("gelsd", "gelss") else values
    if rows > columns and driver in ("gels", "gelsd", "gelss"):
        difference = matmul(x, solution) - y
        length = square(abs(difference)) if difference._aval.dtype.kind == "c" else square(difference)
        residuals = sum_over(length, (length._aval.ndim - 2,), False)
    return solution, residuals, rank, values
