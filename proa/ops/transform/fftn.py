"""`paddle.fft`: transforms over two and more axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.annotations import AxisLike
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from .fourier import complex_transform, half_transform, many_points, real_transform

Points = tuple[tuple[int, ...] | None, tuple[int, ...]]
_PLANE = (-2, -1)


def _many(where: str, x: Any, s: Any, axes: Any) -> Points:
    return many_points(where, s, axes, require_tensor(where, "x", x)._aval.ndim)


def _two(where: str, x: Any, s: Any, axes: Any) -> Points:
    for name, value in (("s", s), ("axes", axes)):
        if value is not None and (not isinstance(value, (list, tuple)) or len(value) != 2):
            raise value_error(where, f"{name} must be a list of two integers", f"{name}: {value!r}")
    if require_tensor(where, "x", x)._aval.ndim < 2:
        raise value_error(where, "x must have at least two dimensions", f"x: {x._aval}")
    return _many(where, x, s, axes)


def _cases(dtype: str, many: bool) -> tuple[S, ...]:
    cases = [
        S(A(3, 4, dtype=dtype)),
        S(A(2, 3, 4, dtype=dtype), [4, 3], (0, 1), "ortho"),
        S(A(2, 3, 4, dtype=dtype), (2, 5), norm="forward"),
        S(A(0, 3, 4, dtype=dtype), axes=[1, 2]),
        S(A(3, 2, 3, dtype=dtype), axes=(-1, 0)),
    ]
    if many:
        cases += [S(A(4, dtype=dtype)), S(A(2, 3, 2, 3, dtype=dtype)), S(A(2, 3, dtype=dtype), None, [1])]
    return tuple(cases)


def _expected(name: str, plane: bool = False) -> Any:
    """SciPy's function of the same name (NumPy has no Hermitian ones)."""

    def reference(x: Any, s: Any = None, axes: Any = _PLANE if plane else None, norm: str = "backward") -> Any:
        import scipy.fft

        if x.size == 0:
            shape = list(x.shape)
            if name.startswith(("rfft", "ihfft")):
                shape[-1] = shape[-1] // 2 + 1
            elif name.startswith(("irfft", "hfft")):
                shape[-1] = 2 * (shape[-1] - 1)
            return np.zeros(shape, np.float64 if name.startswith(("irfft", "hfft")) else np.complex128)
        return getattr(scipy.fft, name)(x, s, axes, norm)

    return reference


# ---- two axes ------------------------------------------------------------------------------------


@samples(*_cases("complex128", False), reference=_expected("fft2", True))
@public(module="fft", out=True)
def fft2(
    x: Tensor, s: Sequence[int] | None = None, axes: AxisLike = _PLANE, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The discrete Fourier transform over two axes.

    Args:
        x: real or complex numbers.
        s: how many points along each of `axes`; None for their sizes.
        axes: the axes, the last two by default.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor.

    Examples:
        >>> paddle.fft.fft2(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    """
    return complex_transform("fft2", x, *_two("fft2", x, s, axes), True, norm)


@samples(*_cases("complex128", False), reference=_expected("ifft2", True))
@public(module="fft", out=True)
def ifft2(
    x: Tensor, s: Sequence[int] | None = None, axes: AxisLike = _PLANE, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `fft2`.

    Args:
        x: real or complex numbers.
        s: how many points along each of `axes`; None for their sizes.
        axes: the axes, the last two by default.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.fft.ifft2(paddle.fft.fft2(x)).tolist()
        [[(1+0j), (2+0j)], [(3+0j), (4+0j)]]
    """
    return complex_transform("ifft2", x, *_two("ifft2", x, s, axes), False, norm)


@samples(*_cases("float32", False), reference=_expected("rfft2", True))
@public(module="fft", out=True)
def rfft2(
    x: Tensor, s: Sequence[int] | None = None, axes: AxisLike = _PLANE, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The Fourier transform of real numbers over two axes; the last of them holds half a spectrum.

    Args:
        x: real numbers.
        s: how many points along each of `axes`; None for their sizes.
        axes: the axes, the last two by default.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor.

    Examples:
        >>> paddle.fft.rfft2(paddle.ones([2, 4])).tolist()
        [[(8+0j), 0j, 0j], [0j, 0j, 0j]]
    """
    return half_transform("rfft2", x, *_two("rfft2", x, s, axes), True, norm)


@samples(*_cases("complex128", False), reference=_expected("irfft2", True))
@public(module="fft", out=True)
def irfft2(
    x: Tensor, s: Sequence[int] | None = None, axes: AxisLike = _PLANE, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `rfft2`.

    Args:
        x: half a spectrum.
        s: how many points along each of `axes`; None for their sizes, and twice the last less two.
        axes: the axes, the last two by default.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A real tensor.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.fft.irfft2(paddle.fft.rfft2(x)).tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """
    return real_transform("irfft2", x, *_two("irfft2", x, s, axes), False, norm)


@samples(*_cases("complex128", False), reference=_expected("hfft2", True))
@public(module="fft", out=True)
def hfft2(
    x: Tensor, s: Sequence[int] | None = None, axes: AxisLike = _PLANE, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The transform over two axes of a signal given by half, the other half being conjugates.

    Args:
        x: the signal, of which the last axis holds half.
        s: how many points along each of `axes`; None for their sizes, and twice the last less two.
        axes: the axes, the last two by default.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A real tensor.

    Examples:
        >>> paddle.fft.hfft2(paddle.ones([2, 3])).tolist()
        [[8.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    return real_transform("hfft2", x, *_two("hfft2", x, s, axes), True, norm)


@samples(*_cases("float32", False), reference=_expected("ihfft2", True))
@public(module="fft", out=True)
def ihfft2(
    x: Tensor, s: Sequence[int] | None = None, axes: AxisLike = _PLANE, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `hfft2`.

    Args:
        x: a real spectrum.
        s: how many points along each of `axes`; None for their sizes.
        axes: the axes, the last two by default.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor of half a signal along the last of `axes`.

    Examples:
        >>> paddle.fft.ihfft2(paddle.ones([2, 4])).real().tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return half_transform("ihfft2", x, *_two("ihfft2", x, s, axes), False, norm)


# ---- any number of axes --------------------------------------------------------------------------


@samples(*_cases("complex128", True), reference=_expected("fftn"))
@public(module="fft", out=True)
def fftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Tensor:
    """The discrete Fourier transform over several axes.

    Args:
        x: real or complex numbers.
        s: how many points along each of `axes`; None for their sizes.
        axes: the axes: all by default, or the last ones if `s` is given.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor.

    Examples:
        >>> paddle.fft.fftn(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    """
    return complex_transform("fftn", x, *_many("fftn", x, s, axes), True, norm)


@samples(*_cases("complex128", True), reference=_expected("ifftn"))
@public(module="fft", out=True)
def ifftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Tensor:
    """The inverse of `fftn`.

    Args:
        x: real or complex numbers.
        s: how many points along each of `axes`; None for their sizes.
        axes: the axes: all by default, or the last ones if `s` is given.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.fft.ifftn(paddle.fft.fftn(x)).tolist()
        [[(1+0j), (2+0j)], [(3+0j), (4+0j)]]
    """
    return complex_transform("ifftn", x, *_many("ifftn", x, s, axes), False, norm)


@samples(*_cases("float32", True), reference=_expected("rfftn"))
@public(module="fft", out=True)
def rfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Tensor:
    """The Fourier transform of real numbers over several axes; the last of them holds half a spectrum.

    Args:
        x: real numbers.
        s: how many points along each of `axes`; None for their sizes.
        axes: the axes: all by default, or the last ones if `s` is given.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor.

    Examples:
        >>> paddle.fft.rfftn(paddle.ones([2, 4])).tolist()
        [[(8+0j), 0j, 0j], [0j, 0j, 0j]]
    """
    return half_transform("rfftn", x, *_many("rfftn", x, s, axes), True, norm)


@samples(*_cases("complex128", True), reference=_expected("irfftn"))
@public(module="fft", out=True)
def irfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Tensor:
    """The inverse of `rfftn`.

    Args:
        x: half a spectrum.
        s: how many points along each of `axes`; None for their sizes, and twice the last less two.
        axes: the axes: all by default, or the last ones if `s` is given.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A real tensor.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.fft.irfftn(paddle.fft.rfftn(x)).tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """
    return real_transform("irfftn", x, *_many("irfftn", x, s, axes), False, norm)


@samples(*_cases("complex128", True), reference=_expected("hfftn"))
@public(module="fft", out=True)
def hfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Tensor:
    """The transform over several axes of a signal given by half, the other half being conjugates.

    Args:
        x: the signal, of which the last axis holds half.
        s: how many points along each of `axes`; None for their sizes, and twice the last less two.
        axes: the axes: all by default, or the last ones if `s` is given.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A real tensor.

    Examples:
        >>> paddle.fft.hfftn(paddle.ones([2, 3])).tolist()
        [[8.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    """
    return real_transform("hfftn", x, *_many("hfftn", x, s, axes), True, norm)


@samples(*_cases("float32", True), reference=_expected("ihfftn"))
@public(module="fft", out=True)
def ihfftn(
    x: Tensor,
    s: Sequence[int] | None = None,
    axes: AxisLike | None = None,
    norm: str = "backward",
    name: str | None = None,
) -> Tensor:
    """The inverse of `hfftn`.

    Args:
        x: a real spectrum.
        s: how many points along each of `axes`; None for their sizes.
        axes: the axes: all by default, or the last ones if `s` is given.
        norm: which direction is divided by the number of points: "backward" the inverse, "forward" this one, "ortho"
            each by the square root.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A complex tensor of half a signal along the last of `axes`.

    Examples:
        >>> paddle.fft.ihfftn(paddle.ones([2, 4])).real().tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    return half_transform("ihfftn", x, *_many("ihfftn", x, s, axes), False, norm)
