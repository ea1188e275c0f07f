"""Angles and waves: degrees and radians, polar coordinates, sinc, the scaled tanh."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.dtype import FLOAT32, is_differentiable
from ...eager.declare import op, public
from ...eager.infer import floating
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from ..basic import cast_to
from ..precision import reference, wide
from .arithmetic import conjugate, multiply, times
from .complex_numbers import complex
from .trigonometry import cos, sin
from .unary import tanh

_ANGLES = (
    S(A(2, 3, low=-300, high=300)), S(A(0, 3)), S(A()), S(A(3, dtype="int64", low=-180, high=180)),
    S(A(3, dtype="float64")), S(A(3, dtype="bfloat16", grad=False)),
)  # fmt: skip


def _as_float(where: str, x: Tensor) -> Tensor:
    dtype = require_tensor(where, "x", x)._aval.dtype
    return x if is_differentiable(dtype) else cast_to(x, FLOAT32)


@samples(*_ANGLES, reference=reference(np.deg2rad))
@public(method=True)
def deg2rad(x: Tensor, name: str | None = None) -> Tensor:
    """Angles in degrees as radians; integers give the default floating type.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.deg2rad(paddle.to_tensor([0.0, 180.0])).numpy().round(4)
        array([0.    , 3.1416], dtype=float32)
    """
    return times(_as_float("deg2rad", x), math.pi / 180)


@samples(*_ANGLES, reference=reference(np.rad2deg))
@public(method=True)
def rad2deg(x: Tensor, name: str | None = None) -> Tensor:
    """Angles in radians as degrees; integers give the default floating type.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.rad2deg(paddle.to_tensor([0.0, np.pi])).numpy().round(2)
        array([  0., 180.], dtype=float32)
    """
    return times(_as_float("rad2deg", x), 180 / math.pi)


@samples(
    S(A(2, 3), A(3)), S(A(0, 3), A(3)), S(A(), A()), S(A(2, dtype="float64"), A(2, dtype="float64")),
    reference=lambda abs, angle: (abs * np.exp(1j * angle)).astype(
        "complex64" if abs.dtype == np.float32 else "complex128"
    ),
)  # fmt: skip
@public(method=True, out=True)
def polar(abs: Tensor, angle: Tensor, name: str | None = None) -> Tensor:
    """The complex numbers that have a magnitude and an angle.

    Args:
        abs: the magnitudes.
        angle: the angles in radians; the shape is that of `abs`.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        A complex tensor: complex64 for float32, complex128 for float64.

    Examples:
        >>> z = paddle.polar(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([0.0, np.pi]))
        >>> z.numpy().round(4)
        array([ 1.+0.j, -2.-0.j], dtype=complex64)
    """
    require_tensor("polar", "abs", abs)
    require_tensor("polar", "angle", angle)
    return complex(abs * cos(angle), abs * sin(angle))


# ---- sinc ----------------------------------------------------------------------------------------


@op(infer=floating, grad={"x": lambda g, x, order: multiply(g, conjugate(sinc_derivative(x, order + 1)))})
def sinc_derivative(xp: Any, x: Any, order: int) -> Any:
    """The derivative number `order` of `sin(pi x) / (pi x)`.

    With y = pi x and f = sin(y) / y: y f^(n) + n f^(n-1) = sin^(n)(y). Near zero, where that divides by
    little, the power series takes over.
    """
    y = wide(x) * math.pi
    limit = 1.5 + order
    far = xp.where(xp.abs(y) < limit, limit, y)
    result = xp.sin(far) / far
    for n in range(1, order + 1):
        result = (xp.sin(far + n * (math.pi / 2)) - n * result) / far
    near = xp.where(xp.abs(y) < limit, y, 0)
    series = xp.zeros_like(near)
    # Sum of (-1)^k y^(2k) / (2k + 1)!, differentiated term by term; the smallest terms first.
    for k in range(order + 14, (order + 1) // 2 - 1, -1):
        factor = math.prod(range(2 * k - order + 1, 2 * k + 1)) / math.factorial(2 * k + 1)
        series = series * (near * near) + (-1) ** k * factor
    if order % 2:
        series = series * near
    return xp.where(xp.abs(y) < limit, series, result) * math.pi**order


@samples(
    S(A(2, 3)), S(A(values=[0.0, 0.5, -1.0, 1e-4, 7.3])), S(A(0, 3)), S(A()), S(A(3, dtype="float64")),
    S(A(3, dtype="bfloat16", grad=False)), S(A(3, dtype="complex128")), S(A(values=[0, 1e-4j, 2 - 1j], dtype="complex128")),
    reference=np.sinc,
)  # fmt: skip
@public(method=True, inplace=True)
def sinc(x: Tensor, name: str | None = None) -> Tensor:
    """`sin(pi x) / (pi x)`, and 1 at zero.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.sinc(paddle.to_tensor([0.0, 0.5])).numpy().round(4)
        array([1.    , 0.6366], dtype=float32)
    """
    return sinc_derivative(_as_float("sinc", x), 0)


@samples(
    S(A(2, 3)), S(A(3), 0.5, 2.0), S(A(0, 3)), S(A()), S(A(3, dtype="int64")), S(A(2), scale_b=3),
    S(A(2, dtype="complex128")),
    reference=lambda x, scale_a=0.67, scale_b=1.7159: scale_b
    * np.tanh(scale_a * (x if x.dtype.kind in "fc" else x.astype("float32"))),
)  # fmt: skip
@public(method=True)
def stanh(x: Tensor, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Tensor:
    """`scale_b * tanh(scale_a * x)`, element by element.

    Args:
        x: the tensor.
        scale_a: multiplies the argument of tanh.
        scale_b: multiplies its result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.stanh(paddle.to_tensor([0.0, 1.0])).numpy().round(4)
        array([0.    , 1.0038], dtype=float32)
    """
    return times(tanh(times(_as_float("stanh", x), float(scale_a))), float(scale_b))
