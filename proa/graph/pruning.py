"""The part of a Program that some of its values depend on, numbered afresh without gaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core.aval import Aval
from ..ir.program import Instruction, Program

Entry = tuple[Instruction, Sequence[Any]]


def entries_of(program: Program, scalars: Sequence[Any]) -> list[Entry]:
    """The instructions, each with its dynamic scalars."""
    position = 0
    found: list[Entry] = []
    for instruction in program.instructions:
        count = sum(isinstance(operand, type) for operand in instruction.operands)
        found.append((instruction, scalars[position : position + count]))
        position += count
    return found


def pruned(
    inputs: Sequence[Aval],
    entries: Sequence[Entry],
    outputs: Sequence[int],
    first: Sequence[int] = (),
    also: Iterable[int] = (),
) -> tuple[Program, list[Any], list[int]]:
    """The Program that computes `outputs`, its scalars, and which of the inputs it takes, in its order.

    The inputs in `first` come first and stay even where nothing depends on them; others only stay if they are needed. The
    values in `also` stay though they are no outputs.
    """
    needed = {*outputs, *also}
    kept: list[Entry] = []
    for entry in reversed(entries):
        instruction = entry[0]
        if any(instruction.index + n in needed for n in range(len(instruction.outputs))):
            kept.append(entry)
            needed.update(operand for operand in instruction.operands if operand.__class__ is int)
    kept.reverse()
    chosen = list(first)
    chosen += [k for k in range(len(inputs)) if ~k in needed and k not in chosen]
    numbers: dict[int, int] = {~k: ~position for position, k in enumerate(chosen)}
    instructions: list[Instruction] = []
    scalars: list[Any] = []
    index = 0
    for old, own_scalars in kept:
        operands = tuple([numbers[o] if o.__class__ is int else o for o in old.operands])
        instructions.append(
            Instruction(
                old.operation, operands, old.attributes, old.outputs, index, old.scalar_dtypes, old.kinds, old.flagged
            )
        )
        scalars += own_scalars
        for offset in range(len(old.outputs)):
            numbers[old.index + offset] = index + offset
        index += len(old.outputs)
    program = Program([inputs[k] for k in chosen], instructions, tuple(numbers[number] for number in outputs))
    return program, scalars, chosen
