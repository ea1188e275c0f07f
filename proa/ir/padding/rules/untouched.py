"""Operations that work along some axes, which must not be padded, and leave the others alone; and updates, whose arrays
are parameters and gradients of known shapes."""

from __future__ import annotations

from typing import Any

from ...program import Instruction
from ..analysis import Analysis, Rule, rule
from ..axes import Axes, Refused, broadcast, padded


def last_axes(count: int, reason: str) -> Rule:
    """For operations on the last axes of their operands, whose other axes are rows by themselves."""

    @rule()
    def find(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
        present = [axes for axes in operands if axes is not None]
        if instruction.flagged:  # a matrix of zeros is singular
            raise Refused("it checks its matrices, those of the surplus too", *(a for axes in present for a in axes))
        for axes in present:
            if any(map(padded, axes[-count:])):
                raise Refused(reason, *axes[-count:])
        rows = broadcast([axes[:-count] for axes in present])
        return [[*rows, *((size,) for size in aval.shape[len(rows) :])] for aval in instruction.outputs]

    return find


matrices = last_axes(2, "a matrix with surplus rows has another result")


@rule()
def transform(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, axes = operands[0], instruction.attributes[0]
    along = [x[axis] for axis in axes]
    if any(map(padded, along)):
        raise Refused("a transform of more elements has other frequencies", *along)
    return [
        [(size,) if i in axes else axis for i, (axis, size) in enumerate(zip(x, aval.shape, strict=True))]
        for aval in instruction.outputs
    ]


@rule(repeats=True)
def checked(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Element by element, with a check that 0 would not pass."""
    check = instruction.operation.check
    for position in check.operands if check is not None and instruction.flagged else ():
        analysis.fill_all(instruction, position, operands[position], 1)
    return [broadcast([axes for axes in operands if axes is not None])]


@rule()
def covering(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    analysis.fill_all(instruction, 0, operands[0], 1)
    return [operands[0]]


@rule()
def levels(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Element by element, with scales for a channel whose number is known."""
    if any(padded(axis) for axes in operands[1:] if axes is not None for axis in axes):
        raise Refused("the scales are padded")
    return [operands[0]]


# ---- all gradients together --------------------------------------------------------------------------------------------


@rule()
def each(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return list(operands[len(operands) - len(instruction.outputs) :])


@rule()
def norms(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    for position, axes in enumerate(operands):
        analysis.fill_all(instruction, position, axes, 0)
    return list(operands[len(operands) - len(instruction.outputs) :])
