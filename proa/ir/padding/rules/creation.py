"""New arrays: filled ones, numbers in order, and random numbers."""

from __future__ import annotations

from typing import Any

from ...program import Instruction
from ..analysis import Analysis, refuse, rule
from ..axes import Axes, Extent, Refused, padded_axes
from ..moving import as_drawn


@rule("full zeros ones", shapes="shape", repeats=True)
def _filled(analysis: Analysis, instruction: Instruction, _operands: list[Any]) -> list[Axes]:
    return [[analysis.axis(size, repeats=True) for size in instruction.outputs[0].shape]]


@rule("arange eye", shapes="shape")
def _counted(analysis: Analysis, instruction: Instruction, _operands: list[Any]) -> list[Axes]:
    return [[analysis.axis(size) for size in instruction.outputs[0].shape]]


refuse("linspace logspace", "the distance of its numbers depends on how many there are")


@rule("gaussian uniform randint exponential dropout_mask", shapes="shape")
def _drawn(analysis: Analysis, instruction: Instruction, _operands: list[Any]) -> list[Axes]:
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


@rule("bernoulli")
def _drawn_for(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    for number, axis in enumerate(operands[0]):
        if padded_axes([axis]) and (number or len(axis) > 1 or not isinstance(axis[0], Extent)):
            raise Refused("it draws numbers in order, and the surplus lies between them", axis)
    return [operands[0]]


refuse(
    "binomial poisson standard_gamma multinomial randperm chance",
    "how many numbers it draws depends on how much data there is",
)
