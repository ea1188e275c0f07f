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
    """The discrete Fourier transform along an axis, of `n` points (cut off or filled up with zeros).

    `norm` says which direction divides by n: "backward" the inverse, "forward" this one, "ortho" both by sqrt(n).
    """
    return complex_transform("fft", x, *_one("fft", x, n, axis), True, norm)


@samples(*_COMPLEX, reference=lambda x, *options: _numpy(np.fft.ifft, x, *options))
@public(module="fft", out=True)
def ifft(
    x: Tensor, n: int | None = None, axis: AxisLike = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `fft`."""
    return complex_transform("ifft", x, *_one("ifft", x, n, axis), False, norm)


@samples(*_REAL, reference=lambda x, *options: _numpy(np.fft.rfft, x, *options))
@public(module="fft", out=True)
def rfft(
    x: Tensor, n: int | None = None, axis: AxisLike = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The first n // 2 + 1 numbers of the transform of real numbers; the others are conjugates of these."""
    return half_transform("rfft", x, *_one("rfft", x, n, axis), True, norm)


@samples(*_HALF, reference=lambda x, *options: _numpy(np.fft.irfft, x, *options))
@public(module="fft", out=True)
def irfft(
    x: Tensor, n: int | None = None, axis: AxisLike = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `rfft`. Give `n` for an odd number of points."""
    return real_transform("irfft", x, *_one("irfft", x, n, axis), False, norm)


@samples(*_HALF, reference=lambda x, *options: _numpy(np.fft.hfft, x, *options))
@public(module="fft", out=True)
def hfft(
    x: Tensor, n: int | None = None, axis: AxisLike = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The transform of a signal of which the first half is given, the other being its conjugate: real numbers."""
    return real_transform("hfft", x, *_one("hfft", x, n, axis), True, norm)


@samples(*_REAL, reference=lambda x, *options: _numpy(np.fft.ihfft, x, *options))
@public(module="fft", out=True)
def ihfft(
    x: Tensor, n: int | None = None, axis: AxisLike = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `hfft`: the first half of a signal with a real spectrum."""
    return half_transform("ihfft", x, *_one("ihfft", x, n, axis), False, norm)


def _numpy(function: Any, x: Any, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    """NumPy's result, where it has one: it refuses an axis without elements."""
    if x.shape[axis] == 0:
        return np.zeros(x.shape, np.complex64)
    return function(x, n, axis, norm)
