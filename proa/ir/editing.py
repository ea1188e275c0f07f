"""Writing Programs: parts of an old one under new numbers, and instructions of one's own in between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.aval import Aval
from ..core.place import CPU
from .operation import Operation
from .program import DynamicScalar, Instruction, Program, numbered

_PARTS = ("operation", "operands", "attributes", "outputs", "index", "kinds", "flagged")


def changed(instruction: Instruction, **changes: Any) -> Instruction:
    """An instruction with other parts, in the same place unless another index is given."""
    parts = [changes.pop(name, getattr(instruction, name)) for name in _PARTS]
    assert not changes, f"an instruction has no {next(iter(changes))}"
    return Instruction(*parts)


class Editor:
    """A Program that is being written.

    `numbers` says what the inputs and values of the old Program are called here, as of now: an instruction that is
    copied twice has its later results meant from then on. Scalars keep their numbers, unless they are counted anew.
    """

    def __init__(self, inputs: Iterable[Aval], numbers: dict[int, int] | None = None, first_scalar: int = 0) -> None:
        self.inputs: list[Aval] = []
        self.instructions: list[Instruction] = []
        self.numbers: dict[int, int] = {}
        self.avals: dict[int, Aval] = {}  # by the new numbers
        self.next_index = 0
        self.next_scalar = first_scalar
        for aval in inputs:
            self.add_input(aval)
        self.numbers = {number: number for number in self.avals} if numbers is None else numbers

    def add_input(self, aval: Aval) -> int:
        """One more input; its number."""
        number = ~len(self.inputs)
        self.inputs.append(aval)
        self.avals[number] = aval
        return number

    def kind_of(self, operand: Any) -> Any:
        """What an operand (by its new number) is: an abstract value, the type of a scalar, or nothing."""
        if operand.__class__ is int:
            return self.avals[operand]
        return operand.kind if operand.__class__ is DynamicScalar else operand

    def add(
        self,
        operation: Operation,
        operands: Sequence[Any],
        attributes: tuple[Any, ...] = (),
        outputs: tuple[Aval, ...] | None = None,
        flagged: bool = False,
    ) -> Instruction:
        """A new instruction. A Python type among the operands takes the next scalar; results are inferred if not given."""
        kinds = tuple([self.kind_of(operand) for operand in operands])
        if outputs is None:
            places = [kind.place for kind in (*kinds, *self.inputs) if isinstance(kind, Aval)]
            place = places[0] if places else CPU  # what makes something of nothing is where everything else is
            outputs = operation.plan(kinds, attributes, place)[0]
        count = sum(isinstance(operand, type) for operand in operands)
        if count:
            operands = numbered(tuple(operands), operation.scalar_dtypes(kinds), self.next_scalar)
            self.next_scalar += count
        instruction = Instruction(operation, tuple(operands), attributes, outputs, self.next_index, kinds, flagged)
        self.instructions.append(instruction)
        self.avals.update(zip(instruction.made, outputs, strict=True))
        self.next_index += len(outputs)
        return instruction

    def renamed(self, instruction: Instruction) -> list[Any]:
        """The operands of an old instruction as they are called here."""
        numbers = self.numbers
        return [numbers[operand] if operand.__class__ is int else operand for operand in instruction.operands]

    def copy(
        self, instruction: Instruction, operands: Sequence[Any] | None = None, flagged: bool | None = None
    ) -> Instruction:
        """An old instruction; its operands (by their new numbers) may be others. Its results are known from now on."""
        made = self.add(
            instruction.operation,
            self.renamed(instruction) if operands is None else operands,
            instruction.attributes,
            instruction.outputs,
            instruction.flagged if flagged is None else flagged,
        )
        self.numbers.update(zip(instruction.made, made.made, strict=True))
        return made

    def program(self, outputs: Iterable[int]) -> Program:
        """What was written; `outputs` are numbers of the old Program."""
        return Program(self.inputs, self.instructions, tuple([self.numbers[number] for number in outputs]))


def extracted(
    instructions: Sequence[Instruction], outputs: Iterable[int], avals: Sequence[tuple[int, Aval]] = ()
) -> tuple[Program, list[int], list[int]]:
    """Some instructions of a Program as one of their own, numbered from zero, scalars included.

    Gives it with what its inputs and its scalars are called outside. The inputs in `avals` (number, aval) come first, and
    stay even where nothing depends on them; the others follow in the order of their first use.
    """
    editor = Editor([aval for _, aval in avals], {number: ~position for position, (number, _) in enumerate(avals)})
    arguments = [number for number, _ in avals]
    scalars: dict[int, int] = {}
    for instruction in instructions:
        operands: list[Any] = []
        for operand, kind in zip(instruction.operands, instruction.kinds, strict=True):
            if operand.__class__ is int:
                if operand not in editor.numbers:
                    editor.numbers[operand] = editor.add_input(kind)  # type: ignore[arg-type]
                    arguments.append(operand)
                operands.append(editor.numbers[operand])
            elif operand.__class__ is DynamicScalar:
                number = scalars.setdefault(operand.number, len(scalars))
                operands.append(operand._replace(number=number))
            else:
                operands.append(operand)
        editor.copy(instruction, operands)
    return editor.program(outputs), arguments, list(scalars)
