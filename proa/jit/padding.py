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

from ..core.expressions import Expression, Symbol, as_expression
from ..core.symbols import SymbolicSize, plain, same_size, size_from
from ..ir.dimensions import symbols_in
from ..ir.program import Instruction, Program


@dataclass(frozen=True)
class Size:
    """An unknown size that is padded."""

    symbol: Symbol

    @property
    def number(self) -> int:
        return size_from(as_expression(self.symbol), self.symbol.example)


Axis = tuple[Any, ...]
Axes = list[Axis]


@dataclass(frozen=True)
class Fill:
    """Before an instruction, the surplus of an operand along an axis is filled with a value."""

    operand: int
    axis: int
    size: Symbol
    value: float


@dataclass
class Plan:
    """What padding needs: fills by instruction, means by instruction, and the axes of the results."""

    sizes: tuple[Symbol, ...]
    # Each unknown size of the inputs -> the one of `sizes` that it is taken to be equal to.
    classes: dict[Symbol, Symbol] = field(default_factory=dict)
    fills: dict[int, list[Fill]] = field(default_factory=dict)
    means: dict[int, Symbol] = field(default_factory=dict)  # instruction -> the size whose axis it averages over
    masks: dict[int, Symbol] = field(default_factory=dict)  # attention without a mask -> the size of its keys
    outputs: list[list[Symbol | None]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


# Operations whose attributes are shapes: what they hold of padded sizes is padded with them.
_SHAPED = frozenset({"full", "zeros", "ones", "arange", "reshape", "expand", "getitem", "normalise", "one_hot"})


class Refused(Exception):
    """An instruction has no rule for a padded axis."""

    def __init__(self, reason: str, sizes: set[Symbol]) -> None:
        super().__init__(reason)
        self.sizes = sizes


def plan_padding(program: Program, inputs: Sequence[Any]) -> Plan:
    """Which unknown sizes may be padded and what that needs; sizes that may not are left out, with the reasons."""
    from . import padding_rules  # noqa: F401 (it fills RULES)

    classes = _classes(inputs)
    reasons: list[str] = []
    while classes:
        try:
            plan = Analysis(program, classes).run()
            plan.reasons = reasons
            return plan
        except Refused as refused:
            reasons.append(str(refused))
            gone = refused.sizes or set(classes.values())
            classes = {symbol: first for symbol, first in classes.items() if first not in gone}
    return Plan((), reasons=reasons)


def _classes(inputs: Sequence[Any]) -> dict[Symbol, Symbol]:
    """The unknown sizes of inputs; those at the same axis that were equal in the capture are taken to be always equal (calls
    where they are not run without padding)."""
    first: dict[tuple[int, int], Symbol] = {}
    found: dict[Symbol, Symbol] = {}
    for aval in inputs:
        for axis, size in enumerate(aval.shape):
            symbol = size.expression.symbol if isinstance(size, SymbolicSize) else None
            if symbol is not None:
                found[symbol] = first.setdefault((axis, symbol.example), symbol)
    return found


class Analysis:
    def __init__(self, program: Program, classes: dict[Symbol, Symbol]) -> None:
        self.program = program
        self.sizes = set(classes.values())
        # What symbols are in terms of the padded ones: others of the inputs, and those of results.
        self.equal: dict[Symbol, Expression] = {s: as_expression(first) for s, first in classes.items()}
        self.values: dict[int, Axes] = {}
        self.plan = Plan(tuple(dict.fromkeys(classes.values())), classes)

    def run(self) -> Plan:
        for number, aval in enumerate(self.program.inputs):
            self.values[~number] = [self.axis(size) for size in aval.shape]
        for instruction in self.program.instructions:
            self.visit(instruction)
        for number in self.program.outputs:
            row: list[Symbol | None] = []
            for axis in self.values[number]:
                if len(axis) == 1 and isinstance(axis[0], Size):
                    row.append(axis[0].symbol)
                elif padded(axis):
                    raise Refused("a result has an axis that is a product of unknown sizes", sizes_of([axis]))
                else:
                    row.append(None)
            self.plan.outputs.append(row)
        return self.plan

    def normal(self, size: Any) -> Any:
        """A size, or a tuple of them, in terms of the padded ones."""
        if size.__class__ is tuple:
            return tuple(self.normal(part) for part in size)
        if not isinstance(size, SymbolicSize):
            return size
        return size_from(size.expression.substituted(self.equal), plain(size))

    def axis(self, size: int) -> Axis:
        """The factors of a size: padded ones, and a number."""
        size = self.normal(size)
        involved = {symbol for symbol in symbols_in(size) if symbol in self.sizes}
        if not involved:
            return (size,)
        terms = size.expression.terms if isinstance(size, SymbolicSize) else {}
        if len(terms) != 1:
            raise Refused("a size that is not a product of padded sizes", involved)
        ((product, factor),) = terms.items()
        if not all(atom in self.sizes for atom in product):
            raise Refused("a size that is not a product of padded sizes", involved)
        return (*([factor] if factor != 1 else []), *(Size(atom) for atom in product))

    def visit(self, instruction: Instruction) -> None:
        operands = [self.values[o] if o.__class__ is int else None for o in instruction.operands]
        present = [axes for axes in operands if axes is not None]
        name = instruction.operation.name
        mentioned = {s for n in symbols_in(instruction.attributes) for s in symbols_in(self.normal(_size_of(n)))}
        touched = sizes_of(axis for axes in present for axis in axes) | (mentioned & self.sizes)
        if not touched:
            results = [[self.axis(size) for size in aval.shape] for aval in instruction.outputs]
        else:
            rule = RULES.get(name)
            if rule is None:
                raise Refused(f"{name} has no rule for padded axes", touched or set(self.sizes))
            if mentioned & self.sizes and name not in _SHAPED:
                # Attributes get the padded size; only in a shape is that what is wanted.
                raise Refused(f"{name} computes with a padded size", mentioned & self.sizes)
            try:
                results = rule(self, instruction, operands)
            except Refused as refused:
                refused.sizes = refused.sizes or touched
                raise
            if instruction.flagged:
                self.check_is_safe(instruction, operands)
        for offset, (axes, aval) in enumerate(zip(results, instruction.outputs, strict=True)):
            if len(axes) != aval.ndim:
                raise Refused(f"{name} gives a shape that is not understood", touched)
            for axis, size in zip(axes, aval.shape, strict=True):
                self.note(name, product_of(axis), size, touched)
            self.values[instruction.index + offset] = axes

    def note(self, name: str, found: int, size: int, touched: set[Symbol]) -> None:
        """A dimension of a result is `found` by its rule: so is a symbol that the capture made for it."""
        symbol = size.expression.symbol if isinstance(size, SymbolicSize) else None
        if (
            symbol is not None
            and symbol not in self.equal
            and symbol not in self.sizes
            and isinstance(found, SymbolicSize)
        ):
            self.equal[symbol] = found.expression
        elif not same_size(found, self.normal(size)):
            raise Refused(f"{name} gives a shape that is not understood", touched)

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
        found.append(Fill(operand, axis, factors[0].symbol, value))


def padded(axis: Axis) -> bool:
    return any(isinstance(factor, Size) for factor in axis)


def sizes_of(axes: Any) -> set[Symbol]:
    return {factor.symbol for axis in axes for factor in axis if isinstance(factor, Size)}


def product_of(axis: Axis) -> int:
    result = 1
    for factor in axis:
        result *= factor.number if isinstance(factor, Size) else factor
    return result


def _size_of(symbol: Symbol) -> int:
    return size_from(as_expression(symbol), symbol.example)


Rule = Callable[[Analysis, Instruction, list[Axes | None]], list[Axes]]
RULES: dict[str, Rule] = {}


def rule(names: str) -> Callable[[Rule], Rule]:
    def note(function: Rule) -> Rule:
        for name in names.split():
            RULES[name] = function
        return function

    return note
