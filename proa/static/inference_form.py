"""What `clone(for_test=True)` changes: dropout lets everything pass, batch norm uses its running statistics.

Both leave a trace that is recognised in the instructions: dropout is a mask that is drawn and then applied, batch norm in
training moves its statistics right before it normalises. Numbering and inputs stay; what is no longer needed
falls away when the program is cut to what a run fetches.
"""

from __future__ import annotations

from typing import Any

from ..ir.program import Instruction
from ..ops.create.creation import assign_to
from ..ops.neural.dropout import times
from ..ops.neural.normalization import normalise_by
from .segment import StaticSegment

Entry = tuple[Instruction, list[Any]]


def inference_entries(segment: StaticSegment) -> list[Entry]:
    """A segment's instructions in the form for inference."""
    masks: dict[int, float] = {}  # of dropout: number of the mask -> probability
    moved: dict[Any, tuple[Any, Any]] = {}  # batch norm: (input, axes) -> running mean and variance before
    before: dict[Any, Any] = {}  # what a moved statistic was before it was moved
    found: list[Entry] = []
    for instruction, scalars in segment.entries():
        name = instruction.operation.name
        if name == "dropout_mask":
            masks[instruction.index] = scalars[0]
        elif name == "dropout" and instruction.operands[1] in masks:
            instruction, scalars = _dropped(instruction, masks[instruction.operands[1]], scalars[0])
        elif name == "running_statistics":
            x, mean, variance = instruction.operands[:3]
            statistics = before.get(mean, mean), before.get(variance, variance)
            before[instruction.index], before[instruction.index + 1] = statistics
            moved[x, instruction.attributes[-1]] = statistics
        elif name == "normalise" and (instruction.operands[0], instruction.attributes[2]) in moved:
            statistics = moved[instruction.operands[0], instruction.attributes[2]]
            instruction, scalars = _normalised(segment, instruction, statistics)
        found.append((instruction, scalars))
    return found


def _dropped(instruction: Instruction, probability: float, factor: float) -> Entry:
    """Scaled up while training: nothing is left to do. Otherwise: scaled down now."""
    if factor == 1.0 and 0 < probability < 1:
        return _like(instruction, times, (instruction.operands[0], float), (instruction.kinds[0], float), ()), [
            1 - probability
        ]
    return _like(instruction, assign_to, (instruction.operands[0],), (instruction.kinds[0],), ()), []


def _normalised(segment: StaticSegment, instruction: Instruction, statistics: tuple[int, int]) -> Entry:
    x, weight, bias = instruction.operands
    epsilon, _view, _axes, broadcast, _centred = instruction.attributes
    kinds = instruction.kinds
    inputs = segment.node.program(()).inputs
    avals = [inputs[~number] if number < 0 else kinds[0] for number in statistics]
    return _like(
        instruction, normalise_by, (x, *statistics, weight, bias, float), (kinds[0], *avals, *kinds[1:], float),
        (broadcast,),
    ), [epsilon]  # fmt: skip


def _like(old: Instruction, function: Any, operands: Any, kinds: Any, attributes: tuple[Any, ...]) -> Instruction:
    """An instruction of another operation in the place of `old`, with the same results."""
    operation = function.operation
    outputs, dtypes = operation.plan(kinds, attributes, old.outputs[0].place)
    return Instruction(operation, operands, attributes, outputs, old.index, dtypes, kinds, False)
