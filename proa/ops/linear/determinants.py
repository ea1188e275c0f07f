"""Determinants: det, slogdet."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import real_dtype
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import require_tensor
from ..basic import sum_over
from ..math.arithmetic import conjugate, times
from ..math.complex_numbers import imag
from ..shape.joining import stack_along
from .common import (
    adjoint,
    as_matrices,
    check_matrices,
    compiled,
    identity,
    in_type_of,
    infer_square,
    swapped,
    without_failure,
)
from .linalg import matmul
from .solving import solve_again


def _infer_number(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    check_matrices(operation, operands, square=True)
    return operands[0].with_shape(operands[0].shape[:-2])


# ---- cofactors -----------------------------------------------------------------------------------


def _cofactors_grad(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """For invertible matrices, whose cofactors are `det(x) x^-T`."""
    gradient = conjugate(g)
    inverse_transposed = swapped(_inverse(x))
    total = as_matrices(sum_over(gradient * out, (out._aval.ndim - 2, out._aval.ndim - 1), False))
    mixed = matmul(matmul(out, gradient, False, True), inverse_transposed)
    return conjugate(total * inverse_transposed - mixed)


def _inverse(x: Tensor) -> Tensor:
    return solve_again(x, identity(x._aval.shape[-1], x._aval.dtype))


def _cofactors_by_svd(xp: Any, x: Any, svd: Any) -> Any:
    left, values, right = svd(x)
    ones = xp.ones_like(values[..., :1])
    before = xp.concatenate([ones, xp.cumprod(values, axis=-1)[..., :-1]], axis=-1)
    after = xp.concatenate([xp.cumprod(values[..., :0:-1], axis=-1)[..., ::-1], ones], axis=-1)
    others = (before * after).astype(x.dtype) * (xp.linalg.det(left) * xp.linalg.det(right))[..., None]
    return xp.matmul(left.conj() * others[..., None, :], right.conj())


@op(infer=infer_square, grad={"x": _cofactors_grad}, amp="wide", padding=rules.untouched.matrices)
def cofactors(xp: Any, x: Any) -> Any:
    """The derivatives of the determinant by the elements, also where the matrix is singular."""
    if not x.size:
        return x
    numbers = np.linalg.det(x)
    if (np.abs(numbers) > 0).all():
        return numbers[..., None, None] * np.linalg.inv(x).swapaxes(-1, -2)
    return _cofactors_by_svd(np, x, lambda matrices: without_failure(lambda m: tuple(np.linalg.svd(m)), matrices))


@compiled(cofactors)
def _cofactors_xla(xp: Any, x: Any) -> Any:
    from jax import lax

    numbers = xp.linalg.det(x)
    return lax.cond(
        (xp.abs(numbers) > 0).all(),
        lambda matrices: numbers[..., None, None] * xp.swapaxes(xp.linalg.inv(matrices), -1, -2),
        lambda matrices: _cofactors_by_svd(xp, matrices, xp.linalg.svd),
        x,
    )


# ---- det -----------------------------------------------------------------------------------------


@samples(
    S(A(3, 3)), S(A(2, 3, 3)), S(A(1, 1)), S(A(0, 0)), S(A(0, 3, 3)), S(A(2, 0, 0)), S(A(3, 3, dtype="complex128")),
    S(A(values=[[1.0, 2.0], [2.0, 4.0]], grad=False)),
    reference=np.linalg.det,
)  # fmt: skip
@public(module="linalg")
@op(
    infer=_infer_number,
    grad={"x": lambda g, x: as_matrices(g) * conjugate(cofactors(x))},
    paddle_name="determinant",
    amp="wide",
    padding=rules.untouched.matrices,
)
def det(xp: Any, x: Any) -> Any:
    """The determinant of square matrices.

    Args:
        x: `[..., n, n]`.
        name: a label; it changes nothing.

    Returns:
        A tensor `[...]`.

    Examples:
        >>> print(paddle.linalg.det(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).numpy().round(4))
        -2.0
    """
    return xp.linalg.det(x)


compiled(det)(det.operation.kernel)


# ---- slogdet -------------------------------------------------------------------------------------


def _infer_slogdet(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, Aval]:
    number = _infer_number(operation, operands, attributes, place)
    return number, make_aval(number.shape, real_dtype(number.dtype), place)


def _slogdet_grad(g0: Tensor | None, g1: Tensor | None, x: Tensor, out0: Tensor) -> Tensor:
    """The logarithm by `x^-H`; a complex sign turns with the imaginary part of the logarithm."""
    weight = None if g1 is None else in_type_of(g1, x)
    if g0 is not None and x._aval.dtype.kind == "c":
        turning = times(in_type_of(imag(g0 * conjugate(out0)), x), 1j)
        weight = turning if weight is None else weight + turning
    if weight is None:
        return times(x, 0.0)
    return as_matrices(weight) * adjoint(_inverse(x))


@op(
    outputs=2,
    infer=_infer_slogdet,
    grad={"x": _slogdet_grad},
    name="slogdet",
    amp="wide",
    padding=rules.untouched.matrices,
)
def sign_and_logarithm(xp: Any, x: Any) -> Any:
    sign, logarithm = xp.linalg.slogdet(x)
    return sign, logarithm


compiled(sign_and_logarithm)(sign_and_logarithm.operation.kernel)


@samples(
    S(A(3, 3)), S(A(2, 3, 3)), S(A(1, 1)), S(A(0, 0)), S(A(0, 3, 3)), S(A(2, 0, 0)), S(A(3, 3, dtype="complex128")),
    S(A(values=[[1.0, 2.0], [2.0, 4.0]], grad=False)),
    reference=lambda x: np.stack(np.linalg.slogdet(x)),
)  # fmt: skip
@public(module="linalg", method=True)
def slogdet(x: Tensor, name: str | None = None) -> Tensor:
    """The sign of the determinant and the logarithm of its size.

    Args:
        x: `[..., n, n]`.
        name: a label; it changes nothing.

    Returns:
        A tensor `[2, ...]`: the signs, and the logarithms.

    Examples:
        >>> print(paddle.linalg.slogdet(paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]])).numpy().round(4))
        [-1.      1.7918]
    """
    sign, logarithm = sign_and_logarithm(require_tensor("slogdet", "x", x))
    return stack_along([sign, in_type_of(logarithm, sign)], 0)
