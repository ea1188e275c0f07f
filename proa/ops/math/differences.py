"""Differences of neighbours and areas under curves: diff, trapezoid, cumulative_trapezoid."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import BOOL, FLOAT32, FLOAT64, is_reduced_precision
from ...core.errors import index_error, type_error, value_error
from ...eager.annotations import Number
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import integer, require_tensor
from ..basic import reshape_to, sum_over
from ..index.indexing import get_item
from ..shape.joining import concat
from .arithmetic import minus, plus, times
from .logic import logical_xor
from .scan import sum_along


def _place(axis: int, ndim: int) -> int | None:
    """A non-negative axis, None where there is no such axis."""
    return axis % ndim if -ndim <= axis < ndim else None


def _neighbours(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """All elements but the first, and all but the last, along an axis."""
    before = (slice(None),) * axis
    return get_item(x, (*before, slice(1, None))), get_item(x, (*before, slice(None, -1)))


def _reference_diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    ends = {name: value for name, value in (("prepend", prepend), ("append", append)) if value is not None}
    return np.diff(x, n, axis, **ends)


@samples(
    S(A(2, 4)), S(A(4), 2), S(A(3, 2), 1, 0), S(A(4), prepend=A(1), append=A(2)), S(A(3), n=9), S(A(0, 3), axis=0),
    S(A(4, dtype="bool")), S(A(5, dtype="int64")), S(A(2, dtype="complex128")),
    reference=_reference_diff,
)  # fmt: skip
@public(method=True, out=True)
def diff(
    x: Tensor,
    n: int = 1,
    axis: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Differences of neighbours along an axis; of booleans, whether they differ.

    Args:
        x: the tensor.
        n: how many times over.
        axis: the axis.
        prepend: put before `x` first.
        append: put behind `x` first.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.diff(paddle.to_tensor([1, 4, 9, 16])).tolist()
        [3, 5, 7]
        >>> paddle.diff(paddle.to_tensor([1, 4, 9, 16]), n=2).tolist()
        [2, 2]
    """
    aval = require_tensor("diff", "x", x)._aval
    times_over = integer("diff", "n", n)
    if times_over < 1:
        raise value_error("diff", "n must be at least 1", f"n: {n}")
    place = _place(integer("diff", "axis", axis), aval.ndim)
    if place is None:
        raise index_error("diff", f"there is no axis {axis}", f"x: {aval}", "x needs a dimension, and axis must be one")
    parts = [part for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        x = concat(parts, place)
    for _ in range(times_over):
        if not x._aval.shape[place]:
            break
        later, earlier = _neighbours(x, place)
        x = logical_xor(later, earlier) if x._aval.dtype == BOOL else minus(later, earlier)
    return x


def _strips(where: str, y: Tensor, x: Tensor | None, dx: Any, axis: Any) -> tuple[Tensor, int]:
    """The areas between neighbours, and the axis."""
    for given, label in ((y, "y"), (x, "x")):
        if given is None and label == "x":
            continue
        aval = require_tensor(where, label, given)._aval
        if aval.dtype not in (FLOAT32, FLOAT64) and not is_reduced_precision(aval.dtype):
            raise type_error(where, f"{label} must be real floating numbers", f"{label}: {aval}", "use astype()")
    if x is not None and dx is not None:
        raise value_error(where, "only one of x and dx may be given")
    place = _place(integer(where, "axis", axis), y._aval.ndim)
    if place is None:
        raise value_error(where, f"there is no axis {axis}", f"y: {y._aval}")
    later, earlier = _neighbours(y, place)
    total = plus(later, earlier)
    if x is None:
        width = 1.0 if dx is None else dx
        return (times(total, width * 0.5) if isinstance(width, (int, float)) else total * width * 0.5), place
    abscissae: Tensor = x
    positions = x._aval
    if positions.ndim == 1 and y._aval.ndim > 1:
        abscissae = reshape_to(x, (positions.size, *[1] * (y._aval.ndim - place - 1)))
        along = 0
    else:
        along = _place(integer(where, "axis", axis), positions.ndim)
    if along is None or abscissae._aval.shape[along] != y._aval.shape[place]:
        raise value_error(
            where, f"x must have as many elements along axis {axis} as y", f"x: {positions}, y: {y._aval}"
        )
    return times(total * minus(*_neighbours(abscissae, along)), 0.5), place


def _reference_trapezoid(y: Any, x: Any = None, dx: Any = None, axis: int = -1) -> Any:
    return np.trapezoid(y, x, 1.0 if dx is None else dx, axis)


_CURVES = (
    S(A(4)), S(A(2, 3), A(3)), S(A(2, 3), A(2), axis=0), S(A(2, 3), A(2, 3)), S(A(3, 2), dx=0.5, axis=0), S(A(1)),
    S(A(0, 3)), S(A(3, dtype="float64"), dx=2),
)  # fmt: skip


@samples(*_CURVES, S(A(2, 3), dx=A()), reference=_reference_trapezoid)
@public(method=True)
def trapezoid(
    y: Tensor, x: Tensor | None = None, dx: Number | None = None, axis: int = -1, name: str | None = None
) -> Tensor:
    """The area under the polygon through `y`.

    Args:
        y: the heights.
        x: where they are; at equal distances without it.
        dx: that distance, 1 by default.
        axis: the axis along which the points follow each other.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.trapezoid(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        4.0
        >>> paddle.trapezoid(paddle.to_tensor([1.0, 1.0]), x=paddle.to_tensor([0.0, 5.0])).item()
        5.0
    """
    strips, place = _strips("trapezoid", y, x, dx, axis)
    return sum_over(strips, (place,), False)


def _reference_cumulative(y: Any, x: Any = None, dx: Any = None, axis: int = -1) -> Any:
    from scipy.integrate import cumulative_trapezoid as expected

    return expected(y, x, 1.0 if dx is None else dx, axis).astype(y.dtype, copy=False)


@samples(*_CURVES, reference=_reference_cumulative)
@public(method=True)
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, dx: Number | None = None, axis: int = -1, name: str | None = None
) -> Tensor:
    """The area under the polygon through `y`, up to each point but the first.

    Args:
        y: the heights.
        x: where they are; at equal distances without it.
        dx: that distance, 1 by default.
        axis: the axis along which the points follow each other.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.cumulative_trapezoid(paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
        [1.5, 4.0]
    """
    strips, place = _strips("cumulative_trapezoid", y, x, dx, axis)
    return sum_along(strips, place, False)
