"""What padding a program needs, and what to do with the inputs and results of the padded one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.expressions import Expression, Symbol
from ...core.symbols import evaluate
from ..program import Instruction
from .axes import Axes, Axis, Extent

Sizes = Mapping[Symbol, int]


@dataclass(frozen=True)
class Fill:
    """Before an instruction, the surplus of an operand along an axis is filled with a value."""

    operand: int
    axis: int
    factors: Axis
    value: float


# How an instruction is written where fills are not enough: `rewrite(writer, instruction, operands)`.
Rewrite = Callable[[Any, Instruction, list[Any]], None]


def _no_axes() -> list[Axes]:
    return []


def _no_reasons() -> list[str]:
    return []


@dataclass
class Plan:
    """The padded sizes, fills and rewrites by instruction, and the axes of inputs and results."""

    sizes: tuple[Symbol, ...]
    # Each unknown size of the inputs -> the one of `sizes` that it is taken to be equal to.
    classes: dict[Symbol, Symbol] = field(default_factory=dict[Symbol, Symbol])
    fills: dict[int, list[Fill]] = field(default_factory=dict[int, list[Fill]])
    rewrites: dict[int, Rewrite] = field(default_factory=dict[int, Rewrite])
    inputs: list[Axes] = field(default_factory=_no_axes)
    outputs: list[Axes] = field(default_factory=_no_axes)
    # Sizes that the program wants to be equal (`table[:n]` beside n rows), as expressions.
    equal: tuple[tuple[Expression, Expression], ...] = ()
    # Why other sizes are not padded: operation, axis and reason.
    reasons: list[str] = field(default_factory=_no_reasons)

    def holds_for(self, sizes: Sizes) -> bool:
        """Whether data, or a bucket, may have these sizes: none is 0, and what must be equal is."""
        return all(
            sizes[symbol] > 0 and sizes[symbol] == sizes[first] for symbol, first in self.classes.items()
        ) and all(one.value(sizes) == other.value(sizes) for one, other in self.equal)

    def input_shape(self, number: int, sizes: Sizes) -> tuple[int, ...]:
        """The shape that an input has where the (padded) sizes are these."""
        return tuple(_length(axis, sizes) for axis in self.inputs[number])

    def input_factors(self, number: int, sizes: Sizes) -> tuple[int, ...]:
        """The same with every factor of an axis as an axis of its own, where surplus is at the end of each."""
        return tuple([_factor(factor, sizes) for axis in self.inputs[number] for factor in axis])


def _factor(factor: Any, sizes: Sizes) -> int:
    return factor.expression.value(sizes) if isinstance(factor, Extent) else evaluate(factor, sizes)


def _length(axis: Axis, sizes: Sizes) -> int:
    result = 1
    for factor in axis:
        result *= _factor(factor, sizes)
    return result
