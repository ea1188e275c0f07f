"""A program for inputs of one bucket: the captured one with padded sizes and the fills that a plan asks for.

The real sizes are inputs of it (behind all others), so that one executable serves every size up to the bucket's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..eager.declare import op
from ..ir.dimensions import specialise
from ..ir.program import Instruction, Program
from .padding import Fill, Plan

_SIZE = np.dtype(np.int32)


def _first(_operation: Any, kinds: Any, _attributes: Any, _place: Any) -> Aval:
    return kinds[0]


@op("x size", infer=_first)
def fill_beyond(xp: Any, x: Any, size: Any, axis: int = 0, value: float = 0.0) -> Any:
    """`x` with a value at all positions from `size` on along an axis."""
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    inside = xp.arange(x.shape[axis], dtype=np.int32).reshape(shape) < size
    return xp.where(inside, x, xp.asarray(_fitted(value, np.dtype(x.dtype)), x.dtype))


def _fitted(value: float, dtype: np.dtype) -> Any:
    if dtype.kind in "iu" and value in (float("inf"), float("-inf")):
        limits = np.iinfo(dtype)
        return limits.max if value > 0 else limits.min
    return bool(value) if dtype.kind == "b" else value


def _infer_mean(_operation: Any, kinds: Any, attributes: Any, _place: Any) -> Aval:
    axes, keepdim = attributes[:2]
    shape = kinds[0].shape
    return kinds[0].with_shape(tuple(1 if i in axes else n for i, n in enumerate(shape) if keepdim or i not in axes))


@op("x size", infer=_infer_mean)
def mean_within(xp: Any, x: Any, size: Any, axis: tuple[int, ...] = (), keepdim: bool = False, along: int = 0) -> Any:
    """The mean over axes, one of which (`along`) holds data in its first `size` positions and zeros behind them."""
    wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
    total = xp.sum(wide, axis=axis, keepdims=keepdim)
    others = 1
    for i in axis:
        others *= 1 if i == along else x.shape[i]
    return (total / (size.astype(wide.dtype) * others)).astype(x.dtype)


@op("size like", infer=lambda _o, kinds, a, _p: kinds[1].with_shape((1, 1, 1, a[0])))
def mask_beyond(xp: Any, size: Any, like: Any, length: int = 1) -> Any:
    """The mask of an attention: 0 for keys before `size`, -inf behind them."""
    inside = xp.arange(length, dtype=np.int32).reshape(1, 1, 1, length) < size
    return xp.where(inside, xp.asarray(0, like.dtype), xp.asarray(-np.inf, like.dtype))


def padded_program(program: Program, plan: Plan, avals: Sequence[Aval]) -> Program:
    """The program for inputs of these (padded) sizes; the real sizes come as further inputs, in the plan's order."""
    fitted, _ = specialise(program, list(avals))
    return _Writer(fitted, plan).run()


class _Writer:
    def __init__(self, program: Program, plan: Plan) -> None:
        self.program = program
        self.plan = plan
        self.editor = program.edit()
        size = make_aval((), _SIZE, program.inputs[0].place)
        self.size_inputs = {each: self.editor.add_input(size) for each in plan.sizes}

    def run(self) -> Program:
        for instruction in self.program.instructions:
            self._write(instruction)
        return self.editor.program(self.program.outputs)

    def _add(self, function: Any, operands: Sequence[int], attributes: tuple[Any, ...]) -> int:
        """An instruction of ours; the number of its result."""
        return self.editor.add(function.operation, operands, attributes).index

    def _write(self, instruction: Instruction) -> None:
        operands = self.editor.renamed(instruction)
        fills: list[Fill] = self.plan.fills.get(instruction.index, [])
        for each in fills:
            filled = [operands[each.operand], self.size_inputs[each.size]]
            operands[each.operand] = self._add(fill_beyond, filled, (each.axis, float(each.value)))
        mean = self.plan.means.get(instruction.index)
        if mean is not None:
            axes, keepdim = instruction.attributes[:2]
            along = next(each.axis for each in fills)
            made = self._add(mean_within, [operands[0], self.size_inputs[mean]], (axes, keepdim, along))
            self.editor.numbers[instruction.index] = made
            return
        masked = self.plan.masks.get(instruction.index)
        if masked is not None:
            length = instruction.kinds[1].shape[1]  # type: ignore[union-attr]
            operands[3] = self._add(mask_beyond, [self.size_inputs[masked], operands[0]], (length,))
        self.editor.copy(instruction, operands)
