"""Trigonometric and hyperbolic functions and their inverses (`tanh` is in unary.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...eager import series
from ...eager.declare import op, public
from ...eager.infer import floating
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..precision import as_float, reference
from .arithmetic import product, quotient
from .powers import fixed
from .unary import neg, rsqrt, square

_ANY = (
    S(A(2, 3)), S(A(0, 3)), S(A()), S(A(3, dtype="int64")), S(A(3, dtype="uint8", high=3)),
    S(A(3, dtype="bfloat16", grad=False)), S(A(3, dtype="complex128")),
    S(A(values=[np.nan, np.inf, -np.inf], grad=False)),
)  # fmt: skip
_BELOW_ONE = (
    S(A(2, 3, low=-0.9, high=0.9)), S(A(0, 3)), S(A(low=-0.5, high=0.5)), S(A(2, dtype="int64")),
    S(A(3, dtype="float16", grad=False, low=-0.5, high=0.5)), S(A(3, dtype="complex128")),
    S(A(values=[np.nan, 1.0, -1.0, 2.0], grad=False)),
)  # fmt: skip
_ABOVE_ONE = (
    S(A(2, 3, low=1.2, high=5)), S(A(0, 3)), S(A(low=2)), S(A(2, dtype="int64", low=1, high=9)),
    S(A(3, dtype="float16", grad=False, low=1.5)), S(A(3, dtype="complex128")),
    S(A(values=[np.nan, 1.0, 0.5], grad=False)),
)  # fmt: skip


def _one_plus_square(x: Tensor) -> Tensor:
    return fixed(square(x), 1.0, 1.0)


def _one_minus_square(x: Tensor) -> Tensor:
    return fixed(square(x), -1.0, 1.0)


@samples(*_ANY, reference=reference(np.sin))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: product(g, cos(x))}, series=series.algebra.sine)
def sin(xp: Any, x: Any) -> Any:
    """The sine."""
    return xp.sin(as_float(x))


@samples(*_ANY, reference=reference(np.cos))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: product(neg(g), sin(x))}, series=series.algebra.cosine)
def cos(xp: Any, x: Any) -> Any:
    """The cosine."""
    return xp.cos(as_float(x))


@samples(*_BELOW_ONE, reference=reference(np.tan))
@public(method=True, inplace=True)
@op(infer=floating, grad={"x": lambda g, out: product(g, _one_plus_square(out))}, series=series.algebra.tan)
def tan(xp: Any, x: Any) -> Any:
    """The tangent."""
    return xp.tan(as_float(x))


@samples(*_BELOW_ONE, reference=reference(np.arcsin))
@public(method=True, inplace=True)
@op(
    infer=floating,
    grad={"x": lambda g, x: product(g, rsqrt(_one_minus_square(x)))},
    series=series.functions.arc_sine(-1.0, 1.0),
)
def asin(xp: Any, x: Any) -> Any:
    """The angle whose sine is `x`; NaN outside [-1, 1]."""
    return xp.arcsin(as_float(x))


@samples(*_BELOW_ONE, reference=reference(np.arccos))
@public(method=True, inplace=True, out=True)
@op(
    infer=floating,
    grad={"x": lambda g, x: product(neg(g), rsqrt(_one_minus_square(x)))},
    series=series.functions.arc_sine(-1.0, 1.0, -1.0),
)
def acos(xp: Any, x: Any) -> Any:
    """The angle whose cosine is `x`; NaN outside [-1, 1]."""
    return xp.arccos(as_float(x))


@samples(*_ANY, reference=reference(np.arctan))
@public(method=True, inplace=True)
@op(infer=floating, grad={"x": lambda g, x: quotient(g, _one_plus_square(x))}, series=series.functions.arc_tangent(1.0))
def atan(xp: Any, x: Any) -> Any:
    """The angle whose tangent is `x`."""
    return xp.arctan(as_float(x))


@samples(*_ANY, reference=reference(np.sinh))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: product(g, cosh(x))}, series=series.algebra.hyperbolic_sine)
def sinh(xp: Any, x: Any) -> Any:
    """The hyperbolic sine."""
    return xp.sinh(as_float(x))


@samples(*_ANY, reference=reference(np.cosh))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: product(g, sinh(x))}, series=series.algebra.hyperbolic_cosine)
def cosh(xp: Any, x: Any) -> Any:
    """The hyperbolic cosine."""
    return xp.cosh(as_float(x))


@samples(*_ANY, reference=reference(np.arcsinh))
@public(method=True, inplace=True)
@op(
    infer=floating,
    grad={"x": lambda g, x: product(g, rsqrt(_one_plus_square(x)))},
    series=series.functions.arc_sine(1.0, 1.0),
)
def asinh(xp: Any, x: Any) -> Any:
    """The number whose hyperbolic sine is `x`."""
    return xp.arcsinh(as_float(x))


def _slope_of_acosh(g: Tensor, x: Tensor) -> Tensor:
    if x._aval.dtype.kind == "c":  # two roots: that of the product would be on the wrong branch
        below, above = fixed(x, 1.0, -1.0), fixed(x, 1.0, 1.0)
        return product(g, rsqrt(below) * rsqrt(above))
    return product(g, rsqrt(fixed(square(x), 1.0, -1.0)))


@samples(*_ABOVE_ONE, reference=reference(np.arccosh))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": _slope_of_acosh}, series=series.functions.arc_sine(1.0, -1.0))
def acosh(xp: Any, x: Any) -> Any:
    """The number, not below 0, whose hyperbolic cosine is `x`; NaN below 1."""
    return xp.arccosh(as_float(x))


@samples(*_BELOW_ONE, reference=reference(np.arctanh))
@public(method=True, inplace=True, out=True)
@op(
    infer=floating,
    grad={"x": lambda g, x: quotient(g, _one_minus_square(x))},
    series=series.functions.arc_tangent(-1.0),
)
def atanh(xp: Any, x: Any) -> Any:
    """The number whose hyperbolic tangent is `x`; NaN outside [-1, 1]."""
    return xp.arctanh(as_float(x))
