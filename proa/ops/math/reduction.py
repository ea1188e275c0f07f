"""Reductions over axes: mean, max, min, prod, any, all, logsumexp (`sum` is in basic).

Types with few digits accumulate in float32. An extreme that several elements share passes its
gradient on to them in equal parts, as in Paddle.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import BOOL, INT64, default_float, is_differentiable, to_numpy_dtype
from ...core.errors import type_error
from ...eager import series
from ...eager.annotations import AxisLike, DTypeLike
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.infer import reduce, same_shape
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ...kernels.cpu.pooling import native_mean_over_space
from ...kernels.gpu.cold import elementwise, rows
from ..arguments import flag, require_tensor
from ..axes import kept_shape, numpy_axis, reduced_shape, several_or_all, wide_type, widened
from ..basic import cast_to, reshape_to, restore_axes, transpose_to
from .arithmetic import conjugate
from .scan import exp_below, product_along

# ---- mean ----------------------------------------------------------------------------------------


def _mean_grad(g: Tensor, x_aval: Aval, axis: tuple[int, ...], keepdim: bool) -> Tensor:
    count = math.prod([x_aval.shape[i] for i in axis])
    return restore_axes(g * (1 / count if count else math.nan), x_aval, axis, keepdim)


@op(
    infer=reduce,
    grad={"x": _mean_grad},
    name="mean",
    paddle_name="reduce_mean",
    padding=rules.reductions.average,
    series=series.algebra.linear("x"),
)
def mean_over(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    count = math.prod([x.shape[i] for i in axis])
    if x.dtype.kind in "biu":
        # An integer mean is cut off towards zero; that of booleans is whether any is true.
        if x.dtype.kind == "b":
            return xp.any(x, axis=axis, keepdims=keepdim)
        total = xp.sum(x, axis=axis, keepdims=keepdim, dtype=np.int64)
        return (xp.sign(total) * (abs(total) // (count or 1))).astype(x.dtype, copy=False)
    total = xp.sum(x, axis=axis, keepdims=keepdim, dtype=wide_type(x.dtype))
    return (total / count if count else total * np.nan).astype(x.dtype, copy=False)


mean_over.operation.kernels["cupy"] = rows.mean(elementwise.mean(mean_over.operation.kernel))
mean_over.operation.kernels["cpu"] = native_mean_over_space(mean_over.operation.kernel)


def _reference_mean(x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    if dtype is not None:
        x = x.astype(dtype)
    wide = x.astype("complex128" if x.dtype.kind == "c" else "float64")
    return np.mean(wide, axis=numpy_axis(axis), keepdims=keepdim).astype(x.dtype, copy=False)


@samples(
    S(A(2, 3, 4)), S(A(2, 3), 1), S(A(2, 3, 4), [0, -1], True), S(A(0, 3), 1), S(A()),
    S(A(values=[-3, -2, -2], dtype="int64")), S(A(3, dtype="int32"), dtype="float32"),
    S(A(2, 3, dtype="bfloat16", grad=False), axis=0), S(A(2, 3, dtype="complex128"), axis=0),
    S(A(3, dtype="bool")),
    reference=_reference_mean,
)  # fmt: skip
@public(method=True)
def mean(
    x: Tensor,
    axis: AxisLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The average over some axes, in the type of `x`.

    The mean of an integer tensor is an integer (cut off); give `dtype` for a floating one.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.
        dtype: the type to compute in.
        out: a tensor that takes the result.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.mean(x).item(), paddle.mean(x, axis=0).tolist()
        (2.5, [2.0, 3.0])
        >>> paddle.mean(paddle.to_tensor([1, 2]), dtype="float32").item()
        1.5
    """
    require_tensor("mean", "x", x)
    if dtype is not None:
        x = cast_to(x, to_numpy_dtype(dtype))
    axes = several_or_all("mean", axis, x._aval.ndim)
    return deliver(mean_over(x, axes, flag("keepdim", keepdim)), out)


# ---- max, min ------------------------------------------------------------------------------------


def _infer_extreme(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    aval, axis = operands[0], attributes[0]
    if aval.dtype.kind == "c":
        raise operation.error(TypeError, "complex numbers have no order", operands)
    empty = [i for i in axis if aval.shape[i] == 0]
    if empty:
        raise operation.error(ValueError, f"axis {empty[0]} has no elements to choose from", operands, attributes)
    return reduce(operation, operands, attributes, place)


@op("x y", infer=same_shape, name="tie_weights", padding=rules.reductions.ties)
def tie_weights(xp: Any, x: Any, y: Any, axis: tuple[int, ...], evenly: bool) -> Any:
    """1 where `x` equals its reduction `y`, 0 elsewhere; shared out `evenly` over equal elements.

    Constant almost everywhere, so it has no gradient of its own.
    """
    reduced = xp.reshape(y, kept_shape(x.shape, axis))
    # A NaN is the extreme of what it is among.
    chosen = ((x == reduced) | ((x != x) & (reduced != reduced))).astype(wide_type(x.dtype))
    if evenly:
        chosen = chosen / xp.sum(chosen, axis=axis, keepdims=True)
    return chosen.astype(x.dtype, copy=False)


def extreme_grad(g: Tensor, x: Tensor, out: Tensor, x_aval: Aval, axis: tuple[int, ...], keepdim: bool) -> Tensor:
    return restore_axes(g, x_aval, axis, keepdim) * tie_weights(x, out, axis, True)


@op(
    infer=_infer_extreme,
    grad={"x": extreme_grad},
    name="max",
    family="reduction",
    paddle_name="reduce_max",
    padding=rules.reductions.reduction(rules.reductions.MINUS),
    series=series.functions.largest,
)
def max_over(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    return xp.max(widened(x), axis=axis, keepdims=keepdim).astype(x.dtype, copy=False)


@op(
    infer=_infer_extreme,
    grad={"x": extreme_grad},
    name="min",
    family="reduction",
    paddle_name="reduce_min",
    padding=rules.reductions.reduction(rules.reductions.PLUS),
    series=series.functions.smallest,
)
def min_over(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    return xp.min(widened(x), axis=axis, keepdims=keepdim).astype(x.dtype, copy=False)


_EXTREME_SAMPLES = (
    S(A(2, 3, 4, unique=True)), S(A(2, 3, unique=True), 1),
    S(A(2, 3, 4, unique=True), [0, -1], True), S(A(0, 3), axis=1), S(A()), S(A(5, dtype="int32")),
    S(A(2, 3, dtype="bfloat16", grad=False), axis=0), S(A(4, dtype="bool")),
)  # fmt: skip


@samples(
    *_EXTREME_SAMPLES,
    reference=lambda x, axis=None, keepdim=False: np.max(x, axis=numpy_axis(axis), keepdims=keepdim),
)
@public(method=True)
def max(x: Tensor, axis: AxisLike | None = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The largest element over some axes. NaN counts as largest.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]])
        >>> paddle.max(x).item(), paddle.max(x, axis=1).tolist()
        (7.0, [5.0, 7.0])
    """
    axes = several_or_all("max", axis, require_tensor("max", "x", x)._aval.ndim)
    return max_over(x, axes, flag("keepdim", keepdim))


@samples(
    *_EXTREME_SAMPLES,
    reference=lambda x, axis=None, keepdim=False: np.min(x, axis=numpy_axis(axis), keepdims=keepdim),
)
@public(method=True)
def min(x: Tensor, axis: AxisLike | None = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The smallest element over some axes. NaN counts as smallest.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]])
        >>> paddle.min(x).item(), paddle.min(x, axis=1).tolist()
        (1.0, [1.0, 2.0])
    """
    axes = several_or_all("min", axis, require_tensor("min", "x", x)._aval.ndim)
    return min_over(x, axes, flag("keepdim", keepdim))


@samples(
    *_EXTREME_SAMPLES,
    reference=lambda x, axis=None, keepdim=False: np.max(x, axis=numpy_axis(axis), keepdims=keepdim),
)
@public(method=True)
def amax(
    x: Tensor,
    axis: AxisLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The largest element over some axes; equal ones share the gradient.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.amax(paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]]), axis=1).tolist()
        [5.0, 7.0]
    """
    axes = several_or_all("amax", axis, require_tensor("amax", "x", x)._aval.ndim)
    return deliver(max_over(x, axes, flag("keepdim", keepdim)), out)


@samples(
    *_EXTREME_SAMPLES,
    reference=lambda x, axis=None, keepdim=False: np.min(x, axis=numpy_axis(axis), keepdims=keepdim),
)
@public(method=True)
def amin(
    x: Tensor,
    axis: AxisLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The smallest element over some axes; equal ones share the gradient.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.amin(paddle.to_tensor([[1.0, 5.0], [7.0, 2.0]]), axis=1).tolist()
        [1.0, 2.0]
    """
    axes = several_or_all("amin", axis, require_tensor("amin", "x", x)._aval.ndim)
    return deliver(min_over(x, axes, flag("keepdim", keepdim)), out)


# ---- prod ----------------------------------------------------------------------------------------


def _other_factors(x: Tensor, axis: tuple[int, ...]) -> Tensor:
    """For each element, the product of the others it is multiplied with: right with zeros too."""
    aval = x._aval
    if len(axis) != 1:
        # Several axes: brought together at the end, treated as one, and put back.
        order = tuple([i for i in range(aval.ndim) if i not in axis]) + axis
        moved = transpose_to(x, order)
        outer = moved._aval.shape[: aval.ndim - len(axis)]
        joined = reshape_to(moved, (*outer, math.prod([aval.shape[i] for i in axis])))
        others = reshape_to(_other_factors(joined, (len(outer),)), moved._aval.shape)
        return transpose_to(others, tuple(sorted(range(aval.ndim), key=order.__getitem__)))
    before = product_along(x, axis[0], True, False)
    return before * product_along(x, axis[0], True, True)


def _prod_grad(g: Tensor, x: Tensor, x_aval: Aval, axis: tuple[int, ...], keepdim: bool) -> Tensor:
    if not axis:
        return g
    return restore_axes(g, x_aval, axis, keepdim) * conjugate(_other_factors(x, axis))


@op(infer=reduce, grad={"x": _prod_grad}, name="prod", paddle_name="reduce_prod", padding=rules.reductions.reduction(1))
def prod_over(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    wide = wide_type(x.dtype)
    return xp.prod(x, axis=axis, keepdims=keepdim, dtype=wide).astype(x.dtype, copy=False)


def _reference_prod(x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    return np.prod(x, axis=numpy_axis(axis), keepdims=keepdim, dtype=dtype or x.dtype)


@samples(
    S(A(2, 3)), S(A(2, 3), 1), S(A(2, 3, 2), [0, -1], True), S(A(0, 3), 0), S(A()),
    S(A(4, dtype="int32")), S(A(3, dtype="int64"), dtype="float32"), S(A(2, 2, dtype="complex128")),
    S(A(values=[[0.0, 2.0, 3.0], [0.0, 0.0, 5.0]]), 1), S(A(2, 3, dtype="float16", grad=False), 0),
    reference=_reference_prod,
)  # fmt: skip
@public(method=True)
def prod(
    x: Tensor,
    axis: AxisLike | None = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The product over some axes.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        dtype: the type to multiply in.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.prod(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1).tolist()
        [2.0, 12.0]
    """
    require_tensor("prod", "x", x)
    if dtype is not None:
        x = cast_to(x, to_numpy_dtype(dtype))
    elif x._aval.dtype == BOOL:
        x = cast_to(x, INT64)
    result = prod_over(x, several_or_all("prod", axis, x._aval.ndim), flag("keepdim", keepdim))
    return deliver(result, out)


# ---- any, all ------------------------------------------------------------------------------------


def _infer_test(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return reduce(operation, operands, attributes, place).with_dtype(BOOL)


@op(infer=_infer_test, name="any", family="reduction", paddle_name="reduce_any", padding=rules.reductions.reduction(0))
def any_over(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    return xp.any(x != 0 if x.dtype != bool else x, axis=axis, keepdims=keepdim)


@op(infer=_infer_test, name="all", family="reduction", paddle_name="reduce_all", padding=rules.reductions.reduction(1))
def all_over(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    return xp.all(x != 0 if x.dtype != bool else x, axis=axis, keepdims=keepdim)


_TEST_SAMPLES = (
    S(A(2, 3, dtype="bool")), S(A(2, 3, dtype="bool"), 1),
    S(A(2, 3, 2, dtype="bool"), [0, 2], True), S(A(0, 3, dtype="bool"), axis=0), S(A(dtype="bool")),
    S(A(2, 5, dtype="int32"), -1), S(A(values=[[0.0, np.nan], [0.0, 0.0]]), 1),
)  # fmt: skip


@samples(
    *_TEST_SAMPLES,
    reference=lambda x, axis=None, keepdim=False: np.any(x, axis=numpy_axis(axis), keepdims=keepdim),
)
@public(method=True)
def any(
    x: Tensor,
    axis: AxisLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Whether any element over some axes is true, that is not zero.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> x = paddle.to_tensor([[False, False], [True, False]])
        >>> paddle.any(x).item(), paddle.any(x, axis=1).tolist()
        (True, [False, True])
    """
    axes = several_or_all("any", axis, require_tensor("any", "x", x)._aval.ndim)
    return deliver(any_over(x, axes, flag("keepdim", keepdim)), out)


@samples(
    *_TEST_SAMPLES,
    reference=lambda x, axis=None, keepdim=False: np.all(x, axis=numpy_axis(axis), keepdims=keepdim),
)
@public(method=True)
def all(
    x: Tensor,
    axis: AxisLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Whether all elements over some axes are true, that is not zero.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> x = paddle.to_tensor([[True, False], [True, True]])
        >>> paddle.all(x).item(), paddle.all(x, axis=1).tolist()
        (False, [False, True])
    """
    axes = several_or_all("all", axis, require_tensor("all", "x", x)._aval.ndim)
    return deliver(all_over(x, axes, flag("keepdim", keepdim)), out)


# ---- logsumexp -----------------------------------------------------------------------------------


def _logsumexp_grad(g: Tensor, x: Tensor, out: Tensor, x_aval: Aval, axis: tuple[int, ...], keepdim: bool) -> Tensor:
    spread = restore_axes(out, x_aval, axis, keepdim)
    return restore_axes(g, x_aval, axis, keepdim) * exp_below(x, spread)


@op(
    infer=reduce,
    grad={"x": _logsumexp_grad},
    name="logsumexp",
    padding=rules.reductions.reduction(rules.reductions.MINUS),
    series=series.functions.logsumexp,
)
def log_sum_exp_over(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    wide = widened(x)
    top = xp.max(wide, axis=axis, keepdims=True, initial=-np.inf)
    # A row of infinities (or an empty one) must not become infinity minus infinity.
    finite = xp.where(xp.isinf(top), xp.zeros_like(top), top)
    total = xp.sum(xp.exp(wide - finite), axis=axis, keepdims=True)
    result = xp.log(total) + finite
    return xp.reshape(result, reduced_shape(x.shape, axis, keepdim)).astype(x.dtype, copy=False)


def _reference_logsumexp(x: Any, axis: Any = None, keepdim: bool = False) -> Any:
    wide = np.exp(x.astype("float64"))
    return np.log(np.sum(wide, axis=numpy_axis(axis), keepdims=keepdim))


@samples(
    S(A(2, 3)), S(A(2, 3), 1, True), S(A(2, 3, 4), [0, 2]), S(A(0, 3), axis=1), S(A()),
    S(A(4, dtype="int64")), S(A(2, 3, dtype="bfloat16", grad=False), axis=-1),
    S(A(values=[[-np.inf, 1.0], [np.inf, 2.0]], grad=False), 1),
    reference=_reference_logsumexp,
)  # fmt: skip
@public(method=True)
def logsumexp(
    x: Tensor,
    axis: Any = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`log(sum(exp(x)))` over some axes, without overflow.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> round(paddle.logsumexp(paddle.to_tensor([1000.0, 1000.0])).item(), 3)
        1000.693
    """
    if not is_differentiable(require_tensor("logsumexp", "x", x)._aval.dtype):
        x = cast_to(x, default_float())
    elif x._aval.dtype.kind == "c":
        raise type_error("logsumexp", "x must be real", f"x: {x._aval}")
    axes = several_or_all("logsumexp", axis, x._aval.ndim)
    return deliver(log_sum_exp_over(x, axes, flag("keepdim", keepdim)), out)
