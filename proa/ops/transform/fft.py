"""`paddle.fft`: transforms over one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...eager.annotations import AxisLike
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from .fourier import complex_transform, half_transform, num_points, point_axis, real_transform


def _one(where: str, x: Any, n: Any, axis: Any) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    points = num_points(where, n)
    along = point_axis(where, axis, require_tensor(where, "x", x)._aval.ndim)
    return None if points is None else (points,), (along,)


_COMPLEX = (
    S(A(2, 5, dtype="complex128")), S(A(2, 5, dtype="complex64", grad=False), 7), S(A(4, 3), 2, 0, "ortho"),
    S(A(3, dtype="int32")), S(A(0, 3)), S(A(3, 0)), S(A(2, 3, 2, dtype="complex128"), None, 1, "forward"),
)  # fmt: skip
_REAL = (
    S(A(2, 5)), S(A(2, 6)), S(A(2, 5), 8), S(A(4, 3), 2, 0, "ortho"), S(A(3, dtype="int32")), S(A(0, 3)), S(A(3, 1)),
    S(A(2, 3, 2, dtype="float64"), None, 1, "forward"),
)  # fmt: skip
_HALF = (
    S(A(2, 4, dtype="complex128")), S(A(2, 4, dtype="complex128"), 7), S(A(2, 4, dtype="complex64", grad=False), 3),
    S(A(4, 3, dtype="complex128"), 9, 0, "ortho"), S(A(2, 3, dtype="complex128"), None, 0, "forward"), S(A(0, 3)),
    S(A(2, 4)),
)  # fmt: skip


@samples(*_COMPLEX, reference=lambda x, *options: _numpy(np.fft.fft, x, *options))
@public(module="fft", out=True)
def fft(
    x: Tensor, n: int | None = None, axis: AxisLike = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The discrete Fourier transform along an axis.

    Args:
        x: real or complex numbers.
        n: how many points: the axis is cut off or filled up with zeros; None for its size.
        axis: the axis.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor.

    Examples:
        >>> paddle.fft.fft(paddle.to_tensor([1.0, 2.0, 3.0, 4.0])).tolist()
        [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
    """
    return complex_transform("fft", x, *_one("fft", x, n, axis), True, norm)


@samples(*_COMPLEX, reference=lambda x, *options: _numpy(np.fft.ifft, x, *options))
@public(module="fft", out=True)
def ifft(
    x: Tensor, n: int | None = None, axis: AxisLike = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `fft`.

    Args:
        x: real or complex numbers.
        n: how many points: the axis is cut off or filled up with zeros; None for its size.
        axis: the axis.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor.

    Examples:
        >>> paddle.fft.ifft(paddle.fft.fft(paddle.to_tensor([1.0, 2.0, 3.0, 4.0]))).tolist()
        [(1+0j), (2+0j), (3+0j), (4+0j)]
    """
    return complex_transform("ifft", x, *_one("ifft", x, n, axis), False, norm)


@samples(*_REAL, reference=lambda x, *options: _numpy(np.fft.rfft, x, *options))
@public(module="fft", out=True)
def rfft(
    x: Tensor, n: int | None = None, axis: AxisLike = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The Fourier transform of real numbers along an axis, without its redundant half.

    Args:
        x: real numbers.
        n: how many points: the axis is cut off or filled up with zeros; None for its size.
        axis: the axis.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor of `n // 2 + 1` numbers along `axis`; the others are conjugates of these.

    Examples:
        >>> paddle.fft.rfft(paddle.to_tensor([1.0, 2.0, 3.0, 4.0])).tolist()
        [(10+0j), (-2+2j), (-2+0j)]
    """
    return half_transform("rfft", x, *_one("rfft", x, n, axis), True, norm)


@samples(*_HALF, reference=lambda x, *options: _numpy(np.fft.irfft, x, *options))
@public(module="fft", out=True)
def irfft(
    x: Tensor, n: int | None = None, axis: AxisLike = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `rfft`.

    Args:
        x: half a spectrum.
        n: how many points the result has, to be given where it is odd: the axis is cut off or filled up with zeros;
            None for twice the size less two.
        axis: the axis.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A real tensor.

    Examples:
        >>> print(paddle.fft.irfft(paddle.fft.rfft(paddle.to_tensor([1.0, 2.0, 3.0])), n=3).numpy().round(4))
        [1. 2. 3.]
    """
    return real_transform("irfft", x, *_one("irfft", x, n, axis), False, norm)


@samples(*_HALF, reference=lambda x, *options: _numpy(np.fft.hfft, x, *options))
@public(module="fft", out=True)
def hfft(
    x: Tensor, n: int | None = None, axis: AxisLike = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The Fourier transform of a signal given by its first half, the other being its conjugate.

    Args:
        x: the first half of the signal.
        n: how many points: the axis is cut off or filled up with zeros; None for twice the size less two.
        axis: the axis.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A real tensor.

    Examples:
        >>> paddle.fft.hfft(paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
        [8.0, -2.0, 0.0, -2.0]
    """
    return real_transform("hfft", x, *_one("hfft", x, n, axis), True, norm)


@samples(*_REAL, reference=lambda x, *options: _numpy(np.fft.ihfft, x, *options))
@public(module="fft", out=True)
def ihfft(
    x: Tensor, n: int | None = None, axis: AxisLike = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `hfft`: the first half of a signal with a real spectrum.

    Args:
        x: a real spectrum.
        n: how many points: the axis is cut off or filled up with zeros; None for its size.
        axis: the axis.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor of `n // 2 + 1` numbers along `axis`.

    Examples:
        >>> paddle.fft.ihfft(paddle.to_tensor([8.0, -2.0, 0.0, -2.0])).real().tolist()
        [1.0, 2.0, 3.0]
    """
    return half_transform("ihfft", x, *_one("ihfft", x, n, axis), False, norm)


def _numpy(function: Any, x: Any, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """NumPy's result, where it has one: it refuses an axis without elements."""
    if x.shape[axis] == 0:
        return np.zeros(x.shape, np.complex64)
    return function(x, n, axis, norm)
