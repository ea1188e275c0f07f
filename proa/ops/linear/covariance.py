"""Covariances and correlations: cov, corrcoef."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import is_differentiable, real_dtype
from ...core.errors import type_error, value_error
from ...core.symbols import divided, is_symbolic
from ...eager.declare import op, public
from ...eager.infer import same
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.operation import Check
from ..arguments import require_tensor
from ..basic import cast_to, full_of, reshape_to, sum_over
from ..math.arithmetic import conjugate
from ..math.complex_numbers import real
from ..math.unary import sqrt
from .common import as_columns, as_rows, in_type_of, main_diagonal, swapped
from .linalg import matmul


@op(
    "weights",
    infer=same,
    grad={"weights": lambda g: g},
    check=Check(
        lambda xp, weights: (weights >= 0).all(),
        lambda kinds, attributes: "a weight is negative",
        ValueError,
        (0,),
    ),
    name="cov_weights",
)
def _checked(xp: Any, weights: Any) -> Any:
    return weights


def _weights(name: str, weights: Any, like: Tensor) -> Tensor:
    aval = require_tensor("cov", name, weights)._aval
    if aval.ndim != 1 or aval.shape[0] != like._aval.shape[1]:
        raise value_error("cov", f"{name} must have a number for each observation", f"x: {like._aval}, {name}: {aval}")
    return cast_to(_checked(weights), real_dtype(like._aval.dtype))


def _covariance(where: str, x: Any, rowvar: bool, ddof: Any, fweights: Any, aweights: Any) -> Tensor:
    aval = require_tensor(where, "x", x)._aval
    if not 1 <= aval.ndim <= 2:
        raise value_error(where, "x must have one or two dimensions", f"x: {aval}")
    if not is_differentiable(aval.dtype):
        raise type_error(where, "x must be floating", f"x: {aval}", "use astype()")
    table = as_columns(x) if aval.ndim == 1 else x if rowvar else swapped(x)
    count = table._aval.shape[1]
    repeats = None if fweights is None else _weights("fweights", fweights, table)
    weights = None if aweights is None else _weights("aweights", aweights, table)
    both = weights if repeats is None else repeats if weights is None else repeats * weights
    if both is None:
        mean = sum_over(table, (1,), True) * (1 / count if count else float("nan"))
        centred = table - mean
        product = matmul(centred, conjugate(centred), False, True)
        left = count - int(ddof)
        if is_symbolic(left):
            return product * divided(1.0, left)
        # With too few observations the result is infinite or NaN, as a division by zero is.
        return product / full_of(float(left), (), product._aval.dtype)
    total = sum_over(both, (0,), False)
    weighted = table * in_type_of(both, table)
    mean = sum_over(weighted, (1,), True) / in_type_of(total, table)
    centred = table - mean
    if not int(ddof):
        divisor = total
    elif weights is None:
        divisor = total - float(int(ddof))
    else:
        divisor = total - sum_over(both * weights, (0,), False) * float(int(ddof)) / total
    product = matmul(centred * in_type_of(both, table), conjugate(centred), False, True)
    return product / in_type_of(divisor, product)


def _unless_one(result: Tensor) -> Tensor:
    """One variable gives a number."""
    return reshape_to(result, ()) if result._aval.shape == (1, 1) else result


def _reference_cov(x: Any, rowvar: bool = True, ddof: Any = True, fweights: Any = None, aweights: Any = None) -> Any:
    return np.cov(x, None, rowvar, ddof=int(ddof), fweights=fweights, aweights=aweights)


@samples(
    S(A(3, 4)), S(A(3, 4), False), S(A(3, 4), ddof=False), S(A(4)),
    S(A(3, 4), fweights=A(values=[1, 2, 0, 3], dtype="int64")),
    S(A(3, 4), aweights=A(values=[0.5, 1.0, 2.0, 0.25])),
    S(A(3, 4), True, True, A(values=[1, 2, 1, 3], dtype="int64"), A(values=[0.5, 1.0, 2.0, 0.25])),
    S(A(1, 4)), S(A(3, 4, dtype="complex128")),
    reference=_reference_cov,
)  # fmt: skip
@public(module="linalg", method=True)
def cov(
    x: Tensor,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The covariances of variables over observations.

    Args:
        x: the observations, `[variables, observations]`.
        rowvar: whether rows are the variables; otherwise columns are.
        ddof: whether one is taken off the number that is divided by.
        fweights: how often each observation occurred; integers, not negative.
        aweights: how much each observation counts; not negative.
        name: a label; it changes nothing.

    Returns:
        A square tensor.

    Examples:
        >>> print(paddle.linalg.cov(paddle.to_tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])).numpy().round(3))
        [[1. 2.]
         [2. 4.]]
    """
    return _unless_one(_covariance("cov", x, bool(rowvar), ddof, fweights, aweights))


@samples(
    S(A(3, 4)), S(A(3, 4), False), S(A(4)), S(A(2, 5, dtype="float64")), S(A(3, 4, dtype="complex128")),
    reference=lambda x, rowvar=True: np.corrcoef(x, rowvar=rowvar),
)  # fmt: skip
@public(module="linalg", method=True)
def corrcoef(x: Tensor, rowvar: bool = True, name: str | None = None) -> Tensor:
    """The correlations of variables: their covariances divided by their deviations.

    Args:
        x: the observations, `[variables, observations]`.
        rowvar: whether rows are the variables; otherwise columns are.
        name: a label; it changes nothing.

    Returns:
        A square tensor of numbers from -1 to 1.

    Examples:
        >>> print(paddle.linalg.corrcoef(paddle.to_tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).numpy().round(3))
        [[ 1. -1.]
         [-1.  1.]]
    """
    result = _covariance("corrcoef", x, bool(rowvar), True, None, None)
    diagonal = main_diagonal(result)
    deviation = sqrt(real(diagonal) if diagonal._aval.dtype.kind == "c" else diagonal)
    deviation = in_type_of(deviation, result)
    result = _limited(result / as_rows(deviation) / as_columns(deviation))
    return _unless_one(result)


def _limited(x: Tensor) -> Tensor:
    return x if x._aval.dtype.kind == "c" else x.clip(-1.0, 1.0)
