"""Modified Bessel functions of the first kind: i0, i1 and their scaled forms.

With `F_n(x) = I_n(x) / x**n`, which has no pole, `F_n' = x * F_(n+1)`: that family carries gradients
of any order through zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.namespaces import left_to_xla
from ....eager.declare import op, public
from ....eager.infer import same
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ...precision import floating_real, reference, wide
from ..unary import sign
from .gamma_and_error import special


def _series(xp: Any, x: Any, order: int, terms: int) -> Any:
    """`I_n(x) / x**n` by its power series; `terms` of them."""
    quarter = x * x / 4
    total = xp.zeros_like(x)
    for k in range(terms - 1, -1, -1):
        # Horner's scheme on the ratio of neighbouring terms.
        total = 1 + total * quarter / ((k + 1) * (order + k + 1))
    return total / (2.0**order * math.factorial(order))


@op(
    infer=same,
    grad={"x": lambda g, x, order, scaled: _slope_of_ratio(g, x, order, scaled)},
    name="bessel_ratio",
)
def ratio(xp: Any, x: Any, order: int, scaled: bool) -> Any:
    """`I_n(x) / x**n` for a positive order `n`, multiplied by `exp(-|x|)` if scaled."""
    limit = 4.0 + 2 * order
    wide_x = wide(x).astype(np.float64)
    size = xp.abs(wide_x)
    small = xp.minimum(size, limit)
    near = _series(xp, small, order, 24 + 2 * order)
    # Away from zero upward recurrence is harmless: I_(n+1) = I_(n-1) - 2 n / x * I_n.
    large = xp.maximum(size, limit)
    module = special(xp)
    before, current = module.i0e(large), module.i1e(large)
    for n in range(1, order):
        before, current = current, before - 2 * n / large * current
    far = current / large**order
    if scaled:
        near = near * xp.exp(-small)
    else:
        far = far * xp.exp(large)
    return xp.where(size <= limit, near, far)


def _slope_of_ratio(g: Tensor, x: Tensor, order: int, scaled: bool) -> Tensor:
    derivative = x * ratio(x, order + 1, scaled)
    return g * (derivative - sign(x) * ratio(x, order, True) if scaled else derivative)


def _in_float64(kernel: Any) -> Any:
    """XLA's float32 series are good for five to six digits; on a CPU float64 costs little."""

    def precise(xp: Any, x: Any) -> Any:
        return kernel(xp, x.astype(np.float64))

    return precise


def _reference(name: str) -> Any:
    def expected(x: Any) -> Any:
        import scipy.special

        return getattr(scipy.special, name)(x.astype("float64"))

    return reference(expected)


_SAMPLES = (
    S(A(2, 3)), S(A(0, 3)), S(A(low=0.5)), S(A(3, dtype="int64", low=-3, high=4)), S(A(4, low=-30, high=30)),
    S(A(3, dtype="bfloat16", grad=False)), S(A(3, dtype="float64", low=-9, high=9)),
)  # fmt: skip
_AT_ZERO = S(A(values=[0.0, 1e-3, -1e-8]))


@samples(*_SAMPLES, _AT_ZERO, reference=_reference("i0"))
@public(method=True, inplace=True)
@op(infer=floating_real, grad={"x": lambda g, x: g * i1(x)})
def i0(xp: Any, x: Any) -> Any:
    """The modified Bessel function of the first kind of order 0.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.i0(paddle.to_tensor([0.0, 1.0])).numpy().round(4)
        array([1.    , 1.2661], dtype=float32)
    """
    return special(xp).i0(wide(x))


@samples(*_SAMPLES, S(A(values=[1.0, 100.0, -700.0])), reference=_reference("i0e"))
@public(method=True)
@op(infer=floating_real, grad={"x": lambda g, x, out: g * (i1e(x) - sign(x) * out)})
def i0e(xp: Any, x: Any) -> Any:
    """`exp(-|x|) * i0(x)`, which does not overflow.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.i0e(paddle.to_tensor([0.0, 1000.0])).numpy().round(4)
        array([1.    , 0.0126], dtype=float32)
    """
    return special(xp).i0e(wide(x))


@samples(*_SAMPLES, _AT_ZERO, reference=_reference("i1"))
@public(method=True)
@op(infer=floating_real, grad={"x": lambda g, x: g * (i0(x) - ratio(x, 1, False))})
def i1(xp: Any, x: Any) -> Any:
    """The modified Bessel function of the first kind of order 1.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.i1(paddle.to_tensor([0.0, 1.0])).numpy().round(4)
        array([0.    , 0.5652], dtype=float32)
    """
    return special(xp).i1(wide(x))


def _slope_of_i1e(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    return g * (i0e(x) - sign(x) * out - ratio(x, 1, True))


@samples(*_SAMPLES, S(A(values=[1.0, 100.0, -700.0])), reference=_reference("i1e"))
@public(method=True)
@op(infer=floating_real, grad={"x": _slope_of_i1e})
def i1e(xp: Any, x: Any) -> Any:
    """`exp(-|x|) * i1(x)`, which does not overflow.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.i1e(paddle.to_tensor([0.0, 1000.0])).numpy().round(4)
        array([0.    , 0.0126], dtype=float32)
    """
    return special(xp).i1e(wide(x))


for _function in (i0e, i1e):  # at infinity
    _function.operation.kernels["cupy"] = left_to_xla


for _function in (i0, i0e, i1, i1e):
    _operation = _function.operation
    _operation.kernels["cpu"] = _in_float64(_operation.kernel)
