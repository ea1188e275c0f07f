"""Norms. Along axes that are not padded (layer norm) each row is by itself; along padded ones (batch norm) the statistics
count the data only."""

from __future__ import annotations

from typing import Any

from ....core.symbols import same_sizes
from ...program import Instruction
from ..analysis import Analysis, rule
from ..axes import Axes, Refused, padded, padded_axes, reshaped, size_of
from ..statistics import gradient_within, normalise_within, running_within, weight_gradient_within


def _named(instruction: Instruction) -> dict[str, Any]:
    return dict(zip(instruction.operation.attribute_names, instruction.attributes, strict=True))


def _runs_along_padded(analysis: Analysis, instruction: Instruction, x: Axes) -> bool:
    """Whether the statistics are taken along a padded axis."""
    attributes = _named(instruction)
    view = analysis.normal(tuple(attributes["view"]))
    whole = not view or same_sizes(view, tuple(size_of(axis) for axis in x))
    seen = x if whole else reshaped(x, view)
    axes: tuple[int, ...] = attributes["axes"]
    return any(padded(seen[axis]) for axis in axes)


def _check_parameters(operands: list[Any]) -> None:
    for axes in operands:
        if axes is not None and padded_axes(axes):
            raise Refused("the parameters are padded", *filter(padded, axes))


@rule(shapes="view broadcast")
def normalise(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, weight, bias = operands
    _check_parameters([weight, bias])
    if _runs_along_padded(analysis, instruction, x):

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            places, extents = writer.places(x)
            present = [operand for operand in operands if operand is not None]
            attributes = (weight is not None, bias is not None, *instruction.attributes, places)
            writer.give(instruction, writer.add(normalise_within, [*present, *extents], attributes))

        analysis.rewrite(instruction, rewrite)
    return [x]


@rule(shapes="view broadcast")
def grad_input(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, _, weight = operands
    _check_parameters([weight])
    if _runs_along_padded(analysis, instruction, x):

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            places, extents = writer.places(x)
            present = [operand for operand in operands if operand is not None]
            attributes = (weight is not None, *instruction.attributes, places)
            writer.give(instruction, writer.add(gradient_within, [*present, *extents], attributes))

        analysis.rewrite(instruction, rewrite)
    return [x]


@rule(shapes="view broadcast")
def grad_weight(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, y = operands
    attributes = _named(instruction)
    result: Axes = [analysis.axis(size) for size in attributes["broadcast"]]
    if any(map(padded, result)):
        raise Refused("the parameters are padded", *filter(padded, x))
    if _runs_along_padded(analysis, instruction, x) or not attributes["epsilon"]:

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            places, extents = writer.places(x)
            made = writer.add(weight_gradient_within, [*operands, *extents], (*instruction.attributes, places))
            writer.give(instruction, made)

        analysis.rewrite(instruction, rewrite)
    else:  # rows of zeros are standardised to zeros
        analysis.fill_all(instruction, 0, x, 0)
        analysis.fill_all(instruction, 1, y, 0)
    return [result]


@rule()
def grad_bias(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, y = operands
    axes = instruction.attributes[0]
    for operand, each in enumerate((x, y)):
        for axis in axes:
            analysis.fill(instruction, operand, axis, each[axis], 0)
    return [[(1,) if i in axes else axis for i, axis in enumerate(y)]]


@rule()
def running(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, mean, variance = operands[:3]
    _check_parameters([mean, variance])
    axes = instruction.attributes[0]
    if any(padded(axis) for i, axis in enumerate(x) if i not in axes):
        raise Refused("the channels are padded", *filter(padded, x))

    def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
        places, extents = writer.places(x)
        made = writer.add(running_within, [*operands, *extents], (axes, places))
        writer.give(instruction, made, made + 1)

    analysis.rewrite(instruction, rewrite)
    return [mean, variance]


@rule()
def by_given(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    _check_parameters(operands[1:])
    return [operands[0]]


@rule()
def through(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    raise Refused("it is made when a program is lowered", *filter(padded, operands[0]))
