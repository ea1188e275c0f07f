"""Quantiles: quantile, nanquantile, nanmedian.

The elements beside a quantile are found by sorting; the result is a mean of two elements of `x`, so
gradients go to these two.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.aval import make_aval
from ....core.dtype import FLOAT32, FLOAT64, INT64, is_differentiable
from ....core.errors import type_error, value_error
from ....eager.annotations import AxisLike, Number
from ....eager.declare import op, public
from ....eager.infer import same
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor, tensor_from_data
from ....ir.operation import Check
from ....ir.padding import rules
from ...arguments import require_tensor, several_axes
from ...axes import flat, numpy_axis
from ...basic import cast_to, full_of, reshape_to, transpose_to
from ...index.search import order_along, pick_along
from ..arithmetic import affine

_MODES = ("linear", "lower", "higher", "nearest", "midpoint")


def _infer_places(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Any, ...]:
    rows, q = operands[0], operands[2]
    shape = (*rows.shape[:-1], q.size)
    position = make_aval(shape, INT64, place)
    return position, position, make_aval(shape, FLOAT64, place)


@op(
    "order nans q",
    infer=_infer_places,
    outputs=3,
    check=Check(
        lambda xp, order, nans, q, skip_nan, interpolation: xp.all((q >= 0) & (q <= 1)),
        lambda kinds, attributes: "q must lie between 0 and 1",
        ValueError,
        (2,),
    ),
    name="quantile_places",
    padding=rules.refused("a rank depends on how much data there is"),
)
def places_beside(xp: Any, order: Any, nans: Any, q: Any, skip_nan: bool, interpolation: str) -> tuple[Any, Any, Any]:
    """Positions of the elements below and above each quantile of each row, and the weight of the upper.

    `order` sorts the rows (NaN last), `nans` counts the NaN in each. A row with NaN gives the position of
    one, unless they are skipped.
    """
    size = order.shape[-1]
    nans = nans[..., None]
    last = xp.maximum(size - nans - 1, 0) if skip_nan else xp.full_like(nans, size - 1)
    exact = q * last.astype(np.float64)
    low = xp.floor(exact)
    if interpolation == "nearest":
        low = xp.round(exact)
    elif interpolation == "higher":
        low = xp.ceil(exact)
    high = xp.ceil(exact) if interpolation in ("linear", "midpoint") else low
    if interpolation == "midpoint":
        weight = xp.full_like(exact, 0.5)
    else:
        weight = exact - low if interpolation == "linear" else xp.zeros_like(exact)
    if not skip_nan:
        low, high = (xp.where(nans > 0, size - 1.0, rank) for rank in (low, high))
    first, second = (xp.take_along_axis(order, rank.astype(np.int64), -1) for rank in (low, high))
    return first, second, weight


@op(
    "low high weight",
    infer=same,
    grad={
        "low": lambda g, weight: g * cast_to(affine(weight, -1.0, 1.0, True), g._aval.dtype),
        "high": lambda g, weight: g * cast_to(weight, g._aval.dtype),
    },
)
def between(xp: Any, low: Any, high: Any, weight: Any) -> Any:
    """`low + (high - low) * weight`, and `low` where the two are equal, be they infinite."""
    wide_low, wide_high = low.astype(np.float64), high.astype(np.float64)
    return xp.where(low == high, wide_low, wide_low + (wide_high - wide_low) * weight)


def _infer_nans(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Any:
    return operands[0].with_shape(operands[0].shape[:-1]).with_dtype(INT64)


@op(infer=_infer_nans, padding=rules.reductions.nans)
def count_nan(xp: Any, x: Any) -> Any:
    """How many elements of each row are NaN."""
    return xp.sum(x != x, axis=-1, dtype=np.int64)


def _rows(where: str, x: Tensor, axis: Any) -> tuple[Tensor, tuple[int, ...]]:
    """`x` with the given axes (all for None) as one last axis, and those axes."""
    ndim = x._aval.ndim
    if axis is None or (isinstance(axis, (list, tuple)) and not axis) or not ndim:
        if axis is not None and not isinstance(axis, (list, tuple)):
            several_axes(where, axis, ndim or 1)
        return flat(x), tuple(range(ndim))
    axes = tuple(sorted(several_axes(where, axis, ndim)))
    rest = tuple(i for i in range(ndim) if i not in axes)
    if axes != tuple(range(len(rest), ndim)):
        x = transpose_to(x, (*rest, *axes))
    if len(axes) > 1:
        count = len(rest)
        x = reshape_to(x, (*x._aval.shape[:count], math.prod(x._aval.shape[count:])))
    return x, axes


def _beside(x: Tensor, q: Tensor, skip_nan: bool, interpolation: str) -> tuple[Tensor, Tensor]:
    """The quantiles of the rows (a last axis of them), and where the lower elements are."""
    order = order_along(x, x._aval.ndim - 1, False)
    low, high, weight = places_beside(order, count_nan(x), q, skip_nan, interpolation)
    along = x._aval.ndim - 1
    lower = pick_along(x, low, along, False)
    if interpolation in ("linear", "midpoint"):
        return between(lower, pick_along(x, high, along, False), weight), low
    return lower, low


def _quantile(where: str, x: Tensor, q: Any, axis: Any, keepdim: bool, interpolation: str, skip_nan: bool) -> Tensor:
    aval = require_tensor(where, "x", x)._aval
    if aval.dtype.kind in "bc":
        raise type_error(where, "x must be real numbers", f"x: {aval}", "convert with astype()")
    if interpolation not in _MODES:
        raise value_error(where, f"interpolation is one of {', '.join(_MODES)}", f"interpolation: {interpolation!r}")
    wanted, is_single = _fractions(where, q)
    if not is_differentiable(aval.dtype):
        x = cast_to(x, FLOAT32)
    rows, axes = _rows(where, x, axis)
    rest = tuple(1 if i in axes else n for i, n in enumerate(aval.shape) if keepdim or i not in axes)
    if not rows._aval.shape[-1]:
        return full_of(float("nan"), rest if is_single else (wanted._aval.size, *rest), rows._aval.dtype)
    found, _ = _beside(rows, wanted, skip_nan, interpolation)
    ndim = found._aval.ndim
    if is_single:
        return reshape_to(found, rest)
    return reshape_to(transpose_to(found, (ndim - 1, *range(ndim - 1))), (wanted._aval.size, *rest))


def _fractions(where: str, q: Any) -> tuple[Tensor, bool]:
    """`q` as a vector of float64, and whether the result has no axis for it (one number: as in Paddle,
    also in a list)."""
    if isinstance(q, Tensor):
        if q._aval.ndim > 1:
            raise value_error(where, "q must be a number or have one dimension", f"q: {q._aval}")
        vector = flat(q)
    else:
        values = np.atleast_1d(np.asarray(q, np.float64))
        if values.ndim > 1:
            raise value_error(where, "q must be a number or a list of numbers", f"q: {q!r}")
        if ((values < 0) | (values > 1) | (values != values)).any():
            raise value_error(where, "q must lie between 0 and 1", f"q: {q!r}")
        vector = tensor_from_data(values)
    if not vector._aval.size:
        raise value_error(where, "q must not be empty", f"q: {q!r}")
    return cast_to(vector, FLOAT64), vector._aval.size == 1


def _reference_quantile(function: Any) -> Any:
    def expected(x: Any, q: Any, axis: Any = None, keepdim: bool = False, interpolation: str = "linear") -> Any:
        single = np.size(q) == 1
        q = np.asarray(q, "float64").reshape(() if single else -1)
        with warnings.catch_warnings(action="ignore"):
            result = function(x.astype("float64"), q, numpy_axis(axis), keepdims=keepdim, method=interpolation)
        return result.astype(x.dtype if x.dtype.kind == "f" else "float32")

    return expected


_NAN = np.array([[1.0, np.nan, 3.0, 4.0], [5.0, 6.0, 7.0, np.nan]])
_SAMPLES = (
    S(A(5, unique=True), 0.3), S(A(2, 4, unique=True), [0.25, 0.5], 1), S(A(2, 4, unique=True), [0.75], 0, True),
    S(A(2, 3, 2, unique=True), [0.1, 1.0], [0, 2], True), S(A(), 0.5), S(A(2, 4, unique=True), 0.4, -1, False, "lower"),
    S(A(6, unique=True), [0.3, 0.9], interpolation="higher"), S(A(6, unique=True), 0.3, interpolation="nearest"),
    S(A(6, unique=True), [0.0, 0.3], None, True, "midpoint"),
    S(A(4, dtype="float64", unique=True), A(values=[0.2, 0.7], grad=False)),
    S(A(5, dtype="int64"), 0.5),
)  # fmt: skip


@samples(*_SAMPLES, S(A(values=_NAN, grad=False), 0.5, 1), reference=_reference_quantile(np.quantile))
@public(method=True, out=True)
def quantile(
    x: Tensor,
    q: Number | Sequence[float],
    axis: AxisLike | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
    name: str | None = None,
) -> Tensor:
    """What a fraction `q` of the elements lies below; NaN if one of them is NaN.

    Args:
        x: the tensor.
        q: the fraction, or several of them, between 0 and 1; several give a first axis.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        interpolation: between two elements: "linear", "lower", "higher", "midpoint" or "nearest".
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.quantile(paddle.to_tensor([0.0, 10.0]), [0.25, 0.5]).tolist()
        [2.5, 5.0]
    """
    return _quantile("quantile", x, q, axis, bool(keepdim), interpolation, False)


@samples(
    *_SAMPLES, S(A(values=_NAN, grad=False), [0.5, 0.25], 1), S(A(values=[np.nan, np.nan], grad=False), 0.5),
    reference=_reference_quantile(np.nanquantile),
)  # fmt: skip
@public(method=True)
def nanquantile(
    x: Tensor, q: Any, axis: AxisLike | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> Tensor:
    """What a fraction `q` of the elements that are not NaN lies below.

    Args:
        x: the tensor.
        q: the fraction, or several of them, between 0 and 1.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        interpolation: between two elements: "linear", "lower", "higher", "midpoint" or "nearest".

    Examples:
        >>> paddle.nanquantile(paddle.to_tensor([0.0, np.nan, 10.0]), 0.25).item()
        2.5
    """
    return _quantile("nanquantile", x, q, axis, bool(keepdim), interpolation, True)


def _reference_nanmedian(x: Any, axis: Any = None, keepdim: bool = False, mode: str = "avg") -> Any:
    if mode == "avg":
        with warnings.catch_warnings(action="ignore"):
            return np.nanmedian(x.astype("float64"), numpy_axis(axis), keepdims=keepdim).astype(x.dtype, copy=False)
    rows, along = (x.reshape(-1), 0) if axis is None else (x, axis)
    count = np.sum(~np.isnan(rows), along, keepdims=True)
    place = np.take_along_axis(np.argsort(rows, along, kind="stable"), np.maximum((count - 1) // 2, 0), along)
    value = np.take_along_axis(rows, place, along)
    if axis is None:
        return value.reshape([1] * x.ndim if keepdim else [])
    return [v if keepdim else v.squeeze(along) for v in (value, place)]


@samples(
    S(A(values=_NAN, grad=False)), S(A(values=_NAN, grad=False), 1), S(A(values=_NAN, grad=False), 0, True),
    S(A(2, 4, unique=True), [0, 1], True), S(A(2, 5, unique=True), 1, mode="min"), S(A(values=_NAN, grad=False), mode="min"),
    S(A(values=_NAN, grad=False), -1, True, "min"), S(A(4, dtype="int64")), S(A()), S(A(0, grad=False)),
    S(A(values=[np.nan, np.nan], grad=False)), S(A(3, 4, dtype="float64", unique=True), 1),
    reference=_reference_nanmedian,
)  # fmt: skip
@public(method=True)
def nanmedian(
    x: Tensor, axis: AxisLike | None = None, keepdim: bool = False, mode: str = "avg", name: str | None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """The middle of the elements that are not NaN.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        mode: "avg" takes the mean of the two middle elements of an even number (of integers, rounded towards zero); "min"
            the lower one, with its position as well when one axis is named.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nanmedian(paddle.to_tensor([1.0, np.nan, 3.0, 8.0])).item()
        3.0
    """
    aval = require_tensor("nanmedian", "x", x)._aval
    if aval.dtype.kind in "bc":
        raise type_error("nanmedian", "x must be real numbers", f"x: {aval}", "convert with astype()")
    if mode not in ("avg", "min"):
        raise value_error("nanmedian", "mode is 'avg' or 'min'", f"mode: {mode!r}")
    if isinstance(axis, (list, tuple)) and not axis:
        raise value_error("nanmedian", "the list of axes must not be empty", "axis: []")
    rows, axes = _rows("nanmedian", x, axis)
    rest = tuple(1 if i in axes else n for i, n in enumerate(aval.shape) if keepdim or i not in axes)
    if not rows._aval.shape[-1]:
        return full_of(float("nan"), rest, rows._aval.dtype if is_differentiable(aval.dtype) else FLOAT32)
    half = tensor_from_data(np.array([0.5]))
    numbers = rows if is_differentiable(aval.dtype) or mode == "min" else cast_to(rows, FLOAT64)
    values, positions = _beside(numbers, half, True, "midpoint" if mode == "avg" else "lower")
    values = reshape_to(values, rest)
    if values._aval.dtype != aval.dtype:
        values = cast_to(values, aval.dtype)
    is_one_axis = axis is not None and not isinstance(axis, (list, tuple))
    return (values, reshape_to(positions, rest)) if mode == "min" and is_one_axis else values
