"""Indexing by tensors. Indices into a padded axis count from the end of its data; rows of the surplus take anything and
put nothing."""

from __future__ import annotations

from typing import Any

from ...program import Instruction
from ..analysis import Analysis, rule
from ..axes import Axes, Axis, Refused, broadcast, is_one, padded
from ..moving import index_within
from .reductions import MINUS, PLUS


def _single(axis: Axis) -> Axis:
    if padded(axis) and len(axis) > 1:
        raise Refused("an index into several axes in one", axis)
    return axis


def _count_from_data(analysis: Analysis, instruction: Instruction, indexed: dict[int, Axis]) -> None:
    """Operands that are indices into padded axes are brought into the range of the data."""
    longer = {operand: axis for operand, axis in indexed.items() if padded(_single(axis))}
    if not longer:
        return

    def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
        for operand, axis in longer.items():
            extents = [operands[operand], writer.extent(axis[0])]
            operands[operand] = writer.add(index_within, extents, (writer.length(axis[0]),))
        writer.keep(instruction, operands)

    analysis.rewrite(instruction, rewrite)


def _index_axes(operands: list[Any], first: int) -> list[Axes]:
    return [axes for axes in operands[first:] if axes is not None]


def _indexed(x: Axes, common: Axes, positions: list[int]) -> Axes:
    """The axes of `x[:, a, b]`: the common ones of the indices in the place of those that they index."""
    rest = [axis for number, axis in enumerate(x) if number not in positions]
    neighbours = positions == list(range(positions[0], positions[0] + len(positions)))
    front = positions[0] if neighbours else 0
    return [*rest[:front], *common, *rest[front:]]


def _fill_value(
    analysis: Analysis, instruction: Instruction, value: Axes, target: Axes, rows: range, filling: float
) -> None:
    """Rows of the value that belong to indices of the surplus get what changes nothing."""
    broadcast([value, target])
    for number in rows:
        index = number - (len(target) - len(value))
        if not padded(target[number]):
            continue
        if index < 0 or is_one(value[index]):
            raise Refused("one value goes to all indices, those of the surplus too", target[number])
        analysis.fill(instruction, 1, index, value[index], filling)


@rule(shapes="axes")
def index_get(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, positions = operands[0], [axis for axis, _ in instruction.attributes[0]]
    indices = _index_axes(operands, 1)
    _count_from_data(analysis, instruction, {1 + k: x[axis] for k, axis in enumerate(positions)})
    return [_indexed(x, broadcast(indices), positions)]


@rule(shapes="axes")
def index_set(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return _index_put(analysis, instruction, operands, adds=False)


@rule(shapes="axes")
def index_accumulate(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return _index_put(analysis, instruction, operands, adds=True)


def _index_put(analysis: Analysis, instruction: Instruction, operands: list[Any], adds: bool) -> list[Axes]:
    x, value = operands[0], operands[1]
    positions = [axis for axis, _ in instruction.attributes[0]]
    common = broadcast(_index_axes(operands, 2))
    target = _indexed(x, common, positions)
    neighbours = positions == list(range(positions[0], positions[0] + len(positions)))
    front = positions[0] if neighbours else 0
    if not adds:
        if any(map(padded, common)):
            raise Refused("elements of the surplus would be written over data", *filter(padded, common))
        broadcast([value, target])
    else:
        _fill_value(analysis, instruction, value, target, range(front, front + len(common)), 0)
        for operand, axes in enumerate(operands[2:], 2):
            analysis.fill_all(instruction, operand, axes, 0)
    _count_from_data(analysis, instruction, {2 + k: x[axis] for k, axis in enumerate(positions)})
    return [x]


@rule()
def gather_nd(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return [_nd_target(operands[0], operands[-1])]


def _nd_target(x: Axes, index: Axes) -> Axes:
    """The axes of what indices point to."""
    depth = int(index[-1][0]) if not padded(index[-1]) else 0
    if any(padded(axis) for axis in (index[-1], *x[:depth])):
        raise Refused("negative indices count from the end of the data", *x[:depth], index[-1])
    return [*index[:-1], *x[depth:]]


@rule()
def scatter_nd(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, index = operands[0], operands[-1]
    target = _nd_target(x, index)
    if not instruction.attributes[1] and any(map(padded, index)):
        raise Refused("elements of the surplus would be written over data", *filter(padded, index))
    _fill_value(analysis, instruction, operands[1], target, range(len(index) - 1), 0)
    analysis.fill_all(instruction, 2, index, 0)
    return [x]


@rule(shapes="size shape")
def take_along(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, index = operands
    axis, _, shape = instruction.attributes
    result: Axes = []
    for number, size in enumerate(shape):
        here = index[number]
        if is_one(here) and number != axis and (padded(x[number]) or analysis.moves(size)):
            here = x[number]
        elif number != axis and (padded(here) or padded(x[number])):
            broadcast([[here], [x[number]]])
        result.append(here if not is_one(here) else analysis.axis(size))
    _count_from_data(analysis, instruction, {1: x[axis]})
    return [result]


_NEUTRAL = {"add": 0, "multiply": 1, "amax": MINUS, "amin": PLUS}


@rule(shapes="size")
def put_along(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, value, _ = operands
    axis, _, reduce = instruction.attributes
    for number, here in enumerate(value):
        if number != axis and (padded(here) or padded(x[number])) and not is_one(here):
            broadcast([[here], [x[number]]])  # own coordinates: the surplus goes to the surplus
    if padded(value[axis]):
        if reduce not in _NEUTRAL:
            raise Refused("elements of the surplus would be written over data", value[axis])
        analysis.fill(instruction, 1, axis, value[axis], _NEUTRAL[reduce])
    _count_from_data(analysis, instruction, {2: x[axis]})
    return [x]


@rule()
def pick_along(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, index = operands
    axis = instruction.attributes[0]
    _single(x[axis])
    others = broadcast([[(1,) if i == axis else a for i, a in enumerate(axes)] for axes in (x, index)])
    others[axis] = index[axis]
    return [others]


@rule(shapes="size")
def spread_along(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Positions are good for the surplus too (they come from sorting it): what goes there is 0."""
    x = operands[0]
    axis, size, _ = instruction.attributes
    analysis.fill(instruction, 0, axis, _single(x[axis]), 0)
    return [[*x[:axis], analysis.axis(size), *x[axis + 1 :]]]


@rule()
def embedding(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, weight = operands
    if padded(weight[0]):
        raise Refused("the table is padded", weight[0])
    return [[*x, weight[1]]]


@rule()
def embedding_grad(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Rows of the surplus add zeros to the first row."""
    x, values = operands
    analysis.fill_all(instruction, 0, x, 0)
    for number in range(len(x)):
        analysis.fill(instruction, 1, number, values[number], 0)
    return [[(instruction.outputs[0].shape[0],), values[-1]]]


@rule()
def pool_rows(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    raise Refused("rows of the surplus would be pooled with the others", *filter(padded, operands[0]), *operands[1])


@rule()
def put_where(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, value, mask = operands
    axis = instruction.attributes[0]
    laid: Axes = [(1,)] * axis + list(mask) + [(1,)] * (len(x) - axis - len(mask))
    return [broadcast([x, value, laid])]
