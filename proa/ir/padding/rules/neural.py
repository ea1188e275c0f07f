"""Softmax, attention and recurrent layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...program import Instruction
from ..analysis import Analysis, Rule, rule
from ..axes import Axes, Refused, broadcast, is_one, merged, padded, same_axis
from ..filling import mask_beyond, repeated_extent
from .reductions import MINUS


@rule()
def softmax(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x: Axes = operands[0]
    axis: int = instruction.attributes[0] % max(len(x), 1)
    analysis.fill(instruction, 0, axis, x[axis], MINUS)
    return [x]


def _hide_keys(
    analysis: Analysis, instruction: Instruction, first: int, operands: list[Any]
) -> tuple[Axes, Axes, Axes]:
    """Keys of the surplus get a score of -inf. [batch, length, heads, size]; `first` is the position of the query."""
    query, keys, values, mask = operands[first : first + 4]
    causal = instruction.attributes[instruction.operation.attribute_names.index("causal")]
    for axis in (query[2], query[3], keys[2], keys[3], values[2], values[3]):
        if padded(axis):
            raise Refused("the heads or features are padded", axis)
    length = keys[1]
    if any(len(axis) > 1 and padded(axis) for axis in (query[1], length)):
        raise Refused("the steps are several axes in one", query[1], length)
    if causal and not same_axis(query[1], length):
        raise Refused("a causal mask for queries and keys that are padded differently", query[1], length)
    # NaN in the surplus would survive a score of -inf, as it would a weight of 0.
    analysis.fill(instruction, first + 1, 1, length, 0)
    analysis.fill(instruction, first + 2, 1, length, 0)
    if not padded(length):
        return query, keys, values
    if mask is not None:
        if is_one(mask[-1]):
            raise Refused("the mask is the same for all keys", length)
        value = 0 if instruction.kinds[first + 3].dtype.kind == "b" else MINUS  # type: ignore[union-attr]
        analysis.fill(instruction, first + 3, len(mask) - 1, merged(mask[-1], length), value)
    elif not causal:

        def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
            padded_length = writer.length(length[0])
            made = writer.add(mask_beyond, [operands[first], writer.extent(length[0])], (padded_length,))
            writer.keep(instruction, [*operands[: first + 3], made, *operands[first + 4 :]])

        analysis.rewrite(instruction, rewrite)
    return query, keys, values


@rule()
def attention(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    query, _, values = _hide_keys(analysis, instruction, 0, operands)
    return [[query[0], query[1], query[2], values[3]]]


def attention_grad(operand: int) -> Rule:
    """For the gradient of this operand of an attention."""

    @rule()
    def find(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
        """Queries of the surplus must add nothing to the gradients of keys and values."""
        y, query, _keys, _values, mask = operands
        analysis.fill(instruction, 0, 1, y[1], 0)
        analysis.fill(instruction, 1, 1, query[1], 0)
        if mask is not None and not is_one(mask[-2]):
            value = 1 if instruction.kinds[4].dtype.kind == "b" else 0  # type: ignore[union-attr]
            analysis.fill(instruction, 4, len(mask) - 2, mask[-2], value)
        _hide_keys(analysis, instruction, 1, operands)
        return [operands[1 + operand]]

    return find


# ---- recurrent layers --------------------------------------------------------------------------------------------------


class _Cells:
    """Where the operands of `recurrence` and its gradient are: see `ops/neural/recurrent.py`."""

    def __init__(self, instruction: Instruction) -> None:
        kind, self.reverse, has_bias, self.has_lengths, self.keeps = instruction.attributes
        self.states = 2 if kind == "LSTM" else 1
        self.weight = 1 + self.states
        self.end = self.weight + 1 + has_bias
        self.count = self.end + self.has_lengths
        self.steps: Any = None

    def check(self, operands: list[Any]) -> None:
        for axes in operands[self.weight : self.end]:
            if any(map(padded, axes)):
                raise Refused("the weights are padded", *filter(padded, axes))
        steps = operands[0][0]
        if padded(steps) and len(steps) > 1:
            raise Refused("the steps are several axes in one", steps)
        if padded(operands[0][2]):
            raise Refused("the features are padded", operands[0][2])
        self.steps = steps


def _end_with_data(analysis: Analysis, instruction: Instruction, cells: _Cells, axes: list[Any]) -> None:
    """A layer that begins with the last step is told how many there are: until then it keeps its state."""
    if not padded(cells.steps) or cells.has_lengths or not cells.reverse:
        return
    batch = axes[0][1]

    def rewrite(writer: Any, instruction: Instruction, operands: list[Any]) -> None:
        count = writer.others(batch)
        for factor in batch:
            count *= writer.length(factor) if padded((factor,)) else 1
        lengths = writer.add(repeated_extent, [writer.extent(cells.steps[0])], ((count,), np.dtype(np.int64)))
        kind, reverse, has_bias, _, keeps = instruction.attributes
        told = [*operands[: cells.end], lengths, *operands[cells.end :]]
        writer.keep(instruction, told, (kind, reverse, has_bias, True, keeps))

    analysis.rewrite(instruction, rewrite)


@rule()
def recurrence(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    cells = _Cells(instruction)
    cells.check(operands)
    projected = operands[0]
    analysis.fill(instruction, 0, 0, projected[0], 0)
    if cells.has_lengths:
        analysis.fill_all(instruction, cells.end, operands[cells.end], 0)
    batch = broadcast([[projected[1]], [operands[1][0]]])[0]
    _end_with_data(analysis, instruction, cells, operands)
    state: Axes = [projected[0], batch, operands[1][1]]
    return [state] * cells.states + [projected] * cells.keeps


@rule()
def recurrence_grad(analysis: Analysis, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Steps and rows of the surplus get no gradient, so they add nothing to that of the weights."""
    cells = _Cells(instruction)
    cells.check(operands)
    for position, axes in enumerate(operands):
        if not cells.weight <= position < cells.end:
            analysis.fill_all(instruction, position, axes, 0)
    _end_with_data(analysis, instruction, cells, operands)
    return list(operands[: len(instruction.outputs)])


# ---- others ------------------------------------------------------------------------------------------------------------


@rule()
def alignment(_analysis: Analysis, _instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Rows are by themselves; their lengths are operands, but those of the arrays are not."""
    logits, labels = operands[:2]
    batch = 1 if len(logits) == 3 else 0
    for axes, own in ((logits, batch), (labels, 0)):
        for number, axis in enumerate(axes):
            if padded(axis) and number != own:
                raise Refused("steps, labels or classes are padded", axis)
    return [broadcast([[logits[batch]], [labels[0]]])]
