"""Rules of Taylor mode for arithmetic, what moves elements, and functions that solve a differential equation."""

from __future__ import annotations

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
    follow,
    gated,
    inverse,
    log_series,
    minus,
    over,
    plus,
    power_series,
    product_of,
    scaled,
    squared,
)

# ---- linear operations ---------------------------------------------------------------------------


def _apply(call: Call, place: int, linear: set[str]) -> Any:
    """A linear operation on the coefficients at one place."""
    names = call.operation.operand_names
    chosen = [s if s is None or n in linear else None for s, n in zip(call.operands, names)]
    if all(s is None or s[place] is None for s in chosen):
        return None
    operands = []
    for series, name, aval in zip(chosen, names, call.node.avals):
        if name not in linear:
            operands.append(call.saved[name])
        elif series is None or series[place] is None:
            operands.append(zeros_of(aval))
        else:
            operands.append(series[place])
    return record(call.operation, operands, call.node.attributes)


def linear(operands: str) -> Callable[[Call], Series]:
    """For operations that are linear in these operands together; the others are used as they were."""
    chosen = set(operands.split())
    return lambda call: [None, *(_apply(call, k, chosen) for k in call.places())]


def joined(call: Call) -> Series:
    result: Series = [None]
    for k in call.places():
        parts = [None if s is None else s[k] for s in call.operands]
        if all(part is None for part in parts):
            result.append(None)
            continue
        filled = [zeros_of(aval) if p is None else p for p, aval in zip(parts, call.node.avals)]
        result.append(record(call.operation, filled, call.node.attributes))
    return result


def parted(call: Call) -> Series:
    """Several results: every coefficient is the list of theirs."""
    (x,) = call.operands
    assert x is not None
    return [
        None,
        *(None if x[k] is None else record(call.operation, [x[k]], call.node.attributes) for k in call.places()),
    ]


def addition(call: Call) -> Series:
    x, y = call.series(0), call.series(1)
    return [None, *(broadcast(call, plus(x[k], y[k])) for k in call.places())]


def difference(call: Call) -> Series:
    x, y = call.series(0), call.series(1)
    return [None, *(broadcast(call, minus(x[k], y[k])) for k in call.places())]


def affine(call: Call) -> Series:
    x = call.series(0)
    return [None, *(scaled(x[k], call.saved["scale"]) for k in call.places())]


def fixed(call: Call) -> Series:
    x, factor = call.series(0), call.node.attributes[0]
    return [None, *(scaled(x[k], factor) for k in call.places())]


def padded(call: Call) -> Series:
    x = call.series(0)
    attributes = call.node.attributes
    return [None, *(None if x[k] is None else record(call.operation, [x[k], 0.0], attributes) for k in call.places())]


def relu(call: Call) -> Series:
    x, kept = call.series(0), call.saved["out"] > 0.0
    return [None, *(None if x[k] is None else gated(x[k], kept, True) for k in call.places())]


def steps(call: Call) -> Series:
    return [None] * (call.order + 1)


# ---- products ------------------------------------------------------------------------------------


def multiply(call: Call) -> Series:
    x, y = call.series(0), call.series(1)
    return [None, *(broadcast(call, convolved(x, y, k)) for k in call.places())]


def triple_product(call: Call) -> Series:
    a, b, c = (call.series(position) for position in range(3))
    return [scaled(k, call.node.attributes[0]) for k in product_of(product_of(a, b), c)]


def bilinear(call: Call) -> Series:
    """A product of `x` with a second operand, and perhaps a bias, which is added."""
    left, right = call.series(0), call.series(1)
    bias = call.operands[2] if len(call.operands) > 2 else None
    names = call.operation.operand_names
    absent = [None] * (len(names) - 2)
    result: Series = [None]
    for k in call.places():
        total = None
        for i in range(k + 1):
            if left[i] is not None and right[k - i] is not None:
                total = plus(total, record(call.operation, [left[i], right[k - i], *absent], call.node.attributes))
        result.append(plus(total, None if bias is None else bias[k]))
    return [None, *(broadcast(call, c) for c in result[1:])]


def divide(call: Call) -> Series:
    x, y = call.series(0), call.series(1)
    result: Series = [call.saved["out"]]
    for k in call.places():
        result.append(broadcast(call, over(minus(x[k], convolved(y, [*result, None], k, 1)), y[0])))
    return result


def square(call: Call) -> Series:
    x = call.series(0)
    return [None, *(squared(x, k) for k in call.places())]


def integer_power(call: Call) -> Series:
    (exponent,) = call.node.attributes
    if exponent == 0:
        return [None] * (call.order + 1)
    x = call.series(0)
    result: Series | None = None
    power, remaining = x, abs(exponent)
    while remaining:
        if remaining & 1:
            result = power if result is None else product_of(result, power)
        remaining >>= 1
        if remaining:
            power = [squared(power, k) for k in range(call.order + 1)]
    assert result is not None
    return result if exponent > 0 else inverse(result, 1.0 / result[0])


def reciprocal(call: Call) -> Series:
    return inverse(call.series(0), call.saved["out"])


def sqrt(call: Call) -> Series:
    out = call.saved["out"]
    return power_series(call.series(0), out, 1.0 / (out * out), 0.5)


def rsqrt(call: Call) -> Series:
    out = call.saved["out"]
    return power_series(call.series(0), out, out * out, -0.5)


def power(call: Call) -> Series:
    x, y, out = call.series(0), call.series(1), call.saved["out"]
    if call.operands[1] is None:
        base = [x[0], *(broadcast(call, c) for c in x[1:])]
        return power_series(base, out, 1.0 / x[0], y[0])
    base = x[0] if isinstance(x[0], Tensor) else out * 0.0 + x[0]
    exponents = product_of(y, log_series(x, base.log()))
    return exp_series([exponents[0], *(broadcast(call, c) for c in exponents[1:])], out)


# ---- functions that solve a differential equation ------------------------------------------------


def exp(call: Call) -> Series:
    return exp_series(call.series(0), call.saved["out"])


def log(call: Call) -> Series:
    return log_series(call.series(0), None)


def expm1(call: Call) -> Series:
    return follow(call, call.saved["out"], lambda y, k: y[k] + 1.0 if k == 0 else y[k])


def tanh(call: Call) -> Series:
    return follow(call, call.saved["out"], lambda y, k: 1.0 - y[0] * y[0] if k == 0 else minus(None, squared(y, k)))


def tan(call: Call) -> Series:
    return follow(call, call.saved["out"], lambda y, k: 1.0 + y[0] * y[0] if k == 0 else squared(y, k))


def sigmoid(call: Call) -> Series:
    return follow(call, call.saved["out"], lambda y, k: minus(y[k], squared(y, k)))


def _pair(call: Call, first: Any, second: Any, sign: float) -> tuple[Series, Series]:
    """Series of a and b with `a' = b x'` and `b' = sign a x'`: sine and cosine, and the hyperbolic ones."""
    x = call.series(0)
    a, b = [first], [second]
    for k in call.places():
        rising = convolved(x, [*b, None], k, 1, weights=True)
        turning = convolved(x, [*a, None], k, 1, weights=True)
        a.append(scaled(rising, 1.0 / k))
        b.append(scaled(turning, sign / k))
    return a, b


def sine(call: Call) -> Series:
    x = call.saved["x"]
    return _pair(call, x.sin(), x.cos(), -1.0)[0]


def cosine(call: Call) -> Series:
    x = call.saved["x"]
    return _pair(call, x.sin(), x.cos(), -1.0)[1]


def hyperbolic_sine(call: Call) -> Series:
    x = call.saved["x"]
    return _pair(call, x.sinh(), x.cosh(), 1.0)[0]


def hyperbolic_cosine(call: Call) -> Series:
    x = call.saved["x"]
    return _pair(call, x.sinh(), x.cosh(), 1.0)[1]


def tanh_grad(call: Call) -> Series:
    outer, y = call.series(0), call.series(1)
    derivative = [1.0 - y[0] * y[0], *(minus(None, squared(y, k)) for k in call.places())]
    return product_of(outer, derivative)


def sigmoid_grad(call: Call) -> Series:
    outer, y = call.series(0), call.series(1)
    return product_of(outer, [minus(y[k], squared(y, k)) for k in range(call.order + 1)])
