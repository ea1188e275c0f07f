"""The incomplete gamma functions and the multivariate log-gamma: gammainc, gammaincc, multigammaln."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.aval import Aval
from ....core.errors import failed_check
from ....eager.declare import op, public
from ....eager.infer import broadcast, elementwise
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ....ir.operation import Check
from ....ir.padding import rules
from ...arguments import integer, require_tensor
from ...precision import refuse, wide
from ..arithmetic import minus, over, times
from ..unary import log
from .gamma_and_error import digamma, lgamma, special


@elementwise
def _infer_pair(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    result = broadcast(operation, operands, attributes, place)
    refuse(operation, operands, "biuc", "is for floating types", "convert with astype('float32')")
    return result


_NOT_NEGATIVE = Check(
    lambda xp, x, y: xp.all(~(x < 0)) & xp.all(~(y < 0)),
    lambda kinds, attributes: "x and y must not be negative",
    ValueError,
    (0, 1),
)


def _slope_of_density(g: Tensor, x: Tensor, y: Tensor, out: Tensor) -> Tensor:
    return g * out * minus(over(minus(x, 1.0), y), 1.0)


@op(
    "x y",
    infer=_infer_pair,
    grad={"x": lambda g, x, y, out: g * out * minus(log(y), digamma(x)), "y": _slope_of_density},
)
def gamma_density(xp: Any, x: Any, y: Any) -> Any:
    """`y ** (x - 1) * exp(-y) / gamma(x)`: what `gammainc` grows by."""
    module = special(xp)
    x, y = wide(x), wide(y)
    return xp.exp(module.xlogy(x - 1, y) - y - module.gammaln(x))


def _edges(kernel: Any, at_zero_order: float, at_zero: float) -> Any:
    """The kernel on XLA with SciPy's values at the ends; in float64 on a CPU, where that costs little."""

    def filled(xp: Any, x: Any, y: Any) -> Any:
        x, y = wide(x), wide(y)
        x, y = xp.broadcast_arrays(x, y)
        result = kernel(xp, xp.where(x > 0, x, 1), y)
        result = xp.where(y == 0, at_zero, result)
        return xp.where(x == 0, xp.where(y == 0, np.nan, at_zero_order), result)

    return filled


def _reference(name: str) -> Any:
    def expected(x: Any, y: Any) -> Any:
        import scipy.special

        return getattr(scipy.special, name)(x.astype("float64"), y.astype("float64")).astype(x.dtype, copy=False)

    return expected


_SAMPLES = (
    S(A(2, 3, low=0.2, high=5, grad=False), A(3, low=0.2, high=5)),
    S(A(2, 1, low=0.2, grad=False), A(1, 3, low=0.2)), S(A(0, 3, grad=False), A(3, low=1)),
    S(A(low=1, grad=False), A(low=1)),
    S(A(3, dtype="float64", low=1, high=9, grad=False), A(3, dtype="float64", low=1, high=9)),
    S(A(values=[1.0, 2.0, 0.5, 0.0], grad=False), A(values=[0.0, 80.0, 0.0, 1.0], grad=False)),
    S(A(3, dtype="bfloat16", low=1, grad=False), A(3, dtype="bfloat16", low=1, grad=False)),
)  # fmt: skip


@op(
    "x y",
    infer=_infer_pair,
    promote=True,
    check=_NOT_NEGATIVE,
    grad={"y": lambda g, x, y: g * gamma_density(x, y)},
    name="gammainc",
    padding=rules.untouched.checked,
)
def lower_part(xp: Any, x: Any, y: Any) -> Any:
    return special(xp).gammainc(wide(x), wide(y))


@op(
    "x y",
    infer=_infer_pair,
    promote=True,
    check=_NOT_NEGATIVE,
    grad={"y": lambda g, x, y: times(g * gamma_density(x, y), -1.0)},
    name="gammaincc",
    padding=rules.untouched.checked,
)
def upper_part(xp: Any, x: Any, y: Any) -> Any:
    return special(xp).gammaincc(wide(x), wide(y))


@samples(*_SAMPLES, reference=_reference("gammainc"), tolerance=2e-5)
@public(method=True, inplace=True)
def gammainc(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The regularised lower incomplete gamma function; it can be differentiated in `y`.

    Args:
        x: the order, not negative.
        y: where it is taken, not negative; its shape broadcasts with that of `x`.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.gammainc(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 1.0])).numpy().round(4)
        array([0.6321, 0.2642], dtype=float32)
    """
    return lower_part(require_tensor("gammainc", "x", x), require_tensor("gammainc", "y", y))


@samples(*_SAMPLES, reference=_reference("gammaincc"), tolerance=2e-5)
@public(method=True, inplace=True)
def gammaincc(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The regularised upper incomplete gamma function, `1 - gammainc(x, y)`; it can be differentiated in `y`.

    Args:
        x: the order, not negative.
        y: where it is taken, not negative; its shape broadcasts with that of `x`.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.gammaincc(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 1.0])).numpy().round(4)
        array([0.3679, 0.7358], dtype=float32)
    """
    return upper_part(require_tensor("gammaincc", "x", x), require_tensor("gammaincc", "y", y))


for _function, _ends in ((lower_part, (1.0, 0.0)), (upper_part, (0.0, 1.0))):
    _function.operation.kernels["xla"] = _edges(_function.operation.kernel, *_ends)


# A term for each dimension: more would take minutes.
_LARGEST_DIMENSION = 10_000


def _reference_multigammaln(x: Any, p: int) -> Any:
    import scipy.special

    wide_x = x.astype("float64")
    total: Any = sum(scipy.special.gammaln(wide_x - k / 2) for k in range(int(p)))
    return (total + p * (p - 1) / 4 * math.log(math.pi)).astype(x.dtype, copy=False)


@samples(
    S(A(2, 3, low=2, high=5), 2), S(A(3, low=3, high=5), 1), S(A(0, 3), 2), S(A(low=3, high=6), 4),
    S(A(2, dtype="float64", low=3, high=5), p=3),
    reference=_reference_multigammaln, tolerance=1e-4,
)  # fmt: skip
@public(method=True, inplace=True)
def multigammaln(x: Tensor, p: int, name: str | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function.

    Args:
        x: where it is taken; above `(p - 1) / 2`.
        p: the dimension.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.multigammaln(paddle.to_tensor([2.0, 3.0]), 2).numpy().round(4)
        array([0.4516, 1.5502], dtype=float32)
    """
    dimension = integer("multigammaln", "p", int(p) if isinstance(p, float) and p.is_integer() else p)
    if not 1 <= dimension <= _LARGEST_DIMENSION:
        raise failed_check("multigammaln", f"p must be from 1 to {_LARGEST_DIMENSION}", f"p: {p}")
    total = lgamma(require_tensor("multigammaln", "x", x))
    for k in range(1, dimension):
        total = total + lgamma(x - k / 2)
    return total + dimension * (dimension - 1) / 4 * math.log(math.pi)
