"""Reshapes, transposes and what else lays the same data out otherwise."""

from __future__ import annotations

from typing import Any

from ...program import Instruction
from ..analysis import Analysis, rule
from ..axes import Axes, Extent, Refused, broadcast, is_one, padded, reshaped, size_of


@rule(repeats=True)
def transpose(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return [[operands[0][axis] for axis in instruction.attributes[0]]]


@rule(shapes="shape", repeats=True)
def reshape(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    shape = analysis.normal(instruction.outputs[0].shape)
    if instruction.operands[0] in analysis.uniform:
        return [[analysis.axis(size, repeats=True) for size in shape]]
    return [reshaped(operands[0], shape)]


@rule(shapes="shape", repeats=True)
def expand(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    shape = instruction.outputs[0].shape
    given = [(1,)] * (len(shape) - len(operands[0])) + list(operands[0])
    return [
        [analysis.axis(size, repeats=True) if is_one(axis) else axis for axis, size in zip(given, shape, strict=True)]
    ]


@rule()
def tile(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Several copies of an axis are one more factor of it, the outermost."""
    x, repeats = operands[0], instruction.attributes[0]
    longest = max(len(x), len(repeats))
    x = [(1,)] * (longest - len(x)) + list(x)
    repeats = (1,) * (longest - len(repeats)) + tuple(repeats)
    result: Axes = []
    for axis, count in zip(x, repeats, strict=True):
        if count == 1:
            result.append(axis)
        elif padded(axis):
            result.append((count, *axis) if isinstance(axis[0], Extent) else (count * axis[0], *axis[1:]))
        else:
            result.append((size_of(axis) * count,))
    return [result]


@rule()
def stack(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    axis = instruction.attributes[0]
    found = broadcast(operands)
    return [[*found[:axis], (len(operands),), *found[axis:]]]


@rule()
def unbind(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, axis = operands[0], instruction.attributes[-1]
    if padded(x[axis]):
        raise Refused("it has as many results as the axis has elements", x[axis])
    return [[*x[:axis], *x[axis + 1 :]] for _ in instruction.outputs]


@rule()
def as_complex(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return [operands[0][:-1]]


@rule()
def as_real(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return [[*operands[0], (2,)]]


@rule(shapes="num_classes count")
def one_hot(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    shape = instruction.outputs[0].shape
    if len(shape) == len(operands[0]):
        return [operands[0]]
    return [[*operands[0], analysis.axis(shape[-1])]]


@rule()
def triangle(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    for axis in operands[0][-2:]:
        if len(axis) > 1 and padded(axis):
            raise Refused("the rows of a triangle are several axes in one", axis)
    return [operands[0]]


@rule()
def diagonal(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Element i of a diagonal is found from its start, wherever the axes end."""
    x, (_, axis1, axis2) = operands[0], instruction.attributes
    if any(len(x[axis]) > 1 and padded(x[axis]) for axis in (axis1, axis2)):
        raise Refused("the axes of a diagonal are several in one", x[axis1], x[axis2])
    return [[*(a for i, a in enumerate(x) if i not in (axis1, axis2)), analysis.axis(instruction.outputs[0].shape[-1])]]


@rule()
def with_diagonal(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, (_, axis1, axis2) = operands[0], instruction.attributes
    if any(len(x[axis]) > 1 and padded(x[axis]) for axis in (axis1, axis2)):
        raise Refused("the axes of a diagonal are several in one", x[axis1], x[axis2])
    return [x]
