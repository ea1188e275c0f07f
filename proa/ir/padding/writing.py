"""A program for inputs of one bucket: the captured one with padded sizes, and the fills and rewrites that a plan asks for.

The real sizes are inputs of it (behind all others), so that one executable serves every size up to the bucket's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.expressions import Call, Expression, Symbol, as_expression
from ...core.symbols import evaluate
from ..editing import Editor
from ..program import Instruction, Program
from ..sizes.dimensions import Known, specialise, symbols_in
from .axes import Axes, Axis, Extent, Refused, padded
from .filling import FUNCTIONS, Factors, Places, fill_beyond, real_extent
from .moving import gathered
from .plan import Plan

_SIZE = np.dtype(np.int32)


def padded_program(
    program: Program, plan: Plan, avals: Sequence[Aval], origins: dict[int, int] | None = None
) -> Program:
    """The program for inputs of these (padded) sizes; the real sizes come as further inputs, in the plan's order.

    `origins` gets, for each instruction that comes from one of the program, the number of that one.
    """
    fitted, known = specialise(program, list(avals))
    writer = Writer(fitted, plan, known)
    made = writer.run()
    if origins is not None:
        origins.update(writer.origins)
    return made


class Writer:
    """Writes the padded program; rewrites of a plan call its methods."""

    def __init__(self, program: Program, plan: Plan, known: Known) -> None:
        self.program = program
        self.plan = plan
        self.known = known  # the sizes of the bucket
        self.numbers: dict[int, int] = {}
        self.place = program.inputs[0].place
        self.editor = Editor(program.inputs)
        size = make_aval((), _SIZE, self.place)
        self.sizes: dict[Symbol, int] = {symbol: self.editor.add_input(size) for symbol in plan.sizes}
        self.extents: dict[Expression, int] = {}
        self.origins: dict[int, int] = {}

    def run(self) -> Program:
        for instruction in self.program.instructions:
            self._write(instruction)
        outputs = tuple(
            [self._gathered(self.numbers[n], self.plan.outputs[k]) for k, n in enumerate(self.program.outputs)]
        )
        return Program(self.editor.inputs, self.editor.instructions, outputs)

    def _gathered(self, number: int, axes: Axes) -> int:
        """A result with its surplus at the end of each axis."""
        for axis, factors in enumerate(axes):
            if padded(factors) and len(factors) > 1:
                ((_, parts),), extents = self.places({axis: factors})
                number = self.add(gathered, [number, *extents], (axis, parts))
        return number

    def _write(self, instruction: Instruction) -> None:
        operands = [(self.numbers[o] if o >= 0 else o) if o.__class__ is int else o for o in instruction.operands]
        for each in self.plan.fills.get(instruction.index, ()):
            operands[each.operand] = self.filled(operands[each.operand], {each.axis: each.factors}, each.value)
        rewrite = self.plan.rewrites.get(instruction.index)
        if rewrite is None:
            self.keep(instruction, operands)
        else:
            rewrite(self, instruction, operands)

    # ---- instructions --------------------------------------------------------------------------------------------------

    def add(self, operation: Any, operands: Sequence[Any], attributes: tuple[Any, ...], flagged: bool = False) -> int:
        """An instruction more; the number of its (first) result. What a rule has kept of the analysis may still be a
        formula, of sizes that are not padded."""
        if symbols_in(attributes):
            attributes = self.known.resolve(attributes)
        return self.editor.add(operation, operands, attributes, flagged=flagged).index

    def keep(
        self, instruction: Instruction, operands: Sequence[Any], attributes: Any = None, operation: Any = None
    ) -> int:
        """The instruction itself, perhaps with other operands and attributes."""
        made = self.add(
            operation or instruction.operation, operands,
            instruction.attributes if attributes is None else attributes, instruction.flagged,
        )  # fmt: skip
        self.origins[made] = instruction.index
        self.give(instruction, *range(made, made + len(instruction.outputs)))
        return made

    def give(self, instruction: Instruction, *numbers: int) -> None:
        """These values are the results of an instruction of the original program."""
        for offset, number in enumerate(numbers):
            self.numbers[instruction.index + offset] = number

    # ---- real extents --------------------------------------------------------------------------------------------------

    def length(self, factor: Any) -> int:
        """The padded length of a factor."""
        return factor.expression.value(self.known) if isinstance(factor, Extent) else evaluate(factor, self.known)

    def extent(self, factor: Any) -> int:
        """The number of the value that holds a real extent: of a factor, or of an expression."""
        expression = factor.expression if isinstance(factor, Extent) else factor
        if not isinstance(expression, Expression):
            expression = as_expression(self.length(expression))
        if expression.symbol in self.sizes:
            return self.sizes[expression.symbol]
        found = self.extents.get(expression)
        if found is None:
            found = self.extents[expression] = self.add(
                real_extent, list(self.sizes.values()), (_formula(expression, list(self.sizes), self.known),)
            )
        return found

    def extents_of(self, axis: Axis) -> list[int]:
        return [self.extent(factor) for factor in axis if isinstance(factor, Extent)]

    def others(self, axis: Axis) -> int:
        """How long an axis is apart from its padded factors."""
        result = 1
        for factor in axis:
            result *= 1 if isinstance(factor, Extent) else self.length(factor)
        return result

    def places(self, axes: Axes | dict[int, Axis]) -> tuple[Places, list[int]]:
        """Where the surplus of an array is, and the extents that belong to that."""
        pairs = axes.items() if isinstance(axes, dict) else enumerate(axes)
        found: list[tuple[int, Factors]] = []
        extents: list[int] = []
        for number, axis in pairs:
            if padded(axis):
                found.append((number, tuple((self.length(f), isinstance(f, Extent)) for f in axis)))
                extents += self.extents_of(axis)
        return tuple(found), extents

    def filled(self, number: int, axes: Axes | dict[int, Axis], value: float) -> int:
        places, extents = self.places(axes)
        return self.add(fill_beyond, [number, *extents], (places, float(value))) if places else number


def _formula(expression: Any, sizes: list[Symbol], known: Known) -> Any:
    """An expression as nested tuples (see `real_extent`): sizes that are not padded are numbers by now."""
    if isinstance(expression, Symbol):
        return (sizes.index(expression),) if expression in sizes else known[expression]
    if isinstance(expression, Call):
        if expression.name not in FUNCTIONS:
            raise Refused(f"a size is computed with {expression.name}")
        return (expression.name, *(_formula(argument, sizes, known) for argument in expression.arguments))
    terms = [
        ("*", factor, *(_formula(atom, sizes, known) for atom in product))
        for product, factor in expression.terms.items()
    ]
    return ("+", *terms) if terms else 0
