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
    """The sine of each element, in radians.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.sin(paddle.to_tensor([0.0, np.pi / 2])).tolist()
        [0.0, 1.0]
    """
    return xp.sin(as_float(x))


@samples(*_ANY, reference=reference(np.cos))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: product(neg(g), sin(x))}, series=series.algebra.cosine)
def cos(xp: Any, x: Any) -> Any:
    """The cosine of each element, in radians.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.cos(paddle.to_tensor([0.0, np.pi])).tolist()
        [1.0, -1.0]
    """
    return xp.cos(as_float(x))


@samples(*_BELOW_ONE, reference=reference(np.tan))
@public(method=True, inplace=True)
@op(infer=floating, grad={"x": lambda g, out: product(g, _one_plus_square(out))}, series=series.algebra.tan)
def tan(xp: Any, x: Any) -> Any:
    """The tangent of each element, in radians.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.tan(paddle.to_tensor([0.0, 1.0])).numpy().round(4)
        array([0.    , 1.5574], dtype=float32)
    """
    return xp.tan(as_float(x))


@samples(*_BELOW_ONE, reference=reference(np.arcsin))
@public(method=True, inplace=True)
@op(
    infer=floating,
    grad={"x": lambda g, x: product(g, rsqrt(_one_minus_square(x)))},
    series=series.functions.arc_sine(-1.0, 1.0),
)
def asin(xp: Any, x: Any) -> Any:
    """The angle, in radians, whose sine is `x`; NaN outside [-1, 1].

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.asin(paddle.to_tensor([0.0, 2.0])).tolist()
        [0.0, nan]
    """
    return xp.arcsin(as_float(x))


@samples(*_BELOW_ONE, reference=reference(np.arccos))
@public(method=True, inplace=True, out=True)
@op(
    infer=floating,
    grad={"x": lambda g, x: product(neg(g), rsqrt(_one_minus_square(x)))},
    series=series.functions.arc_sine(-1.0, 1.0, -1.0),
)
def acos(xp: Any, x: Any) -> Any:
    """The angle, in radians, whose cosine is `x`; NaN outside [-1, 1].

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.acos(paddle.to_tensor([1.0, 2.0])).tolist()
        [0.0, nan]
    """
    return xp.arccos(as_float(x))


@samples(*_ANY, reference=reference(np.arctan))
@public(method=True, inplace=True)
@op(infer=floating, grad={"x": lambda g, x: quotient(g, _one_plus_square(x))}, series=series.functions.arc_tangent(1.0))
def atan(xp: Any, x: Any) -> Any:
    """The angle, in radians between -pi/2 and pi/2, whose tangent is `x`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.atan(paddle.to_tensor([0.0, 1.0])).numpy().round(4)
        array([0.    , 0.7854], dtype=float32)
    """
    return xp.arctan(as_float(x))


@samples(*_ANY, reference=reference(np.sinh))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: product(g, cosh(x))}, series=series.algebra.hyperbolic_sine)
def sinh(xp: Any, x: Any) -> Any:
    """The hyperbolic sine of each element.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.sinh(paddle.to_tensor([0.0, 1.0])).numpy().round(4)
        array([0.    , 1.1752], dtype=float32)
    """
    return xp.sinh(as_float(x))


@samples(*_ANY, reference=reference(np.cosh))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: product(g, sinh(x))}, series=series.algebra.hyperbolic_cosine)
def cosh(xp: Any, x: Any) -> Any:
    """The hyperbolic cosine of each element.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.cosh(paddle.to_tensor([0.0, 1.0])).numpy().round(4)
        array([1.    , 1.5431], dtype=float32)
    """
    return xp.cosh(as_float(x))


@samples(*_ANY, reference=reference(np.arcsinh))
@public(method=True, inplace=True)
@op(
    infer=floating,
    grad={"x": lambda g, x: product(g, rsqrt(_one_plus_square(x)))},
    series=series.functions.arc_sine(1.0, 1.0),
)
def asinh(xp: Any, x: Any) -> Any:
    """The number whose hyperbolic sine is `x`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.asinh(paddle.to_tensor([0.0, 1.0])).numpy().round(4)
        array([0.    , 0.8814], dtype=float32)
    """
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
    """The number, not below 0, whose hyperbolic cosine is `x`; NaN below 1.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.acosh(paddle.to_tensor([1.0, 0.5])).tolist()
        [0.0, nan]
    """
    return xp.arccosh(as_float(x))


@samples(*_BELOW_ONE, reference=reference(np.arctanh))
@public(method=True, inplace=True, out=True)
@op(
    infer=floating,
    grad={"x": lambda g, x: quotient(g, _one_minus_square(x))},
    series=series.functions.arc_tangent(-1.0),
)
def atanh(xp: Any, x: Any) -> Any:
    """The number whose hyperbolic tangent is `x`; NaN outside [-1, 1], infinite at the ends.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.atanh(paddle.to_tensor([0.0, 1.0, 2.0])).tolist()
        [0.0, inf, nan]
    """
    return xp.arctanh(as_float(x))
