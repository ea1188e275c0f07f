"""The three primitives of `paddle.fft`: complex to complex, real to half a spectrum, and back.

A transform sums over `axes` with the factor exp(-2 pi i jk/n) (`forward`) or its conjugate, and multiplies by `scale`:
"one", "root" (1/sqrt of the number of points) or "whole" (1 over it). So a transform's gradient is the transform of the
other direction with the same scale, whatever the `norm` of the public function was.

The last of the axes of a real transform holds half a spectrum (n // 2 + 1 numbers): the other half are the conjugates.
Going back counts each inner number twice. `doubled` and `halved` undo that, which makes each of the two real
transforms the gradient of the other, to any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import COMPLEX64, COMPLEX128, FLOAT64, default_float, is_reduced_precision, real_dtype
from ...core.errors import type_error, value_error
from ...core.namespaces import constant
from ...eager import series
from ...eager.declare import op
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import require_tensor
from ..basic import cast_to
from ..shape.padding import pad_with

Axes = tuple[int, ...]

# NumPy's word for a scale, by direction.
_NORMS = {
    True: {"one": "backward", "root": "ortho", "whole": "forward"},
    False: {"one": "forward", "root": "ortho", "whole": "backward"},
}
# The public `norm` as a scale, by direction.
_SCALES = {
    True: {"backward": "one", "ortho": "root", "forward": "whole"},
    False: {"backward": "whole", "ortho": "root", "forward": "one"},
}
_AT_ONCE = 3  # axes that XLA transforms in one instruction


def complex_dtype(dtype: np.dtype) -> np.dtype:
    """The complex type of a floating (or complex) type's precision."""
    return COMPLEX128 if dtype in (FLOAT64, COMPLEX128) else COMPLEX64


# ---- kernels -------------------------------------------------------------------------------------


def _transform(xp: Any, x: Any, axes: Axes, forward: bool, norm: str) -> Any:
    function = xp.fft.fftn if forward else xp.fft.ifftn
    for start in range(0, len(axes), _AT_ONCE):
        x = function(x, axes=axes[start : start + _AT_ONCE], norm=norm)
    return x


def _weighted(xp: Any, x: Any, axis: int, n: int, factor: float) -> Any:
    """`x` with the inner numbers of a half spectrum of `n` points times `factor`."""
    weights = np.ones(n // 2 + 1, real_dtype(x.dtype))
    weights[1 : (n + 1) // 2] = factor
    return x * constant(xp, weights).reshape([-1 if i == axis else 1 for i in range(x.ndim)])


def _infer_c2c(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0]


@op(
    infer=_infer_c2c,
    grad={"x": lambda g, axes, forward, scale: fft_c2c(g, axes, not forward, scale)},
    amp="wide",
    padding=rules.untouched.transform,
    series=series.algebra.linear("x"),
)
def fft_c2c(xp: Any, x: Any, axes: Axes, forward: bool, scale: str) -> Any:
    if x.size == 0 or not axes:
        return x
    return _transform(xp, x, axes, forward, _NORMS[forward][scale])


def _infer_r2c(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    aval, axis = operands[0], attributes[0][-1]
    shape = (*aval.shape[:axis], aval.shape[axis] // 2 + 1, *aval.shape[axis + 1 :])
    return aval.with_shape(shape).with_dtype(complex_dtype(aval.dtype))


def _slope_of_r2c(g: Tensor, x_aval: Aval, axes: Axes, forward: bool, scale: str, doubled: bool) -> Tensor:
    return fft_c2r(g, axes, not forward, scale, x_aval.shape[axes[-1]], not doubled)


@op(
    infer=_infer_r2c,
    grad={"x": _slope_of_r2c},
    amp="wide",
    padding=rules.untouched.transform,
    series=series.algebra.linear("x"),
)
def fft_r2c(xp: Any, x: Any, axes: Axes, forward: bool, scale: str, doubled: bool) -> Any:
    *others, last = axes
    n = x.shape[last]
    if x.size == 0:
        shape = (*x.shape[:last], n // 2 + 1, *x.shape[last + 1 :])
        return xp.zeros(shape, complex_dtype(x.dtype))
    half = xp.fft.rfft(x, axis=last, norm=_NORMS[True][scale])
    if not forward:
        half = xp.conj(half)
    if doubled:
        half = _weighted(xp, half, last, n, 2.0)
    return _transform(xp, half, tuple(others), forward, _NORMS[forward][scale])


def _infer_c2r(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    aval, axis, n = operands[0], attributes[0][-1], attributes[3]
    shape = (*aval.shape[:axis], n, *aval.shape[axis + 1 :])
    return aval.with_shape(shape).with_dtype(real_dtype(aval.dtype))


def _slope_of_c2r(g: Tensor, axes: Axes, forward: bool, scale: str, n: int, halved: bool) -> Tensor:
    return fft_r2c(g, axes, not forward, scale, not halved)


@op(
    infer=_infer_c2r,
    grad={"x": _slope_of_c2r},
    amp="wide",
    padding=rules.untouched.transform,
    series=series.algebra.linear("x"),
)
def fft_c2r(xp: Any, x: Any, axes: Axes, forward: bool, scale: str, n: int, halved: bool) -> Any:
    *others, last = axes
    if x.size == 0 or n == 0:
        return xp.zeros((*x.shape[:last], n, *x.shape[last + 1 :]), real_dtype(x.dtype))
    x = _transform(xp, x, tuple(others), forward, _NORMS[forward][scale])
    if halved:
        x = _weighted(xp, x, last, n, 0.5)
    if forward:
        x = xp.conj(x)
    return xp.fft.irfft(x, n, axis=last, norm=_NORMS[False][scale])


def _c2r_on_gpu(xp: Any, x: Any, axes: Axes, forward: bool, scale: str, n: int, halved: bool) -> Any:
    """The same where the library takes a spectrum to be that of real numbers without looking.

    The first number of half a spectrum, and the last one for even `n`, are real then; an imaginary part that they have
    anyway (gradients do) must not count.
    """
    *others, last = axes
    if x.size == 0 or n == 0:
        return fft_c2r.operation.kernel(xp, x, axes, forward, scale, n, halved)
    x = _transform(xp, x, tuple(others), forward, _NORMS[forward][scale])
    counted = np.ones(n // 2 + 1, real_dtype(x.dtype))
    counted[0] = 0
    if n % 2 == 0:
        counted[-1] = 0
    shape = [-1 if i == last else 1 for i in range(x.ndim)]
    x = xp.real(x) + 1j * (xp.imag(x) * counted.reshape(shape))
    return fft_c2r.operation.kernel(xp, x, (last,), forward, scale, n, halved)


fft_c2r.operation.kernels["gpu"] = _c2r_on_gpu


# ---- arguments -----------------------------------------------------------------------------------


def scale_of(where: str, norm: Any, forward: bool) -> str:
    """The scale that `norm` means for a direction."""
    scales = _SCALES[forward]
    if not isinstance(norm, str) or norm not in scales:
        raise value_error(where, "norm is 'backward', 'ortho' or 'forward'", f"norm: {norm!r}")
    return scales[norm]


def _integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def point_axis(where: str, axis: Any, ndim: int) -> int:
    """The axis of a transform over one axis; None means the last."""
    axis = -1 if axis is None else axis
    if not _integer(axis) or not -ndim <= axis < ndim:
        raise value_error(where, f"axis must be an integer from {-ndim} to {ndim - 1}", f"axis: {axis!r}, ndim: {ndim}")
    return int(axis) % ndim


def num_points(where: str, n: Any) -> int | None:
    if n is not None and (not _integer(n) or n <= 0):
        raise value_error(where, "n must be a positive integer", f"n: {n!r}")
    return None if n is None else int(n)


def many_points(where: str, s: Any, axes: Any, ndim: int) -> tuple[tuple[int, ...] | None, Axes]:
    """Sizes (or None) and non-negative axes of a transform over several axes."""
    sizes: tuple[int, ...] | None = None
    if s is not None:
        if not isinstance(s, (list, tuple)) or not all(_integer(n) and n > 0 for n in s):
            raise value_error(where, "s must be a list of positive integers", f"s: {s!r}")
        if len(s) > ndim:
            raise value_error(where, "s has more sizes than x has dimensions", f"s: {list(s)}, ndim: {ndim}")
        sizes = tuple(int(n) for n in s)
    if axes is None:
        return sizes, tuple(range(0 if sizes is None else ndim - len(sizes), ndim))
    if not isinstance(axes, (list, tuple)) or not all(_integer(axis) and -ndim <= axis < ndim for axis in axes):
        raise value_error(where, f"axes must be a list of integers from {-ndim} to {ndim - 1}", f"axes: {axes!r}")
    chosen = tuple(int(axis) % ndim for axis in axes)
    if len(set(chosen)) != len(chosen):
        raise value_error(where, "an axis is named twice", f"axes: {list(axes)}")
    if sizes is not None and len(sizes) != len(chosen):
        raise value_error(where, "s and axes must have the same length", f"s: {list(sizes)}, axes: {list(axes)}")
    return sizes, chosen


def resized(x: Tensor, axes: Axes, sizes: tuple[int, ...] | None) -> Tensor:
    """`x` cut off or filled up with zeros to `sizes` along `axes`."""
    shape = x._aval.shape
    if sizes is None or all(shape[axis] == n for axis, n in zip(axes, sizes, strict=True)):
        return x
    added = dict(zip(axes, sizes, strict=True))
    return pad_with(x, 0, tuple((0, added.get(axis, n) - n) for axis, n in enumerate(shape)))


def as_complex(where: str, x: Any, integers: bool = True) -> Tensor:
    """`x` in the complex type of its precision; integers have that of the default type."""
    x = require_tensor(where, "x", x)
    dtype = x._aval.dtype
    if dtype.kind == "c":
        return x
    return cast_to(x, complex_dtype(_floating(where, x, integers)))


def as_real(where: str, x: Any) -> Tensor:
    """`x` in a floating type; integers in the default type."""
    x = require_tensor(where, "x", x)
    if x._aval.dtype.kind == "c":
        raise type_error(where, "x must be real", f"x: {x._aval}", "use fft() or ifft() for complex numbers")
    dtype = _floating(where, x, True)
    return x if x._aval.dtype == dtype else cast_to(x, dtype)


def _floating(where: str, x: Tensor, integers: bool) -> np.dtype:
    dtype = x._aval.dtype
    if dtype.kind == "b" or is_reduced_precision(dtype) or (dtype.kind in "iu" and not integers):
        kinds = "float32, float64, an integer type or complex" if integers else "float32, float64 or complex"
        raise type_error(where, f"x must be {kinds}", f"x: {x._aval}", "convert it with astype('float32')")
    if dtype.kind in "iu":
        chosen = default_float()
        return np.dtype("float32") if is_reduced_precision(chosen) else chosen
    return dtype


# ---- whole transforms ----------------------------------------------------------------------------


def complex_transform(
    where: str, x: Any, sizes: tuple[int, ...] | None, axes: Axes, forward: bool, norm: Any
) -> Tensor:
    scale = scale_of(where, norm, forward)
    return fft_c2c(resized(as_complex(where, x), axes, sizes), axes, forward, scale)


def half_transform(where: str, x: Any, sizes: tuple[int, ...] | None, axes: Axes, forward: bool, norm: Any) -> Tensor:
    """Real numbers to half a spectrum."""
    scale = scale_of(where, norm, forward)
    _some_axes(where, axes)
    return fft_r2c(resized(as_real(where, x), axes, sizes), axes, forward, scale, False)


def real_transform(where: str, x: Any, sizes: tuple[int, ...] | None, axes: Axes, forward: bool, norm: Any) -> Tensor:
    """Half a spectrum to real numbers; without sizes, an even number of them: 2 (m - 1)."""
    scale = scale_of(where, norm, forward)
    _some_axes(where, axes)
    x = as_complex(where, x, integers=False)
    n = sizes[-1] if sizes else 2 * (x._aval.shape[axes[-1]] - 1)
    if n < 0:
        raise value_error(where, "there is nothing to transform along the last axis", f"x: {x._aval}", "give n")
    if sizes is not None:
        sizes = (*sizes[:-1], n // 2 + 1)
    return fft_c2r(resized(x, axes, sizes), axes, forward, scale, n, False)


def _some_axes(where: str, axes: Axes) -> None:
    if not axes:
        raise value_error(where, "a real transform needs at least one axis", "axes: []")
