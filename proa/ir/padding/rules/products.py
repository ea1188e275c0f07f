"""Products: where they add up along a padded axis, the surplus of both operands is 0 (0 times NaN would not be)."""

from __future__ import annotations

from typing import Any

from ...program import Instruction
from ..analysis import Analysis, rule
from ..axes import Axes, Refused, broadcast, merged, padded


def _contract(analysis: Analysis, instruction: Instruction, x: Axes, inner_x: int, y: Axes, inner_y: int) -> None:
    if padded(x[inner_x]) or padded(y[inner_y]):
        merged(x[inner_x], y[inner_y])
        analysis.fill(instruction, 0, inner_x, x[inner_x], 0)
        analysis.fill(instruction, 1, inner_y, y[inner_y], 0)


@rule()
def linear(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, weight = operands[0], operands[1]
    _contract(analysis, instruction, x, len(x) - 1, weight, 0)
    return [[*x[:-1], weight[-1]]]


@rule()
def matmul(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, y = operands
    if len(x) < 2 or len(y) < 2:
        _contract(analysis, instruction, x, len(x) - 1, y, max(len(y) - 2, 0))
        return [[*x[:-1], *(y[:-2] + y[-1:] if len(y) > 1 else [])]]
    transpose_x, transpose_y = instruction.attributes
    inner_x, inner_y = (len(x) - 2 if transpose_x else len(x) - 1), (len(y) - 1 if transpose_y else len(y) - 2)
    _contract(analysis, instruction, x, inner_x, y, inner_y)
    rows, columns = (x[-1] if transpose_x else x[-2]), (y[-2] if transpose_y else y[-1])
    return [[*broadcast([x[:-2], y[:-2]]), rows, columns]]


@rule()
def packed(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Rows times a packed matrix, and what is added to them."""
    x: Axes = operands[0]
    names = instruction.operation.operand_names
    residual = operands[names.index("residual")] if "residual" in names else None
    if padded(x[-1]) or any(padded(axis) for axes in operands[1:] if axes not in (None, residual) for axis in axes):
        raise Refused("features are padded", *filter(padded, x[-1:]))
    found: Axes = [*x[:-1], (instruction.outputs[0].shape[-1],)]
    return [found if residual is None else broadcast([found, residual])]


@rule()
def cross(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return [broadcast(operands[:2])]  # along an axis of three, whose size is known


@rule()
def taken(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Rows of a packed matrix, one for each id."""
    return [[*operands[0], (instruction.outputs[0].shape[-1],)]]
