"""Eigenvalues and singular values with their vectors: eigh, eig, svd and their short forms.

Vectors are determined up to a factor of size 1. Gradients are right for what does not depend on
that factor. Equal eigenvalues (or singular values) do not mix their vectors: where Paddle divides
by zero, such a pair contributes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import COMPLEX64, COMPLEX128, FLOAT32, real_dtype
from ...core.errors import value_error
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.infer import broadcast_shapes
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import require_tensor
from ..basic import cast_to
from ..math.arithmetic import conjugate, divide_or_zero, times
from ..math.complex_numbers import imag, real
from .common import (
    adjoint,
    adjoint_times,
    as_columns,
    as_rows,
    check_matrices,
    compiled,
    diagonal_matrix,
    each_matrix,
    hermitian_part,
    in_type_of,
    main_diagonal,
    times_adjoint,
    without_failure,
)
from .linalg import matmul


def _gaps(values: Tensor) -> Tensor:
    """`values[j] - values[i]` for every pair."""
    return as_columns(values) - as_rows(values)


def _sum(*terms: Tensor | None) -> Tensor:
    present = [term for term in terms if term is not None]
    total = present[0]
    for term in present[1:]:
        total = total + term
    return total


def _outer(left: Tensor, values: Tensor, right: Tensor) -> Tensor:
    """`left diag(values) right^H`."""
    return times_adjoint(left * as_columns(in_type_of(values, left)), right)


# ---- eigh ----------------------------------------------------------------------------------------


def _infer_eigh(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, Aval]:
    check_matrices(operation, operands, square=True)
    x = operands[0]
    return make_aval(x.shape[:-1], real_dtype(x.dtype), place), x


def _eigh_grad(g0: Tensor | None, g1: Tensor | None, out0: Tensor, out1: Tensor) -> Tensor:
    middle = None
    if g1 is not None:
        turned = adjoint_times(out1, g1)
        middle = hermitian_part(divide_or_zero(turned, in_type_of(_gaps(out0), turned)))
    if g0 is not None:
        middle = _sum(middle, diagonal_matrix(in_type_of(g0, out1)))
    assert middle is not None
    return times_adjoint(matmul(out1, middle), out1)


def _honest(xp: Any, values: Any, x: Any, uplo: str) -> Any:
    """NaN for matrices with elements that are not finite, for which LAPACK makes up eigenvalues."""
    read = xp.tril(x) if uplo == "L" else xp.triu(x)
    return xp.where(xp.isfinite(read).all(axis=(-2, -1))[..., None], values, values.dtype.type(np.nan))


@op(
    outputs=2,
    infer=_infer_eigh,
    grad={"x": _eigh_grad},
    name="eigh",
    family="product",
    amp="wide",
    padding=rules.untouched.matrices,
)
def eigh_of(xp: Any, x: Any, uplo: Any) -> Any:
    values, vectors = without_failure(lambda matrices: tuple(np.linalg.eigh(matrices, uplo)), x)
    return _honest(np, values, x, uplo), vectors


@compiled(eigh_of)
def _eigh_xla(xp: Any, x: Any, uplo: str) -> Any:
    from jax import lax

    vectors, values = lax.linalg.eigh(x, lower=uplo == "L", symmetrize_input=False)
    return _honest(xp, values, x, uplo), vectors


def _infer_eigvalsh(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return _infer_eigh(operation, operands, attributes, place)[0]


def _eigvalsh_grad(g: Tensor, x: Tensor, uplo: str) -> Tensor:
    vectors = eigh_of(x, uplo)[1]
    return _outer(vectors, g, vectors)


@op(infer=_infer_eigvalsh, grad={"x": _eigvalsh_grad}, name="eigvalsh", amp="wide", padding=rules.untouched.matrices)
def eigvalsh_of(xp: Any, x: Any, uplo: Any) -> Any:
    return _honest(np, without_failure(lambda matrices: np.linalg.eigvalsh(matrices, uplo), x), x, uplo)


@compiled(eigvalsh_of)
def _eigvalsh_xla(xp: Any, x: Any, uplo: str) -> Any:
    return _eigh_xla(xp, x, uplo)[0]


def _triangle(where: str, uplo: Any) -> str:
    if uplo not in ("L", "U"):
        raise value_error(where, "UPLO is 'L' or 'U'", f"UPLO: {uplo!r}")
    return uplo


def _reference_eigh(x: Any, UPLO: Any = "L") -> list[Any]:
    return list(np.linalg.eigh(x, UPLO))


_EIGH_SAMPLES = (
    S(A(3, 3)), S(A(2, 3, 3), "U"), S(A(1, 1)), S(A(0, 0)), S(A(0, 3, 3)), S(A(2, 0, 0)),
    S(A(3, 3, dtype="complex128")), S(A(3, 3, dtype="complex64"), UPLO="U"),
)  # fmt: skip
_ONE_TRIANGLE = (
    "one triangle is read, the gradient is that of the symmetric matrix (tests/ops/linear/test_linalg_gradients.py)"
)


@samples(*_EIGH_SAMPLES, reference=_reference_eigh, gradient=False, why=_ONE_TRIANGLE)
@public(module="linalg")
def eigh(x: Tensor, UPLO: str = "L", name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Args:
        x: `[..., n, n]`.
        UPLO: which triangle is read: the lower ("L") or the upper ("U").
        name: a label; it changes nothing.

    Returns:
        The values, rising, and the vectors, as columns.

    Examples:
        >>> values, vectors = paddle.linalg.eigh(paddle.to_tensor([[2.0, 1.0], [1.0, 2.0]]))
        >>> print(values.numpy().round(3))
        [1. 3.]
    """
    return eigh_of(require_tensor("eigh", "x", x), _triangle("eigh", UPLO))


@samples(*_EIGH_SAMPLES, reference=lambda x, UPLO="L": _reference_eigh(x, UPLO)[0], gradient=False, why=_ONE_TRIANGLE)
@public(module="linalg")
@public(method=True)
def eigvalsh(x: Tensor, UPLO: str = "L", name: str | None = None) -> Tensor:
    """Eigenvalues, rising, of symmetric or Hermitian matrices.

    Args:
        x: matrices in the last two axes.
        UPLO: which triangle is read, "L" or "U".
        name: a label; it changes nothing.

    Examples:
        >>> paddle.eigvalsh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).numpy().round(4)
        array([1., 2.], dtype=float32)
    """
    return eigvalsh_of(require_tensor("eigvalsh", "x", x), _triangle("eigvalsh", UPLO))


# ---- eig -----------------------------------------------------------------------------------------


def _infer_eig(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, Aval]:
    check_matrices(operation, operands, square=True)
    x = operands[0]
    dtype = COMPLEX64 if x.dtype in (FLOAT32, COMPLEX64) else COMPLEX128
    return make_aval(x.shape[:-1], dtype, place), x.with_dtype(dtype)


def _eig_grad(g0: Tensor | None, g1: Tensor | None, out0: Tensor, out1: Tensor, x_aval: Aval) -> Tensor:
    from .solving import solve_again

    back = adjoint(out1)
    middle = None
    if g1 is not None:
        # The columns have length 1: what lengthens them is taken away.
        turned = matmul(back, g1)
        along = cast_to(real(main_diagonal(turned)), out1._aval.dtype)
        sideways = turned - matmul(back, out1) * as_columns(along)
        middle = divide_or_zero(sideways, conjugate(_gaps(out0)))
    if g0 is not None:
        middle = _sum(middle, diagonal_matrix(g0))
    assert middle is not None
    return in_type_of(solve_again(back, matmul(middle, back)), x_aval)


def _complex_type(x: Any) -> Any:
    return COMPLEX64 if x.dtype in (FLOAT32, COMPLEX64) else COMPLEX128


def _eig_of_one(matrix: Any) -> tuple[Any, Any]:
    # NumPy computes this in float64, and then float32 vectors have other signs than XLA gives them.
    from scipy.linalg import eig

    if not np.isfinite(matrix).all():  # LAPACK ends the process over such a matrix
        return np.full(len(matrix), np.nan), np.full(matrix.shape, np.nan)
    values, vectors = eig(matrix, check_finite=False)  # type: ignore[misc]
    return values, vectors


@op(outputs=2, infer=_infer_eig, grad={"x": _eig_grad}, name="eig", amp="wide", padding=rules.untouched.matrices)
def eig_of(xp: Any, x: Any) -> Any:
    if not x.size:
        return np.zeros(x.shape[:-1], _complex_type(x)), np.zeros(x.shape, _complex_type(x))
    values, vectors = each_matrix(_eig_of_one, x)
    return values.astype(_complex_type(x)), vectors.astype(_complex_type(x))


@compiled(eig_of)
def _eig_xla(xp: Any, x: Any) -> Any:
    from jax import lax

    values, vectors = lax.linalg.eig(x, compute_left_eigenvectors=False)
    return values, vectors


def _infer_eigvals(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return _infer_eig(operation, operands, attributes, place)[0]


def _eigvals_grad(g: Tensor, x: Tensor, x_aval: Aval) -> Tensor:
    from .solving import solve_again

    back = adjoint(eig_of(x)[1])
    return in_type_of(solve_again(back, as_rows(g) * back), x_aval)


@op(infer=_infer_eigvals, grad={"x": _eigvals_grad}, name="eigvals", amp="wide", padding=rules.untouched.matrices)
def eigvals_of(xp: Any, x: Any) -> Any:
    return without_failure(np.linalg.eigvals, x).astype(_complex_type(x))


@compiled(eigvals_of)
def _eigvals_xla(xp: Any, x: Any) -> Any:
    from jax import lax

    return lax.linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]


_EIG_SAMPLES = (
    S(A(3, 3, dtype="float64")), S(A(2, 3, 3, dtype="float64")), S(A(1, 1)), S(A(0, 0)), S(A(0, 3, 3)), S(A(2, 0, 0)),
    S(A(3, 3, dtype="complex128")), S(A(values=[[0.0, 1.0], [-1.0, 0.0]])),
)  # fmt: skip


@samples(*_EIG_SAMPLES, reference=lambda x: [part + 0j for part in np.linalg.eig(x)], gradient=False,
         why="vectors have an arbitrary phase: tests/ops/linear/test_linalg_gradients.py", tolerance=1e-4)  # fmt: skip
@public(module="linalg", method=True)
def eig(x: Tensor, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of square matrices.

    Args:
        x: `[..., n, n]`.
        name: a label; it changes nothing.

    Returns:
        The values `[..., n]` and the vectors, as columns; both complex.

    Examples:
        >>> values, vectors = paddle.linalg.eig(paddle.to_tensor([[0.0, 1.0], [-1.0, 0.0]]))
        >>> sorted(values.imag().tolist())
        [-1.0, 1.0]
    """
    return eig_of(require_tensor("eig", "x", x))


@samples(*_EIG_SAMPLES, reference=lambda x: np.linalg.eigvals(x) + 0j, tolerance=1e-4)
@public(module="linalg", method=True)
def eigvals(x: Tensor, name: str | None = None) -> Tensor:
    """Eigenvalues of square matrices.

    Args:
        x: `[..., n, n]`.
        name: a label; it changes nothing.

    Returns:
        A complex tensor `[..., n]`.

    Examples:
        >>> paddle.linalg.eigvals(paddle.to_tensor([[2.0, 0.0], [0.0, 3.0]])).tolist()
        [(2+0j), (3+0j)]
    """
    return eigvals_of(require_tensor("eigvals", "x", x))


# ---- svd -----------------------------------------------------------------------------------------


def _infer_svd(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    check_matrices(operation, operands)
    x, (full,) = operands[0], attributes
    *batch, rows, columns = x.shape
    size = min(rows, columns)
    return (
        x.with_shape((*batch, rows, rows if full else size)),
        make_aval((*batch, size), real_dtype(x.dtype), place),
        x.with_shape((*batch, columns if full else size, columns)),
    )


def _without_adjoint(x: Tensor) -> Tensor:
    return x - adjoint(x)


def _svd_grad(
    g0: Tensor | None, g1: Tensor | None, g2: Tensor | None, out0: Tensor, out1: Tensor, out2: Tensor, x_aval: Aval
) -> Tensor:
    """Through the columns of U and V that belong to singular values; further ones are arbitrary."""
    size = out1._aval.shape[-1]
    rows, columns = x_aval.shape[-2:]
    left, right = out0[..., :size], adjoint(out2[..., :size, :])
    values = in_type_of(out1, x_aval)
    left_slope = None if g0 is None else g0[..., :size]
    right_slope = None if g2 is None else adjoint(g2[..., :size, :])
    # The difference of squares in factors: exactly 0 for a value and itself, however it is compiled.
    gaps = _gaps(values) * (as_columns(values) + as_rows(values))
    middle = None if g1 is None else diagonal_matrix(in_type_of(g1, x_aval))
    turned_left = turned_right = None
    if left_slope is not None:
        turned_left = adjoint_times(left, left_slope)
        middle = _sum(middle, divide_or_zero(_without_adjoint(turned_left), gaps) * as_columns(values))
    if right_slope is not None:
        turned_right = adjoint_times(right, right_slope)
        middle = _sum(middle, divide_or_zero(_without_adjoint(turned_right), gaps) * as_rows(values))
    if x_aval.dtype.kind == "c" and (turned_left is not None or turned_right is not None):
        # The common phase of a pair of vectors is free; their difference is shared between them.
        phases = None if turned_left is None else imag(main_diagonal(turned_left))
        if turned_right is not None:
            other = imag(main_diagonal(turned_right))
            phases = times(other, -1.0) if phases is None else phases - other
        assert phases is not None
        turn = times(cast_to(divide_or_zero(phases, out1), x_aval.dtype), 0.5j)
        middle = _sum(middle, diagonal_matrix(turn))
    assert middle is not None
    result = times_adjoint(matmul(left, middle), right)
    if left_slope is not None and rows > size:
        scaled = divide_or_zero(left_slope, as_columns(values))
        outside = scaled - matmul(left, adjoint_times(left, scaled))
        result = result + times_adjoint(outside, right)
    if right_slope is not None and columns > size:
        scaled = divide_or_zero(right_slope, as_columns(values))
        outside = scaled - matmul(right, adjoint_times(right, scaled))
        result = result + times_adjoint(left, outside)
    return result


@op(
    outputs=3,
    infer=_infer_svd,
    grad={"x": _svd_grad},
    name="svd",
    family="product",
    amp="wide",
    padding=rules.untouched.matrices,
)
def svd_of(xp: Any, x: Any, full_matrices: bool) -> Any:
    return without_failure(lambda matrices: tuple(np.linalg.svd(matrices, full_matrices)), x)


@compiled(svd_of)
def _svd_xla(xp: Any, x: Any, full_matrices: bool) -> Any:
    return tuple(xp.linalg.svd(x, full_matrices))


def _infer_svdvals(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return _infer_svd(operation, operands, (False,), place)[1]


def _svdvals_grad(g: Tensor, x: Tensor) -> Tensor:
    left, _, right = svd_of(x, False)
    return matmul(left * as_columns(in_type_of(g, left)), right)


@op(infer=_infer_svdvals, grad={"x": _svdvals_grad}, name="svdvals", amp="wide", padding=rules.untouched.matrices)
def singular_values_of(xp: Any, x: Any) -> Any:
    return without_failure(lambda matrices: np.linalg.svd(matrices, compute_uv=False), x)


@compiled(singular_values_of)
def _svdvals_xla(xp: Any, x: Any) -> Any:
    return xp.linalg.svd(x, compute_uv=False)


_SVD_SAMPLES = (
    S(A(3, 3)), S(A(4, 2)), S(A(2, 2, 4)), S(A(0, 0)), S(A(0, 3, 2)), S(A(3, 0)), S(A(4, 2, dtype="complex128")),
    S(A(2, 4, dtype="complex128")), S(A(3, 3, dtype="complex128")),
)  # fmt: skip


@samples(
    *_SVD_SAMPLES, S(A(4, 2), True), S(A(2, 3, 2), full_matrices=True), S(A(0, 3), True),
    reference=lambda x, full_matrices=False: list(np.linalg.svd(x, full_matrices)), tolerance=1e-4, gradient=False,
    why="vectors have an arbitrary sign: tests/ops/linear/test_linalg_gradients.py",
)  # fmt: skip
@public(module="linalg")
def svd(
    x: Tensor, full_matrices: bool = False, name: str | None = None, *, out: tuple[Tensor, Tensor, Tensor] | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """`x = U diag(S) V^H` with singular values `S`, falling.

    Args:
        x: `[..., rows, columns]`.
        full_matrices: whether `U` and `V` are square; otherwise they have a column for each value.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        `U`, `S` and `V^H`.

    Examples:
        >>> u, s, vh = paddle.linalg.svd(paddle.to_tensor([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0]]))
        >>> u.shape, vh.shape
        (paddle.Size([3, 2]), paddle.Size([2, 2]))
        >>> print(s.numpy().round(3))
        [3. 2.]
    """
    return deliver(svd_of(require_tensor("svd", "x", x), bool(full_matrices)), out)


@samples(*_SVD_SAMPLES, reference=lambda x: np.linalg.svd(x, compute_uv=False))
@public(module="linalg")
def svdvals(x: Tensor, name: str | None = None) -> Tensor:
    """The singular values of matrices, falling.

    Args:
        x: `[..., rows, columns]`.
        name: a label; it changes nothing.

    Returns:
        A tensor of as many as the shorter side.

    Examples:
        >>> print(paddle.linalg.svdvals(paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]])).numpy().round(3))
        [3. 2.]
    """
    return singular_values_of(require_tensor("svdvals", "x", x))


# ---- rank ----------------------------------------------------------------------------------------


def _infer_rank(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    values, absolute, relative = operands
    shapes = [values.shape[:-1], absolute.shape, relative.shape]
    return make_aval(broadcast_shapes(operation, operands, shapes), attributes[0], place)


@op(
    "values absolute relative",
    infer=_infer_rank,
    name="matrix_rank",
    padding=rules.refused("it looks at all values together"),
)
def rank_of(xp: Any, values: Any, absolute: Any, relative: Any, dtype: np.dtype) -> Any:
    """How many singular values exceed both cutoffs, the second relative to the largest."""
    largest = xp.max(values, axis=-1, initial=0)
    cutoff = xp.maximum(absolute, relative * largest)
    return (values > cutoff[..., None]).sum(-1).astype(dtype)
