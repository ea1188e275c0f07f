"""Running totals along an axis: cumsum, cumprod, cummax, cummin, logcumsumexp.

Gradients of sums are sums from the other end. Products and log-sum-exp lead to a linear recurrence
`s[i] = b[i] + a[i] * s[i - 1]`, whose gradient is such a recurrence again: nothing is divided by
the factors, so zeros are no special case, and any order of gradient works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtype import BOOL, INT64, default_float, is_differentiable, to_numpy_dtype
from ...core.errors import type_error
from ...eager import series
from ...eager.annotations import AxisLike, DTypeLike
from ...eager.calling import deliver
from ...eager.declare import in_place_form, op, public
from ...eager.infer import same, same_shape
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import assign_in_place
from ...ir.padding import rules
from ..arguments import require_tensor
from ..axes import flat, index_dtype, single_axis, wide_type, widened
from ..basic import cast_to, reshape_to
from ..index.ordering import MANY_TO_SCAN, running_sum
from ..index.search import spread_along
from .arithmetic import conjugate


def _scan_axis(where: str, x: Tensor, axis: Any) -> tuple[Tensor, int]:
    """The tensor and axis to scan: without an axis, the flattened tensor."""
    require_tensor(where, "x", x)
    if axis is None:
        return flat(x), 0
    return x, single_axis(where, axis, x._aval.ndim)


def _scan(primitive: Callable[..., Tensor], x: Tensor, axis: int, *attributes: Any) -> Tensor:
    """Applies a scan; the scan of a 0-d tensor is that tensor."""
    if x._aval.ndim:
        return primitive(x, axis, *attributes)
    return reshape_to(primitive(flat(x), axis, *attributes), ())


def _ends(ndim: int, axis: int, part: slice) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, part, *[slice(None)] * (ndim - axis - 1))


# ---- cumsum --------------------------------------------------------------------------------------


@op(
    infer=same_shape,
    grad={"x": lambda g, axis, reverse: sum_along(g, axis, not reverse)},
    host_from=MANY_TO_SCAN,
    name="cumsum",
    family="reduction",
    padding=rules.scans.running(0),
    series=series.algebra.linear("x"),
)
def sum_along(xp: Any, x: Any, axis: int, reverse: bool) -> Any:
    if reverse:
        return xp.flip(xp.cumsum(xp.flip(x, axis), axis, dtype=wide_type(x.dtype)), axis)
    if xp is np and x.ndim == 1:
        return running_sum(x, wide_type(x.dtype))
    return xp.cumsum(x, axis, dtype=wide_type(x.dtype))


def _reference_cumsum(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    return np.cumsum(x, axis, dtype=dtype or ("int64" if x.dtype.kind in "biu" else x.dtype))


@samples(
    S(A(2, 3)), S(A(2, 3), axis=-1), S(A(2, 3), 0, "float64"), S(A(0, 3), 0),
    S(A(4, dtype="int32")), S(A(3, dtype="bool")), S(A(5, dtype="float16", grad=False), 0),
    S(A(2, 2, dtype="complex128"), 1), S(A(1), 0),
    reference=_reference_cumsum,
)  # fmt: skip
@public(method=True)
def cumsum(
    x: Tensor,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Running sums along an axis. Booleans and integers give int64.

    Args:
        x: the tensor.
        axis: the axis; the flattened tensor without one.
        dtype: the type to add in.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.cumsum(paddle.to_tensor([[1, 2], [3, 4]]), axis=0).tolist()
        [[1, 2], [4, 6]]
        >>> paddle.cumsum(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [1, 3, 6, 10]
    """
    x, axis = _scan_axis("cumsum", x, axis)
    if dtype is not None:
        x = cast_to(x, to_numpy_dtype(dtype))
    elif x._aval.dtype.kind in "biu" and x._aval.dtype != INT64:
        x = cast_to(x, INT64)
    return deliver(_scan(sum_along, x, axis, False), out)


@public(method=True)
def cumsum_(x: Tensor, axis: int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """As `paddle.cumsum`, in place: `x` takes the result and is returned. Numbers keep their type unless another is named.

    Args:
        x: the tensor.
        axis: the axis; the flattened tensor without one.
        dtype: the type to add in.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.to_tensor([1.0, 2.0, 3.0]).cumsum_(0).tolist()
        [1.0, 3.0, 6.0]
    """
    if dtype is None and require_tensor("cumsum_", "x", x)._aval.dtype != BOOL:
        dtype = x._aval.dtype
    return assign_in_place(x, cumsum(x, axis, dtype), "cumsum_", reshapes=True)


# ---- cumprod -------------------------------------------------------------------------------------


@op(
    infer=same_shape,
    grad={"x": lambda g, axis, step: shift_along(g, axis, -step)},
    name="shift_along",
    padding=rules.scans.shift,
    series=series.algebra.linear("x"),
)
def shift_along(xp: Any, x: Any, axis: int, step: int) -> Any:
    """Every element one place further (`step=1`) or back (-1); zero comes in at the end."""
    if not x.shape[axis]:
        return x
    first = xp.zeros_like(x[_ends(x.ndim, axis, slice(0, 1))])
    kept = x[_ends(x.ndim, axis, slice(None, -1) if step > 0 else slice(1, None))]
    return xp.concatenate([first, kept] if step > 0 else [kept, first], axis)


def _recurrence_grad_b(g: Tensor, a: Tensor, axis: int, reverse: bool) -> Tensor:
    step = 1 if reverse else -1
    return linear_recurrence(shift_along(conjugate(a), axis, step), g, axis, not reverse)


def _recurrence_grad_a(g: Tensor, a: Tensor, out: Tensor, axis: int, reverse: bool) -> Tensor:
    before = shift_along(out, axis, -1 if reverse else 1)
    return _recurrence_grad_b(g, a, axis, reverse) * conjugate(before)


@op(
    "a b",
    infer=same_shape,
    grad={"a": _recurrence_grad_a, "b": _recurrence_grad_b},
    family="recurrence",
    padding=rules.scans.recurrence,
)
def linear_recurrence(xp: Any, a: Any, b: Any, axis: int, reverse: bool) -> Any:
    """`s[i] = b[i] + a[i] * s[i - 1]` along an axis, from the first element or from the last."""
    dtype = wide_type(b.dtype)
    result = b.astype(dtype, copy=True)
    rows, factors = np.moveaxis(result, axis, 0), np.moveaxis(a, axis, 0)
    count = len(rows)
    for i in range(count - 2, -1, -1) if reverse else range(1, count):
        rows[i] += factors[i] * rows[i + 1 if reverse else i - 1]
    return result


def _linear_recurrence_xla(xp: Any, a: Any, b: Any, axis: int, reverse: bool) -> Any:
    from jax import lax

    def combine(left: Any, right: Any) -> Any:
        return left[0] * right[0], left[1] * right[0] + right[1]

    dtype = wide_type(b.dtype)
    parts = (a.astype(dtype), b.astype(dtype))
    return lax.associative_scan(combine, parts, reverse=reverse, axis=axis)[1]


linear_recurrence.operation.kernels["xla"] = _linear_recurrence_xla


def _cumprod_grad(g: Tensor, x: Tensor, axis: int, exclusive: bool, reverse: bool) -> Tensor:
    # With s[i] = g[i] + x[i + 1] * s[i + 1]: the gradient is s[i] * (product of what is before i).
    step = 1 if reverse else -1
    x = conjugate(x)
    following = shift_along(g, axis, step) if exclusive else g
    sums = linear_recurrence(shift_along(x, axis, step), following, axis, not reverse)
    return sums * product_along(x, axis, True, reverse)


@op(infer=same_shape, grad={"x": _cumprod_grad}, name="cumprod", padding=rules.scans.running(1))
def product_along(xp: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Running products; `exclusive` leaves the element itself out, `reverse` starts at the end."""
    if not x.shape[axis]:
        return x
    x = widened(x)
    if reverse:
        x = xp.flip(x, axis)
    if exclusive:
        first = xp.ones_like(x[_ends(x.ndim, axis, slice(0, 1))])
        x = xp.concatenate([first, x[_ends(x.ndim, axis, slice(None, -1))]], axis)
    result = xp.cumprod(x, axis, dtype=x.dtype)
    return xp.flip(result, axis) if reverse else result


@samples(
    S(A(2, 3), 1), S(A(2, 3)), S(A(0, 3), dim=0), S(A(3, dtype="int32"), 0, dtype="float32"),
    S(A(values=[2.0, 0.0, 3.0, 0.0, 4.0]), dim=0), S(A(4, dtype="int32"), dim=-1),
    S(A(2, 2, dtype="complex128"), 0), S(A(3, dtype="bfloat16", grad=False), 0), S(A(1), 0),
    reference=lambda x, dim=None, dtype=None: np.cumprod(x, dim, dtype=dtype or x.dtype),
)  # fmt: skip
@public(method=True)
def cumprod(
    x: Tensor,
    dim: int | None = None,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Running products along an axis.

    Args:
        x: the tensor.
        dim: the axis; the flattened tensor without one.
        dtype: the type to multiply in.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.cumprod(paddle.to_tensor([1.0, 2.0, 3.0]), dim=0).tolist()
        [1.0, 2.0, 6.0]
    """
    x, axis = _scan_axis("cumprod", x, dim)
    if dtype is not None:
        x = cast_to(x, to_numpy_dtype(dtype))
    elif x._aval.dtype.kind == "b":
        x = cast_to(x, INT64)
    return deliver(_scan(product_along, x, axis, False, False), out)


_cumprod_in_place = in_place_form(cumprod, "cumprod_", reshapes=True)


@public(method=True)
def cumprod_(x: Tensor, dim: AxisLike | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """As `paddle.cumprod`, in place: `x` takes the result and is returned.

    Args:
        x: the tensor.
        dim: the axis.
        dtype: the type to multiply in.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.to_tensor([1.0, 2.0, 3.0]).cumprod_(0).tolist()
        [1.0, 2.0, 6.0]
    """
    return _cumprod_in_place(x, dim, dtype=dtype)


# ---- cummax, cummin ------------------------------------------------------------------------------


def _accumulate(xp: Any, x: Any, axis: int, largest: bool) -> Any:
    if xp is np:
        return (np.maximum if largest else np.minimum).accumulate(x, axis=axis)
    from jax import lax

    return (lax.cummax if largest else lax.cummin)(x, axis=axis)


def _infer_extremes(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Any, ...]:
    aval = operands[0]
    if aval.dtype.kind in "bc":
        raise operation.error(TypeError, "x must be real numbers", operands, fix="use astype()")
    return aval, aval.with_dtype(attributes[2])


@op(
    infer=_infer_extremes,
    outputs=2,
    grad={"x": lambda g0, out1, x_aval, axis: _to_extremes(g0, out1, x_aval, axis)},
    name="cumulative_extreme",
    padding=rules.scans.running(),
)
def extremes_along(xp: Any, x: Any, axis: int, largest: bool, dtype: np.dtype) -> tuple[Any, Any]:
    """The largest (or smallest) element so far and its position; of equal ones, the last."""
    wide = widened(x)
    values = _accumulate(xp, wide, axis, largest)
    places = xp.arange(x.shape[axis], dtype=dtype).reshape([-1] + [1] * (x.ndim - axis - 1))
    # A NaN, once met, is the extreme from there on.
    is_extreme = (wide == values) | (wide != wide)
    positions = _accumulate(xp, xp.where(is_extreme, places, xp.zeros_like(places)), axis, True)
    return values.astype(x.dtype), positions


def _to_extremes(g: Tensor | None, positions: Tensor, aval: Any, axis: int) -> Tensor | None:
    return None if g is None else spread_along(g, positions, axis, aval.shape[axis], False)


def _cumulative_extreme(where: str, x: Tensor, axis: Any, dtype: Any, largest: bool) -> tuple[Tensor, Tensor]:
    x, axis = _scan_axis(where, x, axis)
    positions = index_dtype(where, dtype)
    if x._aval.ndim:
        return extremes_along(x, axis, largest, positions)
    values, indices = extremes_along(flat(x), axis, largest, positions)
    return reshape_to(values, ()), reshape_to(indices, ())


def _reference_extreme(largest: bool) -> Callable[..., Any]:
    def reference(x: Any, axis: Any = None, dtype: Any = "int64") -> tuple[Any, Any]:
        if axis is None:
            x, axis = x.reshape(-1), 0
        rows = np.moveaxis(x, axis, 0)
        values, places = np.array(rows), np.zeros(rows.shape, dtype)
        for i in range(1, len(rows)):
            better = (rows[i] >= values[i - 1]) if largest else (rows[i] <= values[i - 1])
            values[i] = np.where(better, rows[i], values[i - 1])
            places[i] = np.where(better, i, places[i - 1])
        return np.moveaxis(values, 0, axis), np.moveaxis(places, 0, axis)

    return reference


@samples(
    S(A(2, 5, unique=True), axis=1), S(A(2, 3, unique=True)), S(A(0, 3), 0), S(A(6, dtype="int32")),
    S(A(4, 2, unique=True), 0, "int32"), S(A(6, dtype="float16", unique=True, grad=False), 0),
    S(A(1), -1),
    reference=_reference_extreme(True),
)  # fmt: skip
@public(method=True)
def cummax(
    x: Tensor, axis: AxisLike | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The largest element so far along an axis, and its position.

    Args:
        x: the tensor.
        axis: the axis; the flattened tensor without one.
        dtype: the type of the positions, int32 or int64.
        name: a label; it changes nothing.

    Returns:
        The values, and the positions (of equal elements, of the last).

    Examples:
        >>> values, positions = paddle.cummax(paddle.to_tensor([1, 3, 2, 5]))
        >>> values.tolist(), positions.tolist()
        ([1, 3, 3, 5], [0, 1, 1, 3])
    """
    return _cumulative_extreme("cummax", x, axis, dtype, True)


@samples(
    S(A(2, 5, unique=True), axis=1), S(A(2, 3, unique=True)), S(A(0, 3), 0), S(A(6, dtype="int32")),
    S(A(4, 2, unique=True), 0, "int32"), S(A(6, dtype="float16", unique=True, grad=False), 0),
    S(A(1), -1),
    reference=_reference_extreme(False),
)  # fmt: skip
@public(method=True)
def cummin(
    x: Tensor, axis: AxisLike | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The smallest element so far along an axis, and its position.

    Args:
        x: the tensor.
        axis: the axis; the flattened tensor without one.
        dtype: the type of the positions, int32 or int64.
        name: a label; it changes nothing.

    Returns:
        The values, and the positions (of equal elements, of the last).

    Examples:
        >>> values, positions = paddle.cummin(paddle.to_tensor([3, 4, 1, 2]))
        >>> values.tolist(), positions.tolist()
        ([3, 3, 1, 1], [0, 0, 2, 2])
    """
    return _cumulative_extreme("cummin", x, axis, dtype, False)


# ---- logcumsumexp --------------------------------------------------------------------------------


@op(
    "x y",
    infer=same,
    grad={"x": lambda g, out: g * out, "y": lambda g, out: g * out * -1.0},
)
def exp_below(xp: Any, x: Any, y: Any) -> Any:
    """`exp(x - y)` for `x <= y`; zero where `x` is minus infinity, whatever `y` is."""
    return xp.where(x == -np.inf, xp.zeros_like(x), xp.exp(xp.minimum(x - y, 0)))


def _logcumsumexp_grad(g: Tensor, x: Tensor, out: Tensor, axis: int) -> Tensor:
    # Sum over j >= i of g[j] * exp(x[i] - out[j]), arranged so that no exponent is positive.
    decay = exp_below(out, shift_along(out, axis, -1))
    return linear_recurrence(decay, g, axis, True) * exp_below(x, out)


@op(infer=same_shape, grad={"x": _logcumsumexp_grad}, name="logcumsumexp", padding=rules.scans.running())
def log_sum_exp_along(xp: Any, x: Any, axis: int) -> Any:
    return np.logaddexp.accumulate(widened(x), axis=axis)


def _log_sum_exp_along_xla(xp: Any, x: Any, axis: int) -> Any:
    from jax import lax

    return lax.cumlogsumexp(widened(x), axis=axis)


log_sum_exp_along.operation.kernels["xla"] = _log_sum_exp_along_xla


def _reference_logcumsumexp(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    wide = x.astype("float64")
    return np.log(np.cumsum(np.exp(wide), axis)).astype(dtype or x.dtype)


@samples(
    S(A(2, 3)), S(A(2, 3), axis=-1), S(A(2, 3), 0, "float64"), S(A(0, 3), 0), S(A(1), 0),
    S(A(4, dtype="bfloat16", grad=False), 0),
    reference=_reference_logcumsumexp,
)  # fmt: skip
@public(method=True)
def logcumsumexp(
    x: Tensor, axis: AxisLike | None = None, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """The logarithm of the running sums of `exp(x)` along an axis, without overflow.

    Args:
        x: the tensor.
        axis: the axis; the flattened tensor without one.
        dtype: the type to compute in.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.logcumsumexp(paddle.to_tensor([0.0, 0.0, 0.0])).numpy().round(4)
        array([0.    , 0.6931, 1.0986], dtype=float32)
    """
    x, axis = _scan_axis("logcumsumexp", x, axis)
    if dtype is not None:
        x = cast_to(x, to_numpy_dtype(dtype))
    elif not is_differentiable(x._aval.dtype):
        x = cast_to(x, default_float())
    if not is_differentiable(x._aval.dtype) or x._aval.dtype.kind == "c":
        raise type_error("logcumsumexp", "x must be real floating numbers", f"x: {x._aval}")
    return _scan(log_sum_exp_along, x, axis)
