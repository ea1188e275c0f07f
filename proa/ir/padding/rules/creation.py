"""New arrays: filled ones, numbers in order, and random numbers."""

from __future__ import annotations

from typing import Any

from ...program import Instruction
from ..analysis import Analysis, rule
from ..axes import Axes, Extent, Refused, padded_axes
from ..moving import as_drawn


@rule(shapes="shape", repeats=True)
def filled(analysis: Analysis, instruction: Instruction, _operands: list[Any]) -> list[Axes]:
    return [[analysis.axis(size, repeats=True) for size in instruction.outputs[0].shape]]


@rule(shapes="shape")
def counted(analysis: Analysis, instruction: Instruction, _operands: list[Any]) -> list[Axes]:
    return [[analysis.axis(size) for size in instruction.outputs[0].shape]]


@rule(shapes="shape")
def drawn(analysis: Analysis, instruction: Instruction, _operands: list[Any]) -> list[Axes]:
    """Element i of a draw depends on i alone, so the numbers of an array without surplus are the first ones of a longer
    draw: they are put where they belong. Behind a padded first axis they are there already."""
    axes: Axes = [analysis.axis(size) for size in instruction.outputs[0].shape]
    moved = [number for number in padded_axes(axes) if number]
    if moved:

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            drawn = writer.add(instruction.operation, operands, instruction.attributes)
            numbers = padded_axes(axes)
            extents = [writer.extent(axes[number][0]) for number in numbers]
            writer.give(instruction, writer.add(as_drawn, [drawn, *extents], (tuple(numbers),)))

        analysis.rewrite(instruction, rewrite)
    return [axes]


@rule()
def drawn_for(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    for number, axis in enumerate(operands[0]):
        if padded_axes([axis]) and (number or len(axis) > 1 or not isinstance(axis[0], Extent)):
            raise Refused("it draws numbers in order, and the surplus lies between them", axis)
    return [operands[0]]
