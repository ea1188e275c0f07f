"""Axes that are longer than their data.

An axis is a tuple of factors, outermost first: `[batch * length]` after a reshape has two. A factor is a number, or an
`Extent`: an expression of the padded sizes. The real extent is the expression at the real sizes, the padded one is the
same expression at those of the bucket, and the surplus is at the end of the factor. So the surplus of an axis with
several factors lies between its data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.expressions import Expression, Symbol, symbols_of
from ...core.symbols import SymbolicSize, plain, same_size, size_from


@dataclass(frozen=True)
class Extent:
    """A factor of an axis that is longer than its data."""

    expression: Expression
    value: int = field(compare=False)
    # The same values all along it (a number that was expanded): it may be laid out like any other of its size.
    repeats: bool = field(default=False, compare=False)

    @property
    def number(self) -> int:
        return size_from(self.expression, self.value)


Axis = tuple[Any, ...]
Axes = list[Axis]


class Refused(Exception):
    """An operation cannot be run with a padded axis: the reason, and the axes it is about."""

    def __init__(self, reason: str, *axes: Axis, sizes: Iterable[Symbol] = ()) -> None:
        super().__init__(reason)
        self.axes = axes
        self.sizes = set(sizes) | sizes_of(axes)


def padded(axis: Axis) -> bool:
    return any(isinstance(factor, Extent) for factor in axis)


def padded_axes(axes: Axes) -> list[int]:
    return [number for number, axis in enumerate(axes) if padded(axis)]


def sizes_of(axes: Iterable[Axis]) -> set[Symbol]:
    return {
        symbol
        for axis in axes
        for factor in axis
        if isinstance(factor, Extent)
        for symbol in symbols_of(factor.expression)
    }


def size_of(axis: Axis) -> int:
    """The size of an axis, as an expression."""
    result = 1
    for factor in axis:
        result = result * (factor.number if isinstance(factor, Extent) else factor)
    return result


def shown(axis: Axis) -> str:
    size = size_of(axis)
    return repr(size.expression) if isinstance(size, SymbolicSize) else str(size)


def is_one(axis: Axis) -> bool:
    return len(axis) == 1 and axis[0].__class__ is int and axis[0] == 1


def same_axis(first: Axis, second: Axis) -> bool:
    """Whether the data of two axes lies at the same places."""
    if len(first) != len(second):
        return False
    for one, other in zip(first, second, strict=True):
        if isinstance(one, Extent) or isinstance(other, Extent):
            if one != other:
                return False
        elif plain(one) != plain(other):
            return False
    return True


def _repeats(axis: Axis) -> bool:
    return all(factor.repeats if isinstance(factor, Extent) else factor == 1 for factor in axis)


class Different(Refused):
    """Data of two operands does not lie at the same places."""

    def __init__(self, first: Axis, second: Axis) -> None:
        super().__init__("the operands are padded differently", first, second)


def merged(first: Axis, second: Axis) -> Axis:
    """The axis of a result whose operands have these; `Different` where their data does not lie at the same places."""
    if same_axis(first, second):
        return second if _repeats(first) else first
    if same_size(size_of(first), size_of(second)):
        if _repeats(first):
            return second
        if _repeats(second):
            return first
    raise Different(first, second)


def plainly(axes: Axes) -> Axes:
    """The axes without the knowledge that values repeat along them."""
    return [
        tuple(Extent(f.expression, f.value) if isinstance(f, Extent) and f.repeats else f for f in axis)
        for axis in axes
    ]


def broadcast(operands: Sequence[Axes]) -> Axes:
    longest = max(map(len, operands), default=0)
    result: Axes = []
    for position in range(longest):
        found: Axis = (1,)
        for axes in operands:
            index = position - (longest - len(axes))
            if index < 0 or is_one(axes[index]):
                continue
            found = axes[index] if is_one(found) else merged(found, axes[index])
        result.append(found)
    return result


def reduced(axes: Axes, gone: Sequence[int], keepdim: bool) -> Axes:
    return [(1,) if i in gone else axis for i, axis in enumerate(axes) if keepdim or i not in gone]


def reshaped(x: Axes, shape: Sequence[int]) -> Axes:
    """The axes of a reshape: the same factors in the same order, grouped otherwise; numbers may be split."""
    factors = [factor for axis in x for factor in axis if isinstance(factor, (Extent, SymbolicSize)) or factor != 1]
    result: Axes = []
    for wanted in shape:
        taken: list[Any] = []
        product: int = 1
        while not same_size(product, wanted):
            part = _next_part(factors, product, wanted)
            if part is None:
                raise Refused("a reshape takes data and surplus of a padded axis apart", *filter(padded, x))
            taken.append(part)
            product = product * (part.number if isinstance(part, Extent) else part)
        result.append(_joined(taken))
    return result


def _next_part(factors: list[Any], product: int, wanted: int) -> Any:
    """The next factor, or the part of it, that belongs to an axis of the size `wanted`; None where none fits."""
    if not factors:
        return None
    factor = factors.pop(0)
    number = factor.number if isinstance(factor, Extent) else factor
    if isinstance(number, SymbolicSize):
        rest = wanted // product
        if isinstance(factor, Extent) and not factor.repeats:
            return factor
        if not same_size(rest * product, wanted) or _divides(number, rest):
            return factor
        if not _divides(rest, number):
            return None
        factors.insert(0, _like(factor, number // rest))
        return _like(factor, rest)
    rest = _content(wanted) // math.gcd(_content(product), _content(wanted))
    if rest % number == 0:
        return number
    if rest > 1 and number % rest == 0:
        factors.insert(0, number // rest)
        return rest
    return None


def _like(factor: Any, number: int) -> Any:
    """A part of a factor: of values that repeat, or of a number that is not known."""
    if isinstance(factor, Extent) and isinstance(number, SymbolicSize):
        return Extent(number.expression, plain(number), True)
    return number


def _divides(divisor: int, number: int) -> bool:
    rest = number % divisor
    return rest.__class__ is int and rest == 0


def _content(number: int) -> int:
    """The number that divides all coefficients of a size."""
    if isinstance(number, SymbolicSize):
        return math.gcd(*number.expression.terms.values())
    return number


def _joined(factors: list[Any]) -> Axis:
    """Factors with neighbouring numbers multiplied."""
    result: list[Any] = []
    for factor in factors:
        if result and not isinstance(factor, Extent) and not isinstance(result[-1], Extent):
            result[-1] = result[-1] * factor
        else:
            result.append(factor)
    return tuple(result) or (1,)
