"""Operations that put data one behind the other or turn it round: they are told where the data ends."""

from __future__ import annotations

from typing import Any

from ....core.symbols import expression_of
from ...program import Instruction
from ..analysis import Analysis, rule
from ..axes import Axes, Axis, Refused, broadcast, padded, size_of
from ..moving import concat_within, flip_within, pad_within, roll_within, slice_from


def _single(axis: Axis) -> Axis:
    """The axis, if its surplus is at its end."""
    if padded(axis) and len(axis) > 1:
        raise Refused("it moves data along several axes in one", axis)
    return axis


@rule()
def concat(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    axis = instruction.attributes[0]
    along = [part[axis] for part in operands]
    found = broadcast([[(1,) if i == axis else a for i, a in enumerate(part)] for part in operands])
    if len(operands) == 1:
        return [operands[0]]
    total = 0
    starts: list[Any] = []
    for each in along:
        starts.append(total)
        total = total + size_of(_single(each))
    found[axis] = analysis.axis(total)
    if any(padded(each) for each in along[:-1]):

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            begins = [writer.extent(expression_of(start)) for start in starts[1:]]
            made = writer.add(concat_within, [*operands, *begins], (axis, len(operands)))
            writer.give(instruction, made)

        analysis.rewrite(instruction, rewrite)
    return [found]


@rule(shapes="sections")
def split(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, (sections, axis) = operands[0], instruction.attributes
    _single(x[axis])
    starts: list[Any] = []
    total = 0
    for section in sections:
        starts.append(total)
        total = total + analysis.normal(section)
    results = [[*x[:axis], analysis.axis(section), *x[axis + 1 :]] for section in sections]
    if analysis.moves(tuple(starts)):

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            made = [
                writer.add(slice_from, [operands[0], writer.extent(expression_of(start))], (axis, length, 1))
                for start, length in zip(starts, instruction.attributes[0], strict=True)
            ]
            writer.give(instruction, *made)

        analysis.rewrite(instruction, rewrite)
    return results


@rule()
def flip(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, axes = operands[0], instruction.attributes[0]
    longer = [axis for axis in axes if padded(_single(x[axis]))]
    if longer:

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            value = operands[0]
            for axis in longer:
                value = writer.add(flip_within, [value, writer.extent(x[axis][0])], (axis,))
            writer.keep(instruction, [value], (tuple(axis for axis in axes if axis not in longer),))

        analysis.rewrite(instruction, rewrite)
    return [x]


@rule()
def roll(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, (shifts, axes) = operands[0], instruction.attributes
    longer = {axis for axis in axes if padded(_single(x[axis]))}
    if longer:

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            value = operands[0]
            rest = [(shift, axis) for shift, axis in zip(shifts, axes, strict=True) if axis not in longer]
            for shift, axis in zip(shifts, axes, strict=True):
                if axis in longer:
                    value = writer.add(roll_within, [value, writer.extent(x[axis][0])], (axis, shift))
            writer.keep(instruction, [value], (tuple(s for s, _ in rest), tuple(a for _, a in rest)))

        analysis.rewrite(instruction, rewrite)
    return [x]


@rule()
def pad(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """A border in front shifts the data, one that cuts off leaves less of it; one behind must follow the data."""
    x, pairs = operands[0], instruction.attributes[0]
    result: Axes = []
    behind: list[int] = []
    for number, (axis, (before, after)) in enumerate(zip(x, pairs, strict=True)):
        if not before and not after:
            result.append(axis)
            continue
        result.append(analysis.axis(size_of(_single(axis)) + before + after))
        if padded(axis) and after > 0:
            behind.append(number)
    if len(behind) > 1:
        raise Refused("a border behind two padded axes", *(x[number] for number in behind))
    if behind:
        number = behind[0]

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            value, border = operands
            if any(pair != (0, 0) for i, pair in enumerate(pairs) if i != number):
                raise Refused("a border behind a padded axis and around others", x[number])
            made = writer.add(pad_within, [value, border, writer.extent(x[number][0])], (number, *pairs[number]))
            writer.give(instruction, made)

        if any(pair != (0, 0) for i, pair in enumerate(pairs) if i != number):
            raise Refused("a border behind a padded axis and around others", x[number])
        analysis.rewrite(instruction, rewrite)
    return [result]
