"""Elementwise arithmetic on two operands: sums, products, quotients, remainders, scale.

The first section holds the small primitives that gradient rules here and in the neighbouring files
are made of. A Python number beside a tensor is a dynamic scalar: `x * rate` never recompiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import FLOAT32, INT64
from ...core.errors import message, type_error, value_error
from ...core.promotion import ARITHMETIC, FLOOR_DIVISION, TRUE_DIVISION
from ...core.symbols import is_symbolic
from ...eager import series
from ...eager.annotations import Number, TensorLike
from ...eager.calling import deliver
from ...eager.declare import PUBLIC, attach_operator, in_place_form, op, public
from ...eager.dispatch import as_operand, promote
from ...eager.infer import broadcast, broadcast_shapes, elementwise, same
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ...ir.operation import Check
from ...ir.padding import rules
from ...kernels.gpu.cold import arithmetic as cold
from ..basic import cast_to
from ..precision import broadcast_numbers, number, wide

# ---- what gradient rules are made of -------------------------------------------------------------


def conjugate(x: Any) -> Any:
    """The complex conjugate of a tensor or Python number; what is real as it is."""
    if isinstance(x, Tensor):
        return conj(x) if x._aval.dtype.kind == "c" else x
    return x.conjugate()


@op(
    scalars="factor",
    infer=same,
    grad={"x": lambda g, factor: times(g, conjugate(factor))},
    series=series.algebra.linear("x"),
)
def times(xp: Any, x: Any, factor: Any) -> Any:
    """`x * factor` for a Python number, without promotion: the cheapest way to say so."""
    return xp.multiply(x, factor.astype(x.dtype))


@op("x mask", infer=same, grad={"x": lambda g, mask, keep: gate(g, mask, keep)}, series=series.algebra.linear("x"))
def gate(xp: Any, x: Any, mask: Any, keep: bool) -> Any:
    """`x` where the boolean `mask` is `keep`, zero elsewhere (also where `x` is NaN there)."""
    zero = x.dtype.type(0)
    return xp.where(mask, x, zero) if keep else xp.where(mask, zero, x)


@op(infer=same, grad={"x": lambda g: zero_slope(g)}, series=series.algebra.steps)
def zero_slope(xp: Any, x: Any) -> Any:
    """Zeros: the gradient of a step function, which is a gradient all the same."""
    return xp.zeros_like(x)


def product(g: Tensor, factor: Any) -> Tensor:
    """`g * conj(factor)` for a tensor or a Python number."""
    if not isinstance(factor, Tensor):
        return times(g, factor.conjugate())
    return multiply(g, conj(factor) if factor._aval.dtype.kind == "c" else factor)


def quotient(g: Tensor, divisor: Any) -> Tensor:
    """`g / conj(divisor)` for a tensor or a Python number."""
    if isinstance(divisor, Tensor) or (not is_symbolic(divisor) and divisor == 0):
        return over(g, conjugate(divisor))
    return times(g, 1 / conjugate(divisor))


@samples(
    S(A(2, 3)), S(A(2, dtype="complex128")), S(A(0)), S(A(dtype="complex128")),
    reference=np.conj,
)  # fmt: skip
@public(method=True)
@op(infer=same, grad={"x": lambda g: conjugate(g)}, series=series.algebra.linear("x"))
def conj(xp: Any, x: Any) -> Any:
    """The complex conjugate of each element; real numbers stay as they are.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.conj(paddle.to_tensor([1 + 2j])).tolist()
        [(1-2j)]
    """
    return xp.conj(x)


def scale_or(operator: str) -> Callable[..., str]:
    """Paddle's name of a sum or product: its `x + 1.0` is the operator `scale`."""

    def name(kinds: Sequence[Any], attributes: tuple[Any, ...]) -> str:
        return "scale" if any(isinstance(kind, type) for kind in kinds) else operator

    return name


# ---- add, subtract, multiply, divide -------------------------------------------------------------
# The operators go straight to the primitives; `paddle.add` and its like have options on top.


@public(operator="+", name="add")
@op(
    "x y",
    infer=broadcast,
    promote=ARITHMETIC,
    grad={"x": lambda g: g, "y": lambda g: g},
    name="add",
    paddle_name=scale_or("elementwise_add"),
    commutative=True,
    series=series.algebra.addition,
)
def plus(xp: Any, x: Any, y: Any) -> Any:
    return xp.add(x, y)


plus.operation.kernels["cupy"] = cold.binary("+")(plus.operation.kernel)


@samples(
    S(A(2, 3), A(3)), S(A(2, 1), A(1, 3)), S(A(0, 3), A(3)), S(A(), A()), S(A(3), 1.5), S(2, A(3)),
    S(A(3, dtype="int64"), A(3, dtype="int64")), S(A(2, dtype="bool"), A(2, dtype="bool")),
    S(A(3, dtype="bfloat16", grad=False), A(3, dtype="bfloat16", grad=False)),
    S(A(2, dtype="complex128"), A(2)),
    S(A(2), A(2), alpha=-3.0),
    reference=lambda x, y, alpha=1: np.add(x, y * alpha if alpha != 1 else y),
)  # fmt: skip
@public(method=True, inplace=True)
def add(
    x: Tensor, y: Tensor | complex, name: str | None = None, *, alpha: Number = 1, out: Tensor | None = None
) -> Tensor:
    """`x + alpha * y`, element by element.

    Args:
        x: the first term.
        y: the second, a tensor or a number; its shape broadcasts with that of `x`.
        name: a label; it changes nothing.
        alpha: a number that `y` is multiplied by first.
        out: a tensor that takes the result.

    Returns:
        A tensor of the broadcast shape, in the dtype that both promote to.

    Raises:
        ValueError: the shapes do not broadcast.

    Examples:
        >>> paddle.add(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
        [4.0, 6.0]

        >>> paddle.add(paddle.ones([2, 1]), paddle.ones([3])).shape
        paddle.Size([2, 3])
    """
    return deliver(plus(x, y if alpha == 1 else y * alpha), out)


@public(operator="-", name="subtract")
@op(
    "x y",
    infer=broadcast_numbers,
    promote=ARITHMETIC,
    grad={"x": lambda g: g, "y": lambda g: times(g, -1.0)},
    name="subtract",
    paddle_name=scale_or("elementwise_sub"),
    series=series.algebra.difference,
)
def minus(xp: Any, x: Any, y: Any) -> Any:
    return xp.subtract(x, y)


minus.operation.kernels["cupy"] = cold.binary("-")(minus.operation.kernel)


@samples(
    S(A(2, 3), A(3)), S(A(0, 3), A(3)), S(A(), A(2)), S(A(3), 1.5), S(2.0, A(3)),
    S(A(2), A(2), alpha=2), S(A(3, dtype="int32"), 1), S(A(3, dtype="uint8"), A(3, dtype="uint8")),
    reference=lambda x, y, alpha=1: np.subtract(x, y * alpha if alpha != 1 else y),
)  # fmt: skip
@public(method=True, inplace=True)
def subtract(
    x: Tensor, y: Tensor | complex, name: str | None = None, *, alpha: Number = 1, out: Tensor | None = None
) -> Tensor:
    """`x - alpha * y`, element by element.

    Args:
        x: what is subtracted from.
        y: what is subtracted, a tensor or a number; its shape broadcasts with that of `x`.
        name: a label; it changes nothing.
        alpha: a number that `y` is multiplied by first.
        out: a tensor that takes the result.

    Returns:
        A tensor of the broadcast shape, in the dtype that both promote to.

    Raises:
        ValueError: the shapes do not broadcast.

    Examples:
        >>> paddle.subtract(paddle.to_tensor([5.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
        [2.0, -2.0]

        >>> paddle.subtract(paddle.to_tensor([5.0]), paddle.to_tensor([3.0]), alpha=2).tolist()
        [-1.0]
    """
    return deliver(minus(x, y if alpha == 1 else y * alpha), out)


public(method=True, inplace=True, name="sub")(subtract)


@samples(
    S(A(2, 3), A(3)), S(A(2, 1), A(1, 3)), S(A(0, 3), A(3)), S(A(), A()), S(A(3), 1.5), S(2, A(3)),
    S(A(3, dtype="int64"), A(3, dtype="int64")), S(A(2, dtype="bool"), A(2, dtype="bool")),
    S(A(2, dtype="complex128"), A(2, dtype="complex128")), S(A(2, dtype="complex128"), A(2)),
    reference=np.multiply,
)  # fmt: skip
@public(method=True, operator="*", inplace=True, out=True)
@op(
    "x y",
    infer=broadcast,
    promote=ARITHMETIC,
    grad={"x": lambda g, y: product(g, y), "y": lambda g, x: product(g, x)},
    paddle_name=scale_or("elementwise_mul"),
    commutative=True,
    series=series.algebra.multiply,
)
def multiply(xp: Any, x: Any, y: Any) -> Any:
    """`x * y`, element by element.

    Args:
        x: the first factor.
        y: the second, a tensor or a number; its shape broadcasts with that of `x`.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        A tensor of the broadcast shape, in the dtype that both promote to.

    Raises:
        ValueError: the shapes do not broadcast.

    Examples:
        >>> paddle.multiply(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).tolist()
        [3.0, 8.0]
    """
    return xp.multiply(x, y)


multiply.operation.kernels["cupy"] = cold.binary("*")(multiply.operation.kernel)
public(method=True, inplace=True, out=True, name="mul")(multiply)


@elementwise
def _infer_divide(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    result = broadcast(operation, operands, attributes, place)
    return result.with_dtype(FLOAT32) if result.dtype.kind in "biu" else result


def _slope_in_divisor(g: Tensor, y: Tensor, out: Tensor) -> Tensor:
    return times(product(g, over(out, y)), -1.0)


@public(operator="/", name="divide")
@op(
    "x y",
    infer=_infer_divide,
    promote=TRUE_DIVISION,
    grad={"x": lambda g, y: quotient(g, y), "y": _slope_in_divisor},
    name="divide",
    paddle_name="elementwise_div",
    series=series.algebra.divide,
)
def over(xp: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind in "biu":
        x, y = x.astype(FLOAT32), y.astype(FLOAT32)
    return xp.divide(x, y)


over.operation.kernels["cupy"] = cold.binary("/")(over.operation.kernel)


def _reference_divide(x: Any, y: Any, rounding_mode: Any = None) -> Any:
    exact = np.asarray(np.divide(x, y))
    if rounding_mode is None:
        whole = all(np.asarray(value).dtype.kind in "biu" for value in (x, y))
        return exact.astype("float32") if whole else exact
    rounded = np.trunc(exact) if rounding_mode == "trunc" else np.floor(exact)
    return rounded.astype(np.asarray(x).dtype)


@samples(
    S(A(2, 3), A(3, low=0.5)), S(A(0, 3), A(3)), S(A(), A(low=1.0)), S(A(3), 1.5),
    S(2.0, A(3, low=0.5)), S(A(3, dtype="int64"), A(3, dtype="int64", low=1, high=5)),
    S(A(3, dtype="int32"), 4), S(A(2, dtype="complex128"), A(2, dtype="complex128", low=1)),
    S(A(4), 0.7, rounding_mode="floor"),
    S(A(4, dtype="int64", low=-9, high=9), A(4, dtype="int64", low=2), rounding_mode="trunc"),
    reference=_reference_divide,
)  # fmt: skip
@public(method=True, inplace=True)
def divide(
    x: Tensor,
    y: Tensor | complex,
    name: str | None = None,
    *,
    rounding_mode: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """`x / y`, element by element.

    Args:
        x: what is divided.
        y: what it is divided by, a tensor or a number; its shape broadcasts with that of `x`.
        name: a label; it changes nothing.
        rounding_mode: None for the exact quotient, "trunc" to round it towards zero, "floor" to round it down.
        out: a tensor that takes the result.

    Returns:
        A tensor of the broadcast shape. Integers give float32 unless the quotient is rounded.

    Raises:
        ValueError: the shapes do not broadcast, or there is no such rounding.

    Examples:
        >>> paddle.divide(paddle.to_tensor([1.0, -7.0]), paddle.to_tensor([4.0, 2.0])).tolist()
        [0.25, -3.5]

        >>> paddle.divide(paddle.to_tensor([-7]), paddle.to_tensor([2]), rounding_mode="floor").tolist()
        [-4]
    """
    if rounding_mode is None:
        return deliver(over(x, y), out)
    if rounding_mode == "floor":
        return deliver(floor_divide(x, y), out)
    if rounding_mode == "trunc":
        return deliver(_truncating_divide(x, y), out)
    raise value_error("divide", "rounding_mode is None, 'trunc' or 'floor'", f"rounding_mode: {rounding_mode!r}")


public(method=True, inplace=True, name="div")(divide)


@samples(
    S(A(3), A(3, low=1)),
    S(A(2, dtype="int64"), 4),
    S(A(0), A(1)),
    reference=_reference_divide,
)
@public(method=True)
def true_divide(input: Tensor, other: Tensor | complex, *, out: Tensor | None = None) -> Tensor:
    """`input / other`, element by element; integers give float32.

    Args:
        input: what is divided.
        other: what it is divided by; its shape broadcasts with that of `input`.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.true_divide(paddle.to_tensor([1, 7]), paddle.to_tensor([4, 2])).tolist()
        [0.25, 3.5]
    """
    return deliver(over(input, other), out)


# ---- floor_divide, remainder ---------------------------------------------------------------------


def _no_zero(xp: Any, _x: Any, y: Any) -> Any:
    return (y != 0).all()


_DIVISOR_CHECK = Check(
    _no_zero,
    lambda kinds, attributes: "integer division by zero",
    ZeroDivisionError,
    (1,),
)


@op("x y", infer=broadcast_numbers, promote=FLOOR_DIVISION, name="floor_divide", paddle_name="elementwise_floordiv")
def _floor_quotient(xp: Any, x: Any, y: Any) -> Any:
    return xp.floor_divide(x, y)


def _floor_quotient_xla(xp: Any, x: Any, y: Any) -> Any:
    """As NumPy has it: the quotient of what the remainder leaves; `x / 0` as in true division."""
    if x.dtype.kind in "iu":
        return xp.floor_divide(x, y)
    x, y = wide(x), wide(y)
    rest = xp.fmod(x, y)
    exact = (x - rest) / y
    exact = xp.where((rest != 0) & ((rest < 0) != (y < 0)), exact - 1, exact)
    floored = xp.floor(exact)
    floored = xp.where(exact - floored > 0.5, floored + 1, floored)
    return xp.where(y == 0, x / y, xp.where(exact == 0, xp.copysign(0, x / y), floored))


@op("x y", infer=broadcast_numbers, check=_DIVISOR_CHECK, name="floor_divide_integers", padding=rules.untouched.checked)
def _floor_quotient_of_integers(xp: Any, x: Any, y: Any) -> Any:
    return xp.floor_divide(x, y)


@op(
    "x y",
    infer=broadcast_numbers,
    promote=ARITHMETIC,
    grad={"x": lambda g: g, "y": lambda g, x, y: times(g * floor_divide(x, y), -1.0)},
    name="remainder",
    paddle_name="elementwise_mod",
    series=series.functions.remainder,
)
def _rest(xp: Any, x: Any, y: Any) -> Any:
    return xp.remainder(x, y)


def _rest_xla(xp: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        return xp.remainder(x, y)
    x, y = wide(x), wide(y)
    rest = xp.fmod(x, y)
    moved = xp.where((rest < 0) != (y < 0), rest + y, rest)
    return xp.where(rest == 0, xp.copysign(0, y), moved)


@op("x y", infer=broadcast_numbers, check=_DIVISOR_CHECK, name="remainder_of_integers", padding=rules.untouched.checked)
def _rest_of_integers(xp: Any, x: Any, y: Any) -> Any:
    return xp.remainder(x, y)


_floor_quotient.operation.kernels["xla"] = _floor_quotient_xla
_floor_quotient.operation.kernels["cupy"] = _floor_quotient_xla
_rest.operation.kernels["xla"] = _rest_xla


def _is_complex(y: Any) -> bool:
    return y._aval.dtype.kind == "c" if isinstance(y, Tensor) else y.__class__ is complex


def _divide_whole(plain: Any, checked: Any, x: Any, y: Any) -> Tensor:
    """Integer division by a tensor is checked for zeros when it runs; by a number here and now."""
    if isinstance(x, Tensor) and x._aval.dtype.kind not in "biu":
        if x._aval.dtype.kind == "c" or _is_complex(y):
            raise type_error(
                plain.operation.name, "complex numbers cannot be rounded down", f"x: {x._aval}", "take real()"
            )
        return plain(x, y)
    if _is_complex(y):
        raise type_error(plain.operation.name, "complex numbers cannot be rounded down", f"y: {y}", "take real()")
    operation = plain.operation
    x, y = promote(operation, [as_operand(operation.name, n, v) for n, v in (("x", x), ("y", y))])
    dtype = (x if isinstance(x, Tensor) else y)._aval.dtype
    if dtype.kind not in "iu":
        return plain(x, y)
    if isinstance(y, Tensor):
        return checked(x if isinstance(x, Tensor) else tensor_from_data(np.asarray(x, dtype), place=y._aval.place), y)
    if y == 0:
        raise ZeroDivisionError(message(operation.name, "integer division by zero", f"x: {x._aval}, y: {y}"))
    return plain(x, y)


@samples(
    S(A(2, 3, low=-9, high=9), A(3, low=1)), S(A(0, 3), A(3)), S(A(low=-9), 2.0),
    S(7.0, A(3, low=-3, high=-1)),
    S(A(6, dtype="int64", low=-9, high=9), A(6, dtype="int64", low=1, high=4)),
    S(A(5, dtype="int32", low=-9), -2),
    S(A(values=[1.0, 0.0, -1.0]), 0.0), S(A(values=[5.5, -5.5, np.inf]), A(values=[np.inf] * 3)),
    S(A(4, dtype="uint8", high=200), 3),
    reference=np.floor_divide,
)  # fmt: skip
@public(method=True)
def floor_divide(
    x: Tensor | complex, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The quotient rounded down.

    A tensor of narrow integers divided by a Python integer becomes int64 here, and keeps its type in `x // y`.

    Args:
        x: what is divided.
        y: what it is divided by; its shape broadcasts with that of `x`.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Raises:
        ZeroDivisionError: there is a zero among integer divisors.

    Examples:
        >>> paddle.floor_divide(paddle.to_tensor([7, -7]), paddle.to_tensor([2, 2])).tolist()
        [3, -4]
    """
    if isinstance(x, Tensor) and x._aval.dtype.kind in "iu" and y.__class__ is int:
        x = cast_to(x, INT64) if x._aval.dtype != INT64 else x
    return deliver(_floor_divide(x, y), out)


def _floor_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """The quotient rounded down, as `x // y` gives it.

    Args:
        x: what is divided.
        y: what it is divided by; its shape broadcasts with that of `x`.

    Raises:
        ZeroDivisionError: there is a zero among integer divisors.

    Examples:
        >>> paddle.floor_divide_(paddle.to_tensor([7, -7]), paddle.to_tensor([2, 2])).tolist()
        [3, -4]
    """
    return _divide_whole(_floor_quotient, _floor_quotient_of_integers, x, y)


attach_operator(_floor_divide, "//")
floor_divide_ = in_place_form(_floor_divide, "floor_divide_")
public(method=True)(floor_divide_)


@samples(
    S(A(2, 3, low=-9, high=9), A(3, low=1.1)), S(A(0, 3), A(3)), S(A(low=-9), 2.0),
    S(7.0, A(3, low=-3, high=-1)),
    S(A(6, dtype="int64", low=-9, high=9), A(6, dtype="int64", low=1, high=4)),
    S(A(5, dtype="int32", low=-9), -2),
    S(A(values=[1.0, -0.0], grad=False), 0.0), S(A(values=[5.5, np.inf], grad=False), -np.inf),
    reference=np.remainder,
)  # fmt: skip
@public(method=True, inplace=True)
def remainder(
    x: Tensor | complex, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """What a division that rounds down leaves; it has the sign of `y`.

    A whole number given as a float counts as an integer beside integers (not so in `x % y`).

    Args:
        x: what is divided.
        y: what it is divided by; its shape broadcasts with that of `x`.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Raises:
        ZeroDivisionError: there is a zero among integer divisors.

    Examples:
        >>> paddle.remainder(paddle.to_tensor([7.0, -7.0]), paddle.to_tensor([4.0, 4.0])).tolist()
        [3.0, 1.0]
    """
    if type(y) is float and y.is_integer() and isinstance(x, Tensor) and x._aval.dtype.kind in "iu":
        y = int(y)
    return deliver(_remainder(x, y), out)


def _remainder(x: Any, y: Any) -> Tensor:
    return _divide_whole(_rest, _rest_of_integers, x, y)


attach_operator(_remainder, "%")


public(method=True, inplace=True, name="mod")(remainder)
public(method=True, inplace=True, name="floor_mod")(remainder)


@op("quotient rest", infer=broadcast)
def rounded_towards_zero(xp: Any, quotient: Any, rest: Any) -> Any:
    """A quotient that was rounded down and left `rest`, as rounding towards zero has it."""
    return xp.where((rest != 0) & (quotient < 0), quotient + quotient.dtype.type(1), quotient)


def _truncating_divide(x: Any, y: Any) -> Tensor:
    return rounded_towards_zero(floor_divide(x, y), remainder(x, y))


# ---- scale ---------------------------------------------------------------------------------------


@op(
    scalars="scale bias",
    infer=number,
    grad={"x": lambda g, scale: times(g, scale)},
    name="scale",
    series=series.algebra.affine,
)
def affine(xp: Any, x: Any, scale: Any, bias: Any, bias_after_scale: bool) -> Any:
    scale, bias = scale.astype(x.dtype), bias.astype(x.dtype, copy=False)
    return x * scale + bias if bias_after_scale else (x + bias) * scale


def _reference_scale(x: Any, scale: Any = 1.0, bias: Any = 0.0, bias_after_scale: bool = True, act: Any = None) -> Any:
    scale, bias = np.asarray(scale).astype(x.dtype), np.asarray(bias).astype(x.dtype, copy=False)
    result = x * scale + bias if bias_after_scale else (x + bias) * scale
    return np.tanh(result) if act == "tanh" else result


@samples(
    S(A(2, 3), 2.0, 1.0), S(A(3), scale=2.0, bias=1.0, bias_after_scale=False), S(A(0, 3)),
    S(A(), -1.5), S(A(3, dtype="int64"), 2.5, 1), S(A(3), A(), 0.5), S(A(3), 0.5, act="tanh"),
    reference=_reference_scale,
)  # fmt: skip
@public(method=True, inplace=True)
def scale(
    x: Tensor,
    scale: Number = 1.0,
    bias: Number = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Tensor:
    """`x * scale + bias`, or `(x + bias) * scale`; an integer tensor stays one.

    Args:
        x: the tensor.
        scale: the factor, a number or a tensor with one element.
        bias: the number that is added.
        bias_after_scale: whether to multiply first.
        act: the name of an activation that is applied to the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.scale(paddle.to_tensor([1.0, 2.0]), scale=3.0, bias=1.0).tolist()
        [4.0, 7.0]

        >>> paddle.scale(paddle.to_tensor([1.0, 2.0]), scale=3.0, bias=1.0, bias_after_scale=False).tolist()
        [6.0, 9.0]
    """
    if isinstance(scale, Tensor) or isinstance(bias, Tensor):
        result = x * scale + bias if bias_after_scale else (x + bias) * scale
    else:
        result = affine(x, scale, bias, bool(bias_after_scale))
    if act is None:
        return result
    activation = PUBLIC.get(f"nn.functional.{act}")
    if activation is None:
        raise value_error("scale", "act must name an activation function", f"act: {act!r}")
    return activation(result)


@elementwise
def _infer_quotient(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    x, y = operands
    return x.with_shape(broadcast_shapes(operation, operands, [x.shape, y.shape]))


@op(
    "x y",
    infer=_infer_quotient,
    grad={
        "x": lambda g, y: divide_or_zero(g, conjugate(y)),
        "y": lambda g, out, y: divide_or_zero(g * conjugate(out), conjugate(y)) * -1.0,
    },
)
def divide_or_zero(xp: Any, x: Any, y: Any) -> Any:
    """`x / y`, and 0 where `y` is 0: the direction of a vector without length, what equal eigenvalues contribute."""
    return xp.where(y == 0, x.dtype.type(0), x / xp.where(y == 0, y.dtype.type(1), y))
