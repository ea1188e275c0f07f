"""More rules of Taylor mode: functions whose derivative has a simple series of its own, selections, and normalisations.

See `calls.py` for what a series is and how a rule is called. Two devices do most of the work. A function with
`y' = w(x) x'` follows from the series of `w`, which for inverse trigonometric and error functions is made of powers and
exponentials. A function that selects (maximum, clip, reductions to the largest) is linear with fixed weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..backward.engine import zeros_of
from ..dispatch import record
from ..tensor import Tensor
from .calls import (
    Call,
    Series,
    broadcast,
    convolved,
    exp_series,
    gated,
    inverse,
    minus,
    plus,
    power_series,
    product_of,
    scaled,
    scaled_by,
    squared,
)


def _squares(x: Series) -> Series:
    return [squared(x, k) for k in range(len(x))]


def _affine(x: Series, factor: float, shift: float = 0.0) -> Series:
    """`factor x + shift`."""
    first = x[0] * factor if factor != 1 else x[0]
    return [first + shift if shift else first, *(scaled(c, factor) for c in x[1:])]


def _integrated(x: Series, start: Any, derivative: Series) -> Series:
    """The series of y with `y' = w x'`, from that of w."""
    rest = (scaled(convolved(x, [*derivative[:k], None], k, 1, weights=True), 1.0 / k) for k in range(1, len(x)))
    return [start, *rest]


def _root(x: Series, exponent: float) -> Series:
    start = x[0] ** exponent
    return power_series(x, start, 1.0 / x[0], exponent)


# ---- inverse functions and logarithms ------------------------------------------------------------


def arc_tangent(sign: float) -> Callable[[Call], Series]:
    """`y' = x' / (1 + sign x^2)`."""

    def find(call: Call) -> Series:
        x = call.series(0)
        below = _affine(_squares(x), sign, 1.0)
        return _integrated(x, None, inverse(below, 1.0 / below[0]))

    return find


def arc_sine(factor: float, shift: float, sign: float = 1.0) -> Callable[[Call], Series]:
    """`y' = sign x' / sqrt(factor x^2 + shift)`."""

    def find(call: Call) -> Series:
        x = call.series(0)
        derivative = _root(_affine(_squares(x), factor, shift), -0.5)
        return _integrated(x, None, _affine(derivative, sign))

    return find


def logarithm(factor: float, shift: float = 0.0) -> Callable[[Call], Series]:
    """`y' = x' / (factor x + shift)`."""

    def find(call: Call) -> Series:
        x = call.series(0)
        below = _affine(x, factor, shift)
        return _integrated(x, None, inverse(below, 1.0 / below[0]))

    return find


def logit(call: Call) -> Series:
    x = call.series(0)
    below = [minus(a, b) for a, b in zip(x, _squares(x), strict=True)]
    return _integrated(x, None, inverse(below, 1.0 / below[0]))


def angle_of(call: Call) -> Series:
    """`(y x' - x y') / (x^2 + y^2)`, for atan2(x, y)."""
    x, y = call.series(0), call.series(1)
    lengths = [plus(a, b) for a, b in zip(_squares(x), _squares(y), strict=True)]
    result: Series = [None]
    for k in call.places():
        turning = minus(convolved(x, y, k, 1, weights=True), convolved(y, x, k, 1, weights=True))
        known = convolved([*result, None], lengths, k, 1, weights=True) if k > 1 else None
        step = minus(turning, known)
        result.append(broadcast(call, None if step is None else scaled(step, 1.0 / k) / lengths[0]))
    return result


def hypotenuse(call: Call) -> Series:
    x, y, out = call.series(0), call.series(1), call.saved["out"]
    inside = [broadcast(call, plus(a, b)) for a, b in zip(_squares(x), _squares(y), strict=True)]
    return power_series(inside, out, 1.0 / (out * out), 0.5)


# ---- sigmoids and bells --------------------------------------------------------------------------


def _bell(x: Series, factor: float, height: float) -> Series:
    """`height exp(factor x^2)`."""
    exponent = _affine(_squares(x), factor)
    return _affine(exp_series(exponent, exponent[0].exp()), height)


def erf(call: Call) -> Series:
    x = call.series(0)
    return _integrated(x, None, _bell(x, -1.0, 2.0 / math.sqrt(math.pi)))


def _sigmoid_of(x: Series) -> Series:
    y: Series = [x[0].sigmoid()]
    for k in range(1, len(x)):
        derivative = [minus(y[i], squared(y, i)) for i in range(k)]
        y.append(scaled(convolved(x, [*derivative, None], k, 1, weights=True), 1.0 / k))
    return y


def silu(call: Call) -> Series:
    x = call.series(0)
    return product_of(x, _sigmoid_of(x))


def softplus(call: Call) -> Series:
    """Above the threshold it is `x` itself."""
    x, beta, threshold = call.series(0), call.saved["beta"], call.saved["threshold"]
    inner = [x[0] * beta, *(scaled_by(c, beta) for c in x[1:])]
    curved = _integrated(x, None, _sigmoid_of(inner))
    is_straight = inner[0] > threshold
    linear = [None, *x[1:]]
    return [None, *(_chosen(is_straight, linear[k], curved[k]) for k in call.places())]


def log_sigmoid(call: Call) -> Series:
    x = call.series(0)
    return _integrated(x, None, _sigmoid_of(_affine(x, -1.0)))


def gelu(call: Call) -> Series:
    x = call.series(0)
    if not call.node.attributes[0]:
        area = _integrated(
            x, ((x[0] * math.sqrt(0.5)).erf() + 1.0) * 0.5, _bell(x, -0.5, 1.0 / math.sqrt(2.0 * math.pi))
        )
        return product_of(x, area)
    cube = product_of(_squares(x), x)
    inner = [plus(a, scaled(b, 0.044715)) for a, b in zip(x, cube, strict=True)]
    # (1 + tanh(u)) / 2 is sigmoid(2 u).
    return product_of(x, _sigmoid_of(_affine(inner, 2.0 * math.sqrt(2.0 / math.pi))))


# ---- sums of exponentials ------------------------------------------------------------------------


def _sum_of_powers(x: Series, shares: Any, axis: Any) -> tuple[Series, Series]:
    """The series of softmax along an axis, whose value is `shares`, and of the logarithm of the sum (kept axis)."""
    y: Series = [shares]
    level: Series = [None]
    for k in range(1, len(x)):
        rising = convolved(x, [*y, None], k, 1, weights=True)
        level.append(None if rising is None else scaled(rising.sum(axis=axis, keepdim=True), 1.0 / k))
        apart = [None, *(minus(x[i], level[i]) for i in range(1, k + 1))]
        y.append(scaled(convolved(apart, [*y, None], k, 1, weights=True), 1.0 / k))
    return y, level


def softmax(call: Call) -> Series:
    return _sum_of_powers(call.series(0), call.saved["out"], call.node.attributes[0])[0]


def log_softmax(call: Call) -> Series:
    x = call.series(0)
    level = _sum_of_powers(x, call.saved["out"].exp(), call.node.attributes[0])[1]
    return [None, *(minus(x[k], level[k]) for k in call.places())]


def logsumexp(call: Call) -> Series:
    x, (axis, keepdim) = call.series(0), call.node.attributes
    axes = list(axis) if isinstance(axis, tuple) else axis
    level = _sum_of_powers(x, (x[0] - x[0].logsumexp(axis=axes, keepdim=True)).exp(), axes)[1]
    shape = list(call.node.out_aval.shape)
    return [None, *(c if c is None or keepdim else c.reshape(shape) for c in level[1:])]


def logaddexp(call: Call) -> Series:
    """`y + softplus(x - y)`."""
    x, y = call.series(0), call.series(1)
    apart = [broadcast(call, minus(a, b)) for a, b in zip(x, y, strict=True)]
    bent = _integrated(apart, None, _sigmoid_of(apart))
    return [None, *(broadcast(call, plus(y[k], bent[k])) for k in call.places())]


# ---- selections ----------------------------------------------------------------------------------


def _chosen(condition: Any, a: Any, b: Any) -> Any:
    """Coefficient `a` where the condition holds, else `b`; None is zero."""
    if a is None and b is None:
        return None
    return plus(None if a is None else gated(a, condition, True), None if b is None else gated(b, condition, False))


def larger(call: Call) -> Series:
    x, y = call.series(0), call.series(1)
    return _winner(call, x, y, x[0] > y[0])


def smaller(call: Call) -> Series:
    x, y = call.series(0), call.series(1)
    return _winner(call, x, y, x[0] < y[0])


def _winner(call: Call, x: Series, y: Series, wins: Any) -> Series:
    """The coefficients of the one that wins; of two equal ones their mean, as in the gradient."""
    share = wins.astype(call.node.out_aval.dtype.name) + 0.5 * (x[0] == y[0]).astype(call.node.out_aval.dtype.name)
    result: Series = [None]
    for k in call.places():
        apart = minus(x[k], y[k])
        result.append(broadcast(call, plus(y[k], None if apart is None else apart * share)))
    return result


def largest(call: Call) -> Series:
    return _extreme(call, call.series(0)[0].max(axis=_axes_of(call), keepdim=True))


def smallest(call: Call) -> Series:
    return _extreme(call, call.series(0)[0].min(axis=_axes_of(call), keepdim=True))


def _axes_of(call: Call) -> Any:
    axis = call.node.attributes[0]
    return list(axis) if isinstance(axis, tuple) else axis


def _extreme(call: Call, best: Any) -> Series:
    """The mean of the coefficients of all elements that are the best."""
    x, axes, keepdim = call.series(0), _axes_of(call), call.node.attributes[1]
    share = (x[0] == best).astype(x[0]._aval.dtype.name)
    share = share / share.sum(axis=axes, keepdim=True)
    return [None, *(None if c is None else (c * share).sum(axis=axes, keepdim=keepdim) for c in x[1:])]


def clip(call: Call) -> Series:
    x, (has_min, has_max, is_open) = call.series(0), call.node.attributes
    low, high = call.saved["min"], call.saved["max"]
    inside = None
    if has_min:
        inside = x[0] > low if is_open else x[0] >= low
    if has_max:
        below = x[0] < high if is_open else x[0] <= high
        inside = below if inside is None else inside & below
    return [None, *(c if c is None or inside is None else gated(c, inside, True) for c in x[1:])]


def absolute(call: Call) -> Series:
    x = call.series(0)
    if x[0]._aval.dtype.kind == "c":
        raise NotImplementedError("(taylor) there is no rule for the absolute value of complex numbers.")
    sign = x[0].sign()
    return [None, *(scaled_by(c, sign) for c in x[1:])]


def leaky_relu(call: Call) -> Series:
    x, derivative = call.series(0), call.saved["negative_slope"]
    kept = x[0] >= 0.0
    return [None, *(None if c is None else _chosen(kept, c, c * derivative) for c in x[1:])]


def remainder(call: Call) -> Series:
    """`x - floor(x / y) y`, whose quotient does not change."""
    x, y = call.series(0), call.series(1)
    if call.operands[1] is None:
        return [None, *(broadcast(call, c) for c in x[1:])]
    whole = (x[0] / y[0]).floor()
    return [None, *(broadcast(call, minus(x[k], scaled_by(y[k], whole))) for k in call.places())]


# ---- norms and normalisation ---------------------------------------------------------------------


def p_norm(call: Call) -> Series:
    x, out, (p, axis, keepdim) = call.series(0), call.saved["out"], call.node.attributes
    if p in (0, math.inf, -math.inf):
        raise NotImplementedError(
            f"(taylor) there is no rule for the norm of order {p}; use paddle.grad(create_graph=True)."
        )
    axes = list(axis) if isinstance(axis, tuple) else axis
    sign = None if p == 2 else x[0].sign()
    sizes = x if sign is None else [scaled_by(c, sign) for c in x]
    powers = _squares(x) if p == 2 else sizes if p == 1 else _root(sizes, float(p))
    total: list[Any] = [None if c is None else c.sum(axis=axes, keepdim=keepdim) for c in powers]
    return total if p == 1 else power_series(total, out, 1.0 / total[0], 1.0 / p)


def normalise(call: Call) -> Series:
    """Centred, times the root of the inverse variance, then scaled and shifted."""
    epsilon, view, axes, seen_as, centred = call.node.attributes
    shape = list(call.node.out_aval.shape)
    x = [None if c is None else c.reshape(list(view)) for c in call.series(0)]
    over = list(axes)
    if centred:
        x = [None if c is None else c - c.mean(axis=over, keepdim=True) for c in x]
    variance = [None if c is None else c.mean(axis=over, keepdim=True) for c in _squares(x)]
    variance[0] = variance[0] + epsilon
    standard = product_of(x, _root(variance, -0.5))
    standard = [None if c is None else c.reshape(shape) for c in standard]
    weight, bias = (_viewed(call, position, seen_as) for position in (1, 2))
    if weight is not None:
        standard = product_of(standard, weight)
    return [None, *(broadcast(call, plus(standard[k], None if bias is None else bias[k])) for k in call.places())]


def _viewed(call: Call, position: int, shape: tuple[int, ...]) -> Series | None:
    """The series of a parameter in the shape it is broadcast from; None where there is none."""
    if call.operands[position] is None and not isinstance(
        call.saved.get(call.operation.operand_names[position]), Tensor
    ):
        return None
    return [c.reshape(list(shape)) if isinstance(c, Tensor) else c for c in call.series(position)]


# ---- matrices ------------------------------------------------------------------------------------


def inverse_matrix(call: Call) -> Series:
    x, out = call.series(0), call.saved["out"]
    result: Series = [out]
    for k in call.places():
        total = None
        for i in range(1, k + 1):
            if x[i] is not None and result[k - i] is not None:
                total = plus(total, x[i] @ result[k - i])
        result.append(None if total is None else -(out @ total))
    return result


def solve(call: Call) -> Series:
    """`x result = y`: the same matrix at every order."""
    x, y, out = call.series(0), call.series(1), call.saved["out"]
    result: Series = [out]
    for k in call.places():
        right = y[k]
        for i in range(1, k + 1):
            if x[i] is not None and result[k - i] is not None:
                right = minus(right, x[i] @ result[k - i])
        filled = (
            None if right is None else right if right._aval.shape == out._aval.shape else right + zeros_of(out._aval)
        )
        result.append(None if filled is None else record(call.operation, [x[0], filled], call.node.attributes))
    return result
