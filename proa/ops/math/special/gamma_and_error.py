"""Special functions: erf and its inverse, log-gamma and its derivatives, logit.

NumPy has none of them: tier 0 takes SciPy's, XLA has its own (through `jax.scipy`).
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ....core.errors import type_error, value_error
from ....core.namespaces import can_write
from ....eager import series
from ....eager.declare import op, public
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ...precision import floating_real, reference, wide
from ..arithmetic import affine, quotient, times
from ..ternary import clip
from ..unary import exp, square

# Elements whose `erf` takes about as long as importing SciPy's.
_FEW = 200_000


class _OnNumpy:
    """SciPy's functions. Importing them takes a tenth of a second, which is long for a short script: the one that every
    transformer needs is Python's own, as long as there are few elements."""

    asked = 0

    def __getattr__(self, name: str) -> Any:
        import scipy.special

        return getattr(scipy.special, name)

    def erf(self, x: Any) -> Any:
        x = np.asarray(x)
        if x.dtype.kind != "f" or self.asked + x.size > _FEW or "scipy.special" in sys.modules:
            import scipy.special

            return scipy.special.erf(x)
        self.asked += x.size
        found = np.fromiter(map(math.erf, x.ravel().tolist()), np.float64, x.size)
        return found.reshape(x.shape).astype(x.dtype, copy=False)


_ON_NUMPY = _OnNumpy()


def special(xp: Any) -> Any:
    """The module of special functions that goes with an array namespace."""
    if xp is np:
        return _ON_NUMPY
    if can_write(xp):
        import cupyx.scipy.special  # type: ignore[import-not-found]

        return cupyx.scipy.special
    import jax.scipy.special

    return jax.scipy.special


def _reference(name: str) -> Any:
    def expected(x: Any) -> Any:
        import scipy.special

        return getattr(scipy.special, name)(x.astype("float64"))

    return reference(expected)


_SAMPLES = (
    S(A(2, 3, low=0.2)), S(A(0, 3)), S(A(low=0.5)), S(A(2, dtype="int64", low=1, high=4)),
    S(A(3, dtype="bfloat16", grad=False, low=0.5)), S(A(3, dtype="float64", low=0.5)),
)  # fmt: skip


@samples(
    *_SAMPLES, S(A(5)), S(A(values=[np.nan, np.inf, -np.inf, 0.0], grad=False)),
    reference=_reference("erf"),
)  # fmt: skip
@public(method=True, inplace=True)
@op(
    infer=floating_real,
    grad={"x": lambda g, x: times(g * exp(times(square(x), -1.0)), 2 / math.sqrt(math.pi))},
    series=series.functions.erf,
)
def erf(xp: Any, x: Any) -> Any:
    """The error function of each element, between -1 and 1.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.erf(paddle.to_tensor([0.0, 1.0])).numpy().round(4)
        array([0.    , 0.8427], dtype=float32)
    """
    return special(xp).erf(wide(x))


@samples(
    S(A(2, 3, low=-0.9, high=0.9)), S(A(0, 3)), S(A(low=-0.5, high=0.5)),
    S(A(values=[-1.0, 1.0, 0.0, 1.5, np.nan], grad=False)),
    reference=_reference("erfinv"), tolerance=1e-4,
)  # fmt: skip
@public(method=True, inplace=True)
@op(
    infer=floating_real,
    grad={"x": lambda g, out: times(g * exp(square(out)), math.sqrt(math.pi) / 2)},
)
def erfinv(xp: Any, x: Any) -> Any:
    """The number whose error function is `x`; NaN outside [-1, 1], infinite at the ends.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.erfinv(paddle.to_tensor([0.0, 1.0, 2.0])).tolist()
        [0.0, inf, nan]
    """
    return special(xp).erfinv(wide(x))


@samples(
    *_SAMPLES, S(A(values=[-2.5, -2.0, 0.0, 1e5, np.inf, np.nan], grad=False)),
    reference=_reference("gammaln"), tolerance=1e-4,
)  # fmt: skip
@public(method=True, inplace=True)
@op(infer=floating_real, grad={"x": lambda g, x: g * digamma(x)})
def lgamma(xp: Any, x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function; infinite at its poles.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.lgamma(paddle.to_tensor([1.0, 5.0, 0.0])).numpy().round(4)
        array([0.    , 3.1781,    inf], dtype=float32)
    """
    x = wide(x)
    return xp.where(x == -np.inf, np.inf, special(xp).gammaln(x))


public(method=True, inplace=True, name="gammaln")(lgamma)


@samples(*_SAMPLES, S(A(3, low=-0.9, high=-0.1)), reference=_reference("digamma"), tolerance=1e-4)
@public(method=True, inplace=True)
@op(infer=floating_real, grad={"x": lambda g, x: g * polygamma_of(x, 1)})
def digamma(xp: Any, x: Any) -> Any:
    """The derivative of `lgamma`, element by element; NaN at negative integers.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.digamma(paddle.to_tensor([1.0, 2.0])).numpy().round(4)
        array([-0.5772,  0.4228], dtype=float32)
    """
    x = wide(x)
    at_zero = xp.copysign(np.inf, -x)
    return xp.where(x == 0, at_zero, special(xp).digamma(x))


@op(
    infer=floating_real,
    grad={"x": lambda g, x, n: g * polygamma_of(x, n + 1)},
    name="polygamma",
)
def polygamma_of(xp: Any, x: Any, n: int) -> Any:
    x = wide(x)
    return xp.where(x == np.inf, 0, special(xp).polygamma(n, x))


def _in_float64(kernel: Any) -> Any:
    """XLA's float32 series are good for five to six digits; on a CPU float64 costs little."""

    def precise(xp: Any, x: Any, *attributes: Any) -> Any:
        return kernel(xp, x.astype(np.float64), *attributes)

    return precise


for _function in (lgamma, digamma, polygamma_of):
    _operation = _function.operation
    _operation.kernels["cpu"] = _in_float64(_operation.kernel)


def _reference_polygamma(x: Any, n: int) -> Any:
    import scipy.special

    return scipy.special.polygamma(n, x).astype(x.dtype, copy=False)


@samples(
    S(A(2, 3, low=0.5), 1), S(A(3, low=0.5), 0), S(A(0, 3), 1), S(A(low=1), 3),
    reference=_reference_polygamma, tolerance=1e-4,
)  # fmt: skip
@public(method=True, inplace=True)
def polygamma(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """The derivative number `n` of `digamma`, for positive `x`.

    Args:
        x: the tensor.
        n: which derivative; 0 is `digamma` itself.
        name: a label; it changes nothing.

    Raises:
        ValueError: `n` is negative.

    Examples:
        >>> paddle.polygamma(paddle.to_tensor([1.0, 2.0]), 1).numpy().round(4)
        array([1.6449, 0.6449], dtype=float32)
    """
    if not isinstance(n, int):
        raise type_error("polygamma", "n must be an integer", f"n: {n!r}")
    if n < 0:
        raise value_error("polygamma", "n must not be negative", f"n: {n}")
    return digamma(x) if n == 0 else polygamma_of(x, n)


def _slope_of_logit(g: Tensor, x: Tensor) -> Tensor:
    return quotient(g, x * affine(x, -1.0, 1.0, True))


@op(infer=floating_real, grad={"x": _slope_of_logit}, name="logit", series=series.functions.logit)
def log_odds(xp: Any, x: Any) -> Any:
    x = wide(x)
    return xp.log(x) - xp.log1p(-x)


def _reference_logit(x: Any, eps: float | None = None) -> Any:
    if eps:
        x = np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x)).astype(x.dtype, copy=False)


@samples(
    S(A(2, 3, low=0.1, high=0.9)), S(A(0, 3)), S(A(low=0.2, high=0.8)), S(A(4, low=-1), 0.2),
    S(A(values=[-0.1, 0.0, 0.5, 1.0, 1.1], grad=False)), S(A(3, low=0.1, high=0.9), eps=1e-6),
    reference=_reference_logit,
)  # fmt: skip
@public(method=True, inplace=True)
def logit(x: Tensor, eps: float | None = None, name: str | None = None) -> Tensor:
    """`log(x / (1 - x))`, the inverse of `sigmoid`; NaN outside [0, 1].

    Args:
        x: the tensor.
        eps: if given, `x` is clipped to [eps, 1 - eps] first.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.logit(paddle.to_tensor([0.5, 1.0])).tolist()
        [0.0, inf]

        >>> paddle.logit(paddle.to_tensor([1.0]), eps=1e-3).numpy().round(4)
        array([6.9068], dtype=float32)
    """
    if not eps:
        return log_odds(x)
    return log_odds(clip(x, eps, 1.0 - eps))
