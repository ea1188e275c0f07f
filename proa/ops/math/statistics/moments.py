"""Statistics over axes: var, std, median, sums that skip NaN, counts."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ....core.aval import Aval
from ....core.dtype import (
    FLOAT32,
    FLOAT64,
    INT64,
    default_float,
    is_differentiable,
    is_reduced_precision,
    real_dtype,
    to_numpy_dtype,
)  # fmt: skip
from ....core.errors import type_error, value_error
from ....core.symbols import is_symbolic, plain
from ....eager import series
from ....eager.annotations import AxisLike, DTypeLike
from ....eager.calling import MISSING, deliver
from ....eager.declare import op, public
from ....eager.infer import reduce, same
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor, wrap
from ....ir.padding import rules
from ....ir.sizes.known import mark_sizes
from ...arguments import flag, require_tensor
from ...axes import flat, numpy_axis, several_or_all, single_axis
from ...basic import cast_to, reshape_to, sum, sum_over
from ...index.search import ranked_along
from ..reduction import extreme_grad, mean_over


def _count(aval: Aval, axis: tuple[int, ...]) -> int:
    return math.prod([aval.shape[i] for i in axis])


# ---- var, std ------------------------------------------------------------------------------------


def _variance(where: str, x: Tensor, axis: Any, keepdim: bool, correction: float) -> Tensor:
    """In float32 for the types with few digits; the caller converts back."""
    require_tensor(where, "x", x)
    if x._aval.dtype.kind == "c":
        raise type_error(where, "x must be real", f"x: {x._aval}")
    if not is_differentiable(x._aval.dtype):
        x = cast_to(x, default_float())
    elif is_reduced_precision(x._aval.dtype):
        x = cast_to(x, FLOAT32)
    axes = several_or_all(where, axis, x._aval.ndim)
    centred = x - mean_over(x, axes, True)
    freedom = _count(x._aval, axes) - correction
    # Too few elements: NaN (zero times infinity).
    scale = 1 / freedom if freedom > 0 else math.inf
    return sum_over(centred * centred, axes, flag("keepdim", keepdim)) * scale


def _as_given(result: Tensor, x: Tensor) -> Tensor:
    given = x._aval.dtype
    return cast_to(result, given) if is_reduced_precision(given) else result


def _reference_var(x: Any, axis: Any = None, unbiased: Any = None, keepdim: bool = False, correction: float = 1) -> Any:
    ddof = correction if unbiased is None else int(unbiased)
    with np.errstate(all="ignore"):
        return np.var(x.astype("float64"), axis=numpy_axis(axis), ddof=ddof, keepdims=keepdim)


@samples(
    S(A(2, 3)), S(A(2, 3), 1, False, True), S(A(2, 3, 4), [0, 2], True), S(A(2, 3), correction=0.5),
    S(A(3, 1, grad=False), 0), S(A(5, dtype="int64")), S(A(4, 6, dtype="float16", grad=False), -1),
    reference=_reference_var,
)  # fmt: skip
@public(method=True)
def var(
    x: Tensor,
    axis: AxisLike | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    correction: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """The variance over some axes.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        unbiased: True means a correction of 1, False of 0.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.
        correction: the sum of squares is divided by the count less this.
        out: a tensor that takes the result.

    Returns:
        Floating numbers; integers give the default floating type.

    Examples:
        >>> x = paddle.to_tensor([1.0, 3.0])
        >>> paddle.var(x).item(), paddle.var(x, unbiased=False).item()
        (2.0, 1.0)
    """
    if unbiased is not None:
        if correction != 1:
            raise value_error("var", "only one of unbiased and correction may be given")
        correction = 1 if unbiased else 0
    return deliver(_as_given(_variance("var", x, axis, keepdim, correction), x), out)


@samples(
    S(A(2, 3)), S(A(2, 3), 1, False, True), S(A(2, 3, 4), [0, 2], True), S(A(5, dtype="int64")),
    S(A(4, 6, dtype="bfloat16", grad=False), -1),
    reference=lambda *args: np.sqrt(_reference_var(*args)),
)  # fmt: skip
@public(method=True)
def std(
    x: Tensor,
    axis: AxisLike | None = None,
    unbiased: bool = True,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The standard deviation over some axes.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        unbiased: divide by the count less one instead of the count.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.std(paddle.to_tensor([1.0, 3.0]), unbiased=False).item()
        1.0
    """
    variance = _variance("std", x, axis, keepdim, 1 if unbiased else 0)
    return _as_given(variance.sqrt(), x)


# ---- median --------------------------------------------------------------------------------------


@op(infer=reduce, grad={"x": extreme_grad}, padding=rules.reductions.ranked)
def order_statistic(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool, rank: int) -> Any:
    """The element of rank `rank` (0 is the smallest) along the one axis; NaN if there is one."""
    only = axis[0]
    ordered = xp.partition(x, rank, axis=only) if xp is np else xp.sort(x, axis=only)
    result = xp.take(ordered, np.array([rank] if keepdim else rank), axis=only)
    has_nan = xp.any(x != x, axis=only, keepdims=keepdim)
    return xp.where(has_nan, xp.full_like(result, np.nan), result)


def _reference_median(x: Any, axis: Any = None, keepdim: bool = False, mode: str = "avg") -> Any:
    if mode == "avg":
        wide = x if x.dtype == np.float64 else x.astype("float32")
        with warnings.catch_warnings(action="ignore"):
            return np.median(wide, axis, keepdims=keepdim)
    along = -1 if axis is None else axis
    rows = x.reshape(-1) if axis is None else x
    place = np.take(np.argsort(rows, along, kind="stable"), [(rows.shape[along] - 1) // 2], along)
    value = np.take_along_axis(rows, place, along)
    if axis is None:
        return value.reshape([1] * x.ndim if keepdim else [])
    return [v if keepdim else v.squeeze(along) for v in (value, place)]


def _median_by_dim(*arguments: Any, **named: Any) -> Any:
    """The median as PyTorch has it: named by its parameters (`input`, `dim`), it takes the lower middle element."""
    if "mode" in named or len(arguments) > 3 or {"dim", "input"}.isdisjoint(named):
        return MISSING
    names = {"dim": "axis", "input": "x"}
    out = named.pop("out", None)
    return deliver(
        median(*arguments, **{names.get(name, name): value for name, value in named.items()}, mode="min"), out
    )


@samples(
    S(A(5, unique=True)), S(A(2, 4, unique=True), 1), S(A(2, 4, unique=True), 0, True), S(A()),
    S(A(2, 3, unique=True), keepdim=True), S(A(6, dtype="int64")), S(A(0, grad=False)),
    S(A(2, 4, unique=True), 1, True, "min"), S(A(2, 4, unique=True), mode="min"),
    S(A(4, dtype="int32"), 0, False, "min"), S(A(5, dtype="float16", unique=True, grad=False)),
    S(A(values=[1.0, np.nan, 2.0], grad=False), 0), S(A(0, 3), 1),
    reference=_reference_median,
)  # fmt: skip
@public(method=True, out=True, aliases="mode=min", otherwise=_median_by_dim)
def median(
    x: Tensor, axis: AxisLike | None = None, keepdim: bool = False, mode: str = "avg", name: str | None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """The middle element along an axis; NaN if there is one among them.

    Args:
        x: the tensor.
        axis: the axis; the whole tensor is flattened without one.
        keepdim: keep the reduced axes, with one element each.
        mode: "avg" takes the mean of the two middle elements of an even number, in floating numbers; "min" takes the
            lower one, in the type of `x`, and gives its position as well when an axis is named.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.median(paddle.to_tensor([3.0, 1.0, 2.0, 10.0])).item()
        2.5
        >>> value, position = paddle.median(paddle.to_tensor([[3, 1, 2, 10]]), axis=1, mode="min")
        >>> value.tolist(), position.tolist()
        ([2], [2])
    """
    if require_tensor("median", "x", x)._aval.dtype.kind == "c":
        raise type_error("median", "complex numbers have no order", f"x: {x._aval}")
    if mode not in ("avg", "min"):
        raise value_error("median", "mode is 'avg' or 'min'", f"mode: {mode!r}")
    shape = x._aval.shape
    if axis is None:
        rows, along = flat(x), 0
        shape = (1,) * len(shape) if keepdim else ()
    else:
        along = single_axis("median", axis, len(shape))
        rows = x if shape else flat(x)
        kept = (1,) if keepdim and shape else ()
        shape = (*shape[:along], *kept, *shape[along + 1 :])
    size = rows._aval.shape[along]
    if mode == "min":
        if not size:
            raise value_error("median", f"axis {along} has no elements to choose from", f"x: {x._aval}")
        value, place = ranked_along(rows, along, False, (size - 1) // 2 + 1, True)
        value, place = reshape_to(value, shape), reshape_to(place, shape)
        return value if axis is None else (value, place)
    if rows._aval.dtype not in (FLOAT32, FLOAT64):
        rows = cast_to(rows, FLOAT32)
    if not size:
        return reshape_to(mean_over(rows, (along,), False), shape)
    middle = order_statistic(rows, (along,), False, (size - 1) // 2)
    if is_symbolic(size) or size % 2 == 0:  # the two are the same one where there is an odd number of elements
        middle = (middle + order_statistic(rows, (along,), False, size // 2)) * 0.5
    return reshape_to(middle, shape)


# ---- sums that skip NaN --------------------------------------------------------------------------


@op("x tested", infer=same, grad={"x": lambda g, tested: zero_where_nan(g, tested)}, series=series.algebra.linear("x"))
def zero_where_nan(xp: Any, x: Any, tested: Any) -> Any:
    """`x` with zeros where `tested` is NaN."""
    return xp.where(tested != tested, xp.zeros_like(x), x)


def _without_nan(x: Tensor) -> Tensor:
    return zero_where_nan(x, x) if is_differentiable(x._aval.dtype) else x


_WITH_NAN = np.array([[1.0, np.nan, 2.0], [np.nan, 4.0, 5.0]])


def _reference_nansum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False) -> Any:
    kind = dtype or ("int64" if x.dtype.kind in "bi" else x.dtype)
    return np.nansum(x, axis=numpy_axis(axis), dtype=kind, keepdims=keepdim)


@samples(
    S(A(values=_WITH_NAN, grad=False)), S(A(values=_WITH_NAN, grad=False), 1, keepdim=True),
    S(A(2, 3), [0, 1]), S(A(4, dtype="int32")), S(A(values=_WITH_NAN, grad=False), 0, "float64"),
    S(A(0, 3), 0), S(A()),
    reference=_reference_nansum,
)  # fmt: skip
@public(method=True)
def nansum(
    x: Tensor,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum over some axes, with NaN taken as zero.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        dtype: the type to add in.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nansum(paddle.to_tensor([1.0, np.nan, 3.0])).item()
        4.0
    """
    require_tensor("nansum", "x", x)
    if dtype is not None:
        x = cast_to(x, to_numpy_dtype(dtype))
    return sum(_without_nan(x), several_or_all("nansum", axis, x._aval.ndim), None, keepdim)


def _reference_nanmean(x: Any, axis: Any = None, keepdim: bool = False) -> Any:
    return np.nanmean(x.astype("float64"), axis=numpy_axis(axis), keepdims=keepdim)


@samples(
    S(A(values=_WITH_NAN, grad=False)), S(A(values=_WITH_NAN, grad=False), 1, True),
    S(A(2, 3), [0, 1]), S(A(4, dtype="int32")), S(A(2, 3, dtype="bfloat16", grad=False), 0), S(A()),
    reference=_reference_nanmean,
)  # fmt: skip
@public(method=True)
def nanmean(x: Tensor, axis: AxisLike | None = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The average over some axes of the elements that are not NaN.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nanmean(paddle.to_tensor([1.0, np.nan, 3.0])).item()
        2.0
    """
    numbers = require_tensor("nanmean", "x", x)
    if is_reduced_precision(x._aval.dtype):
        numbers = cast_to(x, FLOAT32)
    elif not is_differentiable(x._aval.dtype):
        numbers = cast_to(x, default_float())
    axes = several_or_all("nanmean", axis, x._aval.ndim)
    count = count_over(numbers, axes, flag("keepdim", keepdim), True)
    total = sum_over(_without_nan(numbers), axes, flag("keepdim", keepdim))
    return _as_given(total / cast_to(count, real_dtype(numbers._aval.dtype)), x)


# ---- counts --------------------------------------------------------------------------------------


def _infer_count(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return reduce(operation, operands, attributes, place).with_dtype(INT64)


@op(infer=_infer_count, name="count", padding=rules.reductions.count)
def count_over(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool, numbers: bool) -> Any:
    """How many elements are not zero, or (`numbers`) not NaN."""
    chosen = x == x if numbers else x != 0
    return xp.sum(chosen, axis=axis, keepdims=keepdim, dtype=np.int64)


def _reference_count(x: Any, axis: Any = None, keepdim: bool = False) -> Any:
    return np.count_nonzero(x, axis=numpy_axis(axis), keepdims=keepdim)


@samples(
    S(A(3, 4, dtype="int32")), S(A(3, 4, dtype="bool"), 1, True), S(A(2, 3, 4), [0, 2]),
    S(A(0, 3), 0), S(A(values=[0.0, np.nan, 2.0])), S(A()),
    reference=_reference_count,
)  # fmt: skip
@public(method=True)
def count_nonzero(x: Tensor, axis: AxisLike | None = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """How many elements over some axes are not zero.

    Args:
        x: the tensor.
        axis: one axis or several; all by default.
        keepdim: keep the reduced axes, with one element each.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.count_nonzero(paddle.to_tensor([[0, 1], [2, 3]]), axis=1).tolist()
        [1, 2]
    """
    axes = several_or_all("count_nonzero", axis, require_tensor("count_nonzero", "x", x)._aval.ndim)
    return count_over(x, axes, flag("keepdim", keepdim), False)


@samples(
    S(A(2, 3)), S(A(0, 3)), S(A()),
    reference=lambda x: np.array(x.size, np.int64),
)  # fmt: skip
@public(method=True)
def numel(x: Tensor, name: str | None = None) -> Tensor:
    """The number of elements, as an integer tensor without axes; its value is known at once.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.numel(paddle.zeros([2, 3])).item()
        6
    """
    count = math.prod(require_tensor("numel", "x", x)._aval.shape)
    return mark_sizes(wrap(np.array(plain(count), np.int64)), (count,))
