"""Class labels and losses: the surplus of labels is one that is left out, the surplus of logits is 0."""

from __future__ import annotations

import math
from typing import Any

from ...program import Instruction
from ..analysis import Analysis, rule
from ..axes import Axes, Refused, broadcast, padded
from ..filling import divided_by_count


def _attribute(instruction: Instruction, name: str) -> Any:
    return instruction.attributes[instruction.operation.attribute_names.index(name)]


def _class_axis(instruction: Instruction, x: Axes) -> int:
    axis: int = _attribute(instruction, "axis")
    if padded(x[axis]):
        raise Refused("the classes are padded", x[axis])
    return axis


def _check(instruction: Instruction, x: Axes, label: Axes) -> None:
    """The rows of logits and labels are laid out alike."""
    axis = _class_axis(instruction, x)
    broadcast([[a for i, a in enumerate(x) if i != axis], _rows(instruction, label, axis)])


def _rows(instruction: Instruction, label: Axes, axis: int) -> Axes:
    return [a for i, a in enumerate(label) if i != axis] if _attribute(instruction, "keeps") else label


@rule()
def pick(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    _check(instruction, operands[0], operands[1])
    return [operands[1]]


def _with_classes(instruction: Instruction, label: Axes) -> Axes:
    axis, keeps = _attribute(instruction, "axis"), _attribute(instruction, "keeps")
    return [*label[:axis], (_attribute(instruction, "classes"),), *label[axis + keeps :]]


@rule()
def spread(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return [_with_classes(instruction, broadcast(operands))]


@rule()
def smoothed(_analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return [_with_classes(instruction, operands[0])]


@rule()
def weights(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return [operands[1]]


@rule()
def count(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    analysis.fill_all(instruction, 0, operands[0], _attribute(instruction, "ignored"))
    return [[]]


@rule()
def checked(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    analysis.fill_all(instruction, 0, operands[0], max(0, _attribute(instruction, "lowest")))
    return [operands[0]]


@rule()
def cross_entropy(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return _cross_entropy(analysis, instruction, operands, is_grad=False)


@rule()
def cross_entropy_grad(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return _cross_entropy(analysis, instruction, operands, is_grad=True)


def _cross_entropy(analysis: Analysis, instruction: Instruction, operands: list[Any], is_grad: bool) -> list[Axes]:
    """A mean is a sum over the number of rows: it counts rows whose label is left out, but not the surplus."""
    logits, label = operands[0], operands[1]
    reduction, ignored = _attribute(instruction, "reduction"), _attribute(instruction, "ignored")
    _check(instruction, logits, label)
    analysis.fill_all(instruction, 0, logits, 0)
    analysis.fill_all(instruction, 1, label, ignored)
    if is_grad and reduction == "none":
        analysis.fill_all(instruction, 2, operands[2], 0)
    if (
        reduction == "mean" and ignored < 0
    ):  # only then are ignored rows counted (`_divisor` in ops/neural/losses/labels.py)

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            extents = [extent for axis in label for extent in writer.extents_of(axis)]
            others = math.prod(writer.others(axis) for axis in label)
            attributes = ("sum", *instruction.attributes[1:])
            if is_grad:
                share = writer.add(divided_by_count, [operands[2], *extents], (others,))
                writer.keep(instruction, [*operands[:2], share], attributes)
            else:
                total = writer.keep(instruction, operands, attributes)
                writer.give(instruction, writer.add(divided_by_count, [total, *extents], (others,)))

        analysis.rewrite(instruction, rewrite)
    if is_grad:
        return [broadcast([logits])]
    return [label if reduction == "none" else []]
