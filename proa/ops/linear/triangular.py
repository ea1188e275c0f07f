"""Systems with triangular matrices: triangular_solve, cholesky_solve, cholesky_inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import value_error
from ...eager.declare import op, public
from ...eager.infer import broadcast_shapes
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import require_tensor
from ..math.arithmetic import conjugate
from .common import adjoint, check_matrices, compiled, identity, matrix_argument
from .linalg import matmul
from .matrix import lower_triangle, upper_triangle


def infer_solve(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    """The shape of `x^-1 y` for square `x`, batches broadcast."""
    check_matrices(operation, operands, square=True, count=2)
    x, y = operands
    if x.shape[-1] != y.shape[-2]:
        raise operation.error(
            ValueError, f"x has {x.shape[-2]} row(s), y {y.shape[-2]}", operands, attributes,
            fix="each row of y belongs to a row of x",
        )  # fmt: skip
    batch = broadcast_shapes(operation, operands, [x.shape[:-2], y.shape[:-2]])
    return y.with_shape((*batch, *y.shape[-2:]))


def with_one_batch(xp: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Both arrays with their batches broadcast together."""
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    return xp.broadcast_to(x, (*batch, *x.shape[-2:])), xp.broadcast_to(y, (*batch, *y.shape[-2:]))


def _solve_grad_y(g: Tensor, x: Tensor, upper: bool, transpose: bool, unitriangular: bool) -> Tensor:
    return solve_triangular(conjugate(x), g, upper, not transpose, unitriangular)


def _solve_grad_x(g: Tensor, x: Tensor, out: Tensor, upper: bool, transpose: bool, unitriangular: bool) -> Tensor:
    back = _solve_grad_y(g, x, upper, transpose, unitriangular)
    solution = conjugate(out)
    full = matmul(solution, back, False, True) if transpose else matmul(back, solution, False, True)
    skipped = 1 if unitriangular else 0
    return (upper_triangle(full, skipped) if upper else lower_triangle(full, -skipped)) * -1.0


@op(
    "x y",
    infer=infer_solve,
    grad={"x": _solve_grad_x, "y": _solve_grad_y},
    name="triangular_solve",
    amp="wide",
    padding=rules.untouched.matrices,
)
def solve_triangular(xp: Any, x: Any, y: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    from scipy.linalg import get_blas_funcs

    x, y = with_one_batch(np, x, y)
    result = np.empty(y.shape, y.dtype)
    if not result.size:
        return result
    (solve_one,) = get_blas_funcs(("trsm",), (x, y))
    for index in np.ndindex(*y.shape[:-2]):
        # BLAS divides by a zero on the diagonal and gives infinity, as Paddle and XLA do.
        result[index] = solve_one(1.0, x[index], y[index], lower=not upper, trans_a=int(transpose), diag=unitriangular)
    return result


@compiled(solve_triangular)
def _solve_triangular_xla(xp: Any, x: Any, y: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    from jax import lax

    x, y = with_one_batch(xp, x, y)
    return lax.linalg.triangular_solve(
        x, y, left_side=True, lower=not upper, transpose_a=transpose, unit_diagonal=unitriangular
    )


def _well(*shape: int, dtype: str = "float32") -> A:
    """Matrices far from singular, both triangles filled."""

    def values() -> np.ndarray:
        real = np.random.default_rng(sum(shape)).uniform(-0.5, 0.5, shape) + 2 * np.eye(shape[-1])
        is_complex = dtype.startswith("complex")
        return real + 1j * np.random.default_rng(9).uniform(-0.5, 0.5, shape) if is_complex else real

    return A(*shape, values=values, dtype=dtype)


def _reference_triangular(
    x: Any, y: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    triangle = np.triu(x) if upper else np.tril(x)
    if unitriangular:
        diagonal = np.arange(x.shape[-1])
        triangle[..., diagonal, diagonal] = 1
    return np.linalg.solve(np.swapaxes(triangle, -1, -2) if transpose else triangle, y)


@samples(
    S(_well(3, 3), A(3, 2)), S(_well(3, 3), A(3, 2), False), S(_well(3, 3), A(3, 1), True, True),
    S(_well(3, 3), A(3, 2), False, True, True), S(_well(2, 3, 3), A(3, 2), unitriangular=True),
    S(_well(1, 3, 3), A(4, 3, 1)), S(A(0, 0), A(0, 2)), S(A(0, 3, 3), A(0, 3, 1)), S(_well(2, 2), A(2, 0)),
    S(_well(3, 3, dtype="complex128"), A(3, 2, dtype="complex128")),
    S(_well(3, 3, dtype="complex128"), A(3, 2, dtype="complex128"), False, True),
    reference=_reference_triangular,
)  # fmt: skip
@public(module="linalg")
def triangular_solve(
    x: Tensor,
    y: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    name: str | None = None,
) -> Tensor:
    """The solution of `x z = y` for triangular `x`.

    A zero on the diagonal gives infinity.

    Args:
        x: `[..., n, n]`; only one triangle is read.
        y: `[..., n, k]`.
        upper: whether that is the upper one.
        transpose: whether `x` is transposed.
        unitriangular: whether the diagonal counts as 1 and is not read.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `y`.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 1.0], [0.0, 2.0]])
        >>> y = paddle.to_tensor([[3.0], [4.0]])
        >>> paddle.linalg.triangular_solve(x, y).tolist()
        [[1.0], [2.0]]
    """
    require_tensor("triangular_solve", "x", x)
    require_tensor("triangular_solve", "y", y)
    return solve_triangular(x, y, bool(upper), bool(transpose), bool(unitriangular))


def solve_with_factor(factor: Tensor, y: Tensor, upper: bool) -> Tensor:
    """The solution of `L L^H z = y`, or of `U^H U z = y`."""
    if upper:
        return solve_triangular(factor, solve_triangular(adjoint(factor), y, False, False, False), True, False, False)
    return solve_triangular(adjoint(factor), solve_triangular(factor, y, False, False, False), True, False, False)


def _reference_cholesky_solve(x: Any, y: Any, upper: bool = False) -> Any:
    factor = np.swapaxes(np.triu(y), -1, -2).conj() if upper else np.tril(y)
    return np.linalg.solve(factor @ np.swapaxes(factor, -1, -2).conj(), x)


@samples(
    S(A(3, 2), _well(3, 3)), S(A(3, 1), _well(3, 3), True), S(A(4, 3, 1), _well(3, 3)), S(A(0, 1), A(0, 0)),
    S(A(3, 1, dtype="complex128"), _well(3, 3, dtype="complex128")),
    S(A(3, 1, dtype="complex128"), _well(3, 3, dtype="complex128"), True),
    reference=_reference_cholesky_solve,
)  # fmt: skip
@public(module="linalg", method=True)
def cholesky_solve(x: Tensor, y: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The solution of `A z = x`, given the factor of `A` that `cholesky` makes.

    Args:
        x: the right side, `[..., n, k]`.
        y: the factor, `[..., n, n]`.
        upper: whether it is the upper one.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `x`.

    Examples:
        >>> factor = paddle.linalg.cholesky(paddle.to_tensor([[4.0, 2.0], [2.0, 5.0]]))
        >>> print(paddle.linalg.cholesky_solve(paddle.to_tensor([[8.0], [12.0]]), factor).numpy().round(3))
        [[1.]
         [2.]]
    """
    matrix_argument("cholesky_solve", "y", y, square=True)
    matrix_argument("cholesky_solve", "x", x)
    if x._aval.shape[-2] != y._aval.shape[-1]:
        raise value_error("cholesky_solve", "x and y must have as many rows", f"x: {x._aval}, y: {y._aval}")
    return solve_with_factor(y, x, bool(upper))


def _reference_cholesky_inverse(x: Any, upper: bool = False) -> Any:
    factor = np.triu(x).T.conj() if upper else np.tril(x)
    return np.linalg.inv(factor @ factor.T.conj())


_LOWER = [[2.0, 0.0, 0.0], [0.5, 1.5, 0.0], [-1.0, 0.3, 1.2]]  # Paddle reads the zeros as well


@samples(
    S(A(values=_LOWER)), S(A(values=np.transpose(_LOWER)), True), S(A(0, 0)), S(A(values=[[1.5]])),
    S(A(values=np.multiply(_LOWER, 1 + 0.5j), dtype="complex128")),
    reference=_reference_cholesky_inverse,
)  # fmt: skip
@public(module="linalg", method=True)
def cholesky_inverse(x: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The inverse of a matrix, given the factor that `cholesky` makes of it.

    Args:
        x: the factor, `[n, n]`.
        upper: whether it is the upper one.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> factor = paddle.linalg.cholesky(paddle.to_tensor([[4.0, 2.0], [2.0, 5.0]]))
        >>> print(paddle.linalg.cholesky_inverse(factor).numpy().round(4))
        [[ 0.3125 -0.125 ]
         [-0.125   0.25  ]]
    """
    matrix_argument("cholesky_inverse", "x", x)
    rows, columns = x._aval.shape[-2:]
    if x._aval.ndim != 2 or rows != columns:
        raise value_error("cholesky_inverse", "x must be one square matrix", f"x: {x._aval}")
    return solve_with_factor(x, identity(rows, x._aval.dtype), bool(upper))
