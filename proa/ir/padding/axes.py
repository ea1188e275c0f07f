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

from ...core.expressions import Call, Expression, Symbol, symbols_of
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


def merged(first: Axis, second: Axis) -> Axis:
    """The axis of a result whose operands have these; Refused where their data does not lie at the same places."""
    if same_axis(first, second):
        return second if _repeats(first) else first
    if same_size(size_of(first), size_of(second)):
        if _repeats(first):
            return second
        if _repeats(second):
            return first
    raise Refused("the operands are padded differently", first, second)


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
    factors = [factor for axis in x for factor in axis if isinstance(factor, Extent) or factor != 1]
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
    if not factors or plain(product) >= plain(wanted) > 0:
        return None
    factor = factors.pop(0)
    if isinstance(factor, (Extent, SymbolicSize)):
        return factor
    rest = _content(wanted) // math.gcd(_content(product), _content(wanted))
    if rest % factor == 0:
        return factor
    if rest > 1 and factor % rest == 0:
        factors.insert(0, factor // rest)
        return rest
    return None


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


# ---- which way expressions grow --------------------------------------------------------------------------------------


def grows(expression: Expression) -> bool:
    """Whether a larger size never makes it smaller: only then is the padded extent at least the real one."""
    return _direction(expression) in (0, 1)


def _direction(expression: Any) -> int | None:
    """1 for what grows with sizes, -1 for what shrinks, 0 for a constant, None where that is not known."""
    if not isinstance(expression, Expression):
        return None
    found = 0
    for product, factor in expression.terms.items():
        if not product:
            continue
        if len(product) == 1:
            way = _atom_direction(product[0])
        else:  # a product of what grows and is never negative
            way = 1 if all(_atom_direction(atom) == 1 and _is_natural(atom) for atom in product) else None
        if way is None:
            return None
        way = way if factor > 0 else -way
        if way and found and way != found:
            return None
        found = found or way
    return found


def _is_natural(atom: Any) -> bool:
    if isinstance(atom, Symbol):
        return True
    return atom.is_natural or (atom.name == "max" and any(a.is_natural for a in atom.arguments))


def _atom_direction(atom: Any) -> int | None:
    if isinstance(atom, Symbol):
        return 1
    assert isinstance(atom, Call)
    if atom.name == "//":
        top, bottom = atom.arguments
        return _direction(top) if bottom.is_constant and bottom.constant > 0 else None
    if atom.name in ("min", "max"):
        ways = {_direction(argument) for argument in atom.arguments} - {0}
        return ways.pop() if len(ways) == 1 else None if ways else 0
    return None
