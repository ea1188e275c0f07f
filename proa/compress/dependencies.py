"""Which channels hang together: taking one out of a weight takes it out of everything that it is added to or goes into.

A captured program is walked once. Every place of every axis of a weight is a *slot*; every axis of every value is a list of
slots. Operations join slots: what is added element by element lies in the same ones, a convolution's inputs in those of its
weight's second axis, joined pictures in the ones of both behind each other, flattened channels in the same one many times.
Slot 0 means "must stay": axes of the model's inputs and results, spatial axes, and whatever goes through an operation
without a rule. A set of joined slots that does not hold slot 0 can be taken out everywhere, as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir.operation import Operation
from ..ir.program import Instruction, Program

Slots = np.ndarray
Axes = list[Slots]
Rule = Callable[["Dependencies", Instruction, list[Any]], "list[Axes] | None"]  # None: nothing is followed

_RULES: dict[str, Rule] = {}
STAYS = 0


def _rule(names: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        _RULES.update(dict.fromkeys(names.split(), function))
        return function

    return register


class Dependencies:
    """The slots of a program's weights, joined by what the program does with them."""

    def __init__(self, program: Program, num_inputs: int) -> None:
        self._parents = [STAYS]
        self.weights: list[Axes] = [[self._new(size) for size in aval.shape] for aval in program.inputs[num_inputs:]]
        # Places of weights where channels are made (a weight's number, its axis), and operations without a rule.
        self.makers: set[tuple[int, int]] = set()
        self.unknown: set[str] = set()
        given = [[np.zeros(size, np.int64) for size in aval.shape] for aval in program.inputs[:num_inputs]]
        self._numbers = {id(axes): number for number, axes in enumerate(self.weights)}
        values = _evaluate(program, self._call, [*given, *self.weights])
        for output in program.outputs:
            self.fix(values[output] if output >= 0 else [*given, *self.weights][~output])

    # ---- slots -----------------------------------------------------------------------------------------------------

    def _new(self, count: int) -> Slots:
        first = len(self._parents)
        self._parents.extend(range(first, first + count))
        return np.arange(first, first + count)

    def find(self, slot: int) -> int:
        parents = self._parents
        while parents[slot] != slot:
            parents[slot] = parents[parents[slot]]
            slot = parents[slot]
        return slot

    def join(self, one: Slots, other: Slots) -> None:
        """Slots at equal places are the same; the smaller number stands for both, so that 0 stays 0."""
        for a, b in zip(one.tolist(), other.tolist(), strict=True):
            a, b = self.find(a), self.find(b)
            self._parents[max(a, b)] = min(a, b)

    def fix(self, axes: Axes | None) -> None:
        """Nothing may be taken out of any of these axes."""
        for slots in axes or ():
            self.join(slots, np.zeros_like(slots))

    def made_by(self, weight: Axes, axis: int) -> Slots:
        """The axis of a weight where new channels begin."""
        number = self._numbers.get(id(weight))
        if number is not None:
            self.makers.add((number, axis))
        return weight[axis]

    # ---- walking ---------------------------------------------------------------------------------------------------

    def _call(self, instruction: Instruction, operands: list[Any]) -> list[Axes]:
        operation = instruction.operation
        rule = _RULES.get(operation.name) or _rule_of_kind(operation)
        found = None if rule is None else rule(self, instruction, operands)
        if found is None:
            self.unknown.add(operation.name)
            return self.fixed(instruction, operands)
        return found

    def fixed(self, instruction: Instruction, operands: Sequence[Any]) -> list[Axes]:
        """The results of an operation through which nothing is followed."""
        for operand in operands:
            self.fix(operand)
        return [_staying(aval.shape) for aval in instruction.outputs]


def _evaluate(program: Program, call: Any, inputs: list[Any]) -> list[Any]:
    """Like `Program.evaluate`, which drops values that nobody needs; results are needed here."""
    kept: dict[int, Any] = {}

    def noting(instruction: Instruction, operands: list[Any]) -> Any:
        results = call(instruction, operands)
        kept.update({instruction.index + i: result for i, result in enumerate(results)})
        return results

    program.evaluate(noting, inputs, lambda scalar: None)
    return [kept.get(index) for index in range(program.num_values)]


def _staying(shape: Sequence[int]) -> Axes:
    return [np.zeros(int(size), np.int64) for size in shape]


def _attribute(instruction: Instruction, name: str) -> Any:
    return instruction.attributes[instruction.operation.attribute_names.index(name)]


# ---- rules: what happens to the axes --------------------------------------------------------------------------------


def _rule_of_kind(operation: Operation) -> Rule | None:
    """What an operation without a rule of its own follows, by its traits."""
    if operation.elementwise:
        return _elementwise
    if operation.traits.family == "reduction" and "keepdim" in operation.attribute_names:
        return _reduce
    return _pool if operation.traits.family == "pooling" else None


def _elementwise(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Axes are aligned at their ends; one of size 1 is spread."""
    results = []
    for aval in instruction.outputs:
        axes = _staying(aval.shape)
        for position in range(1, len(axes) + 1):
            size = aval.shape[-position]
            found = [o[-position] for o in operands if o is not None and len(o) >= position]
            fitting = [slots for slots in found if len(slots) == size]
            if fitting:
                axes[-position] = fitting[0]
                for other in fitting[1:]:
                    d.join(fitting[0], other)
        results.append(axes)
    return results


@_rule("conv")
def _conv(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes] | None:
    x, weight, bias = operands
    groups, last = _attribute(instruction, "groups"), _attribute(instruction, "channels_last")
    channel = len(x) - 1 if last else 1
    d.fix(weight[2:])
    if groups == 1:
        d.join(x[channel], weight[1])
        made = d.made_by(weight, 0)
    elif groups == len(x[channel]) == len(weight[0]):  # a filter for each channel
        d.join(x[channel], weight[0])
        made = weight[0]
    else:
        return None
    if bias is not None:
        d.join(made, bias[0])
    axes = _staying(instruction.outputs[0].shape)
    axes[0], axes[channel] = x[0], made
    return [axes]


@_rule("conv_grad_input conv_transpose")
def _conv_transpose(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes] | None:
    x, weight = operands
    if _attribute(instruction, "groups") != 1:
        return None
    channel = len(x) - 1 if _attribute(instruction, "channels_last") else 1
    d.fix(weight[2:])
    d.join(x[channel], weight[0])
    axes = _staying(instruction.outputs[0].shape)
    axes[0], axes[channel] = x[0], d.made_by(weight, 1)
    return [axes]


@_rule("linear")
def _linear(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, weight, bias = operands
    d.join(x[-1], weight[0])
    made = d.made_by(weight, 1)
    if bias is not None:
        d.join(made, bias[0])
    return [[*x[:-1], made]]


@_rule("matmul")
def _matmul(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes] | None:
    x, y = operands
    if len(x) < 2 or len(y) != 2 or _attribute(instruction, "transpose_x"):
        return None
    inner, outer = (1, 0) if _attribute(instruction, "transpose_y") else (0, 1)
    d.join(x[-1], y[inner])
    return [[*x[:-1], d.made_by(y, outer)]]


@_rule("normalise_by")
def _normalise_by(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x, view = operands[0], _attribute(instruction, "broadcast")
    for axis, size in enumerate(view):
        if size != 1:
            for other in operands[1:]:
                if other is not None and len(other) == 1:
                    d.join(x[axis], other[0])
    return [list(x)]


def _pool(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Axes that keep their size pass; those that are pooled are spatial and stay anyhow."""
    x = operands[0]
    for axis, size in enumerate(instruction.outputs[0].shape):
        if size != len(x[axis]):
            d.fix([x[axis]])
    shapes = [aval.shape for aval in instruction.outputs]
    return [[x[a] if size == len(x[a]) else np.zeros(size, np.int64) for a, size in enumerate(s)] for s in shapes]


def _reduce(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    x = operands[0]
    axis, keep = _attribute(instruction, "axis"), _attribute(instruction, "keepdim")
    axes = range(len(x)) if axis is None else [axis] if isinstance(axis, int) else axis
    gone = {a % len(x) for a in axes} if len(x) else set()
    d.fix([x[a] for a in gone])
    left = [np.zeros(1, np.int64) if a in gone else x[a] for a in range(len(x)) if keep or a not in gone]
    return [left]


@_rule("transpose")
def _transpose(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    return [[operands[0][axis] for axis in _attribute(instruction, "perm")]]


@_rule("concat")
def _concat(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    axis = _attribute(instruction, "axis") % len(operands[0])
    axes = list(operands[0])
    for other in operands[1:]:
        for place, slots in enumerate(other):
            if place != axis:
                d.join(axes[place], slots)
    axes[axis] = np.concatenate([operand[axis] for operand in operands])
    return [axes]


@_rule("split")
def _split(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """The numbers of the sections stand in the program's code: they stay what they are."""
    d.fix([operands[0][_attribute(instruction, "axis") % len(operands[0])]])
    return [
        [
            slots if len(slots) == size else np.zeros(size, np.int64)
            for slots, size in zip(operands[0], aval.shape, strict=True)
        ]
        for aval in instruction.outputs
    ]


@_rule("reshape")
def _reshape(d: Dependencies, instruction: Instruction, operands: list[Any]) -> list[Axes]:
    """Axes that are flattened into one: each place of the one that matters comes as often as the others have places."""
    x, shape = operands[0], instruction.outputs[0].shape
    axes = _staying(shape)
    for old, new in _matched([len(slots) for slots in x], shape):
        wide = [place for place in old if len(x[place]) > 1]
        targets = [place for place in new if shape[place] > 1]
        free = [place for place in wide if any(d.find(slot) != STAYS for slot in x[place].tolist())]
        if len(free) == 1 and len(targets) == 1:
            parts = [x[place] if place == free[0] else np.zeros(len(x[place]), np.int64) for place in wide]
            grid = np.zeros([len(part) for part in parts], np.int64)
            at = wide.index(free[0])
            axes[targets[0]] = (grid + x[free[0]].reshape([-1 if i == at else 1 for i in range(len(parts))])).ravel()
        else:
            d.fix([x[place] for place in old])
    return [axes]


def _matched(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Runs of axes of equal products: [2, 3, 4] and [6, 4] are ([0, 1], [0]) and ([2], [1])."""
    found, i, j = [], 0, 0
    while i < len(old) or j < len(new):
        one, other = [i] if i < len(old) else [], [j] if j < len(new) else []
        i, j = i + len(one), j + len(other)
        while (a := math.prod(old[p] for p in one)) != (b := math.prod(new[p] for p in other)):
            if (a < b and i < len(old)) or j >= len(new):
                one.append(i)
                i += 1
            else:
                other.append(j)
                j += 1
        found.append((one, other))
    return found
