"""Less memory for more arithmetic: a Program in which parts of the forward pass are computed again in the backward pass.

The moment of the most memory divides a training step: what is made before it and used after it are the kept activations.
The work before is cut into chunks, at places where little crosses the cut (between the blocks of a model). What a chunk
made and only the backward pass uses is dropped, and computed again just before it is used: from what crosses the cuts,
behind a `barrier`, so that XLA does not find both computations equal (see `ops/recompute.py`).
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import Any

import numpy as np

from .operation import find_operation
from .program import Instruction, Program

# How far from an even division a cut may be moved to a cheaper place, in parts of a chunk.
_LEEWAY = 0.5


class Liveness:
    """How much memory the values of a Program need as it runs in its written order, and when most."""

    def __init__(self, program: Program) -> None:
        self.sizes = {
            instruction.index + offset: aval.nbytes
            for instruction in program.instructions
            for offset, aval in enumerate(instruction.outputs)
        }
        self.peak = 0
        self.position = 0  # of the instruction at which the peak is reached
        current = 0
        for position, (instruction, ended) in enumerate(zip(program.instructions, program.last_uses(), strict=True)):
            current += sum(aval.nbytes for aval in instruction.outputs)
            if current > self.peak:
                self.peak, self.position = current, position
            current -= sum(self.sizes[index] for index in ended)

    def at_peak(self, program: Program) -> list[tuple[int, Instruction, int]]:
        """(bytes, instruction, which of its outputs) alive at the peak, largest first."""
        alive: dict[int, tuple[int, Instruction, int]] = {}
        for position, (instruction, ended) in enumerate(zip(program.instructions, program.last_uses(), strict=True)):
            for offset, aval in enumerate(instruction.outputs):
                alive[instruction.index + offset] = (aval.nbytes, instruction, offset)
            if position == self.position:
                break
            for index in ended:
                alive.pop(index, None)
        return sorted(alive.values(), key=lambda item: (-item[0], item[1].index))


def _values_used(instruction: Instruction) -> list[int]:
    return [operand for operand in instruction.operands if operand.__class__ is int and operand >= 0]


def _produced(instruction: Instruction) -> range:
    return range(instruction.index, instruction.index + len(instruction.outputs))


def _cuts(program: Program, end: int, num_chunks: int) -> list[int]:
    """Positions at which the first `end` instructions are cut: even in kept bytes, moved to where little crosses."""
    made_at = {index: p for p, i in enumerate(program.instructions[:end]) for index in _produced(i)}
    last_before: dict[int, int] = {}  # the last use of a value within these instructions
    kept: set[int] = set(program.outputs)
    for position, instruction in enumerate(program.instructions):
        for index in _values_used(instruction):
            if position < end:
                last_before[index] = position
            elif index in made_at:
                kept.add(index)
    changes = [0] * (end + 2)
    reached: list[int] = []  # kept bytes made up to each position
    for position, instruction in enumerate(program.instructions[:end]):
        reached.append(reached[-1] if reached else 0)
        for index, aval in zip(_produced(instruction), instruction.outputs, strict=True):
            changes[position + 1] += aval.nbytes
            changes[last_before.get(index, position) + 1] -= aval.nbytes
            if index in kept:
                reached[-1] += aval.nbytes
    crossing = list(accumulate(changes))  # bytes that a cut before each position would divide from their use
    if not end or not reached[-1]:
        return []
    cuts: list[int] = []
    for number in range(1, num_chunks):
        low, high = (
            bisect_left(reached, (number + shift) * reached[-1] / num_chunks) for shift in (-_LEEWAY / 2, _LEEWAY / 2)
        )
        window = range(max(1, low), min(end, high + 1))
        if window:
            cuts.append(min(window, key=lambda position: crossing[position]))
    return sorted(set(cuts))


def rematerialised(program: Program, num_chunks: int) -> tuple[Program, list[int]] | None:
    """The Program with chunks computed again, and for each of its scalars which of the old ones it is (-1: a zero).

    The new outputs stand in the order of the old ones. None when there is nothing to gain.
    """
    end = Liveness(program).position + 1
    cuts = _cuts(program, end, num_chunks)
    if not cuts:
        return None
    instructions = program.instructions
    chunk_of: dict[int, int] = {}  # by value; the last chunk is used at once and stays
    maker: dict[int, Instruction] = {}
    for position, instruction in enumerate(instructions[:end]):
        chunk = sum(position >= cut for cut in cuts)
        for index in _produced(instruction):
            chunk_of[index], maker[index] = chunk, instruction
    crosses = set(program.outputs)
    for position, instruction in enumerate(instructions[:end]):
        chunk = sum(position >= cut for cut in cuts)
        crosses.update(index for index in _values_used(instruction) if chunk_of[index] != chunk)
    dropped: dict[int, list[int]] = {}
    for instruction in instructions[end:]:
        for index in _values_used(instruction):
            chunk = chunk_of.get(index)
            if chunk is not None and chunk < len(cuts) and index not in crosses:
                dropped.setdefault(chunk, []).append(index)
    if not dropped:
        return None
    builder = _Builder(program)
    done: set[int] = set()
    for position, instruction in enumerate(instructions):
        if position >= end:
            used = _values_used(instruction)
            for chunk in dict.fromkeys(
                chunk_of[i] for i in used if i in chunk_of and i in dropped.get(chunk_of[i], ())
            ):
                if chunk not in done:
                    done.add(chunk)
                    trigger = [i for i in used if i not in chunk_of]
                    builder.again(_needed(set(dropped[chunk]), maker, chunk_of, chunk), trigger)
        builder.add(instruction)
    return builder.program(), builder.scalars


def _needed(values: set[int], maker: dict[int, Instruction], chunk_of: dict[int, int], chunk: int) -> list[Instruction]:
    """The chunk's instructions that lead to the values, in their order."""
    found: dict[int, Instruction] = {}
    stack = list(values)
    while stack:
        instruction = maker[stack.pop()]
        if instruction.index not in found:
            found[instruction.index] = instruction
            stack += [index for index in _values_used(instruction) if chunk_of[index] == chunk]
    return [found[index] for index in sorted(found)]


class _Builder:
    """Writes the new Program, with its own numbering."""

    def __init__(self, old: Program) -> None:
        self.old = old
        self.instructions: list[Instruction] = []
        self.scalars: list[int] = []
        self.next_index = 0
        self.names: dict[int, int] = {}  # old number -> new number, as of now
        self.first: dict[int, int] = {}  # … when it was made the first time: what outputs refer to
        self.avals: dict[int, Any] = {i.index + k: aval for i in old.instructions for k, aval in enumerate(i.outputs)}
        self.positions: dict[int, int] = {}  # of an instruction's first scalar
        position = 0
        for instruction in old.instructions:
            self.positions[instruction.index] = position
            position += len(instruction.scalar_dtypes)

    def _append(self, like: Instruction, operands: tuple[Any, ...], flagged: bool) -> None:
        self.instructions.append(
            Instruction(
                like.operation, operands, like.attributes, like.outputs, self.next_index, like.scalar_dtypes, like.kinds,
                flagged,
            )
        )  # fmt: skip
        begin = self.positions[like.index]
        self.scalars += range(begin, begin + len(like.scalar_dtypes))
        for offset in range(len(like.outputs)):
            self.names[like.index + offset] = self.next_index + offset
        self.next_index += len(like.outputs)

    def _renamed(self, instruction: Instruction, instead: dict[int, int]) -> tuple[Any, ...]:
        return tuple(
            operand if operand.__class__ is not int else instead.get(operand, self.names.get(operand, operand))
            for operand in instruction.operands
        )

    def _input_size(self, operand: int) -> int:
        return self.old.inputs[~operand].nbytes

    def add(self, instruction: Instruction) -> None:
        self._append(instruction, self._renamed(instruction, {}), instruction.flagged)
        for index in _produced(instruction):
            self.first[index] = self.names[index]

    def again(self, part: list[Instruction], trigger: list[int]) -> None:
        """Writes instructions a second time, behind a barrier."""
        made = {index for instruction in part for index in _produced(instruction)}
        entries = {o: None for i in part for o in _values_used(i) if o not in made}
        for instruction in part:  # work on inputs of the program alone needs a barrier as well
            operands: list[int] = [o for o in instruction.operands if o.__class__ is int]
            if operands and all(o < 0 and o not in entries for o in operands):
                entries[min(operands, key=self._input_size)] = None
        passed = [*entries, *trigger[:1]]
        avals = tuple(self.old.inputs[~o] if o < 0 else self.avals[o] for o in passed)
        barrier = find_operation("barrier")
        passed_on = (int, *(o if o < 0 else self.names[o] for o in passed))
        kinds = (int, *avals)
        self.instructions.append(
            Instruction(barrier, passed_on, (), avals, self.next_index, (np.dtype(np.int64),), kinds, False)
        )
        self.scalars.append(-1)
        instead = {old: self.next_index + offset for offset, old in enumerate(entries)}
        self.next_index += len(passed)
        for instruction in part:
            # Inside the part its own new values are meant; what comes from outside went through the barrier.
            self._append(instruction, self._renamed(instruction, instead), False)

    def program(self) -> Program:
        return Program(self.old.inputs, self.instructions, tuple(self.first[index] for index in self.old.outputs))
