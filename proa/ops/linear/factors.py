"""Triangular factors of matrices: cholesky, lu, qr, and what undoes lu."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import FLOAT32, INT32
from ...core.errors import value_error
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.operation import Check
from ...ir.padding import rules
from ..arguments import require_tensor
from ..basic import full_of
from ..math.complex_numbers import real
from ..shape.joining import concat_along
from .common import (
    adjoint,
    adjoint_times,
    check_matrices,
    compiled,
    each_matrix,
    hermitian_part,
    identity,
    in_type_of,
    infer_square,
    main_diagonal,
    matrix_argument,
    times_adjoint,
    with_main_diagonal,
    without_failure,
)
from .linalg import matmul
from .matrix import lower_triangle, upper_triangle
from .triangular import solve_triangular

# ---- cholesky ------------------------------------------------------------------------------------


def _half_diagonal(x: Tensor) -> Tensor:
    """The lower triangle with half the diagonal."""
    low = lower_triangle(x, 0)
    return with_main_diagonal(low, main_diagonal(low) * 0.5)


def _cholesky_grad(g: Tensor, out: Tensor, upper: bool) -> Tensor:
    factor, gradient = (adjoint(out), adjoint(g)) if upper else (out, g)
    # L^-H M L^-1 for the half-diagonal triangle M of L^H g, made symmetric.
    middle = _half_diagonal(adjoint_times(factor, lower_triangle(gradient, 0)))
    left = solve_triangular(adjoint(factor), middle, True, False, False)
    both = adjoint(solve_triangular(adjoint(factor), adjoint(left), True, False, False))
    return hermitian_part(both)


def _factorises(xp: Any, x: Any, upper: bool) -> Any:
    """Positive definite; matrices with NaN or infinity pass and give NaN, as in Paddle."""
    if not x.size:
        return xp.asarray(True)
    factor = cholesky_of.operation.kernel_for("numpy" if xp is np else "xla")(xp, x, upper)
    is_good = xp.isfinite(factor).all(axis=(-2, -1)) | ~xp.isfinite(x).all(axis=(-2, -1))
    return is_good.all()


def _lower_factor(x: Any) -> Any:
    return np.linalg.cholesky(x)


@op(
    infer=infer_square,
    grad={"x": _cholesky_grad},
    check=Check(
        _factorises,
        lambda kinds, attributes: "a matrix is not positive definite",
        ValueError,
        (0,),
    ),
    name="cholesky",
    family="product",
    amp="wide",
    padding=rules.untouched.matrices,
)
def cholesky_of(xp: Any, x: Any, upper: bool) -> Any:
    factor = without_failure(_lower_factor, x.swapaxes(-1, -2).conj() if upper else x)
    return factor.swapaxes(-1, -2).conj() if upper else factor


@compiled(cholesky_of)
def _cholesky_xla(xp: Any, x: Any, upper: bool) -> Any:
    from jax import lax

    source = xp.swapaxes(x, -1, -2).conj() if upper else x
    factor = xp.tril(lax.linalg.cholesky(source, symmetrize_input=False))
    return xp.swapaxes(factor, -1, -2).conj() if upper else factor


def _positive(*shape: int, dtype: str = "float32") -> A:
    """Positive definite matrices as an input."""

    def values() -> np.ndarray:
        random = np.random.default_rng(sum(shape))
        drawn = random.normal(size=shape)
        if dtype.startswith("complex"):
            drawn = drawn + 1j * random.normal(size=shape)
        return drawn @ drawn.swapaxes(-1, -2).conj() + 2 * np.eye(shape[-1])

    return A(*shape, values=values, dtype=dtype)


def _reference_cholesky(x: Any, upper: bool = False) -> Any:
    factor = np.linalg.cholesky(np.swapaxes(x, -1, -2).conj() if upper else x)
    return np.swapaxes(factor, -1, -2).conj() if upper else factor


@samples(
    S(_positive(3, 3)), S(_positive(2, 3, 3), True), S(_positive(2, 1, 2, 2)), S(A(0, 0)), S(A(0, 2, 2)),
    S(A(2, 0, 0), upper=True), S(_positive(3, 3, dtype="complex128")), S(_positive(3, 3, dtype="complex64"), True),
    reference=_reference_cholesky, gradient=False,
    why="one triangle is read, the gradient is that of the symmetric matrix: tests/ops/linear/test_linalg_gradients.py",
)  # fmt: skip
@public(module="linalg")
@public(method=True)
def cholesky(x: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The triangular factor of positive definite matrices: `x = L L^H`.

    Only the triangle that is asked for is read.

    Args:
        x: matrices in the last two axes.
        upper: give the upper factor, `x = U^H U`.
        name: a label; it changes nothing.

    Raises:
        ValueError: a matrix is not positive definite.

    Examples:
        >>> paddle.cholesky(paddle.to_tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()
        [[2.0, 0.0], [1.0, 2.0]]
    """
    return cholesky_of(require_tensor("cholesky", "x", x), bool(upper))


# ---- lu ------------------------------------------------------------------------------------------


def _infer_lu(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    check_matrices(operation, operands)
    shape = operands[0].shape
    pivots = make_aval((*shape[:-2], min(shape[-2:])), INT32, place)
    return operands[0], pivots, make_aval(shape[:-2], INT32, place)


def _lu_grad(g0: Tensor, out0: Tensor, out1: Tensor) -> Tensor:
    """`x = P L U`, the shorter of L and U square: the rest of the longer one is a plain product."""
    rows, columns = out0._aval.shape[-2:]
    size = min(rows, columns)
    square, gradient = out0[..., :size, :size], g0[..., :size, :size]
    unit_low = lower_triangle(square, -1) + identity(size, out0._aval.dtype)
    high = upper_triangle(square, 0)
    left = adjoint_times(unit_low, lower_triangle(gradient, -1))
    right = times_adjoint(upper_triangle(gradient, 0), high)
    below = beside = None
    if rows > size:
        below = g0[..., size:, :]
        right = right - adjoint_times(out0[..., size:, :], below)
    if columns > size:
        beside = g0[..., size:]
        left = left - times_adjoint(beside, out0[..., size:])
    middle = lower_triangle(left, -1) + upper_triangle(right, 0)
    # middle U^-H, with further rows below; then L^-H (middle U^-H), with further columns beside.
    result = middle if below is None else concat_along([middle, below], middle._aval.ndim - 2)
    result = adjoint(solve_triangular(high, adjoint(result), True, False, False))
    if below is None:
        if beside is not None:
            result = concat_along([result, beside], result._aval.ndim - 1)
        result = solve_triangular(adjoint(unit_low), result, True, False, True)
    else:
        top = solve_triangular(adjoint(unit_low), result[..., :size, :], True, False, True)
        result = concat_along([top, result[..., size:, :]], result._aval.ndim - 2)
    return matmul(permutation_of_pivots(out1, rows, g0._aval.dtype), result)


@op(
    outputs=3,
    infer=_infer_lu,
    grad={"x": _lu_grad},
    differentiable_outputs=(0,),
    name="lu",
    amp="wide",
    padding=rules.untouched.matrices,
)
def lu_of(xp: Any, x: Any) -> Any:
    """The factors in one matrix, the row exchanges (from 1), and the first zero pivot (0: none)."""
    size = min(x.shape[-2:])
    if not x.size:
        return x, np.zeros((*x.shape[:-2], size), np.int32), np.zeros(x.shape[:-2], np.int32)
    from scipy.linalg import get_lapack_funcs

    (factorise,) = get_lapack_funcs(("getrf",), (x,))
    factors, pivots, info = each_matrix(factorise, x)
    return factors, (pivots + 1).astype(np.int32), info.astype(np.int32)


@compiled(lu_of)
def _lu_xla(xp: Any, x: Any) -> Any:
    from jax import lax

    factors, pivots, _ = lax.linalg.lu(x)
    is_zero = xp.diagonal(factors, 0, -2, -1) == 0
    info = xp.where(is_zero.any(-1), xp.argmax(is_zero, axis=-1) + 1, 0)
    return factors, (pivots + 1).astype(np.int32), info.astype(np.int32)


@samples(
    S(A(3, 3)), S(A(2, 3, 3)), S(A(4, 2)), S(A(2, 2, 4)), S(A(0, 0)), S(A(0, 3, 3)), S(A(3, 3, dtype="complex128")),
    S(A(3, 3), get_infos=True), S(A(values=[[1.0, 2.0], [2.0, 4.0]], grad=False), True, True),
    why="P L U = x is checked in tests/ops/linear/test_linalg_factors.py",
)  # fmt: skip
@public(module="linalg", method=True)
def lu(x: Tensor, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> tuple[Tensor, ...]:
    """`x = P L U` by elimination with row exchanges.

    Args:
        x: `[..., rows, columns]`.
        pivot: whether rows are exchanged; must be True.
        get_infos: whether it is said where a pivot is zero.
        name: a label; it changes nothing.

    Returns:
        `L` (below the diagonal, which is 1) and `U` in one matrix, and the exchanges as int32: row `i` was exchanged
        with row `pivots[i]`, counted from 1. With `get_infos` also the position of the first zero pivot (from 1; 0 if
        there is none).

    Examples:
        >>> factors, pivots = paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [4.0, 4.0]]))
        >>> factors.tolist(), pivots.tolist()
        ([[4.0, 4.0], [0.25, 1.0]], [2, 2])
    """
    if not pivot:
        raise value_error("lu", "elimination without row exchanges is not offered", "pivot: False", "use pivot=True")
    factors, pivots, info = lu_of(require_tensor("lu", "x", x))
    return (factors, pivots, info) if get_infos else (factors, pivots)


def _infer_permutation(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    pivots, (rows, dtype) = operands[0], attributes
    if pivots.dtype != INT32 or not pivots.ndim or pivots.shape[-1] > rows:
        raise operation.error(ValueError, "the pivots must be int32 and come from lu() of x", operands, attributes)
    return make_aval((*pivots.shape[:-1], rows, rows), dtype, place)


@op(
    "pivots",
    infer=_infer_permutation,
    check=Check(
        lambda xp, pivots, rows, dtype: ((pivots >= 1) & (pivots <= rows)).all(),
        lambda kinds, attributes: f"a pivot is out of range; expected 1 to {attributes[0]}",
        ValueError,
        (0,),
    ),
    padding=rules.refused("its result depends on all positions together"),
)
def permutation_of_pivots(xp: Any, pivots: Any, rows: int, dtype: np.dtype) -> Any:
    """The matrix `P` of `x = P L U` from the row exchanges."""
    order = np.broadcast_to(np.arange(rows), (*pivots.shape[:-1], rows)).copy()
    for position in range(pivots.shape[-1]):
        other = pivots[..., position, None] - 1
        here = order[..., position, None].copy()
        order[..., position, None] = np.take_along_axis(order, other, -1)
        np.put_along_axis(order, other, here, -1)
    return (np.arange(rows)[:, None] == order[..., None, :]).astype(dtype)


@compiled(permutation_of_pivots)
def _permutation_xla(xp: Any, pivots: Any, rows: int, dtype: np.dtype) -> Any:
    from jax import lax

    # A pivot out of range is reported by the check; XLA must not read there.
    order = lax.linalg.lu_pivots_to_permutation(xp.clip(pivots - 1, 0, rows - 1), rows)
    return (xp.arange(rows)[:, None] == order[..., None, :]).astype(dtype)


def _reference_lu_unpack(x: Any, y: Any, unpack_ludata: bool = True, unpack_pivots: bool = True) -> Any:
    rows, columns = x.shape[-2:]
    size = min(rows, columns)
    order = list(range(rows))
    for i, pivot in enumerate(y):
        order[i], order[pivot - 1] = order[pivot - 1], order[i]
    none = np.zeros(0, x.dtype)
    low, high = np.tril(x[:, :size], -1) + np.eye(rows, size), np.triu(x[:size])
    low, high = (low, high) if unpack_ludata else (none, none)
    return [np.eye(rows)[:, order] if unpack_pivots else none, low, high]


@samples(
    S(A(3, 3, grad=False), A(values=[2, 3, 3], dtype="int32")), S(A(4, 2), A(values=[3, 2], dtype="int32")),
    S(A(2, 3), A(values=[2, 2], dtype="int32"), False),
    S(A(2, 3), A(values=[1, 2], dtype="int32"), True, False),
    S(A(3, 2), A(values=[3, 2], dtype="int32")),
    S(A(0, 0), A(0, dtype="int32")),
    reference=_reference_lu_unpack,
)  # fmt: skip
@public(module="linalg", method=True)
def lu_unpack(
    x: Tensor, y: Tensor, unpack_ludata: bool = True, unpack_pivots: bool = True, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """`P`, `L` and `U` from what `lu` gives.

    Args:
        x: the factors in one matrix.
        y: the exchanges.
        unpack_ludata: whether `L` and `U` are wanted.
        unpack_pivots: whether `P` is wanted.
        name: a label; it changes nothing.

    Returns:
        `P`, `L` and `U`; empty tensors for those that are not wanted.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0], [4.0, 4.0]])
        >>> p, l, u = paddle.linalg.lu_unpack(*paddle.linalg.lu(x))
        >>> (p @ l @ u).tolist()
        [[1.0, 2.0], [4.0, 4.0]]
    """
    dtype = matrix_argument("lu_unpack", "x", x)._aval.dtype
    require_tensor("lu_unpack", "y", y)
    *batch, rows, columns = x._aval.shape
    size = min(rows, columns)
    if y._aval.shape != (*batch, size):
        raise value_error("lu_unpack", f"the pivots of x are {[*batch, size]}", f"x: {x._aval}, y: {y._aval}")
    none = full_of(0.0, (0,), FLOAT32)
    order = permutation_of_pivots(y, rows, dtype) if unpack_pivots else none
    if not unpack_ludata:
        return order, none, none
    low = with_main_diagonal(lower_triangle(x[..., :size], -1), full_of(1.0, (*batch, size), dtype))
    return order, low, upper_triangle(x[..., :size, :], 0)


# ---- qr ------------------------------------------------------------------------------------------


def _infer_qr(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, Aval]:
    check_matrices(operation, operands)
    x, (complete,) = operands[0], attributes
    rows, columns = x.shape[-2:]
    size = rows if complete else min(rows, columns)
    return x.with_shape((*x.shape[:-2], rows, size)), x.with_shape((*x.shape[:-2], size, columns))


def _qr_grad(g0: Tensor | None, g1: Tensor | None, out0: Tensor, out1: Tensor, x_aval: Aval) -> Tensor:
    rows, columns = x_aval.shape[-2:]
    if out0._aval.shape[-1] > columns:
        raise value_error(
            "qr_grad", "a complete Q with more columns than x has no gradient, its last columns are arbitrary",
            f"x: {x_aval}", "use mode='reduced'",
        )  # fmt: skip
    q, r = out0, out1
    beside = None
    if columns > rows:
        # x = [X Y] with square X: Q belongs to X, and the columns of R beside it are Q^H Y.
        if g1 is not None:
            beside = g1[..., rows:]
            extra = times_adjoint(matmul(q, r[..., rows:]), beside)
            g0 = extra if g0 is None else g0 + extra
            g1 = g1[..., :rows]
        r = r[..., :rows]
    middle = None if g1 is None else times_adjoint(g1, r)
    if g0 is not None:
        turned = adjoint_times(q, g0)
        middle = turned * -1.0 if middle is None else middle - turned
    assert middle is not None
    middle = upper_triangle(middle, 0)
    doubled = middle + adjoint(middle)
    once = main_diagonal(middle)
    middle = with_main_diagonal(doubled, in_type_of(real(once), middle) if once._aval.dtype.kind == "c" else once)
    total = matmul(q, middle)
    total = total if g0 is None else total + g0
    result = adjoint(solve_triangular(r, adjoint(total), True, False, False))
    if columns <= rows:
        return result
    if beside is None:
        rest = full_of(0.0, (*q._aval.shape[:-1], columns - rows), q._aval.dtype)
    else:
        rest = matmul(q, beside)
    return concat_along([result, rest], result._aval.ndim - 1)


@op(
    outputs=2,
    infer=_infer_qr,
    grad={"x": _qr_grad},
    name="qr",
    family="product",
    amp="wide",
    padding=rules.untouched.matrices,
)
def qr_of(xp: Any, x: Any, complete: bool) -> Any:
    result = xp.linalg.qr(x, mode="complete" if complete else "reduced")
    return result[0], result[1]


compiled(qr_of)(qr_of.operation.kernel)


def _reference_qr(x: Any, mode: Any = "reduced") -> Any:
    result = np.linalg.qr(x, mode)
    return result if mode == "r" else list(result)


@samples(
    S(A(3, 3)), S(A(4, 2)), S(A(2, 2, 4)), S(A(3, 4, 2), "r"), S(A(2, 4), "complete"), S(A(3, 3), "complete"),
    S(A(4, 2, grad=False), "complete"), S(A(0, 0)), S(A(0, 3, 2)), S(A(3, 3, dtype="complex128")),
    S(A(4, 2, dtype="complex128")), S(A(2, 3, dtype="complex128")),
    reference=_reference_qr,
)  # fmt: skip
@public(module="linalg", method=True)
def qr(x: Tensor, mode: str = "reduced", name: str | None = None) -> Any:
    """`x = Q R` with orthonormal columns in `Q` and `R` upper triangular.

    Args:
        x: `[..., rows, columns]`.
        mode: "reduced" (`Q` as narrow as it can be), "complete" (`Q` square) or "r" (`R` alone).
        name: a label; it changes nothing.

    Returns:
        `Q` and `R`, or `R` alone.

    Examples:
        >>> x = paddle.to_tensor([[3.0, 1.0], [4.0, 2.0], [0.0, 3.0]])
        >>> q, r = paddle.linalg.qr(x)
        >>> q.shape, r.shape, paddle.allclose(q @ r, x, atol=1e-5).item()
        (paddle.Size([3, 2]), paddle.Size([2, 2]), True)
    """
    if mode not in ("reduced", "complete", "r"):
        raise value_error("qr", "mode is 'reduced', 'complete' or 'r'", f"mode: {mode!r}")
    q, r = qr_of(require_tensor("qr", "x", x), mode == "complete")
    return r if mode == "r" else (q, r)
