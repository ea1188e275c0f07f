"""What a Program must be: the rules of the intermediate representation, as code that checks them.

1. Values are numbered without gaps, in the order of the instructions that make them.
2. An operand is a value made before, an input that exists, a dynamic scalar, or nothing.
3. An instruction's `kinds` say what its operands are.
4. Its results, and the dtypes of its scalars, are those that its operation's shape rule gives for these kinds.
5. Attributes can be dictionary keys, and there are as many as the operation has.
6. Everything is on one place.
7. Dynamic scalars of one number are of one type; where they are given, there are enough, of these types.
8. Results of the Program are values of it.
9. Blocks (Programs among the attributes) obey the same rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.aval import Aval
from .block import blocks_in
from .program import DynamicScalar, Instruction, Program

_SCALAR_TYPES = (float, int, bool, complex)


class InvalidProgram(ValueError):
    """A Program that breaks a rule; `problems` says which and where."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("(verify) the program is not valid: " + "; ".join(problems[:5]))
        self.problems = problems


def verify(program: Program, scalars: Sequence[Any] | None = None) -> None:
    """InvalidProgram if a rule is broken."""
    problems = problems_of(program, scalars)
    if problems:
        raise InvalidProgram(problems)


def problems_of(program: Program, scalars: Sequence[Any] | None = None, where: str = "") -> list[str]:
    """A sentence for each broken rule."""
    values: dict[int, Aval] = {~number: aval for number, aval in enumerate(program.inputs)}
    places = {aval.place for aval in program.inputs}
    found: list[str] = []
    next_index = 0
    for number, instruction in enumerate(program.instructions):
        label = f"{where}instruction {number} ({instruction.operation.name})"
        if instruction.index != next_index:
            found.append(f"{label} makes value {instruction.index}, but {next_index} comes next")
        found += [f"{label}: {problem}" for problem in _instruction_problems(instruction, values)]
        for offset, aval in enumerate(instruction.outputs):
            values[instruction.index + offset] = aval
            places.add(aval.place)
        next_index = instruction.index + len(instruction.outputs)
        for position, block in enumerate(blocks_in(instruction.attributes)):
            found += problems_of(block.program, block.scalars, f"{label}, block {position}: ")
    if len(places) > 1:
        found.append(f"{where}values are on different places: {', '.join(sorted(map(str, places)))}")
    found += [f"{where}the result %{n} is no value of the program" for n in program.outputs if n < 0 or n not in values]
    found += [where + problem for problem in _scalar_problems(program, scalars)]
    return found


def _instruction_problems(instruction: Instruction, values: dict[int, Aval]) -> list[str]:
    operation = instruction.operation
    found: list[str] = []
    if len(instruction.kinds) != len(instruction.operands):
        return [f"{len(instruction.operands)} operands, but {len(instruction.kinds)} kinds"]
    if not operation.variadic and len(instruction.operands) != len(operation.operand_names):
        found.append(f"{len(instruction.operands)} operands, but the operation takes {len(operation.operand_names)}")
    for position, (operand, kind) in enumerate(zip(instruction.operands, instruction.kinds, strict=True)):
        if operand.__class__ is int:
            if operand not in values:
                found.append(f"operand {position} (%{operand}) is not made before")
            elif not _same(values[operand], kind):
                found.append(f"operand {position} is {values[operand]}, but its kind says {kind}")
        elif operand is None:
            if kind is not None:
                found.append(f"operand {position} is absent, but its kind says {kind}")
        elif operand.__class__ is not DynamicScalar or operand.kind not in _SCALAR_TYPES or kind is not operand.kind:
            found.append(f"operand {position} is {operand!r}, with the kind {kind!r}")
    try:
        hash(instruction.attributes)
    except TypeError:
        found.append(f"the attributes {instruction.attributes} cannot be a key")
    if found:
        return found
    try:
        outputs, dtypes = operation.plan(instruction.kinds, instruction.attributes, instruction.outputs[0].place)
    except Exception as error:
        return [f"the shape rule refuses it: {error}"]
    if len(outputs) != len(instruction.outputs) or not all(map(_same, outputs, instruction.outputs)):
        found.append(f"its results are {list(instruction.outputs)}, but the shape rule gives {list(outputs)}")
    scalar_dtypes = tuple([scalar.dtype for scalar in instruction.scalars])
    if scalar_dtypes != tuple(dtypes):
        found.append(f"its scalars have the dtypes {scalar_dtypes}, but the shape rule gives {dtypes}")
    return found


def _same(one: Any, other: Any) -> bool:
    return isinstance(other, Aval) and (one.shape, one.dtype, one.place) == (other.shape, other.dtype, other.place)


def _scalar_problems(program: Program, scalars: Sequence[Any] | None) -> list[str]:
    kinds = {scalar.number: scalar.kind for scalar in program.scalars}
    found = [
        f"scalar {scalar.number} is taken as {scalar.kind.__name__} and as {kinds[scalar.number].__name__}"
        for instruction in program.instructions
        for scalar in instruction.scalars
        if scalar.kind is not kinds[scalar.number]
    ]
    if found or scalars is None:
        return found
    if len(scalars) < program.num_scalars:
        return [f"there are {len(scalars)} scalars, but the instructions take {program.num_scalars}"]
    return [
        f"scalar {number} is {scalars[number]!r}, where {kind.__name__} is expected"
        for number, kind in kinds.items()
        if not isinstance(scalars[number], (kind, int) if kind is float else kind)
    ]
