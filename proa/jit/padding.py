"""Where a program may be given longer inputs than it needs: an analysis of its instructions, one by one.

For each value it is known which axes are longer than the real data ("padded"), the surplus being at their end. The rule
is that the real part of every value is exactly what the program without padding computes; the surplus may be anything.
Elementwise work keeps that rule by itself. What mixes positions along a padded axis (a sum, a softmax, a product) keeps it
if the surplus is first filled with what changes nothing: 0 for a sum, -inf for a softmax. An instruction without a rule
ends the matter for the sizes it touches: they are not padded.

An axis is a tuple of factors (`[batch * length]` after a reshape has two), each a number or an unknown size (`Size`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..ir.dimensions import SMALLEST
from ..ir.program import Instruction, Program


@dataclass(frozen=True)
class Size:
    """An unknown size that is padded, by the number that stands for it in the capture."""

    number: int


Axis = tuple[Any, ...]
Axes = list[Axis]


@dataclass(frozen=True)
class Fill:
    """Before an instruction, the surplus of an operand along an axis is filled with a value."""

    operand: int
    axis: int
    size: int
    value: float


@dataclass
class Plan:
    """What padding needs: fills by instruction, means by instruction, and the axes of the results."""

    sizes: frozenset[int]
    fills: dict[int, list[Fill]] = field(default_factory=dict)
    means: dict[int, int] = field(default_factory=dict)  # instruction -> the size whose axis it averages over
    masks: dict[int, int] = field(default_factory=dict)  # attention without a mask -> the size of its keys
    outputs: list[list[int | None]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


class Refused(Exception):
    """An instruction has no rule for a padded axis."""

    def __init__(self, reason: str, sizes: set[int]) -> None:
        super().__init__(reason)
        self.sizes = sizes


def plan_padding(program: Program, inputs: Sequence[Any]) -> Plan:
    """Which unknown sizes may be padded and what that needs; sizes that may not are left out, with the reasons."""
    from . import padding_rules  # noqa: F401 (it fills RULES)

    sizes = {size for aval in inputs for size in aval.shape if size >= SMALLEST}
    reasons: list[str] = []
    while sizes:
        try:
            plan = Analysis(program, frozenset(sizes)).run()
            plan.reasons = reasons
            return plan
        except Refused as refused:
            reasons.append(str(refused))
            sizes -= refused.sizes or sizes
    return Plan(frozenset(), reasons=reasons)


class Analysis:
    def __init__(self, program: Program, sizes: frozenset[int]) -> None:
        self.program = program
        self.sizes = sizes
        self.values: dict[int, Axes] = {}
        self.plan = Plan(sizes)

    def run(self) -> Plan:
        for number, aval in enumerate(self.program.inputs):
            self.values[~number] = [self.axis(size) for size in aval.shape]
        for instruction in self.program.instructions:
            self.visit(instruction)
        for number in self.program.outputs:
            row: list[int | None] = []
            for axis in self.values[number]:
                if len(axis) == 1 and isinstance(axis[0], Size):
                    row.append(axis[0].number)
                elif padded(axis):
                    raise Refused("a result has an axis that is a product of unknown sizes", sizes_of([axis]))
                else:
                    row.append(None)
            self.plan.outputs.append(row)
        return self.plan

    def axis(self, size: int) -> Axis:
        return (Size(size),) if size in self.sizes else (size,)

    def visit(self, instruction: Instruction) -> None:
        operands = [self.values[o] if o.__class__ is int else None for o in instruction.operands]
        present = [axes for axes in operands if axes is not None]
        name = instruction.operation.name
        mentioned = {n for n in _numbers(instruction.attributes) if n in self.sizes}
        touched = sizes_of(axis for axes in present for axis in axes) | mentioned
        if not touched and not any(n >= SMALLEST and self.divides(n) for n in _numbers(instruction.attributes)):
            results = [[self.axis(size) for size in aval.shape] for aval in instruction.outputs]
        else:
            rule = RULES.get(name)
            if rule is None:
                raise Refused(f"{name} has no rule for padded axes", touched or set(self.sizes))
            try:
                results = rule(self, instruction, operands)
            except Refused as refused:
                refused.sizes = refused.sizes or touched
                raise
            if instruction.flagged:
                self.check_is_safe(instruction, operands)
        for offset, (axes, aval) in enumerate(zip(results, instruction.outputs, strict=True)):
            if [product_of(axis) for axis in axes] != list(aval.shape):
                raise Refused(f"{name} gives a shape that is not understood", touched)
            self.values[instruction.index + offset] = axes

    def divides(self, number: int) -> bool:
        return any(number % size == 0 for size in self.sizes)

    def check_is_safe(self, instruction: Instruction, operands: list[Axes | None]) -> None:
        """Checked operands (indices) are filled with 0, so that the surplus raises no error."""
        check = instruction.operation.check
        assert check is not None
        for position in check.operands:
            axes = operands[position]
            for number, axis in enumerate(axes or ()):
                if padded(axis):
                    self.fill(instruction, position, number, axis, 0)

    def fill(self, instruction: Instruction, operand: int, axis: int, factors: Axis, value: float) -> None:
        if len(factors) != 1 or not isinstance(factors[0], Size):
            raise Refused(
                f"{instruction.operation.name} runs along an axis that is a product of unknown sizes",
                sizes_of([factors]),
            )
        found = self.plan.fills.setdefault(instruction.index, [])
        found.append(Fill(operand, axis, factors[0].number, value))


def padded(axis: Axis) -> bool:
    return any(isinstance(factor, Size) for factor in axis)


def sizes_of(axes: Any) -> set[int]:
    return {factor.number for axis in axes for factor in axis if isinstance(factor, Size)}


def product_of(axis: Axis) -> int:
    result = 1
    for factor in axis:
        result *= factor.number if isinstance(factor, Size) else factor
    return result


def _numbers(value: Any) -> list[int]:
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [int(value)]
    if isinstance(value, tuple):
        return [number for part in value for number in _numbers(part)]
    return []


Rule = Callable[[Analysis, Instruction, list[Axes | None]], list[Axes]]
RULES: dict[str, Rule] = {}


def rule(names: str) -> Callable[[Rule], Rule]:
    def note(function: Rule) -> Rule:
        for name in names.split():
            RULES[name] = function
        return function

    return note
