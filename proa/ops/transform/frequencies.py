"""`paddle.fft`: the frequencies that belong to a transform's numbers, and their order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import is_floating
from ...core.errors import type_error, value_error
from ...eager.annotations import AxisLike, DeviceLike, DTypeLike
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ..arguments import dtype_or_default, finish, integer, integers, one_axis, require_tensor
from ..create.creation import assign
from ..shape.repetition import roll_axes


def _frequencies(where: str, function: Any, n: Any, d: Any, dtype: Any) -> Tensor:
    count = integer(where, "n", n)
    if count <= 0:
        raise value_error(where, "n must be positive", f"n: {n!r}")
    try:
        spacing = float(d)
    except (TypeError, ValueError):
        raise type_error(where, "d must be a number", f"d: {d!r}") from None
    if spacing == 0.0:
        raise value_error(where, "the spacing d cannot be 0", f"d: {d!r}")
    wanted = dtype_or_default(dtype)
    if not is_floating(wanted):
        raise type_error(where, "frequencies are of a floating type", f"dtype: {dtype!r}")
    return tensor_from_data(function(count, spacing).astype(wanted))


@samples(
    S(8), S(7, 0.5), S(1), S(4, 2, "float64"),
    reference=lambda n, d=1.0, dtype="float32": np.fft.fftfreq(n, d).astype(dtype),
)  # fmt: skip
@public(module="fft")
def fftfreq(
    n: int, d: float = 1.0, dtype: DTypeLike | None = None, name: str | None = None, *,
    out: Tensor | None = None, device: DeviceLike | None = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of the numbers that `fft` gives: 0 first, the negative ones last.

    Args:
        n: how many points.
        d: the distance between them.
        dtype: that of the result; None for the default one.
        device: where the result lies; None for the current device.
        requires_grad: whether gradients are wanted.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A tensor of frequencies, in cycles per unit of `d`.

    Examples:
        >>> paddle.fft.fftfreq(4, d=0.5).tolist()
        [0.0, 0.5, -1.0, -0.5]
    """
    return finish(_frequencies("fftfreq", np.fft.fftfreq, n, d, dtype), out, device, requires_grad)


@samples(
    S(8), S(7, 0.5), S(1), S(4, 2, "float64"),
    reference=lambda n, d=1.0, dtype="float32": np.fft.rfftfreq(n, d).astype(dtype),
)  # fmt: skip
@public(module="fft")
def rfftfreq(
    n: int, d: float = 1.0, dtype: DTypeLike | None = None, name: str | None = None, *,
    out: Tensor | None = None, device: DeviceLike | None = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The frequencies of the `n // 2 + 1` numbers that `rfft` gives.

    Args:
        n: how many points.
        d: the distance between them.
        dtype: that of the result; None for the default one.
        device: where the result lies; None for the current device.
        requires_grad: whether gradients are wanted.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Returns:
        A tensor of frequencies, in cycles per unit of `d`.

    Examples:
        >>> paddle.fft.rfftfreq(4, d=0.5).tolist()
        [0.0, 0.5, 1.0]
    """
    return finish(_frequencies("rfftfreq", np.fft.rfftfreq, n, d, dtype), out, device, requires_grad)


def _shifted(where: str, x: Any, axes: Any, back: bool) -> Tensor:
    aval = require_tensor(where, "x", x)._aval
    chosen = range(aval.ndim) if axes is None else integers(where, "axes", axes)
    along = tuple(one_axis(where, axis, aval.ndim) for axis in chosen)
    shifts = tuple(-(aval.shape[axis] // 2) if back else aval.shape[axis] // 2 for axis in along)
    return roll_axes(x, shifts, along) if along else assign(x)


_SHIFTS = (
    S(A(5)), S(A(2, 3, 4)), S(A(3, 4), 1), S(A(3, 4, dtype="int32"), [0, -1]), S(A(0, 2)), S(A()),
    S(A(4, dtype="complex64", grad=False)),
)  # fmt: skip


@samples(*_SHIFTS, reference=lambda x, axes=None: np.fft.fftshift(x, axes) if x.ndim else x)
@public(module="fft")
def fftshift(x: Tensor, axes: AxisLike | None = None, name: str | None = None) -> Tensor:
    """Moves frequency 0 to the middle.

    Args:
        x: a spectrum.
        axes: the axes; None for all.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.fft.fftshift(paddle.fft.fftfreq(4, d=0.25)).tolist()
        [-2.0, -1.0, 0.0, 1.0]
    """
    return _shifted("fftshift", x, axes, back=False)


@samples(*_SHIFTS, reference=lambda x, axes=None: np.fft.ifftshift(x, axes) if x.ndim else x)
@public(module="fft")
def ifftshift(x: Tensor, axes: AxisLike | None = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`.

    Args:
        x: a spectrum with frequency 0 in the middle.
        axes: the axes; None for all.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.fft.ifftshift(paddle.to_tensor([-2.0, -1.0, 0.0, 1.0])).tolist()
        [0.0, 1.0, -2.0, -1.0]
    """
    return _shifted("ifftshift", x, axes, back=True)
