"""Elementwise functions of one tensor: signs, rounding, roots, exponentials and logarithms.

Trigonometric and special functions are in the neighbouring files. Integers give float32 where the
result is not an integer. Complex gradients follow Paddle: `g * conj(slope)`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.dtype import BOOL
from ...core.errors import type_error
from ...eager.attaching import attach
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.infer import floating, same
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from ..basic import cast_to
from ..precision import as_float, number, real_number, real_valued, reference, wide
from .arithmetic import conjugate, gate, product, quotient, zero_slope
from .powers import fixed, integer_power

# ---- signs ---------------------------------------------------------------------------------------


@samples(
    S(A(2, 3)), S(A(0, 3)), S(A()), S(A(3, dtype="int64")), S(A(3, dtype="uint8", high=9)),
    S(A(2, dtype="complex128")), S(A(3, dtype="bfloat16", grad=False)),
    reference=np.negative,
)  # fmt: skip
@public(method=True, operator="neg", inplace=True)
@op(infer=number, grad={"x": lambda g: neg(g)})
def neg(xp: Any, x: Any) -> Any:
    """`-x`."""
    return xp.negative(x)


public(method=True, name="negative")(neg)


@samples(S(A(2, 3)), S(A()), S(A(0)), reference=lambda x: x)
@public()
def positive(x: Tensor, name: str | None = None) -> Tensor:
    """`+x`: the same tensor."""
    if require_tensor("positive", "x", x)._aval.dtype == np.bool_:
        raise type_error("positive", "the operation is not defined for booleans", f"x: {x._aval}")
    return x


attach(__name__, __pos__=positive)


@samples(
    S(A(2, 3)), S(A(0, 3)), S(A()), S(A(3, dtype="int64")), S(A(3, dtype="complex128")),
    S(A(3, dtype="float16", grad=False)), S(A(values=[-0.0, 0.0], grad=False)),
    reference=np.abs,
)  # fmt: skip
@public(method=True, operator="abs", inplace=True, out=True)
@op(infer=real_valued, grad={"x": lambda g, x: g * sign(x)})
def abs(xp: Any, x: Any) -> Any:
    """The absolute value; of complex numbers, their modulus. The gradient at 0 is 0."""
    return xp.abs(x)


def _slope_of_sign(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    """Of complex numbers, `x / |x|` turns with the part of `g` that is at right angles to `x`."""
    if x._aval.dtype.kind != "c":
        return zero_slope(g)
    along = (g * conjugate(out)).real()
    size = abs(x)
    return gate((g - along * out) / size, cast_to(size, BOOL), True)


def _reference_sign(x: Any) -> Any:
    return np.sign(x).astype(x.dtype, copy=False)


@samples(
    S(A(2, 3)), S(A(0, 3)), S(A()), S(A(3, dtype="int64")),
    S(A(values=[-0.0, 0.0, np.nan], grad=False)), S(A(3, dtype="complex128")),
    reference=_reference_sign,
)  # fmt: skip
@public(method=True, out=True)
@op(infer=number, grad={"x": _slope_of_sign})
def sign(xp: Any, x: Any) -> Any:
    """-1, 0 or 1 by the sign of each element; of complex numbers, `x / |x|`."""
    return xp.sign(x)


@samples(
    S(A(2, 3)), S(A(3, dtype="complex128")), S(A(0)),
    S(A(values=[0j, 3 + 4j], dtype="complex128", grad=False)),
    reference=_reference_sign,
)  # fmt: skip
@public(method=True)
def sgn(x: Tensor, name: str | None = None) -> Tensor:
    """The sign; of complex numbers, `x / |x|` (0 for 0)."""
    return sign(x)


# ---- rounding ------------------------------------------------------------------------------------
# Steps have the gradient 0: it exists, so that a loss with a rounded part can be differentiated.

_STEPS = (
    S(A(2, 3, low=-9, high=9)), S(A(0, 3)), S(A(low=-5)), S(A(3, dtype="int64")),
    S(A(4, dtype="bfloat16", grad=False, low=-9)),
    S(A(values=[-2.5, -0.5, -0.0, 1.5, np.inf], grad=False)),
)  # fmt: skip


@samples(*_STEPS, reference=lambda x: np.floor(x).astype(x.dtype))
@public(method=True, inplace=True, out=True)
@op(infer=real_number, grad={"x": lambda g: zero_slope(g)})
def floor(xp: Any, x: Any) -> Any:
    """Rounds down."""
    return xp.positive(x) if x.dtype.kind in "iu" else xp.floor(x)


@samples(*_STEPS, reference=lambda x: np.ceil(x).astype(x.dtype))
@public(method=True, inplace=True, out=True)
@op(infer=real_number, grad={"x": lambda g: zero_slope(g)})
def ceil(xp: Any, x: Any) -> Any:
    """Rounds up."""
    return xp.positive(x) if x.dtype.kind in "iu" else xp.ceil(x)


@samples(
    *_STEPS, S(A(4, low=-9), 1), S(A(4, low=-99, high=99), -1), S(A(3, dtype="complex128", low=-9, high=9), 1),
    reference=lambda x, decimals=0: np.round(x, decimals),
)  # fmt: skip
@public(method=True, inplace=True)
def round(x: Tensor, decimals: int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Rounds to `decimals` places behind the point, halves to the even neighbour; integers stay as they are, complex
    numbers are rounded in both parts.
    """
    return deliver(round_to(x, int(decimals)), out)


@op(infer=number, grad={"x": lambda g: zero_slope(g)}, name="round")
def round_to(xp: Any, x: Any, decimals: int) -> Any:
    if x.dtype.kind in "iu":
        return xp.positive(x)
    if decimals == 0:
        return xp.rint(x)
    factor = 10.0 ** (decimals if decimals > 0 else -decimals)
    x = wide(x)
    return xp.rint(x * factor) / factor if decimals > 0 else xp.rint(x / factor) * factor


@samples(*_STEPS, reference=lambda input: np.trunc(input).astype(input.dtype))
@public(method=True, inplace=True)
@op("input", infer=real_number, grad={"input": lambda g: zero_slope(g)})
def trunc(xp: Any, input: Any) -> Any:
    """Rounds towards zero."""
    return xp.positive(input) if input.dtype.kind in "iu" else xp.trunc(input)


@samples(
    S(A(2, 3, low=-9, high=9)), S(A(0, 3)), S(A(low=-5)), S(A(3, dtype="int64")),
    reference=lambda x: (x - np.trunc(x)).astype(x.dtype),
)  # fmt: skip
@public(method=True, inplace=True)
def frac(x: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """What is behind the point, with the sign of `x`."""
    return deliver(x - trunc(x), out)


# ---- powers and roots ----------------------------------------------------------------------------

_POSITIVE = (
    S(A(2, 3, low=0.3)), S(A(0, 3)), S(A(low=0.5)), S(A(3, dtype="int64", low=1, high=9)),
    S(A(3, dtype="bfloat16", grad=False, low=0.5)), S(A(2, dtype="uint8", low=1, high=9)),
)  # fmt: skip


@samples(*_POSITIVE, S(A(3, dtype="complex128")), reference=reference(np.sqrt))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, out: quotient(fixed(g, 0.5, 0.0), out)})
def sqrt(xp: Any, x: Any) -> Any:
    """The square root; NaN for negative numbers."""
    return xp.sqrt(as_float(x))


@samples(*_POSITIVE, reference=reference(lambda x: 1 / np.sqrt(x)))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, out: product(fixed(g, -0.5, 0.0), integer_power(out, 3))})
def rsqrt(xp: Any, x: Any) -> Any:
    """`1 / sqrt(x)`."""
    return 1 / xp.sqrt(wide(x))


def _rsqrt_xla(xp: Any, x: Any) -> Any:
    from jax import lax

    return lax.rsqrt(wide(x))


rsqrt.operation.kernels["xla"] = _rsqrt_xla


@samples(
    S(A(2, 3)), S(A(0, 3)), S(A()), S(A(3, dtype="int64")), S(A(3, dtype="complex128")),
    reference=np.square,
)  # fmt: skip
@public(method=True, inplace=True)
@op(infer=number, grad={"x": lambda g, x: product(fixed(g, 2.0, 0.0), x)})
def square(xp: Any, x: Any) -> Any:
    """`x * x`."""
    return xp.multiply(x, x)


@samples(*_POSITIVE, S(A(3, dtype="complex128", low=1)), reference=reference(lambda x: 1 / x))
@public(method=True, inplace=True)
@op(infer=floating, grad={"x": lambda g, out: product(neg(g), integer_power(out, 2))})
def reciprocal(xp: Any, x: Any) -> Any:
    """`1 / x`."""
    return xp.reciprocal(as_float(x))


# ---- exponentials and logarithms -----------------------------------------------------------------

_ANY = (
    S(A(2, 3)), S(A(0, 3)), S(A()), S(A(3, dtype="int64")), S(A(3, dtype="uint8", high=3)),
    S(A(3, dtype="bfloat16", grad=False)), S(A(3, dtype="float64")), S(A(3, dtype="complex128")),
    S(A(values=[np.nan, np.inf, -np.inf], grad=False)),
)  # fmt: skip


@samples(*_ANY, reference=reference(np.exp))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, out: product(g, out)})
def exp(xp: Any, x: Any) -> Any:
    """e to the power of `x`."""
    return xp.exp(as_float(x))


@samples(*_ANY, reference=reference(np.expm1))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, out: product(g, fixed(out, 1.0, 1.0))})
def expm1(xp: Any, x: Any) -> Any:
    """`exp(x) - 1`, exact also near 0."""
    return xp.expm1(as_float(x))


@samples(*_POSITIVE, S(A(3, dtype="complex128")), reference=reference(np.log))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: quotient(g, x)})
def log(xp: Any, x: Any) -> Any:
    """The natural logarithm; NaN for negative numbers."""
    return xp.log(as_float(x))


@samples(*_POSITIVE, S(A(3, dtype="complex128")), reference=reference(np.log2))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: quotient(fixed(g, 1 / math.log(2), 0.0), x)})
def log2(xp: Any, x: Any) -> Any:
    """The logarithm to base 2."""
    return xp.log2(as_float(x))


@samples(*_POSITIVE, S(A(3, dtype="complex128")), reference=reference(np.log10))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: quotient(fixed(g, 1 / math.log(10), 0.0), x)})
def log10(xp: Any, x: Any) -> Any:
    """The logarithm to base 10."""
    return xp.log10(as_float(x))


@samples(
    *_POSITIVE, S(A(3, dtype="complex128")), S(A(3, low=-0.9, high=0.9)),
    reference=reference(np.log1p),
)  # fmt: skip
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: quotient(g, fixed(x, 1.0, 1.0))})
def log1p(xp: Any, x: Any) -> Any:
    """`log(1 + x)`, exact also near 0."""
    return xp.log1p(as_float(x))


# ---- sigmoid, tanh -------------------------------------------------------------------------------
# Each slope is a primitive of its own: one step instead of three in every backward pass.


@op(
    "outer result",
    infer=same,
    grad={
        "outer": lambda g, result: sigmoid_slope(g, conjugate(result)),
        "result": lambda g, outer, result: product(g, outer * fixed(result, -2.0, 1.0)),
    },
    name="sigmoid_grad",
)
def sigmoid_slope(xp: Any, outer: Any, result: Any) -> Any:
    """`outer * result * (1 - result)`."""
    result = wide(result)
    return outer * (result * (1 - result))


@samples(*_ANY, reference=reference(lambda x: 1 / (1 + np.exp(-x))))
@public(module="nn.functional", out=True)
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, out: sigmoid_slope(g, conjugate(out))})
def sigmoid(xp: Any, x: Any) -> Any:
    """`1 / (1 + exp(-x))`."""
    return xp.reciprocal(1 + xp.exp(-wide(x)))


@op(
    "a b c",
    infer=same,
    grad={
        "a": lambda g, b, c, factor: triple_product(g, conjugate(b), conjugate(c), factor),
        "b": lambda g, a, c, factor: triple_product(g, conjugate(a), conjugate(c), factor),
        "c": lambda g, a, b, factor: triple_product(g, conjugate(a), conjugate(b), factor),
    },
)
def triple_product(xp: Any, a: Any, b: Any, c: Any, factor: float) -> Any:
    """`factor * a * b * c`: closed under differentiation, so that high derivatives of tanh stay short."""
    return a * b * (c * c.dtype.type(factor))


@op(
    "outer result",
    infer=same,
    grad={
        "outer": lambda g, result: tanh_slope(g, conjugate(result)),
        "result": lambda g, outer, result: triple_product(g, conjugate(outer), conjugate(result), -2.0),
    },
    name="tanh_grad",
)
def tanh_slope(xp: Any, outer: Any, result: Any) -> Any:
    """`outer * (1 - result ** 2)`."""
    result = wide(result)
    return outer * (1 - result * result)


@samples(*_ANY, reference=reference(np.tanh))
@public(module="nn.functional", inplace=True, out=True)
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, out: tanh_slope(g, conjugate(out))})
def tanh(xp: Any, x: Any) -> Any:
    """The hyperbolic tangent."""
    return xp.tanh(as_float(x))
