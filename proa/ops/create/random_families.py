"""Random numbers of further families: gamma, Poisson, binomial, log-normal, Cauchy, geometric.

The first three are drawn by rejection. Each attempt of each element has a Philox block of its own
(counter: position, attempt, offset; key: seed), so that NumPy may go on with the refused elements
only, while XLA repeats the attempt for all of them, and both find the same numbers. Kernels compute
in float64: a last digit that differs between the tiers must not change whether an attempt is taken.
What the samples do not say, such as moments, is in tests/distribution.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import FLOAT64, INT64, is_floating
from ...core.errors import type_error, value_error
from ...core.namespaces import can_write
from ...eager.annotations import Number, ShapeLike
from ...eager.declare import op, public
from ...eager.infer import broadcast_shapes, same
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import assign_in_place
from ...ir.operation import Check
from ...ir.padding import rules
from ...kernels import random_bits
from ..arguments import require_tensor
from ..basic import cast_to
from ..math.special.gamma_and_error import digamma, special
from ..math.trigonometry import tan
from ..math.unary import ceil, exp, log, log1p
from .creation import real_of
from .random import draw, normal, normal_of, uniform_of

# Refusing that many attempts in a row has a probability below 1e-30 in every family here.
_ATTEMPTS = 100
# The inverse of a distribution function is searched upwards over this many values at most: a tail
# beyond it has a probability below the resolution of a float64 fraction.
_SEARCHED = 150
_LOW = np.uint64(0xFFFFFFFF)


# ---- attempts --------------------------------------------------------------------------------------------------------


def _words(positions: Any, attempt: Any, seed: Any, offset: Any) -> random_bits.Words:
    """The four 32-bit words of an attempt of the elements at the given positions."""
    seed, offset = seed.astype(np.uint64), offset.astype(np.uint64)
    high = (positions >> np.uint64(32)) | (attempt << np.uint64(16))
    counter = (positions & _LOW, high, offset & _LOW, offset >> np.uint64(32))
    return random_bits.philox(counter, (seed & _LOW, seed >> np.uint64(32)))


def _fraction(high: Any, low: Any) -> Any:
    """A float64 inside (0, 1) from two words."""
    whole = ((high << np.uint64(32)) | low) >> np.uint64(11)
    return whole.astype(np.float64) * 2.0**-53 + 2.0**-54


def _until_accepted(
    xp: Any, attempt: Callable[..., Any], wanted: Any, operands: list[Any], seed: Any, offset: Any
) -> Any:
    """Repeats `attempt(xp, words, *operands)`, which gives (accepted, value), for every wanted element."""
    flat = [operand.reshape(-1) for operand in operands]
    if not can_write(xp):
        return _until_accepted_xla(xp, attempt, wanted.reshape(-1), flat, seed, offset).reshape(wanted.shape)
    found = xp.full(wanted.size, np.nan)
    waiting = xp.flatnonzero(wanted)
    with np.errstate(all="ignore"):
        for number in range(_ATTEMPTS):
            if not waiting.size:
                break
            words = _words(waiting.astype(np.uint64), np.uint64(number), seed, offset)
            accepted, value = attempt(xp, words, *(operand[waiting] for operand in flat))
            found[waiting[accepted]] = value[accepted]
            waiting = waiting[~accepted]
    return found.reshape(wanted.shape)


def _until_accepted_xla(xp: Any, attempt: Any, wanted: Any, flat: list[Any], seed: Any, offset: Any) -> Any:
    from jax import lax

    positions = xp.arange(wanted.size, dtype=np.uint64)

    def again(state: Any) -> Any:
        number, done, _ = state
        return (number < np.uint64(_ATTEMPTS)) & ~xp.all(done)

    def once(state: Any) -> Any:
        number, done, found = state
        accepted, value = attempt(xp, _words(positions, number, seed, offset), *flat)
        found = xp.where(accepted & ~done, value, found)
        return number + np.uint64(1), done | accepted, found

    first = (xp.zeros((), np.uint64), ~wanted, xp.full(wanted.shape, np.nan))
    return lax.while_loop(again, once, first)[2]


def _inverted(xp: Any, fraction: Any, first: Any, ratio: Callable[[Any], Any]) -> Any:
    """The smallest k whose distribution function exceeds `fraction`.

    `first` is the probability of 0, and the one of k + 1 is the one of k times `ratio(k)`.
    """

    def again(state: Any) -> Any:
        k, _, reached, _ = state
        return (k < _SEARCHED) & xp.any(fraction >= reached)

    def once(state: Any) -> Any:
        k, probability, reached, found = state
        found = found + (fraction >= reached)
        probability = probability * ratio(k)
        return k + 1.0, probability, reached + probability, found

    state = (xp.zeros((), np.float64), first, first, xp.zeros_like(first))
    if not can_write(xp):
        from jax import lax

        return lax.while_loop(again, once, state)[3]
    while again(state):
        state = once(state)
    return state[3]


def _first_fraction(xp: Any, shape: tuple[int, ...], seed: Any, offset: Any) -> Any:
    positions = xp.arange(math.prod(shape), dtype=np.uint64)
    # Behind the last attempt, so that it is independent of all of them.
    words = _words(positions, np.uint64(_ATTEMPTS), seed, offset)
    return _fraction(words[0], words[1]).reshape(shape)


# ---- gamma -----------------------------------------------------------------------------------------------------------


def _attempt_gamma(xp: Any, words: random_bits.Words, shape_parameter: Any) -> Any:
    """Marsaglia and Tsang (2000), for shapes of at least 1."""
    normal_number = xp.sqrt(-2.0 * xp.log(_fraction(words[0], words[1]))) * xp.cos(
        words[2].astype(np.float64) * (2.0**-32 * 2 * math.pi)
    )
    fraction = (words[3].astype(np.float64) + 0.5) * 2.0**-32
    d = shape_parameter - 1.0 / 3.0
    root = 1.0 + normal_number / xp.sqrt(9.0 * d)
    cube = root * root * root
    bound = 0.5 * normal_number * normal_number + d - d * cube + d * xp.log(xp.where(cube > 0, cube, 1.0))
    return ((cube > 0) & (xp.log(fraction) < bound)) | ~(d > 0), d * cube


def _infer_gamma(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    if not is_floating(operands[0].dtype):
        raise operation.error(TypeError, "x must have a floating type", operands[:1], fix="convert it with astype()")
    return operands[0]


@op(
    scalars="seed offset",
    infer=_infer_gamma,
    grad={"x": lambda g, x, out: g * gamma_slope(x, out)},
    name="standard_gamma",
    padding=rules.refused("how many numbers it draws depends on how much data there is"),
)
def standard_gamma_of(xp: Any, x: Any, seed: Any, offset: Any) -> Any:
    alpha = x.astype(np.float64)
    valid = alpha >= 0
    # A shape below 1 is drawn as shape + 1 and brought down by a power of a fraction, in logarithms:
    # a small shape means numbers that float32 cannot hold.
    raised = xp.where(valid, xp.where(alpha < 1, alpha + 1.0, alpha), 1.0)
    drawn = _until_accepted(xp, _attempt_gamma, valid, [raised], seed, offset)
    fraction = _first_fraction(xp, x.shape, seed, offset)
    lowered = xp.exp(xp.log(drawn) + xp.log(fraction) / xp.where(alpha > 0, alpha, 1e-300))
    tiny = np.finfo(np.float32 if x.dtype.itemsize <= 4 else np.float64).tiny
    value = xp.maximum(xp.where(alpha < 1, lowered, drawn), tiny)
    return xp.where(valid, value, np.nan).astype(x.dtype, copy=False)


@functools.cache
def _nodes() -> list[tuple[float, float]]:
    """Gauss and Legendre's points and weights on (0, 1)."""
    points, weights = np.polynomial.legendre.leggauss(64)
    return [(float(0.5 * (p + 1.0)), float(0.5 * w)) for p, w in zip(points, weights)]


def _bend_in_shape(g: Tensor, x: Tensor, value: Tensor) -> Tensor:
    """The derivative of `gamma_slope` in the shape: there is no closed form, so a difference quotient."""
    wide, drawn = cast_to(x, FLOAT64), cast_to(value, FLOAT64)
    step = wide * 1e-3
    difference = gamma_slope(wide + step, drawn) - gamma_slope(wide - step, drawn)
    return cast_to(cast_to(g, FLOAT64) * difference / (step * 2.0), x._aval.dtype)


def _bend_in_value(g: Tensor, x: Tensor, value: Tensor, out: Tensor) -> Tensor:
    return g * (digamma(x) - log(value) - out * ((x - 1.0) / value - 1.0))


@op("x value", infer=same, grad={"x": _bend_in_shape, "value": _bend_in_value})
def gamma_slope(xp: Any, x: Any, value: Any) -> Any:
    """How a gamma distributed number moves with the shape when its quantile is held fixed.

    That is -(dF/dx) / (dF/dvalue) of the distribution function F. Below the mean it is an integral
    over (0, value), above it one over (value, inf); with value * exp(∓v) for the variable both have
    the form ∫ (log(value) - digamma(x) ∓ v) exp(φ(v)) dv with a concave falling φ, φ(0) = 0.
    """
    import scipy.special

    alpha, z = x.astype(np.float64), value.astype(np.float64)
    with np.errstate(all="ignore"):
        side = np.where(z <= alpha, -1.0, 1.0)
        offset = np.log(z) - scipy.special.digamma(alpha)

        def exponent(v: Any) -> Any:
            return side * alpha * v - z * np.expm1(side * v)

        # The end, where exp(φ) is nothing any more: Newton's steps come down to it from the right.
        far_above = np.minimum(np.sqrt(80.0 / z), np.log1p((40.0 + 800.0 * alpha) / z))
        end = np.where(side < 0, (40.0 + z) / alpha, far_above)
        for _ in range(8):
            slope = side * (alpha - z * np.exp(side * end))
            end = end - (exponent(end) + 40.0) / slope
        total = np.zeros_like(z)
        for point, weight in _nodes():
            v = point * end
            total += weight * (offset + side * v) * np.exp(exponent(v))
        return (side * z * end * total).astype(x.dtype, copy=False)


def _gamma_slope_xla(xp: Any, x: Any, value: Any) -> Any:
    from jax import lax

    return lax.random_gamma_grad(x.astype(np.float64), value.astype(np.float64)).astype(x.dtype)  # type: ignore[call-arg]


gamma_slope.operation.kernels["xla"] = _gamma_slope_xla


@samples(
    S(A(3, 4, low=0.2, high=5)), S(A(2, 6, dtype="float64", low=0.2, high=5)), S(A(0, 2)), S(A(low=1)),
    S(A(values=[-1.0, 0.5, 30.0])),
    gradient=False, why="the gradient holds the quantile fixed, not the attempts: tests/distribution", random=True,
)  # fmt: skip
@public()
def standard_gamma(x: Tensor, name: str | None = None) -> Tensor:
    """Numbers from gamma distributions of scale 1; NaN for a negative shape.

    They have a gradient, the implicit one: of the number whose quantile is held fixed.

    Args:
        x: the shapes of the distributions.
        name: a label; it changes nothing.

    Examples:
        >>> bool((paddle.standard_gamma(paddle.full([100], 2.0)) > 0).all())
        True
    """
    return standard_gamma_of(require_tensor("standard_gamma", "x", x), *draw())


# ---- Poisson ---------------------------------------------------------------------------------------------------------


def _attempt_poisson(xp: Any, words: random_bits.Words, rate: Any) -> Any:
    """Hörmann's transformed rejection with squeeze (PTRS, 1993), for rates of at least 10."""
    u = _fraction(words[0], words[1]) - 0.5
    v = _fraction(words[2], words[3])
    b = 0.931 + 2.53 * xp.sqrt(rate)
    a = -0.059 + 0.02483 * b
    distance = 0.5 - xp.abs(u)
    k = xp.floor((2.0 * a / distance + b) * u + rate + 0.43)
    inside = (distance >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2.0))
    outside = (k < 0) | ((distance < 0.013) & (v > distance))
    height = xp.log(v) + xp.log(1.1239 + 1.1328 / (b - 3.4)) - xp.log(a / (distance * distance) + b)
    count = xp.where(k > 0, k, 0.0)
    return inside | (~outside & (height <= count * xp.log(rate) - rate - special(xp).gammaln(count + 1.0))), k


@op(
    scalars="seed offset",
    infer=_infer_gamma,
    grad={"x": lambda g: g * 0.0},
    name="poisson",
    padding=rules.refused("how many numbers it draws depends on how much data there is"),
)
def poisson_of(xp: Any, x: Any, seed: Any, offset: Any) -> Any:
    rate = x.astype(np.float64)
    small = ~(rate >= 10.0)
    many = _until_accepted(xp, _attempt_poisson, ~small, [xp.where(small, 10.0, rate)], seed, offset)
    low = xp.where(small & (rate >= 0), rate, 0.0)
    few = _inverted(xp, _first_fraction(xp, x.shape, seed, offset), xp.exp(-low), lambda k: low / (k + 1.0))
    return xp.where(rate >= 0, xp.where(small, few, many), np.nan).astype(x.dtype, copy=False)


@samples(
    S(A(3, 4, low=0.5, high=30)), S(A(2, 6, dtype="float64", low=0.5, high=30)), S(A(0, 2)), S(A(low=1)),
    S(A(values=[0.0, 200.0], grad=False)), random=True,
)  # fmt: skip
@public()
def poisson(x: Tensor, name: str | None = None) -> Tensor:
    """Numbers drawn from Poisson distributions; NaN for a negative rate.

    Args:
        x: the rates, floating numbers.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.poisson(paddle.to_tensor([0.0, 0.0])).tolist()
        [0.0, 0.0]
    """
    return poisson_of(require_tensor("poisson", "x", x), *draw())


# ---- binomial --------------------------------------------------------------------------------------------------------


def _attempt_binomial(xp: Any, words: random_bits.Words, count: Any, prob: Any) -> Any:
    """Hörmann's transformed rejection with squeeze (BTRS, 1993): prob at most 1/2, mean at least 10."""
    u = _fraction(words[0], words[1]) - 0.5
    v = _fraction(words[2], words[3])
    spread = xp.sqrt(count * prob * (1.0 - prob))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * prob
    distance = 0.5 - xp.abs(u)
    k = xp.floor((2.0 * a / distance + b) * u + count * prob + 0.5)
    inside = (distance >= 0.07) & (v <= 0.92 - 4.2 / b)
    outside = (k < 0) | (k > count)
    height = xp.log(v * (2.83 + 5.1 / b) * spread / (a / (distance * distance) + b))
    lgamma = special(xp).gammaln
    mode = xp.floor((count + 1.0) * prob)
    at = xp.minimum(xp.maximum(k, 0.0), count)
    relative = (
        lgamma(mode + 1.0) + lgamma(count - mode + 1.0) - lgamma(at + 1.0) - lgamma(count - at + 1.0)
        + (at - mode) * (xp.log(prob) - xp.log1p(-prob))
    )  # fmt: skip
    return ~outside & (inside | (height <= relative)), k


def _infer_binomial(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    if not is_floating(operands[1].dtype):
        raise operation.error(TypeError, "prob must have a floating type", operands[:2], fix="convert it with astype()")
    shape = broadcast_shapes(operation, operands, [operand.shape for operand in operands[:2]])
    return operands[0].with_shape(shape).with_dtype(INT64)


_COUNTABLE = Check(
    lambda xp, count, prob, seed, offset: ~xp.any(count > 2**53),
    lambda kinds, attributes: "a count above 2 ** 53 cannot be drawn exactly",
    ValueError,
    (0,),
)


@op(
    "count prob",
    scalars="seed offset",
    infer=_infer_binomial,
    check=_COUNTABLE,
    name="binomial",
    padding=rules.refused("how many numbers it draws depends on how much data there is"),
)
def binomial_of(xp: Any, count: Any, prob: Any, seed: Any, offset: Any) -> Any:
    count, prob = xp.broadcast_arrays(count.astype(np.float64), prob.astype(np.float64))
    count = xp.maximum(xp.floor(count), 0.0)
    prob = xp.minimum(xp.maximum(prob, 0.0), 1.0)
    turned = prob > 0.5
    rarer = xp.where(turned, 1.0 - prob, prob)
    small = ~(count * rarer >= 10.0)
    many = _until_accepted(
        xp, _attempt_binomial, ~small, [xp.where(small, 40.0, count), xp.where(small, 0.4, rarer)], seed, offset
    )
    probability = xp.where(small, rarer, 0.0)
    odds = probability / (1.0 - probability)
    few = _inverted(
        xp,
        _first_fraction(xp, prob.shape, seed, offset),
        xp.exp(count * xp.log1p(-probability)),
        lambda k: xp.maximum(count - k, 0.0) / (k + 1.0) * odds,
    )
    found = xp.minimum(xp.where(small, few, many), count)
    return xp.where(turned, count - found, found).astype(np.int64)


@samples(
    S(A(3, 4, dtype="int64", low=20, high=90), A(3, 4, low=0.2, high=0.8)),
    S(A(2, 6, dtype="int32", low=20, high=90), A(2, 6, dtype="float64", low=0.2, high=0.8)),
    S(A(values=[10.0, 20.0]), A(values=[0.0, 1.0])), S(A(0, dtype="int64"), A(0)), random=True,
)  # fmt: skip
@public()
def binomial(count: Tensor, prob: Tensor, name: str | None = None) -> Tensor:
    """How many of a number of trials succeed.

    Args:
        count: the numbers of trials, integers.
        prob: the probabilities of success; the shapes broadcast.
        name: a label; it changes nothing.

    Returns:
        int64 numbers of the broadcast shape.

    Examples:
        >>> paddle.binomial(paddle.to_tensor([5, 8]), paddle.to_tensor([1.0, 0.0])).tolist()
        [5, 0]
    """
    require_tensor("binomial", "count", count)
    return binomial_of(count, require_tensor("binomial", "prob", prob), *draw())


# ---- log-normal, Cauchy, geometric -------------------------------------------------------------------------------------


@samples(
    S(), S(0.5, 0.3, [3, 4]), S(A(3, 4), 0.5), S(A(3, 4), A(3, 4, low=0.2, high=1)), S(A(0, 2), 1.0), random=True,
)  # fmt: skip
@public(values=True)
def log_normal(
    mean: Number = 1.0, std: Number = 2.0, shape: ShapeLike | None = None, name: str | None = None
) -> Tensor:
    """Numbers whose logarithm has a normal distribution.

    Args:
        mean: the mean of the logarithm, a number or a tensor.
        std: its standard deviation, a number or a tensor.
        shape: the shape of the result where both are numbers.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.log_normal(mean=0.0, std=0.0, shape=[2]).tolist()
        [1.0, 1.0]
    """
    return exp(normal(mean, std, shape))


def _filled_with(where: str, x: Tensor, numbers: Tensor) -> Tensor:
    place = x._aval.place
    return assign_in_place(x, numbers if numbers._aval.place is place else numbers._to_place(place), where)


def _own_type(where: str, x: Tensor) -> np.dtype:
    aval = require_tensor(where, "x", x)._aval
    if not is_floating(aval.dtype):
        raise type_error(where, "the tensor must have a floating type", f"x: {aval}", "convert it with astype()")
    return aval.dtype


@samples(
    S(A(3, 4)), S(A(2, 6, dtype="float64"), 0.5, 0.2), S(A(0, 2)), S(A(), std=0.5),
    gradient=False, why="fills the tensor with numbers that do not depend on it", random=True,
)  # fmt: skip
@public(method=True)
def log_normal_(x: Tensor, mean: Number = 1.0, std: Number = 2.0, name: str | None = None) -> Tensor:
    """Fills `x` with numbers whose logarithm has a normal distribution and returns it.

    Args:
        x: the tensor.
        mean: the mean of the logarithm.
        std: its standard deviation.
        name: a label; it changes nothing.

    Examples:
        >>> bool((paddle.zeros([100]).log_normal_() > 0).all())
        True
    """
    centre, width = real_of("log_normal_", "mean", mean), real_of("log_normal_", "std", std)
    dtype = _own_type("log_normal_", x)
    return _filled_with("log_normal_", x, exp(normal_of(centre, width, *draw(), x._aval.shape, dtype)))


@samples(
    S(A(3, 4)), S(A(2, 6, dtype="float64"), 0.5, 2), S(A(0, 2)), S(A(), scale=0.5),
    gradient=False, why="fills the tensor with numbers that do not depend on it", random=True,
)  # fmt: skip
@public(method=True)
def cauchy_(x: Tensor, loc: Number = 0, scale: Number = 1, name: str | None = None) -> Tensor:
    """Fills `x` with numbers from a Cauchy distribution and returns it.

    Args:
        x: the tensor.
        loc: the middle of the distribution.
        scale: its width.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.zeros([2, 3]).cauchy_().shape
        paddle.Size([2, 3])
    """
    centre, width = real_of("cauchy_", "loc", loc), real_of("cauchy_", "scale", scale)
    turn = uniform_of(-math.pi / 2, math.pi / 2, *draw(), x._aval.shape, _own_type("cauchy_", x))
    return _filled_with("cauchy_", x, tan(turn) * float(width) + float(centre))


@samples(
    S(A(3, 4), 0.05), S(A(2, 6, dtype="float64"), 0.1), S(A(0, 2), 0.5), S(A(2), 1),
    gradient=False, why="fills the tensor with numbers that do not depend on it", random=True,
)  # fmt: skip
@public(method=True)
def geometric_(x: Tensor, probs: Number, name: str | None = None) -> Tensor:
    """Fills `x` with the numbers of trials up to the first success (1, 2, …) and returns it.

    Args:
        x: the tensor.
        probs: the probability of success, a number or a tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.zeros([3]).geometric_(1.0).shape
        paddle.Size([3])
    """
    dtype = _own_type("geometric_", x)
    fraction = uniform_of(0.0, 1.0, *draw(), x._aval.shape, dtype)
    if isinstance(probs, Tensor):
        rate = log1p(-cast_to(probs, dtype))
    else:
        probability = float(real_of("geometric_", "probs", probs))
        if not 0 < probability <= 1:
            raise value_error("geometric_", "probs must be above 0 and at most 1", f"probs: {probability}")
        rate = math.log1p(-probability) if probability < 1 else -math.inf
    trials = ceil(log1p(-fraction) / rate)
    return _filled_with("geometric_", x, cast_to(trials + cast_to(trials < 1.0, dtype), dtype))
