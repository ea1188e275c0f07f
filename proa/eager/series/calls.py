"""Power series of tensors, as rules of Taylor mode compute with them.

The series of a tensor is a list of coefficients: at place 0 its value, at place k the coefficient of t^k, None where it
is zero. (Place 0 is None as well where nobody needs the value.) A rule gets a `Call` with the series of its operands
and gives the series of the result, from place 1 on. Everything is recorded work, so results can be differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backward.engine import zeros_of
from ..backward.tape import NOT_SAVED, GradNode, with_history
from ..tensor import Tensor

Series = list[Any]


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


def follow(call: Call, start: Any, derivative: Callable[[Series, int], Any]) -> Series:
    """The series of y with `y' = w(y) x'`: `derivative` gives the next coefficient of w from those of y."""
    x = call.series(0)
    y: Series = [start]
    w: Series = []
    for k in call.places():
        w.append(derivative(y, k - 1))
        y.append(scaled(convolved(x, [*w, None], k, 1, weights=True), 1.0 / k))
    return y


# ---- series that solve an equation ---------------------------------------------------------------


def inverse(x: Series, start: Any) -> Series:
    y: Series = [start]
    for k in range(1, len(x)):
        y.append(minus(None, scaled_by(convolved(x, [*y, None], k, 1), start)))
    return y


def scaled_by(a: Any, b: Any) -> Any:
    return None if a is None else a * b


def power_series(x: Series, start: Any, inverse: Any, exponent: Any) -> Series:
    """`x ** exponent` for a constant exponent: `start` is its value, `inverse` is 1 / x."""
    y: Series = [start]
    for k in range(1, len(x)):
        total = None
        for i in range(1, k + 1):
            if x[i] is not None and y[k - i] is not None:
                total = plus(total, x[i] * y[k - i] * (exponent * i - (k - i)))
        y.append(scaled(scaled_by(total, inverse), 1.0 / k))
    return y


def exp_series(x: Series, start: Any) -> Series:
    y: Series = [start]
    for k in range(1, len(x)):
        y.append(scaled(convolved(x, [*y, None], k, 1, weights=True), 1.0 / k))
    return y


def log_series(x: Series, start: Any) -> Series:
    y: Series = [start]
    for k in range(1, len(x)):
        rest = scaled(convolved([*y, None], x, k, 1, weights=True) if k > 1 else None, 1.0 / k)
        y.append(over(minus(x[k], rest), x[0]))
    return y


def broadcast(call: Call, coefficient: Any) -> Any:
    """A coefficient in the shape of the result: an operand that was broadcast has its own."""
    aval = call.node.out_aval
    if coefficient is None or coefficient._aval.shape == aval.shape:
        return coefficient
    return coefficient + zeros_of(aval)


def gated(a: Any, condition: Any, when: bool) -> Any:
    """A coefficient where the condition is `when`, zero elsewhere, whatever stands there."""
    nothing = zeros_of(a._aval)
    return condition.where(a, nothing) if when else condition.where(nothing, a)
