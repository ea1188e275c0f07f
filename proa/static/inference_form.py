"""What `clone(for_test=True)` changes: dropout lets everything pass, batch norm uses its running statistics.

Both leave a trace that is recognised in the instructions: dropout is a mask that is drawn and then applied, batch norm in
training moves its statistics right before it normalises. Numbering and inputs stay; what is no longer needed
falls away when the program is cut to what a run fetches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.editing import changed
from ..ir.program import Instruction, numbered
from ..ops.create.creation import assign_to
from ..ops.neural.dropout import times
from ..ops.neural.normalization import normalise_by
from .segment import StaticSegment


class _Form:
    """The instructions of a segment on their way to the form for inference, and the scalars that they take."""

    def __init__(self, segment: StaticSegment) -> None:
        self.whole = segment.node.program(())
        self.scalars = list(segment.scalars)

    def scalar(self, instruction: Instruction, position: int) -> Any:
        return self.scalars[instruction.scalars[position].number]

    def instead(
        self, old: Instruction, function: Any, operands: Sequence[Any], attributes: tuple[Any, ...] = ()
    ) -> Any:
        """An instruction of another operation in the place of `old`, with the same results; floats are new scalars."""
        operation = function.operation
        given = [operand for operand in operands if isinstance(operand, float)]
        types = tuple([float if isinstance(operand, float) else operand for operand in operands])
        kinds = tuple([self._kind(operand, old) for operand in types])
        outputs, dtypes = operation.plan(kinds, attributes, old.outputs[0].place)
        numbers = numbered(types, dtypes, len(self.scalars))
        self.scalars += given
        return changed(
            old,
            operation=operation,
            operands=numbers,
            attributes=attributes,
            outputs=outputs,
            kinds=kinds,
            flagged=False,
        )

    def _kind(self, operand: Any, old: Instruction) -> Any:
        if operand.__class__ is not int:
            return operand
        if operand < 0:
            return self.whole.inputs[~operand]
        known = dict(zip(old.operands, old.kinds, strict=True))
        return known.get(operand, old.kinds[0])


def in_inference(segment: StaticSegment) -> tuple[list[Instruction], list[Any]]:
    """A segment's instructions in the form for inference, and all scalars."""
    form = _Form(segment)
    masks: dict[int, float] = {}  # of dropout: number of the mask -> probability
    moved: dict[Any, tuple[Any, Any]] = {}  # batch norm: (input, axes) -> running mean and variance before
    before: dict[Any, Any] = {}  # what a moved statistic was before it was moved
    found: list[Instruction] = []
    for instruction in form.whole.instructions:
        name = instruction.operation.name
        if name == "dropout_mask":
            masks[instruction.index] = form.scalar(instruction, 0)
        elif name == "dropout" and instruction.operands[1] in masks:
            instruction = _dropped(form, instruction, masks[instruction.operands[1]])
        elif name == "running_statistics":
            x, mean, variance = instruction.operands[:3]
            statistics = before.get(mean, mean), before.get(variance, variance)
            before[instruction.index], before[instruction.index + 1] = statistics
            moved[x, instruction.attributes[-1]] = statistics
        elif name == "normalise" and (instruction.operands[0], instruction.attributes[2]) in moved:
            statistics = moved[instruction.operands[0], instruction.attributes[2]]
            x, weight, bias = instruction.operands
            epsilon, _view, _axes, broadcast, _centred = instruction.attributes
            operands = (x, *statistics, weight, bias, float(epsilon))
            instruction = form.instead(instruction, normalise_by, operands, (broadcast,))
        found.append(instruction)
    return found, form.scalars


def _dropped(form: _Form, instruction: Instruction, probability: float) -> Instruction:
    """Scaled up while training: nothing is left to do. Otherwise: scaled down now."""
    x = instruction.operands[0]
    if form.scalar(instruction, 0) == 1.0 and 0 < probability < 1:
        return form.instead(instruction, times, (x, 1.0 - probability))
    return form.instead(instruction, assign_to, (x,))
