"""Choices: where, clip, masked_fill, lerp, nan_to_num; and filling a tensor in place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import BOOL, FLOAT32, FInfo, is_floating
from ...core.errors import type_error, value_error
from ...core.promotion import promote_scalar, promote_tensors
from ...eager import series
from ...eager.annotations import Number, TensorLike
from ...eager.attaching import attach
from ...eager.calling import deliver
from ...eager.declare import PUBLIC, in_place_form, op, public
from ...eager.dispatch import as_operand, record
from ...eager.infer import broadcast_shapes, elementwise, same
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ...eager.views import assign_in_place
from ..basic import cast_to, reshape_to
from ..precision import refuse
from .arithmetic import gate, zero_slope
from .logic import isfinite

# ---- where ---------------------------------------------------------------------------------------


@elementwise
def _infer_where(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    shapes = [kind.shape for kind in operands if isinstance(kind, Aval)]
    dtype = next(kind.dtype for kind in operands if isinstance(kind, Aval))
    return make_aval(broadcast_shapes(operation, operands, shapes), dtype, place)


# The choices stand before the condition, so that a scalar among them takes the other one's type.
@op(
    "x y condition",
    infer=_infer_where,
    grad={
        "x": lambda g, condition: gate(g, condition, True),
        "y": lambda g, condition: gate(g, condition, False),
    },
    follow_scalars=True,
    name="where",
    series=series.algebra.linear("x y"),
)
def choose(xp: Any, x: Any, y: Any, condition: Any) -> Any:
    return xp.where(condition, x, y)


def choose_between(condition: Tensor, x: Any, y: Any) -> Tensor:
    """`choose` for tensors of one type and Python numbers (which stay data)."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return choose(x, y, condition)
    return record(choose.operation, [x, y, condition], ())


def _in_one_type(x: Any, y: Any) -> tuple[Any, Any]:
    x, y = as_operand("where", "x", x), as_operand("where", "y", y)
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        kind = complex if complex in (type(x), type(y)) else float
        if type(x) is not type(y):
            x, y = kind(x), kind(y)
        x = tensor_from_data(x)
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        common = promote_tensors("where", x._aval.dtype, y._aval.dtype)
        return cast_to_type(x, common), cast_to_type(y, common)
    tensor, number = (x, y) if isinstance(x, Tensor) else (y, x)
    dtype = tensor._aval.dtype
    if promote_scalar("add", dtype, type(number)) != dtype:
        raise type_error(
            "where",
            f"a {type(number).__name__} does not fit beside the tensor",
            f"x: {_told(x)}, y: {_told(y)}",
            "convert the tensor with astype()",
        )
    return x, y


def _told(value: Any) -> Any:
    return value._aval if isinstance(value, Tensor) else value


def cast_to_type(x: Tensor, dtype: np.dtype) -> Tensor:
    return x if x._aval.dtype == dtype else cast_to(x, dtype)


@samples(
    S(A(2, 3, dtype="bool"), A(2, 3), A(3)), S(A(0, 3, dtype="bool"), A(3), A(1)),
    S(A(dtype="bool"), A(), A()), S(A(3, dtype="bool"), A(3), 0.5), S(A(3, dtype="bool"), 0, A(3)),
    S(A(3, dtype="bool"), A(3, dtype="int64"), 7), S(A(2, dtype="bool"), A(2, 1), A(1)),
    S(A(2, dtype="bool"), A(2, dtype="float64"), A(2, dtype="float64")),
    reference=lambda condition, x, y: np.where(condition, x, y),
    changed=1,
)  # fmt: skip
@public(method=True)
def where(
    condition: Tensor,
    x: TensorLike | None = None,
    y: TensorLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Any:
    """`x` where the condition holds, else `y`; without both, the positions where it holds.

    Args:
        condition: a bool tensor.
        x: taken where it is true, a tensor or a number.
        y: taken where it is false; all shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        A tensor; without `x` and `y` a tuple of position tensors, one for each axis.

    Raises:
        ValueError: only one of `x` and `y` is given.

    Examples:
        >>> x = paddle.to_tensor([1.0, -2.0, 3.0])
        >>> paddle.where(x > 0, x, 0.0).tolist()
        [1.0, 0.0, 3.0]
        >>> paddle.where(x > 0)[0].tolist()
        [0, 2]
    """
    if not isinstance(condition, Tensor):
        raise type_error("where", "condition must be a Tensor", f"condition: {type(condition).__name__}")
    if x is None and y is None:
        return PUBLIC["nonzero"](condition, as_tuple=True)
    if x is None or y is None:
        raise value_error("where", "x and y must be given together, or neither of them")
    if condition._aval.dtype != BOOL:
        raise value_error("where", "condition must be boolean", f"condition: {condition._aval}", "write x != 0")
    if not (isinstance(x, Tensor) and isinstance(y, Tensor) and x._aval.dtype is y._aval.dtype):
        x, y = _in_one_type(x, y)
    return deliver(choose_between(condition, x, y), out)


@public(method=True)
def where_(
    condition: Tensor, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """As `paddle.where`, in place: `x` takes the result and is returned.

    Args:
        condition: a bool tensor.
        x: the tensor that changes where it is false.
        y: taken where it is false.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([1.0, -2.0, 3.0])
        >>> paddle.where_(x > 0, x, paddle.zeros([3])).tolist()
        [1.0, 0.0, 3.0]
        >>> x.tolist()
        [1.0, 0.0, 3.0]
    """
    if not isinstance(x, Tensor) or y is None:
        raise value_error("where_", "x (the tensor to change) and y are both needed", f"x: {type(x).__name__}")
    return assign_in_place(x, where(condition, x, y), "where_", reshapes=True)


# ---- clip ----------------------------------------------------------------------------------------


@elementwise
def _infer_clip(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    refuse(operation, operands[:1], "bc", "is for integers and floating types", "convert x first")
    shapes = [kind.shape for kind in operands if isinstance(kind, Aval)]
    if broadcast_shapes(operation, operands, shapes) != operands[0].shape:
        raise operation.error(ValueError, "a limit is a number, or a tensor that broadcasts to x", operands)
    return operands[0]


@op(
    "outer x",
    scalars="min max",
    infer=same,
    grad={"outer": lambda g, x, min, max, has_min, has_max, open: clip_gate(g, x, min, max, has_min, has_max, open)},
    name="clip_grad",
)
def clip_gate(xp: Any, outer: Any, x: Any, min: Any, max: Any, has_min: bool, has_max: bool, open: bool) -> Any:
    """`outer` where `x` is between the limits (with or, if open, without the limits themselves)."""
    inside: Any = np.True_
    if has_min:
        inside = (x > min.astype(x.dtype)) if open else (x >= min.astype(x.dtype))
    if has_max:
        inside = inside & ((x < max.astype(x.dtype)) if open else (x <= max.astype(x.dtype)))
    return xp.where(inside, outer, xp.zeros_like(outer))


@op(
    scalars="min max",
    infer=_infer_clip,
    grad={"x": lambda g, x, min, max, has_min, has_max, open: clip_gate(g, x, min, max, has_min, has_max, open)},
    name="clip",
    series=series.functions.clip,
)
def clip_between(xp: Any, x: Any, min: Any, max: Any, has_min: bool, has_max: bool, open: bool) -> Any:
    """`open` says whether the gradient is 0 at the limits themselves (hardtanh) or not (clip)."""
    if has_min:
        x = xp.maximum(x, min.astype(x.dtype))
    return xp.minimum(x, max.astype(x.dtype)) if has_max else x


def _limit(x: Tensor, name: str, value: Any) -> tuple[Tensor, Any]:
    """A limit, and `x` in the type of both: integers with a floating limit become float32."""
    if value is None:
        return x, 0
    value = as_operand("clip", name, value)
    if not isinstance(value, Tensor):
        return cast_to_type(x, promote_scalar("clip", x._aval.dtype, type(value))), value
    if value._aval.dtype.kind not in "biu" and x._aval.dtype.kind in "biu":
        x = cast_to(x, FLOAT32)
    return x, reshape_to(value, ()) if value._aval.size == 1 else value


def _reference_clip(x: Any, min: Any = None, max: Any = None) -> Any:
    if x.dtype.kind in "iu" and (isinstance(min, float) or isinstance(max, float)):
        x = x.astype("float32")
    return x if min is None and max is None else np.clip(x, min, max).astype(x.dtype, copy=False)


@samples(
    S(A(2, 3), -0.5, 0.5), S(A(0, 3), 0.0), S(A(), max=0.5), S(A(3)),
    S(A(4, dtype="int64", low=-9, high=9), -2, 3),
    S(A(4, dtype="int64", low=-9, high=9), min=-0.5, max=2.5),
    S(A(3), A(1, low=-1, high=0, grad=False), 1.0),
    S(A(values=[np.nan, np.inf, -np.inf], grad=False), -1.0, 1.0),
    S(A(4, dtype="bfloat16", grad=False), -0.5, 0.5),
    reference=_reference_clip,
    keeps_type=True,
)  # fmt: skip
@public(method=True)
def clip(
    x: Tensor,
    min: Number | None = None,
    max: Number | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Every element moved into the range from `min` to `max`.

    The gradient is 1 inside the range and at its limits, else 0.

    Args:
        x: the tensor.
        min: the lower limit, a number or a tensor; none by default.
        max: the upper limit, a number or a tensor; none by default.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.clip(paddle.to_tensor([-1.0, 0.5, 3.0]), min=0.0, max=1.0).tolist()
        [0.0, 0.5, 1.0]
    """
    if not isinstance(x, Tensor):
        raise type_error("clip", "x must be a Tensor", f"x: {type(x).__name__}")
    x, low = _limit(x, "min", min)
    x, high = _limit(x, "max", max)
    has_min, has_max = min is not None, max is not None
    bounded = has_min and has_max and not isinstance(low, Tensor) and not isinstance(high, Tensor)
    if bounded and low > high:
        raise value_error("clip", "min must not be above max", f"min: {low}, max: {high}")
    return deliver(clip_between(x, low, high, has_min, has_max, False), out)


public(method=True, name="clamp")(clip)


def _whole_limit(x: Any, value: Any, rounded: Any) -> Any:
    """A limit for integers that stay integers: the nearest whole number inside."""
    if not isinstance(value, float) or not isinstance(x, Tensor) or x._aval.dtype.kind not in "iu":
        return value
    if not math.isfinite(value):
        return None if (value > 0) == (rounded is math.floor) else value
    return rounded(value)


@public(method="clip_ clamp_", name="clip_ clamp_")
def clip_(x: Tensor, min: Number | None = None, max: Number | None = None, name: str | None = None) -> Tensor:
    """As `paddle.clip`, in place: `x` takes the result, in its own type, and is returned.

    Args:
        x: the tensor that changes.
        min: the lower limit; none by default.
        max: the upper limit; none by default.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([-1.0, 0.5, 3.0])
        >>> x.clip_(0.0, 1.0).tolist()
        [0.0, 0.5, 1.0]
    """
    low, high = _whole_limit(x, min, math.ceil), _whole_limit(x, max, math.floor)
    return _clip_in_place(x, low, high)


_clip_in_place = in_place_form(clip, "clip_")


# ---- lerp, masked_fill, nan_to_num ---------------------------------------------------------------


@samples(
    S(A(2, 3), A(3), 0.3), S(A(2, 3), A(2, 3), A(3)), S(A(0, 3), A(3), 0.5), S(A(), A(), A()),
    reference=lambda x, y, weight: x + weight * (y - x),
)  # fmt: skip
@public(method=True, inplace=True)
def lerp(x: Tensor, y: Tensor, weight: Number, name: str | None = None) -> Tensor:
    """Between `x` (weight 0) and `y` (weight 1): `x + weight * (y - x)`.

    Args:
        x: the start.
        y: the end; the shapes broadcast.
        weight: how far to go, a number or a tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.lerp(paddle.to_tensor([0.0, 10.0]), paddle.to_tensor([10.0, 20.0]), 0.25).tolist()
        [2.5, 12.5]
    """
    return x + (y - x) * weight


def _fill_number(where: str, dtype: np.dtype, value: Any) -> Any:
    """A Python number as it is written into a tensor of the given type."""
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        raise type_error(where, "value must be a number", f"value: {type(value).__name__}")
    if dtype.kind == "b":
        return int(value != 0)
    if dtype.kind in "iu" and not isinstance(value, int):
        if isinstance(value, complex) or not math.isfinite(value):
            raise value_error(where, f"{value} is no {dtype.name}", fix="choose a finite integer")
        return int(value)
    if isinstance(value, complex) and dtype.kind != "c":
        raise type_error(where, "a complex value needs a complex tensor", f"value: {value}")
    return value


def _reference_fill(x: Any, mask: Any, value: Any) -> Any:
    return np.where(mask, np.asarray(value).astype(x.dtype), x)


@samples(
    S(A(2, 3), A(2, 3, dtype="bool"), 5.0), S(A(2, 3), A(3, dtype="bool"), A()),
    S(A(0, 3), A(3, dtype="bool"), 1.0), S(A(3, dtype="int64"), A(3, dtype="bool"), 5.7),
    S(A(dtype="float32"), A(dtype="bool"), -1), S(A(3), A(2, 1, dtype="bool"), 1.0),
    reference=_reference_fill,
)  # fmt: skip
@public(method=True, inplace=True, reshapes=True)
def masked_fill(x: Tensor, mask: Tensor, value: Number, name: str | None = None) -> Tensor:
    """`value` where the mask is true, else `x`.

    Args:
        x: the tensor.
        mask: a bool tensor whose shape broadcasts with that of `x`.
        value: a number, or a tensor with one element.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.masked_fill(paddle.to_tensor([1.0, 2.0, 3.0]), paddle.to_tensor([True, False, True]), 0.0).tolist()
        [0.0, 2.0, 0.0]
    """
    if mask._aval.dtype != BOOL:
        mask = cast_to(mask, BOOL)
    if isinstance(value, Tensor):
        if value._aval.size != 1:
            raise value_error("masked_fill", "value is a number or has one element", f"value: {value._aval}")
        value = reshape_to(cast_to_type(value, x._aval.dtype), ())
    else:
        value = _fill_number("masked_fill", x._aval.dtype, value)
    return choose_between(mask, value, x)


@op(
    scalars="nan posinf neginf",
    infer=same,
    grad={"x": lambda g, x: gate(g, isfinite(x), True)},
    name="nan_to_num",
)
def replace_nonfinite(xp: Any, x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    nan, posinf, neginf = (value.astype(x.dtype) for value in (nan, posinf, neginf))
    infinite = xp.where(x > 0, posinf, neginf)
    return xp.where(xp.isfinite(x), x, xp.where(xp.isnan(x), nan, infinite))


def _reference_nan_to_num(x: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@samples(
    S(A(values=[np.nan, np.inf, -np.inf, 1.0], grad=False)), S(A(2, 3)), S(A(0)),
    S(A(), 1.0, 2.0, 3.0),
    S(A(values=[np.nan, np.inf, -np.inf, 1.0], grad=False), nan=5.0, posinf=6.0, neginf=-7.0),
    reference=_reference_nan_to_num,
)  # fmt: skip
@public(method=True, inplace=True)
def nan_to_num(
    x: Tensor,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    name: str | None = None,
) -> Tensor:
    """NaN and infinities replaced by numbers.

    Args:
        x: the tensor.
        nan: what stands for NaN.
        posinf: what stands for infinity; the largest finite number of the type by default.
        neginf: what stands for minus infinity; the smallest finite number by default.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.nan_to_num(paddle.to_tensor([np.nan, np.inf, 1.0]), nan=0.0, posinf=9.0).tolist()
        [0.0, 9.0, 1.0]
    """
    dtype = x._aval.dtype
    if not is_floating(dtype):
        raise type_error("nan_to_num", "x must be floating", f"x: {x._aval}")
    limits = FInfo(dtype)
    return replace_nonfinite(
        x,
        float(nan),
        limits.max if posinf is None else float(posinf),
        limits.min if neginf is None else float(neginf),
    )


# ---- filling in place ----------------------------------------------------------------------------


@op(scalars="value", infer=same, grad={"x": lambda g: zero_slope(g)}, name="fill", amp="never")
def filled_like(xp: Any, x: Any, value: Any) -> Any:
    """A tensor like `x` that holds one value. It stays in the history of `x`: gradient 0."""
    return xp.full_like(x, value.astype(x.dtype))


def fill_(x: Tensor, value: Number) -> Tensor:
    """Sets every element to a number and returns the tensor.

    Args:
        x: the tensor.
        value: the number.

    Examples:
        >>> paddle.zeros([3]).fill_(2.5).tolist()
        [2.5, 2.5, 2.5]
    """
    value = _fill_number("fill_", x._aval.dtype, value)
    return assign_in_place(x, filled_like(x, value), "fill_")


def zero_(x: Tensor) -> Tensor:
    """Sets every element to 0 and returns the tensor.

    Examples:
        >>> paddle.ones([3]).zero_().tolist()
        [0.0, 0.0, 0.0]
    """
    return assign_in_place(x, filled_like(x, 0), "zero_")


attach(__name__, fill_=fill_)
attach(__name__, zero_=zero_)
