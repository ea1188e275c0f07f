"""Running sums and sorting: from the first element on the surplus comes last and changes nothing; from the last one on it
comes first and must be neutral."""

from __future__ import annotations

from typing import Any

from ...program import Instruction
from ..analysis import Analysis, Rule, rule
from ..axes import Axes, Axis, Refused, padded
from .reductions import MINUS, NAN


def _single(axis: Axis) -> Axis:
    if padded(axis) and len(axis) > 1:
        raise Refused("it runs along several axes in one", axis)
    return axis


def running(neutral: float | None = None) -> Rule:
    """Along an axis; one that can run from its end (the last attribute says so) has something that changes nothing."""

    @rule()
    def find(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
        x, axis = operands[0], instruction.attributes[0]
        _single(x[axis])
        if neutral is not None and instruction.attributes[-1]:
            analysis.fill(instruction, 0, axis, x[axis], neutral)
        return [x for _ in instruction.outputs]

    return find


@rule()
def shift(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, (axis, step) = operands[0], instruction.attributes
    _single(x[axis])
    if step < 0:
        analysis.fill(instruction, 0, axis, x[axis], 0)
    return [x]


@rule()
def recurrence(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    a, b = operands
    axis, reverse = instruction.attributes
    _single(b[axis])
    if reverse:
        analysis.fill(instruction, 0, axis, a[axis], 0)
        analysis.fill(instruction, 1, axis, b[axis], 0)
    return [b]


@rule()
def sort(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """The surplus goes to the end: NaN counts as largest, and equal elements keep their order."""
    x, (axis, descending) = operands[0], instruction.attributes
    analysis.fill(instruction, 0, axis, _single(x[axis]), MINUS if descending else NAN)
    return [x]


@rule()
def topk(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, (axis, count, largest) = operands[0], instruction.attributes
    analysis.fill(instruction, 0, axis, _single(x[axis]), MINUS if largest else NAN)
    return [[*x[:axis], (count,), *x[axis + 1 :]] for _ in instruction.outputs]
