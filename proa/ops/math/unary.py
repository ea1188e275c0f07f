"""Elementwise functions of one tensor: signs, rounding, roots, exponentials and logarithms.

Trigonometric and special functions are in the neighbouring files. Integers give float32 where the
result is not an integer. Complex gradients follow Paddle: `g * conj(derivative)`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.dtype import BOOL
from ...core.errors import type_error
from ...eager import series
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
@op(infer=number, grad={"x": lambda g: neg(g)}, paddle_name="scale", series=series.algebra.linear("x"))
def neg(xp: Any, x: Any) -> Any:
    """Each element with the other sign; `-x` means the same.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.neg(paddle.to_tensor([1.0, -2.0])).tolist()
        [-1.0, 2.0]
    """
    return xp.negative(x)


public(method=True, name="negative")(neg)


@samples(S(A(2, 3)), S(A()), S(A(0)), reference=lambda x: x)
@public()
def positive(x: Tensor, name: str | None = None) -> Tensor:
    """`+x`: the same tensor.

    Args:
        x: the tensor; of any type but bool.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.to_tensor([1.0, -2.0])
        >>> paddle.positive(x) is x
        True
    """
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
@op(infer=real_valued, grad={"x": lambda g, x: g * sign(x)}, series=series.functions.absolute)
def abs(xp: Any, x: Any) -> Any:
    """The absolute value of each element; of complex numbers, their modulus.

    The gradient at 0 is 0.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.abs(paddle.to_tensor([-1.5, 0.0, 2.0])).tolist()
        [1.5, 0.0, 2.0]

        >>> paddle.abs(paddle.to_tensor([3 + 4j])).tolist()
        [5.0]
    """
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
@op(infer=number, grad={"x": _slope_of_sign}, series=series.algebra.steps)
def sign(xp: Any, x: Any) -> Any:
    """-1, 0 or 1 by the sign of each element; of complex numbers `x / |x|`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.sign(paddle.to_tensor([-2.0, 0.0, 5.0])).tolist()
        [-1.0, 0.0, 1.0]
    """
    return xp.sign(x)


@samples(
    S(A(2, 3)), S(A(3, dtype="complex128")), S(A(0)),
    S(A(values=[0j, 3 + 4j], dtype="complex128", grad=False)),
    reference=_reference_sign,
)  # fmt: skip
@public(method=True)
def sgn(x: Tensor, name: str | None = None) -> Tensor:
    """The sign of each element: -1, 0 or 1; of complex numbers `x / |x|`, and 0 for 0.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.sgn(paddle.to_tensor([-2.0, 0.0, 5.0])).numpy().round(4)
        array([-1.,  0.,  1.], dtype=float32)
        >>> paddle.sgn(paddle.to_tensor([3 + 4j, 0j])).numpy().round(4)
        array([0.6+0.8j, 0. +0.j ], dtype=complex64)
    """
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
@op(infer=real_number, grad={"x": lambda g: zero_slope(g)}, series=series.algebra.steps)
def floor(xp: Any, x: Any) -> Any:
    """Each element rounded down to a whole number.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.floor(paddle.to_tensor([-1.5, 0.2, 2.0])).tolist()
        [-2.0, 0.0, 2.0]
    """
    return xp.positive(x) if x.dtype.kind in "iu" else xp.floor(x)


@samples(*_STEPS, reference=lambda x: np.ceil(x).astype(x.dtype))
@public(method=True, inplace=True, out=True)
@op(infer=real_number, grad={"x": lambda g: zero_slope(g)}, series=series.algebra.steps)
def ceil(xp: Any, x: Any) -> Any:
    """Each element rounded up to a whole number.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.ceil(paddle.to_tensor([-1.5, 0.2, 2.0])).tolist()
        [-1.0, 1.0, 2.0]
    """
    return xp.positive(x) if x.dtype.kind in "iu" else xp.ceil(x)


@samples(
    *_STEPS, S(A(4, low=-9), 1), S(A(4, low=-99, high=99), -1), S(A(3, dtype="complex128", low=-9, high=9), 1),
    reference=lambda x, decimals=0: np.round(x, decimals),
)  # fmt: skip
@public(method=True, inplace=True)
def round(x: Tensor, decimals: int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Each element rounded to the nearest number with `decimals` places, halves to the even neighbour.

    Integers stay as they are; complex numbers are rounded in both parts.

    Args:
        x: the tensor.
        decimals: how many places behind the point are kept; negative ones count before the point.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.round(paddle.to_tensor([0.5, 1.5, 2.6])).tolist()
        [0.0, 2.0, 3.0]

        >>> paddle.round(paddle.to_tensor([1234.0]), decimals=-2).tolist()
        [1200.0]
    """
    return deliver(round_to(x, int(decimals)), out)


@op(infer=number, grad={"x": lambda g: zero_slope(g)}, name="round", series=series.algebra.steps)
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
@op("input", infer=real_number, grad={"input": lambda g: zero_slope(g)}, series=series.algebra.steps)
def trunc(xp: Any, input: Any) -> Any:
    """Each element rounded towards zero.

    Args:
        input: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.trunc(paddle.to_tensor([-1.7, 0.3, 2.9])).tolist()
        [-1.0, 0.0, 2.0]
    """
    return xp.positive(input) if input.dtype.kind in "iu" else xp.trunc(input)


@samples(
    S(A(2, 3, low=-9, high=9)), S(A(0, 3)), S(A(low=-5)), S(A(3, dtype="int64")),
    reference=lambda x: (x - np.trunc(x)).astype(x.dtype),
)  # fmt: skip
@public(method=True, inplace=True)
def frac(x: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """What stands behind the point, with the sign of `x`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.frac(paddle.to_tensor([1.25, -2.5])).tolist()
        [0.25, -0.5]
    """
    return deliver(x - trunc(x), out)


# ---- powers and roots ----------------------------------------------------------------------------

_POSITIVE = (
    S(A(2, 3, low=0.3)), S(A(0, 3)), S(A(low=0.5)), S(A(3, dtype="int64", low=1, high=9)),
    S(A(3, dtype="bfloat16", grad=False, low=0.5)), S(A(2, dtype="uint8", low=1, high=9)),
)  # fmt: skip


@samples(*_POSITIVE, S(A(3, dtype="complex128")), reference=reference(np.sqrt))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, out: quotient(fixed(g, 0.5, 0.0), out)}, series=series.algebra.sqrt)
def sqrt(xp: Any, x: Any) -> Any:
    """The square root of each element; NaN for negative numbers.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.sqrt(paddle.to_tensor([4.0, 0.0, -1.0])).tolist()
        [2.0, 0.0, nan]
    """
    return xp.sqrt(as_float(x))


@samples(*_POSITIVE, reference=reference(lambda x: 1 / np.sqrt(x)))
@public(method=True, inplace=True, out=True)
@op(
    infer=floating,
    grad={"x": lambda g, out: product(fixed(g, -0.5, 0.0), integer_power(out, 3))},
    series=series.algebra.rsqrt,
)
def rsqrt(xp: Any, x: Any) -> Any:
    """`1 / sqrt(x)`, element by element; NaN for negative numbers.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.rsqrt(paddle.to_tensor([4.0, 0.25])).tolist()
        [0.5, 2.0]
    """
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
@op(infer=number, grad={"x": lambda g, x: product(fixed(g, 2.0, 0.0), x)}, series=series.algebra.square)
def square(xp: Any, x: Any) -> Any:
    """Each element times itself.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.square(paddle.to_tensor([3.0, -2.0])).tolist()
        [9.0, 4.0]
    """
    return xp.multiply(x, x)


@samples(*_POSITIVE, S(A(3, dtype="complex128", low=1)), reference=reference(lambda x: 1 / x))
@public(method=True, inplace=True)
@op(infer=floating, grad={"x": lambda g, out: product(neg(g), integer_power(out, 2))}, series=series.algebra.reciprocal)
def reciprocal(xp: Any, x: Any) -> Any:
    """`1 / x`, element by element; infinity at 0.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.reciprocal(paddle.to_tensor([2.0, -4.0, 0.0])).tolist()
        [0.5, -0.25, inf]
    """
    return xp.reciprocal(as_float(x))


# ---- exponentials and logarithms -----------------------------------------------------------------

_ANY = (
    S(A(2, 3)), S(A(0, 3)), S(A()), S(A(3, dtype="int64")), S(A(3, dtype="uint8", high=3)),
    S(A(3, dtype="bfloat16", grad=False)), S(A(3, dtype="float64")), S(A(3, dtype="complex128")),
    S(A(values=[np.nan, np.inf, -np.inf], grad=False)),
)  # fmt: skip


@samples(*_ANY, reference=reference(np.exp))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, out: product(g, out)}, series=series.algebra.exp)
def exp(xp: Any, x: Any) -> Any:
    """e to the power of each element.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.exp(paddle.to_tensor([0.0, 1.0])).numpy().round(4)
        array([1.    , 2.7183], dtype=float32)
    """
    return xp.exp(as_float(x))


@samples(*_ANY, reference=reference(np.expm1))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, out: product(g, fixed(out, 1.0, 1.0))}, series=series.algebra.expm1)
def expm1(xp: Any, x: Any) -> Any:
    """`exp(x) - 1`, exact near 0 as well.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.expm1(paddle.to_tensor([0.0, 1e-10])).numpy()
        array([0.e+00, 1.e-10], dtype=float32)
    """
    return xp.expm1(as_float(x))


@samples(*_POSITIVE, S(A(3, dtype="complex128")), reference=reference(np.log))
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, x: quotient(g, x)}, series=series.algebra.log)
def log(xp: Any, x: Any) -> Any:
    """The natural logarithm of each element; NaN for negative numbers, minus infinity at 0.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.log(paddle.to_tensor([1.0, 0.0, -1.0])).tolist()
        [0.0, -inf, nan]
    """
    return xp.log(as_float(x))


@samples(*_POSITIVE, S(A(3, dtype="complex128")), reference=reference(np.log2))
@public(method=True, inplace=True, out=True)
@op(
    infer=floating,
    grad={"x": lambda g, x: quotient(fixed(g, 1 / math.log(2), 0.0), x)},
    series=series.functions.logarithm(math.log(2.0)),
)
def log2(xp: Any, x: Any) -> Any:
    """The logarithm to base 2; NaN for negative numbers.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.log2(paddle.to_tensor([0.5, 8.0])).tolist()
        [-1.0, 3.0]
    """
    return xp.log2(as_float(x))


@samples(*_POSITIVE, S(A(3, dtype="complex128")), reference=reference(np.log10))
@public(method=True, inplace=True, out=True)
@op(
    infer=floating,
    grad={"x": lambda g, x: quotient(fixed(g, 1 / math.log(10), 0.0), x)},
    series=series.functions.logarithm(math.log(10.0)),
)
def log10(xp: Any, x: Any) -> Any:
    """The logarithm to base 10; NaN for negative numbers.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.log10(paddle.to_tensor([1.0, 100.0])).numpy().round(4)
        array([0., 2.], dtype=float32)
    """
    return xp.log10(as_float(x))


@samples(
    *_POSITIVE, S(A(3, dtype="complex128")), S(A(3, low=-0.9, high=0.9)),
    reference=reference(np.log1p),
)  # fmt: skip
@public(method=True, inplace=True, out=True)
@op(
    infer=floating,
    grad={"x": lambda g, x: quotient(g, fixed(x, 1.0, 1.0))},
    series=series.functions.logarithm(1.0, 1.0),
)
def log1p(xp: Any, x: Any) -> Any:
    """`log(1 + x)`, exact near 0 as well; NaN below -1.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.log1p(paddle.to_tensor([0.0, 1e-10])).numpy()
        array([0.e+00, 1.e-10], dtype=float32)
    """
    return xp.log1p(as_float(x))


# ---- sigmoid, tanh -------------------------------------------------------------------------------
# Each derivative is a primitive of its own: one step instead of three in every backward pass.


@op(
    "outer result",
    infer=same,
    grad={
        "outer": lambda g, result: sigmoid_slope(g, conjugate(result)),
        "result": lambda g, outer, result: product(g, outer * fixed(result, -2.0, 1.0)),
    },
    name="sigmoid_grad",
    series=series.algebra.sigmoid_grad,
)
def sigmoid_slope(xp: Any, outer: Any, result: Any) -> Any:
    """`outer * result * (1 - result)`."""
    result = wide(result)
    return outer * (result * (1 - result))


@samples(*_ANY, reference=reference(lambda x: 1 / (1 + np.exp(-x))))
@public(module="nn.functional", out=True)
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, out: sigmoid_slope(g, conjugate(out))}, series=series.algebra.sigmoid)
def sigmoid(xp: Any, x: Any) -> Any:
    """`1 / (1 + exp(-x))`, element by element: any number mapped into (0, 1).

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.sigmoid(paddle.to_tensor([0.0, 100.0, -100.0])).numpy().round(4)
        array([0.5, 1. , 0. ], dtype=float32)
    """
    return xp.reciprocal(1 + xp.exp(-wide(x)))


@op(
    "a b c",
    infer=same,
    grad={
        "a": lambda g, b, c, factor: triple_product(g, conjugate(b), conjugate(c), factor),
        "b": lambda g, a, c, factor: triple_product(g, conjugate(a), conjugate(c), factor),
        "c": lambda g, a, b, factor: triple_product(g, conjugate(a), conjugate(b), factor),
    },
    family="product",
    series=series.algebra.triple_product,
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
    series=series.algebra.tanh_grad,
)
def tanh_slope(xp: Any, outer: Any, result: Any) -> Any:
    """`outer * (1 - result ** 2)`."""
    result = wide(result)
    return outer * (1 - result * result)


@samples(*_ANY, reference=reference(np.tanh))
@public(module="nn.functional", inplace=True, out=True)
@public(method=True, inplace=True, out=True)
@op(infer=floating, grad={"x": lambda g, out: tanh_slope(g, conjugate(out))}, series=series.algebra.tanh)
def tanh(xp: Any, x: Any) -> Any:
    """The hyperbolic tangent: any number mapped into (-1, 1).

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.tanh(paddle.to_tensor([0.0, 100.0])).tolist()
        [0.0, 1.0]
    """
    return xp.tanh(as_float(x))
