"""Whether an expression of sizes grows with them: only then is the padded extent of an axis at least the real one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core.expressions import Call, Expression, Symbol, symbols_of


def grows(expression: Expression) -> bool:
    """Whether a larger size never makes it smaller: only then is the padded extent at least the real one."""
    return all(_step(expression, symbol)[0] >= 0 for symbol in symbols_of(expression))


_Step = tuple[float, float]
_UNKNOWN: _Step = (-math.inf, math.inf)


def _step(expression: Any, symbol: Symbol) -> _Step:
    """By how much an expression changes, at least and at most, when a size is larger by one."""
    if not isinstance(expression, Expression):
        return _UNKNOWN
    for product, factor in expression.terms.items():
        if factor == -1 and len(product) == 1 and isinstance(product[0], Call) and product[0].name == "//":
            whole, divisor = product[0].arguments
            rest = expression - whole + Expression({product: 1})
            if divisor.is_constant and divisor.constant > 0 and len(rest.terms) < len(expression.terms):
                # m - m // 2 grows wherever m does, and not faster.
                least, most = _step(whole, symbol)
                if least >= 0:
                    low, high = _step(rest, symbol)
                    return low, high + most
    low = high = 0.0
    for product, factor in expression.terms.items():
        least, most = _step_of_product(product, symbol)
        low += factor * (least if factor > 0 else most) if (least if factor > 0 else most) else 0
        high += factor * (most if factor > 0 else least) if (most if factor > 0 else least) else 0
    return low, high


def _step_of_product(product: tuple[Any, ...], symbol: Symbol) -> _Step:
    steps = [_step_of_atom(atom, symbol) for atom in product]
    if len(steps) == 1:
        return steps[0]
    if not any(most or least for least, most in steps):
        return 0, 0
    if all(least >= 0 and _is_natural(atom) for atom, (least, _) in zip(product, steps, strict=True)):
        return 0, math.inf
    return _UNKNOWN


def _is_natural(atom: Any) -> bool:
    if isinstance(atom, Symbol):
        return True
    return atom.is_natural or (atom.name == "max" and any(a.is_natural for a in atom.arguments))


def _step_of_atom(atom: Any, symbol: Symbol) -> _Step:
    if isinstance(atom, Symbol):
        return (1, 1) if atom is symbol else (0, 0)
    assert isinstance(atom, Call)
    if symbol not in symbols_of(atom):
        return 0, 0
    if atom.name == "//":
        top, bottom = atom.arguments
        if not bottom.is_constant or bottom.constant <= 0:
            return _UNKNOWN
        least, most = _step(top, symbol)
        return _rounded(least, bottom.constant, math.floor), _rounded(most, bottom.constant, math.ceil)
    if atom.name in ("min", "max"):
        steps = [_step(argument, symbol) for argument in atom.arguments]
        return min(least for least, _ in steps), max(most for _, most in steps)
    return _UNKNOWN


def _rounded(step: float, divisor: int, how: Callable[[float], int]) -> float:
    return step if math.isinf(step) else how(step / divisor)
