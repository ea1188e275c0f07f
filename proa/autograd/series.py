"""Rules of Taylor mode: how power series go through operations.

The series of a tensor is a list of coefficients: at place 0 its value, at place k the coefficient of t^k, None where it
is zero. (Place 0 is None as well where nobody needs the value.) A rule gets a `Call` with the series of its operands
and gives the series of the result, from place 1 on. Everything is recorded work, so results can be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import message
from ..eager.dispatch import record
from ..eager.engine import gradients, zeros_of
from ..eager.tape import NOT_SAVED, GradNode, PassNode, edge_of, with_history
from ..eager.tensor import Tensor, alias
from ..ops.math.arithmetic import gate

Series = list[Any]
RULES: dict[str, Callable[[Call], Series]] = {}


class Call:
    """A recorded call with the series of its operands (None for one that does not depend on t)."""

    def __init__(self, node: GradNode, operands: list[Series | None], order: int) -> None:
        self.node = node
        self.operation = node.operation
        self.operands = operands
        self.order = order
        pairs = () if node.operation.variadic else zip(node.operation.gradient.saved, node.saved)
        self.saved = {name: value for name, value in pairs if value is not NOT_SAVED}
        if isinstance(self.saved.get("out"), Tensor):
            self.saved["out"] = with_history(self.saved["out"], node)

    def series(self, position: int, value: Any = None) -> Series:
        """The series of an operand, with its value at place 0 (if it was saved, or is given)."""
        found = self.operands[position]
        if value is None:
            value = self.saved.get(self.operation.operand_names[position])
        return [value, *(found[1:] if found is not None else [None] * self.order)]

    def places(self) -> range:
        return range(1, self.order + 1)


def rule(*names: str) -> Callable[[Callable[[Call], Series]], Callable[[Call], Series]]:
    def declare(function: Callable[[Call], Series]) -> Callable[[Call], Series]:
        RULES.update(dict.fromkeys(names, function))
        return function

    return declare


# ---- arithmetic of coefficients, in which None is zero -------------------------------------------


def plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def minus(a: Any, b: Any) -> Any:
    return a if b is None else -b if a is None else a - b


def scaled(a: Any, factor: float) -> Any:
    return a if a is None or factor == 1 else a * factor


def over(a: Any, b: Any) -> Any:
    return None if a is None else a / b


def convolved(a: Series, b: Series, place: int, start: int = 0, weights: bool = False) -> Any:
    """The sum over i of `a[i] * b[place - i]` from `start` on; with `weights`, of i times that."""
    total = None
    for i in range(start, place + 1):
        left, right = a[i], b[place - i]
        if left is not None and right is not None:
            total = plus(total, scaled(left * right, i) if weights else left * right)
    return total


def squared(a: Series, place: int) -> Any:
    """Coefficient `place` of the square: equal products are made once."""
    total = None
    for i in range((place + 1) // 2):
        if a[i] is not None and a[place - i] is not None:
            total = plus(total, a[i] * a[place - i])
    total = scaled(total, 2.0)
    middle = a[place // 2] if place % 2 == 0 else None
    return plus(total, None if middle is None else middle * middle)


def product_of(a: Series, b: Series) -> Series:
    return [convolved(a, b, k) for k in range(len(a))]


def _follow(call: Call, start: Any, slope: Callable[[Series, int], Any]) -> Series:
    """The series of y with `y' = w(y) x'`: `slope` gives the next coefficient of w from those of y."""
    x = call.series(0)
    y: Series = [start]
    w: Series = []
    for k in call.places():
        w.append(slope(y, k - 1))
        y.append(scaled(convolved(x, [*w, None], k, 1, weights=True), 1.0 / k))
    return y


# ---- linear operations ---------------------------------------------------------------------------

# Operations that are linear in the named operands together; the other operands are used as they were.
_LINEAR_NAMES = (
    "adaptive_average as_complex as_real assign avg_pool cast conj cumsum diag diagonal expand fft_c2c fft_c2r fft_r2c "
    "flip frame gate gather_nd getitem getitem_grad imag index_get mean neg overlap_add pick_along pick_last real "
    "reshape roll shift_along sum take_along_axis tile times transpose tril triu dropout dropout_scale "
    "spread_along zero_where_nan"
)
_LINEAR: dict[str, str] = dict.fromkeys(_LINEAR_NAMES.split(), "x")
_LINEAR |= {"embedding": "weight", "where": "x y", "index_accumulate": "x value", "index_set": "x value"}
_LINEAR |= {"setitem": "x value", "with_diagonal": "x y", "complex": "real imag"}


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


def _linear(call: Call) -> Series:
    linear = set(_LINEAR[call.operation.name].split())
    return [None, *(_apply(call, k, linear) for k in call.places())]


RULES.update(dict.fromkeys(_LINEAR, _linear))


@rule("concat", "stack")
def _joined(call: Call) -> Series:
    result: Series = [None]
    for k in call.places():
        parts = [None if s is None else s[k] for s in call.operands]
        if all(part is None for part in parts):
            result.append(None)
            continue
        filled = [zeros_of(aval) if p is None else p for p, aval in zip(parts, call.node.avals)]
        result.append(record(call.operation, filled, call.node.attributes))
    return result


@rule("split", "unbind")
def _parted(call: Call) -> Series:
    """Several results: every coefficient is the list of theirs."""
    (x,) = call.operands
    assert x is not None
    return [
        None,
        *(None if x[k] is None else record(call.operation, [x[k]], call.node.attributes) for k in call.places()),
    ]


def _broadcast(call: Call, coefficient: Any) -> Any:
    """A coefficient in the shape of the result: an operand that was broadcast has its own."""
    aval = call.node.out_aval
    if coefficient is None or coefficient._aval.shape == aval.shape:
        return coefficient
    return coefficient + zeros_of(aval)


@rule("add")
def _sum(call: Call) -> Series:
    x, y = call.series(0), call.series(1)
    return [None, *(_broadcast(call, plus(x[k], y[k])) for k in call.places())]


@rule("subtract")
def _difference(call: Call) -> Series:
    x, y = call.series(0), call.series(1)
    return [None, *(_broadcast(call, minus(x[k], y[k])) for k in call.places())]


@rule("scale")
def _affine(call: Call) -> Series:
    x = call.series(0)
    return [None, *(scaled(x[k], call.saved["scale"]) for k in call.places())]


@rule("fixed")
def _fixed(call: Call) -> Series:
    x, factor = call.series(0), call.node.attributes[0]
    return [None, *(scaled(x[k], factor) for k in call.places())]


@rule("pad")
def _padded(call: Call) -> Series:
    x = call.series(0)
    attributes = call.node.attributes
    return [None, *(None if x[k] is None else record(call.operation, [x[k], 0.0], attributes) for k in call.places())]


@rule("relu")
def _relu(call: Call) -> Series:
    x, kept = call.series(0), call.saved["out"] > 0.0
    return [None, *(None if x[k] is None else gate(x[k], kept, True) for k in call.places())]


@rule("floor", "ceil", "round", "trunc", "zero_slope", "sign")
def _steps(call: Call) -> Series:
    return [None] * (call.order + 1)


# ---- products ------------------------------------------------------------------------------------


@rule("multiply")
def _multiply(call: Call) -> Series:
    x, y = call.series(0), call.series(1)
    return [None, *(_broadcast(call, convolved(x, y, k)) for k in call.places())]


@rule("triple_product")
def _triple_product(call: Call) -> Series:
    a, b, c = (call.series(position) for position in range(3))
    return [scaled(k, call.node.attributes[0]) for k in product_of(product_of(a, b), c)]


@rule("matmul", "linear", "conv")
def _bilinear(call: Call) -> Series:
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
    return [None, *(_broadcast(call, c) for c in result[1:])]


@rule("divide")
def _divide(call: Call) -> Series:
    x, y = call.series(0), call.series(1)
    result: Series = [call.saved["out"]]
    for k in call.places():
        result.append(_broadcast(call, over(minus(x[k], convolved(y, [*result, None], k, 1)), y[0])))
    return result


@rule("square")
def _square(call: Call) -> Series:
    x = call.series(0)
    return [None, *(squared(x, k) for k in call.places())]


@rule("integer_power")
def _integer_power(call: Call) -> Series:
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
    return result if exponent > 0 else _inverse(result, 1.0 / result[0])


def _inverse(x: Series, start: Any) -> Series:
    y: Series = [start]
    for k in range(1, len(x)):
        y.append(minus(None, _scaled_by(convolved(x, [*y, None], k, 1), start)))
    return y


def _scaled_by(a: Any, b: Any) -> Any:
    return None if a is None else a * b


@rule("reciprocal")
def _reciprocal(call: Call) -> Series:
    return _inverse(call.series(0), call.saved["out"])


def _power_series(x: Series, start: Any, inverse: Any, exponent: Any) -> Series:
    """`x ** exponent` for a constant exponent: `start` is its value, `inverse` is 1 / x."""
    y: Series = [start]
    for k in range(1, len(x)):
        total = None
        for i in range(1, k + 1):
            if x[i] is not None and y[k - i] is not None:
                total = plus(total, x[i] * y[k - i] * (exponent * i - (k - i)))
        y.append(scaled(_scaled_by(total, inverse), 1.0 / k))
    return y


@rule("sqrt")
def _sqrt(call: Call) -> Series:
    out = call.saved["out"]
    return _power_series(call.series(0), out, 1.0 / (out * out), 0.5)


@rule("rsqrt")
def _rsqrt(call: Call) -> Series:
    out = call.saved["out"]
    return _power_series(call.series(0), out, out * out, -0.5)


@rule("pow")
def _pow(call: Call) -> Series:
    x, y, out = call.series(0), call.series(1), call.saved["out"]
    if call.operands[1] is None:
        base = [x[0], *(_broadcast(call, c) for c in x[1:])]
        return _power_series(base, out, 1.0 / x[0], y[0])
    base = x[0] if isinstance(x[0], Tensor) else out * 0.0 + x[0]
    exponents = product_of(y, _log_series(x, base.log()))
    return _exp_series([exponents[0], *(_broadcast(call, c) for c in exponents[1:])], out)


# ---- functions that solve a differential equation ------------------------------------------------


def _exp_series(x: Series, start: Any) -> Series:
    y: Series = [start]
    for k in range(1, len(x)):
        y.append(scaled(convolved(x, [*y, None], k, 1, weights=True), 1.0 / k))
    return y


def _log_series(x: Series, start: Any) -> Series:
    y: Series = [start]
    for k in range(1, len(x)):
        rest = scaled(convolved([*y, None], x, k, 1, weights=True) if k > 1 else None, 1.0 / k)
        y.append(over(minus(x[k], rest), x[0]))
    return y


@rule("exp")
def _exp(call: Call) -> Series:
    return _exp_series(call.series(0), call.saved["out"])


@rule("log")
def _log(call: Call) -> Series:
    return _log_series(call.series(0), None)


@rule("expm1")
def _expm1(call: Call) -> Series:
    return _follow(call, call.saved["out"], lambda y, k: y[k] + 1.0 if k == 0 else y[k])


@rule("tanh")
def _tanh(call: Call) -> Series:
    return _follow(call, call.saved["out"], lambda y, k: 1.0 - y[0] * y[0] if k == 0 else minus(None, squared(y, k)))


@rule("tan")
def _tan(call: Call) -> Series:
    return _follow(call, call.saved["out"], lambda y, k: 1.0 + y[0] * y[0] if k == 0 else squared(y, k))


@rule("sigmoid")
def _sigmoid(call: Call) -> Series:
    return _follow(call, call.saved["out"], lambda y, k: minus(y[k], squared(y, k)))


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


@rule("sin", "cos")
def _circular(call: Call) -> Series:
    x = call.saved["x"]
    return _pair(call, x.sin(), x.cos(), -1.0)[call.operation.name == "cos"]


@rule("sinh", "cosh")
def _hyperbolic(call: Call) -> Series:
    x = call.saved["x"]
    return _pair(call, x.sinh(), x.cosh(), 1.0)[call.operation.name == "cosh"]


@rule("tanh_grad")
def _tanh_grad(call: Call) -> Series:
    outer, y = call.series(0), call.series(1)
    slope = [1.0 - y[0] * y[0], *(minus(None, squared(y, k)) for k in call.places())]
    return product_of(outer, slope)


@rule("sigmoid_grad")
def _sigmoid_grad(call: Call) -> Series:
    outer, y = call.series(0), call.series(1)
    return product_of(outer, [minus(y[k], squared(y, k)) for k in range(call.order + 1)])


# ---- everything else -----------------------------------------------------------------------------

_ELEMENTWISE_NAMES = "digamma exponential_unit hardswish i0 i0e i1 i1e lgamma polygamma sinc_derivative"
_ELEMENTWISE = frozenset(_ELEMENTWISE_NAMES.split())


def elementwise_series(call: Call) -> Series:
    """A function of one number, by its derivatives: `f(x0 + u) = f(x0) + f'(x0) u + f''(x0) u^2 / 2 + ...`."""
    names = call.operation.operand_names
    point = separate(call.saved[names[0]])
    value = record(call.operation, [point, *(call.saved[n] for n in names[1:])], call.node.attributes)
    increment = [None, *call.series(0)[1:]]
    power: Series = increment
    total: Series = [None] * (call.order + 1)
    factorial = 1.0
    for degree in call.places():
        factorial *= degree
        (derivative,) = gradients([value], [point], create_graph=True)
        if derivative is None:
            break
        value = derivative
        for k in range(degree, call.order + 1):
            total[k] = plus(total[k], scaled(_scaled_by(power[k], derivative), 1.0 / factorial))
        power = product_of(power, increment)
    return total


def separate(x: Tensor) -> Tensor:
    """The same tensor at a place of its own in the graph: derivatives count this use alone."""
    own = alias(x)
    own.stop_gradient = False
    edge = edge_of(x)
    if edge is not None:
        own._node = PassNode(edge, x._aval)
    return own


def advance(call: Call) -> Series:
    """The series of a call's result."""
    name = call.operation.name
    found = RULES.get(name)
    if found is None and name in _ELEMENTWISE:
        found = elementwise_series
    if found is None:
        raise NotImplementedError(
            message("taylor", f"there is no rule for the operation {name}", fix="use paddle.grad(create_graph=True)")
        )
    return found(call)
