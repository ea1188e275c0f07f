"""Running sums and sorting: from the first element on the surplus comes last and changes nothing; from the last one on it
comes first and must be neutral."""

from __future__ import annotations

from typing import Any

from ...program import Instruction
from ..analysis import Analysis, refuse, rule
from ..axes import Axes, Axis, Refused, padded
from .reductions import MINUS, NAN


def _single(axis: Axis) -> Axis:
    if padded(axis) and len(axis) > 1:
        raise Refused("it runs along several axes in one", axis)
    return axis


@rule("cumsum cumprod logcumsumexp cumulative_extreme")
def _running(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, axis = operands[0], instruction.attributes[0]
    name = instruction.operation.name
    _single(x[axis])
    if name in ("cumsum", "cumprod") and instruction.attributes[-1]:
        analysis.fill(instruction, 0, axis, x[axis], 0 if name == "cumsum" else 1)
    return [x for _ in instruction.outputs]


@rule("shift_along")
def _shift(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, (axis, step) = operands[0], instruction.attributes
    _single(x[axis])
    if step < 0:
        analysis.fill(instruction, 0, axis, x[axis], 0)
    return [x]


@rule("linear_recurrence")
def _recurrence(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    a, b = operands
    axis, reverse = instruction.attributes
    _single(b[axis])
    if reverse:
        analysis.fill(instruction, 0, axis, a[axis], 0)
        analysis.fill(instruction, 1, axis, b[axis], 0)
    return [b]


@rule("sort argsort")
def _sort(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """The surplus goes to the end: NaN counts as largest, and equal elements keep their order."""
    x, (axis, descending) = operands[0], instruction.attributes
    analysis.fill(instruction, 0, axis, _single(x[axis]), MINUS if descending else NAN)
    return [x]


@rule("topk")
def _topk(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, (axis, count, largest) = operands[0], instruction.attributes
    analysis.fill(instruction, 0, axis, _single(x[axis]), MINUS if largest else NAN)
    return [[*x[:axis], (count,), *x[axis + 1 :]] for _ in instruction.outputs]


refuse("gather_tree", "it follows the steps from the last one back")
refuse("quantile_places edges_between", "a rank depends on how much data there is")
