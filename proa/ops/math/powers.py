"""pow: integer exponents that are part of the program, all others as data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import BOOL, INT64
from ...core.errors import value_error
from ...core.namespaces import can_write
from ...core.promotion import ARITHMETIC
from ...eager import series
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.infer import broadcast, same
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..basic import cast_to
from ..precision import broadcast_numbers, number, wide
from .arithmetic import conjugate, gate, product, quotient, times, zero_slope

_LARGEST_STATIC_EXPONENT = 8


@op(infer=same, grad={"x": lambda g, factor: fixed(g, factor, 0.0)}, paddle_name="scale", series=series.algebra.fixed)
def fixed(xp: Any, x: Any, factor: float, shift: float) -> Any:
    """`x * factor + shift` with numbers that belong to a rule, not to the user.

    They are part of the program: XLA folds them, and finds equal terms in derivatives of high order.
    """
    kind = x.dtype.type
    result = x if factor == 1 else x * kind(factor)
    return result + kind(shift) if shift else xp.positive(result)


def _slope_of_integer_power(g: Tensor, x: Tensor, exponent: int) -> Tensor:
    if exponent == 0:
        return zero_slope(g)
    if exponent == 1:
        return g
    power = x if exponent == 2 else integer_power(x, exponent - 1)
    return product(fixed(g, float(exponent), 0.0), power)


@op(infer=number, grad={"x": _slope_of_integer_power}, paddle_name="pow", series=series.algebra.integer_power)
def integer_power(xp: Any, x: Any, exponent: int) -> Any:
    """A small integer power by multiplication: exact, and much faster than a general power."""
    if exponent == 0:
        return xp.ones_like(x)
    remaining = -exponent if exponent < 0 else exponent
    square = x
    result = xp.ones_like(x) if remaining & 1 == 0 else x
    started = bool(remaining & 1)
    while remaining := remaining >> 1:
        square = square * square
        if remaining & 1:
            result = result * square if started else square
            started = True
    if exponent < 0:
        return 1 / result
    return xp.positive(x) if exponent == 1 else result


def _integer_to_integer(xp: Any, x: Any, y: Any) -> Any:
    """Integer powers; a negative exponent gives the true value cut to an integer (0 for base 0)."""
    if x.dtype.kind == "u":
        return _wrapping_power(xp, x, y)
    inverse = xp.where(x == -1, 1 - 2 * (y & 1), xp.where(x == 1, x, 0))
    return xp.where(y < 0, inverse, _wrapping_power(xp, x, xp.maximum(y, 0)))


def _wrapping_power(xp: Any, x: Any, y: Any) -> Any:
    """A power that keeps the lowest bits on overflow, as NumPy has it."""
    if can_write(xp):
        return xp.power(x, y)
    from jax import lax

    def halve(state: Any) -> Any:  # jnp.power looks at six bits of the exponent only
        result, square, left = state
        return xp.where(left & 1 == 1, result * square, result), square * square, left >> 1

    x, y = xp.broadcast_arrays(x, y)
    return lax.while_loop(lambda state: (state[2] > 0).any(), halve, (xp.ones_like(x), x, y))[0]


def _slope_of_log(g: Tensor, x: Tensor) -> Tensor:
    return gate(quotient(g, x), cast_to(x, BOOL), True)


@op("x y", infer=broadcast, promote=True, grad={"x": _slope_of_log})
def log_of_base(xp: Any, x: Any, y: Any) -> Any:
    """`log(x)`, but 0 for a base of 0 with an exponent not below 0: there the derivative in `y` is 0."""
    at_zero = (x == 0) & (xp.real(y) >= 0)
    return xp.where(at_zero, 0, xp.log(xp.where(at_zero, 1, wide(x))))


@op(infer=same, grad={"x": lambda g: g})
def exponent_below(xp: Any, x: Any) -> Any:
    """`x - 1`, but 1 for 0: `y * x ** (y - 1)` is 0 at exponent 0, also for a base of 0."""
    return xp.where(x == 0, xp.ones_like(x), x - x.dtype.type(1))


def _slope_in_base(g: Tensor, x: Any, y: Any) -> Tensor:
    if isinstance(y, Tensor):
        return product(g, y * power(x, exponent_below(y)))
    return product(times(g, conjugate(y)), power(x, y - 1)) if y != 0 else zero_slope(g)


def _slope_in_exponent(g: Tensor, x: Any, y: Tensor, out: Tensor) -> Tensor:
    return product(g, out * log_of_base(x, y))


@op(
    "x y",
    infer=broadcast_numbers,
    promote=ARITHMETIC,
    grad={"x": _slope_in_base, "y": _slope_in_exponent},
    name="pow",
    paddle_name=lambda kinds, attributes: "pow" if isinstance(kinds[1], type) else "elementwise_pow",
    series=series.algebra.power,
)
def power(xp: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        return _integer_to_integer(xp, x, y)
    return xp.power(wide(x), wide(y))


def _reference_pow(x: Any, y: Any) -> Any:
    if isinstance(y, float) and x.dtype.kind in "iu":
        x = x.astype("float32")
    return np.power(x, y)


@samples(
    S(A(2, 3, low=0.5), A(3)), S(A(0, 3), 2), S(A(), 2), S(A(4), 3), S(A(4, low=0.5), -2),
    S(A(4), 0), S(A(4), 1), S(A(4, low=0.5), 0.7), S(A(4, low=0.5), 11), S(2.0, A(4)),
    S(A(4, dtype="int64"), 2), S(A(3, dtype="int32"), 2.5),
    S(A(3, dtype="int64", low=-4, high=5), A(3, dtype="int64", low=0, high=9)),
    S(A(3, dtype="complex128"), 2), S(A(3, dtype="complex128"), A(3, dtype="complex128")),
    reference=_reference_pow, tolerance=1e-4,
)  # fmt: skip
@public(method=True, operator="**", inplace=True, aliases="y=exponent")
def pow(x: Tensor | complex, y: Tensor | complex, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """`x` to the power `y`, element by element.

    A small Python integer as exponent is part of the program (`x ** 2` is `x * x`); any other exponent is data. Negative
    exponents in an integer tensor give results cut to integers.

    Args:
        x: the base, a tensor or a number.
        y: the exponent, a tensor or a number; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Raises:
        ValueError: integers are raised to a negative Python integer.

    Examples:
        >>> paddle.pow(paddle.to_tensor([2.0, 3.0]), 2).tolist()
        [4.0, 9.0]
        >>> paddle.pow(paddle.to_tensor([4.0, 9.0]), paddle.to_tensor([0.5, -1.0])).numpy().round(4)
        array([2.    , 0.1111], dtype=float32)
    """
    if isinstance(y, (int, np.integer)) and not isinstance(y, bool) and isinstance(x, Tensor):
        y = int(y)
        kind = x._aval.dtype.kind
        base = cast_to(x, INT64) if kind == "b" else x
        if y < 0 and kind in "biu":
            raise value_error(
                "pow",
                "an integer to a negative power is no integer",
                f"x: {base._aval}, y: {y}",
                "convert x to a floating type",
            )
        if -_LARGEST_STATIC_EXPONENT <= y <= _LARGEST_STATIC_EXPONENT:
            return deliver(integer_power(base, y), out)
    return deliver(power(x, y), out)
