"""Sums and their kin: the surplus is filled with what changes nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...program import Instruction
from ..analysis import Analysis, Rule, rule
from ..axes import Axes, Different, Refused, broadcast, is_one, padded, reduced, same_size, size_of
from ..filling import mean_within

MINUS, PLUS, NAN = float("-inf"), float("inf"), float("nan")


def reduction(neutral: float) -> Rule:
    """The surplus is filled with what changes nothing."""

    @rule(repeats=True)
    def find(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
        axes, keepdim = instruction.attributes[:2]
        _fill(analysis, instruction, operands[0], axes, neutral)
        return [reduced(operands[0], axes, keepdim)]

    return find


@rule(repeats=True)
def average(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """The sum, divided by how much data there is."""
    x: Axes = operands[0]
    axes: tuple[int, ...] = instruction.attributes[0]
    keepdim = instruction.attributes[1]
    _fill(analysis, instruction, x, axes, 0)
    longer = [axis for axis in axes if padded(x[axis])]
    if longer:

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            extents = [extent for axis in longer for extent in writer.extents_of(x[axis])]
            others = math.prod(writer.others(x[axis]) for axis in axes)
            made = writer.add(mean_within, [operands[0], *extents], (axes, keepdim, others))
            writer.give(instruction, made)

        analysis.rewrite(instruction, rewrite)
    return [reduced(x, axes, keepdim)]


@rule(shapes="shape")
def sum_as(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Axes that were broadcast are summed; a padded size that would have to be 1 for that is taken to be the operand's."""
    x: Axes = operands[0]
    shape = analysis.normal(instruction.outputs[0].shape)
    extra = len(x) - len(shape)
    _fill(analysis, instruction, x, range(extra), 0)
    result: Axes = []
    for number, (axis, size) in enumerate(zip(x[extra:], shape, strict=True), extra):
        wanted = analysis.axis(size)
        if is_one(wanted):
            analysis.fill(instruction, 0, number, axis, 0)
            axis = wanted
        elif (padded(axis) or padded(wanted)) and not same_size(size_of(axis), size):
            raise Different(axis, wanted)
        result.append(axis)
    return [result]


def _fill(analysis: Analysis, instruction: Instruction, x: Axes, axes: Sequence[int], value: float) -> None:
    for axis in axes:
        analysis.fill(instruction, 0, axis, x[axis], value)


@rule()
def norm(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    p, axes, keepdim = instruction.attributes
    _fill(analysis, instruction, operands[0], axes, PLUS if p < 0 else 0)
    return [reduced(operands[0], axes, keepdim)]


@rule()
def count(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    axes, keepdim, numbers = instruction.attributes
    if numbers and instruction.kinds[0].dtype.kind not in "fcV":  # type: ignore[union-attr]
        raise Refused("every integer is a number, those of the surplus too", *(operands[0][axis] for axis in axes))
    _fill(analysis, instruction, operands[0], axes, NAN if numbers else 0)
    return [reduced(operands[0], axes, keepdim)]


@rule()
def ties(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """The surplus equals no extreme that is a number."""
    _fill(analysis, instruction, operands[0], instruction.attributes[0], NAN)
    return [operands[0]]


@rule()
def nans(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x: Axes = operands[0]
    analysis.fill(instruction, 0, len(x) - 1, x[-1], 0)
    return [x[:-1]]


@rule()
def agreement(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    broadcast(operands[:2])
    for position in (0, 1):
        analysis.fill_all(instruction, position, operands[position], 0)
    return [[]]


def position_of_extreme(neutral: float) -> Rule:
    @rule()
    def find(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
        x: Axes = operands[0]
        axis, keepdim = instruction.attributes[:2]
        if axis is None:
            if len(x) != 1:
                raise Refused("positions in all axes together depend on how long they are", *filter(padded, x))
            axis = 0
        analysis.fill(instruction, 0, axis, x[axis], neutral)
        if len(x[axis]) > 1 and padded(x[axis]):
            raise Refused("positions along several axes in one depend on how long they are", x[axis])
        return [reduced(x, (axis,), keepdim)]

    return find


@rule()
def searched(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Values are looked up one by one, in a row of their own or in the only one."""
    rows, values = operands
    if padded(rows[-1]):
        raise Refused("where a value belongs depends on where the data ends", rows[-1])
    if len(rows) > 1:
        broadcast([rows[:-1], values[:-1]])
    return [values]


@rule()
def among(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    if any(map(padded, operands[1])):
        raise Refused("the surplus would be among the values that are looked for", *filter(padded, operands[1]))
    return [operands[0]]


@rule(shapes="rank k")
def ranked(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Ranks along an axis that must not be padded: they count from both ends."""
    names = instruction.operation.attribute_names
    given: Any = instruction.attributes[names.index("axis")]
    axes: tuple[int, ...] = (given,) if given.__class__ is int else given
    if any(padded(operands[0][axis]) for axis in axes):
        raise Refused("a rank depends on how much data there is", *(operands[0][axis] for axis in axes))
    other = analysis.padded_sizes_in(instruction.attributes)
    if other:
        raise Refused("a rank depends on another padded size", sizes=other)
    found = reduced(operands[0], axes, instruction.attributes[names.index("keepdim")])
    return [found for _ in instruction.outputs]
