"""The parts of a floating number: sign bit, mantissa and exponent, the next number beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import FLOAT32, FLOAT64, is_differentiable
from ...core.errors import type_error
from ...core.namespaces import left_to_xla
from ...core.promotion import ARITHMETIC
from ...eager.declare import op, public
from ...eager.infer import broadcast, elementwise, same
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from ..basic import cast_to, full_of
from ..precision import broadcast_real, refuse, wide
from .arithmetic import zero_slope
from .comparison import less_than
from .powers import pow
from .unary import sign

# ---- copysign, signbit ---------------------------------------------------------------------------


def _reference_copysign(x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        return np.abs(x) * np.where(np.asarray(y) < 0, -1, 1)
    return np.copysign(x, y)


@samples(
    S(A(2, 3), A(3)), S(A(2, 1), A(1, 3)), S(A(0, 3), A(3)), S(A(), A()), S(A(3), -1.5), S(A(3), -2),
    S(A(values=[1.0, -2.0, 3.0], grad=False), A(values=[0.0, -0.0, -np.inf], grad=False)),
    S(A(4, dtype="int64", low=-9, high=9), A(4, dtype="int64", low=-9, high=9)),
    S(A(3, dtype="bfloat16", grad=False), A(3, dtype="bfloat16", grad=False)),
    reference=_reference_copysign,
)  # fmt: skip
@public(method=True, inplace=True)
@op(
    "x y",
    infer=broadcast_real,
    promote=ARITHMETIC,
    grad={"x": lambda g, x, out: g * (sign(x) * sign(out)), "y": lambda g: zero_slope(g)},
)
def copysign(xp: Any, x: Any, y: Any) -> Any:
    """The magnitude of `x` with the sign of `y`; a zero has a sign as well.

    Args:
        x: the magnitudes.
        y: the signs, a tensor or a number; the shapes broadcast.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.copysign(paddle.to_tensor([1.0, -2.0]), paddle.to_tensor([-0.0, 3.0])).tolist()
        [-1.0, 2.0]
    """
    if x.dtype.kind in "iub":
        # NumPy would go through floating numbers, which do not hold every integer.
        return xp.where((x < 0) != (y < 0), -x, x) if x.dtype.kind == "i" else xp.broadcast_arrays(x, y)[0]
    return xp.copysign(wide(x), wide(y)).astype(x.dtype, copy=False)


@samples(
    S(A(values=[-1.0, -0.0, 0.0, 2.0, -np.inf])), S(A(3, dtype="int32", low=-3)), S(A(0, 3)), S(A()),
    S(A(3, dtype="uint8")), S(A(3, dtype="bfloat16", grad=False)),
    reference=np.signbit,
)  # fmt: skip
@public(method=True)
def signbit(x: Tensor, name: str | None = None) -> Tensor:
    """Whether the sign bit of each element is set: true for negative numbers and for -0.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.signbit(paddle.to_tensor([-1.0, -0.0, 0.0, 2.0])).tolist()
        [True, True, False, False]
    """
    aval = require_tensor("signbit", "x", x)._aval
    if aval.dtype.kind in "bc":
        raise type_error("signbit", "x must be real numbers", f"x: {aval}", "convert with astype()")
    if is_differentiable(aval.dtype):
        x = copysign(full_of(1.0, aval.shape, aval.dtype), x)
    return less_than(x, 0)


# ---- mantissa and exponent -----------------------------------------------------------------------


@elementwise
def _infer_parts(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Any, ...]:
    aval = operands[0]
    if aval.dtype not in (FLOAT32, FLOAT64):
        raise operation.error(TypeError, "x must be float32 or float64", operands, fix="convert with astype()")
    return aval, aval


def _slope_of_mantissa(g0: Tensor | None, out1: Tensor) -> Tensor | None:
    return None if g0 is None else g0 * pow(2.0, out1 * -1.0)


@op(infer=_infer_parts, outputs=2, grad={"x": _slope_of_mantissa}, differentiable_outputs=(0,), name="frexp")
def mantissa_and_exponent(xp: Any, x: Any) -> tuple[Any, Any]:
    mantissa, exponent = np.frexp(x)
    exponent = np.where(np.isinf(x), 1, exponent).astype(x.dtype, copy=False)
    return mantissa, np.where(x != x, x, exponent)


def _mantissa_and_exponent_xla(xp: Any, x: Any) -> tuple[Any, Any]:
    # XLA on a CPU takes subnormal numbers for zero: bits are taken apart as integers instead.
    from jax import lax

    bits, fraction_bits, bias = (np.int32, 23, 126) if x.dtype == FLOAT32 else (np.int64, 52, 1022)
    word = lax.bitcast_convert_type(x, bits)
    fraction_mask, exponent_mask = (1 << fraction_bits) - 1, (1 << (x.dtype.itemsize * 8 - 1 - fraction_bits)) - 1
    fraction, biased = word & fraction_mask, (word >> fraction_bits) & exponent_mask
    sign_bit = word & np.iinfo(bits).min
    # A subnormal number: the leading one of its fraction moves to where a normal number has it.
    lead = fraction_bits + 1 - (x.dtype.itemsize * 8 - lax.clz(fraction))
    is_small = (biased == 0) & (fraction != 0)
    fraction = xp.where(is_small, (fraction << xp.where(is_small, lead, 0)) & fraction_mask, fraction)
    biased = xp.where(is_small, 1 - lead, biased)
    is_special = (word & ~np.iinfo(bits).min == 0) | (biased == exponent_mask)
    mantissa = xp.where(is_special, word, sign_bit | (bits(bias) << fraction_bits) | fraction)
    exponent = xp.where(is_special, biased == exponent_mask, biased - bias).astype(x.dtype, copy=False)
    is_nan = (biased == exponent_mask) & (fraction != 0)
    return lax.bitcast_convert_type(mantissa, x.dtype), xp.where(is_nan, x.dtype.type(np.nan), exponent)


mantissa_and_exponent.operation.kernels["xla"] = _mantissa_and_exponent_xla
mantissa_and_exponent.operation.kernels["cupy"] = left_to_xla


def _reference_frexp(x: Any) -> Any:
    mantissa, exponent = np.frexp(x)
    return mantissa, np.where(np.isinf(x), 1, exponent).astype(x.dtype, copy=False)


@samples(
    S(A(2, 3)), S(A(values=[1.0, 2.0, -5.0, 0.0, 0.3, 3e38, 1e-40], grad=False)), S(A(0, 3)), S(A()),
    S(A(values=[np.inf, -np.inf, -0.0, 1e308, 5e-324], dtype="float64", grad=False)),
    reference=_reference_frexp,
)  # fmt: skip
@public(method=True)
def frexp(x: Tensor, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Mantissa and exponent of each element, so that `x = mantissa * 2 ** exponent`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Returns:
        The mantissa, whose magnitude is at least 0.5 and below 1 (0 for 0), and the exponent, both floating tensors.

    Examples:
        >>> mantissa, exponent = paddle.frexp(paddle.to_tensor([8.0, 0.75]))
        >>> mantissa.tolist(), exponent.tolist()
        ([0.5, 0.75], [4.0, 0.0])
    """
    return mantissa_and_exponent(require_tensor("frexp", "x", x))


def _reference_ldexp(x: Any, y: Any) -> Any:
    kind = x.dtype if x.dtype.kind == "f" else np.float32
    return (x.astype("float64") * np.exp2(np.asarray(y, "float64"))).astype(kind)


@samples(
    S(A(2, 3), A(3, dtype="int32", low=-3, high=4)), S(A(3, dtype="int64"), A(3, dtype="int64")),
    S(A(2), A(2)), S(A(0, 3), A(3, dtype="int32")), S(A(dtype="float64"), A(dtype="int64")),
    reference=_reference_ldexp,
)  # fmt: skip
@public(method=True, inplace=True)
def ldexp(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`x * 2 ** y`, element by element.

    Args:
        x: the factors.
        y: the exponents; the shapes broadcast.
        name: a label; it changes nothing.

    Returns:
        float64 if one of them is, else float32.

    Examples:
        >>> paddle.ldexp(paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([2, 3])).tolist()
        [4.0, 24.0]
    """
    x, y = require_tensor("ldexp", "x", x), require_tensor("ldexp", "y", y)
    if y._aval.dtype == FLOAT64 or not is_differentiable(x._aval.dtype) or x._aval.dtype.itemsize <= 2:
        x = cast_to(x, FLOAT64 if y._aval.dtype == FLOAT64 else FLOAT32)
    if y._aval.dtype != x._aval.dtype:
        y = cast_to(y, x._aval.dtype)
    return x * power_of_two(y)


def _slope_of_power(g: Tensor, out: Tensor) -> Tensor:
    return g * out * float(np.log(2.0))


@op(infer=same, grad={"x": _slope_of_power})
def power_of_two(xp: Any, x: Any) -> Any:
    """`2 ** x`, exact for whole `x`."""
    return xp.exp2(wide(x))


def _power_of_two_xla(xp: Any, x: Any) -> Any:
    # XLA computes exp(x * log 2): exact for no whole number but zero.
    x = wide(x)
    whole = xp.floor(x)
    return xp.ldexp(xp.exp2(x - whole), xp.clip(whole, -20000, 20000).astype(np.int32))


power_of_two.operation.kernels["xla"] = _power_of_two_xla


# ---- nextafter -----------------------------------------------------------------------------------


@elementwise
def _infer_next(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Any:
    result = broadcast(operation, operands, attributes, place)
    refuse(operation, operands, "biuc", "is for floating types", "convert with astype('float32')")
    return result


@samples(
    S(A(2, 3), A(3)), S(A(values=[1.0, 2.0]), A(values=[2.0, 1.0])), S(A(0, 3), A(3)), S(A(), A()),
    S(A(3, dtype="float64"), A(3, dtype="float64")),
    reference=np.nextafter, tolerance=0.0,
    gradient=False, why="the next number has no derivative: Paddle gives no gradient either",
)  # fmt: skip
@public(method=True)
@op("x y", infer=_infer_next, promote=True)
def nextafter(xp: Any, x: Any, y: Any) -> Any:
    """The floating number next to `x` in the direction of `y`.

    Args:
        x: where to start.
        y: the direction; the shapes broadcast.
        name: a label; it changes nothing.

    Examples:
        >>> step = paddle.nextafter(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])) - 1.0
        >>> step.item() == float(np.finfo("float32").eps)
        True
    """
    return xp.nextafter(x, y)
