"""Complex tensors from real ones and back: complex, real, imag, angle."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64
from ...eager import series
from ...eager.declare import op, public
from ...eager.infer import broadcast, elementwise
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..basic import cast_to
from ..precision import real_valued, refuse
from .arithmetic import times, zero_slope
from .unary import abs, square


@elementwise
def _infer_complex(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    result = broadcast(operation, operands, attributes, place)
    if result.dtype not in (FLOAT32, FLOAT64):
        raise operation.error(TypeError, "the parts must be float32 or float64", operands, fix="convert with astype()")
    return result.with_dtype(COMPLEX64 if result.dtype == FLOAT32 else COMPLEX128)


@samples(
    S(A(2, 3), A(3)), S(A(0, 3), A(3)), S(A(), A()),
    S(A(2, dtype="float64"), A(2, dtype="float64")),
    reference=lambda real, imag: real + imag * real.dtype.type(1) * np.complex64(1j),
)  # fmt: skip
@public(out=True)
@op(
    "real imag",
    infer=_infer_complex,
    grad={"real": lambda g: real(g), "imag": lambda g: imag(g)},
    series=series.algebra.linear("real imag"),
)
def complex(xp: Any, real: Any, imag: Any) -> Any:
    """Complex numbers from their two parts.

    Args:
        real: the real part, float32 or float64.
        imag: the imaginary part, of the same type; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.complex(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, -1.0])).tolist()
        [(1+3j), (2-1j)]
    """
    return real + 1j * imag


@elementwise
def _infer_part(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    refuse(operation, operands, "biufV", "is for complex tensors", "x is real already")
    return real_valued(operation, operands, attributes, place)


_SAMPLES = (
    S(A(2, 3, dtype="complex128")), S(A(0, 3, dtype="complex128")), S(A(dtype="complex128")),
)  # fmt: skip


@samples(*_SAMPLES, reference=np.real)
@public(method=True)
@op(
    infer=_infer_part,
    grad={"x": lambda g, x_aval: cast_to(g, x_aval.dtype)},
    view=lambda base, view: complex(view, imag(base)),
    strides=lambda shape, strides: tuple(2 * step for step in strides),
    series=series.algebra.linear("x"),
)
def real(xp: Any, x: Any) -> Any:
    """The real part of complex numbers; it shares memory with `x`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.real(paddle.to_tensor([1 + 2j, 3 - 4j])).tolist()
        [1.0, 3.0]
    """
    return xp.real(x)


@samples(*_SAMPLES, reference=np.imag)
@public(method=True)
@op(
    infer=_infer_part,
    grad={"x": lambda g, x_aval: times(cast_to(g, x_aval.dtype), 1j)},
    view=lambda base, view: complex(real(base), view),
    strides=lambda shape, strides: tuple(2 * step for step in strides),
    series=series.algebra.linear("x"),
)
def imag(xp: Any, x: Any) -> Any:
    """The imaginary part of complex numbers; it shares memory with `x`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.imag(paddle.to_tensor([1 + 2j, 3 - 4j])).tolist()
        [2.0, -4.0]
    """
    return xp.imag(x)


def _slope_of_angle(g: Tensor, x: Tensor) -> Tensor:
    if x._aval.dtype.kind != "c":
        return zero_slope(g)
    return times(x, 1j) * (g / square(abs(x)))


@samples(
    *_SAMPLES, S(A(4)), S(A(0)), S(A(values=[-1.0, 0.0, 1.0, np.nan, np.inf, -np.inf], grad=False)),
    reference=lambda x: np.angle(x).astype(x.real.dtype),
)  # fmt: skip
@public(method=True)
@op(infer=real_valued, grad={"x": _slope_of_angle})
def angle(xp: Any, x: Any) -> Any:
    """The angle of complex numbers, from -pi to pi; of real ones, 0 or pi.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.angle(paddle.to_tensor([1 + 1j, -1 + 0j])).numpy().round(4)
        array([0.7854, 3.1416], dtype=float32)
    """
    if x.dtype.kind == "c":
        return xp.arctan2(xp.imag(x), xp.real(x))
    return xp.where(x < 0, np.pi, xp.where(x == x, x.dtype.type(0), x))
