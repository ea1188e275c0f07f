"""Where a program may be given longer inputs than it needs: an analysis of its instructions, one by one.

For each value it is known which axes are longer than the real data ("padded", see `axes.py`). The rule is that the real
part of every value is exactly what the program without padding computes; the surplus may be anything, NaN too.
Elementwise work keeps that rule by itself. What mixes positions along a padded axis (a sum, a softmax, a product) keeps it
if the surplus is first filled with what changes nothing: 0 for a sum, -inf for a softmax. An instruction without a rule
ends the matter for the sizes it touches: they are not padded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.expressions import Expression, Symbol, as_expression, symbols_of
from ...core.symbols import SymbolicSize, plain, same_size, size_from
from ..program import Instruction, Program
from ..sizes.dimensions import symbols_in
from .axes import (
    Axes,
    Axis,
    Different,
    Extent,
    Refused,
    broadcast,
    padded,
    plainly,
    shown,
    size_of,
    sizes_of,
)
from .growth import grows
from .plan import Fill, Plan, Rewrite


@dataclass(frozen=True)
class Rule:
    """What an operation does with padded axes: `find` gives the axes of its results and notes what it needs."""

    find: Callable[[Analysis, Instruction, list[Any]], list[Axes]]
    # Attributes that are shapes: what they hold of padded sizes is padded with them. Others must not have any.
    shapes: tuple[str, ...]
    # Whether values that repeat along an axis of an operand do so along that of the result.
    repeats: bool = False


Find = Callable[["Analysis", Instruction, list[Any]], list[Axes]]


def rule(shapes: str = "", repeats: bool = False) -> Callable[[Find], Rule]:
    """Makes a rule of a function; `operands` of it holds the axes of each tensor and None for all else."""
    return lambda function: Rule(function, tuple(shapes.split()), repeats)


def refused(reason: str) -> Rule:
    """The rule of an operation that has no result for padded axes, and why."""

    def find(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
        raise Refused(reason, *(axis for axes in operands if axes is not None for axis in axes if padded(axis)))

    return Rule(find, ())


def _elementwise(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    axes = broadcast([each for each in operands if each is not None])
    return [axes for _ in instruction.outputs]


# The rule of all operations whose shape rule says that they work element by element (`eager/infer.py: elementwise`).
ELEMENTWISE = Rule(_elementwise, (), True)


def rule_of(operation: Any) -> Rule | None:
    return operation.traits.padding or (ELEMENTWISE if operation.elementwise else None)


def plan_padding(program: Program, inputs: Sequence[Any]) -> Plan:
    """Which unknown sizes may be padded and what that needs; sizes that may not are left out, with the reasons.

    `inputs` are abstract values whose sizes may be padded: those of the program's inputs, or the first of them.
    """
    classes = _classes(inputs)
    same: dict[Expression, Expression] = {}
    reasons: list[str] = []
    while True:
        try:
            plan = Analysis(program, classes, same).run()
            plan.reasons = reasons
            return plan
        except Refused as refused:
            if _join(refused, classes, same):
                continue
            reasons.append(str(refused))
            gone = refused.sizes & set(classes.values()) or set(classes.values())
            classes = {symbol: first for symbol, first in classes.items() if first not in gone}
            same = {one: other for one, other in same.items() if not gone & set(symbols_of(one - other))}


def _classes(inputs: Sequence[Any]) -> dict[Symbol, Symbol]:
    """The unknown sizes of inputs; those at the same axis that were equal in the capture are taken to be always equal
    (calls where they are not run without padding)."""
    first: dict[tuple[int, int], Symbol] = {}
    found: dict[Symbol, Symbol] = {}
    for aval in inputs:
        for axis, size in enumerate(aval.shape):
            symbol = size.expression.symbol if isinstance(size, SymbolicSize) else None
            if symbol is not None and symbol not in found:
                found[symbol] = first.setdefault((axis, symbol.example), symbol)
    return found


def _join(refused: Refused, classes: dict[Symbol, Symbol], same: dict[Expression, Expression]) -> bool:
    """Takes two sizes that a program wants to be equal, and that were, for one: those of a mask `[batch, length, length]`,
    or `table[:length]` beside `length` rows. Whether they are is asked of the sizes of a run (`Plan.holds_for`)."""
    if not isinstance(refused.__cause__, Different):
        return False
    first, second = (size_of(axis) for axis in refused.axes)
    if not isinstance(first, SymbolicSize) or not isinstance(second, SymbolicSize) or plain(first) != plain(second):
        return False
    if any(len(axis) > 1 for axis in refused.axes):
        return False
    one, other = first.expression.symbol, second.expression.symbol
    if one in classes.values() and other in classes.values():
        for symbol, representative in classes.items():
            classes[symbol] = one if representative is other else representative  # type: ignore[assignment]
    else:
        kept, gone = (first, second) if other is None else (second, first)
        if gone.expression in same or kept.expression in same:
            return False
        same[gone.expression] = kept.expression
    return True


class Analysis:
    def __init__(
        self, program: Program, classes: dict[Symbol, Symbol], same: dict[Expression, Expression] | None = None
    ) -> None:
        self.program = program
        self.same = same or {}
        self.sizes = set(classes.values())
        # What symbols are in terms of the padded ones: others of the inputs, and those of results.
        self.equal: dict[Symbol, Expression] = {s: as_expression(first) for s, first in classes.items()}
        self.values: dict[int, Axes] = {}
        self.uniform: set[int] = set()  # values whose elements are all the same
        self.plan = Plan(tuple(dict.fromkeys(classes.values())), classes, equal=tuple(self.same.items()))

    def run(self) -> Plan:
        for number, aval in enumerate(self.program.inputs):
            self.values[~number] = [self._input_axis(size) for size in aval.shape]
        self.plan.inputs = [self.values[~number] for number in range(len(self.program.inputs))]
        for instruction in self.program.instructions:
            try:
                self._visit(instruction)
            except Refused as refused:
                raise self._located(instruction, refused) from refused
        self.plan.outputs = [self.values[number] for number in self.program.outputs]
        return self.plan

    def _input_axis(self, size: int) -> Axis:
        """That of an input. A multiple of a size is taken for as many rows of it, one behind the other."""
        size = self.normal(size)
        terms = size.expression.terms if isinstance(size, SymbolicSize) and self.moves(size) else {}
        if len(terms) == 1:
            ((product, factor),) = terms.items()
            if factor > 1 and len(product) == 1:
                return (factor, *self.axis(size // factor))
        return self.axis(size)

    # ---- what rules ask for --------------------------------------------------------------------------------------------

    def normal(self, size: Any) -> Any:
        """A size, or a tuple of them, in terms of the padded ones."""
        if size.__class__ is tuple:
            return tuple(self.normal(part) for part in size)
        if not isinstance(size, SymbolicSize):
            return size
        expression = size.expression.substituted(self.equal)
        return size_from(self.same.get(expression, expression), plain(size))

    def moves(self, size: Any) -> bool:
        """Whether a number, or one in a tuple, depends on padded sizes."""
        return any(symbol in self.sizes for symbol in symbols_in(self.normal(size)))

    def axis(self, size: int, repeats: bool = False) -> Axis:
        """The axis of a size: where it depends on padded ones, with the surplus at its end."""
        size = self.normal(size)
        if not self.moves(size):
            return (size,)
        assert isinstance(size, SymbolicSize)
        made = (Extent(size.expression, plain(size), repeats),)
        if not grows(size.expression):
            raise Refused("a larger size may make this one smaller", made)
        return made

    def fill(self, instruction: Instruction, operand: int, axis: int, factors: Axis, value: float) -> None:
        """The surplus of an operand along an axis becomes a value, if there is any."""
        if padded(factors):
            found = self.plan.fills.setdefault(instruction.index, [])
            found.append(Fill(operand, axis, factors, value))

    def fill_all(self, instruction: Instruction, operand: int, axes: Axes | None, value: float) -> None:
        for number, factors in enumerate(axes or ()):
            self.fill(instruction, operand, number, factors, value)

    def rewrite(self, instruction: Instruction, how: Rewrite) -> None:
        self.plan.rewrites[instruction.index] = how

    # ---- one instruction -----------------------------------------------------------------------------------------------

    def _visit(self, instruction: Instruction) -> None:
        operands = [self.values[o] if o.__class__ is int else None for o in instruction.operands]
        names, attributes = instruction.operation.attribute_names, instruction.attributes
        names = names[len(names) - len(attributes) :]
        mentioned = {name for name, value in zip(names, attributes, strict=True) if self.moves(_sizes_in(value))}
        touched = any(padded(axis) for axes in operands if axes is not None for axis in axes)
        if not touched and not mentioned:
            results = [[self.axis(size) for size in aval.shape] for aval in instruction.outputs]
        else:
            found = rule_of(instruction.operation)
            if found is None:
                raise Refused("there is no rule for padded axes (an operation of one's own, or a derived gradient)")
            if mentioned - set(found.shapes):
                # Attributes get the padded size; only in a shape is that what is wanted.
                what = ", ".join(sorted(mentioned - set(found.shapes)))
                raise Refused(f"it computes with a padded size ({what})", sizes=self.padded_sizes_in(attributes))
            results = found.find(self, instruction, operands)
            if not found.repeats:
                results = [plainly(axes) for axes in results]
            if instruction.flagged:
                self._make_checks_safe(instruction, operands)
        if all(o in self.uniform for o in instruction.operands if o.__class__ is int) and (
            instruction.operation.traits.uniform or instruction.operation.elementwise
        ):
            self.uniform.update(range(instruction.index, instruction.index + len(instruction.outputs)))
        for offset, (axes, aval) in enumerate(zip(results, instruction.outputs, strict=True)):
            if len(axes) != aval.ndim:
                raise Refused("the shape of its result is not understood", *axes)
            for axis, size in zip(axes, aval.shape, strict=True):
                self._note(axis, size)
            self.values[instruction.index + offset] = axes

    def padded_sizes_in(self, attributes: Any) -> set[Symbol]:
        return {s for size in _sizes_in(attributes) for s in symbols_in(self.normal(size)) if s in self.sizes}

    def _note(self, axis: Axis, size: int) -> None:
        """A dimension of a result is what its rule found: so is a symbol that the capture made for it."""
        found = size_of(axis)
        symbol = size.expression.symbol if isinstance(size, SymbolicSize) else None
        if symbol is not None and symbol not in self.equal and symbol not in self.sizes:
            if isinstance(found, SymbolicSize):
                self.equal[symbol] = found.expression
        elif (padded(axis) or self.moves(size)) and not same_size(found, self.normal(size)):
            raise Refused("the shape of its result is not understood", axis)

    def _make_checks_safe(self, instruction: Instruction, operands: list[Any]) -> None:
        """Checked operands (indices) are filled with 0, so that the surplus raises no error."""
        check = instruction.operation.check
        assert check is not None
        filled = {fill.operand for fill in self.plan.fills.get(instruction.index, ())}
        for position in check.operands:
            if position < len(operands) and position not in filled:
                self.fill_all(instruction, position, operands[position], 0)

    def _located(self, instruction: Instruction, refused: Refused) -> Refused:
        """The refusal with the operation and the axes in words."""
        places: list[str] = []
        names = instruction.operation.operand_names
        for axis in refused.axes:
            where = [
                f"axis {number} of {names[k] if k < len(names) and not instruction.operation.variadic else f'operand {k}'}"
                for k, operand in enumerate(instruction.operands)
                if operand.__class__ is int
                for number, other in enumerate(self.values[operand])
                if other is axis
            ]
            if padded(axis):
                places.append(f"{where[0]}, {shown(axis)}" if where else shown(axis))
        sizes = refused.sizes & self.sizes
        if not places:
            places = sorted(symbol.name for symbol in sizes)
        text = f"{instruction.operation.name} ({'; '.join(dict.fromkeys(places)) or 'all sizes'}): {refused}"
        return Refused(text, *refused.axes, sizes=sizes or sizes_of(self._touched(instruction)))

    def _touched(self, instruction: Instruction) -> list[Axis]:
        return [axis for o in instruction.operands if o.__class__ is int for axis in self.values[o]]


def _sizes_in(value: Any) -> tuple[Any, ...]:
    """The sizes in an attribute, however deep."""
    return tuple(size_from(as_expression(symbol), symbol.example) for symbol in symbols_in(value))
