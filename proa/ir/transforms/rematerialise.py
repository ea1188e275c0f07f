"""Less memory for more arithmetic: a Program in which parts of the forward pass are computed again in the backward pass.

The moment of the most memory divides a training step: what is made before it and used after it are the kept activations.
The work before is cut into chunks, at places where little crosses the cut (between the blocks of a model). What a chunk
made and only the backward pass uses is dropped, and computed again just before it is used: from what crosses the cuts,
behind a `barrier`, so that XLA does not find both computations equal (see `ops/recompute.py`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from ..operation import find_operation
from ..program import Instruction, Program

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


def _cuts(program: Program, end: int, num_chunks: int) -> list[int]:
    """Positions at which the first `end` instructions are cut: even in kept bytes, moved to where little crosses."""
    made_at = {index: p for p, i in enumerate(program.instructions[:end]) for index in i.made}
    last_before: dict[int, int] = {}  # the last use of a value within these instructions
    kept: set[int] = set(program.outputs)
    for position, instruction in enumerate(program.instructions):
        for index in instruction.used:
            if position < end:
                last_before[index] = position
            elif index in made_at:
                kept.add(index)
    changes = [0] * (end + 2)
    reached: list[int] = []  # kept bytes made up to each position
    for position, instruction in enumerate(program.instructions[:end]):
        reached.append(reached[-1] if reached else 0)
        for index, aval in zip(instruction.made, instruction.outputs, strict=True):
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


def rematerialised(program: Program, num_chunks: int) -> Program | None:
    """The Program with chunks computed again, to be run with a few more scalars (see `with_zeros`).

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
        for index in instruction.made:
            chunk_of[index], maker[index] = chunk, instruction
    crosses = set(program.outputs)
    for position, instruction in enumerate(instructions[:end]):
        chunk = sum(position >= cut for cut in cuts)
        crosses.update(index for index in instruction.used if chunk_of[index] != chunk)
    dropped: dict[int, list[int]] = {}
    for instruction in instructions[end:]:
        for index in instruction.used:
            chunk = chunk_of.get(index)
            if chunk is not None and chunk < len(cuts) and index not in crosses:
                dropped.setdefault(chunk, []).append(index)
    if not dropped:
        return None
    builder = _Builder(program)
    done: set[int] = set()
    for position, instruction in enumerate(instructions):
        if position >= end:
            used = instruction.used
            for chunk in dict.fromkeys(
                chunk_of[i] for i in used if i in chunk_of and i in dropped.get(chunk_of[i], ())
            ):
                if chunk not in done:
                    done.add(chunk)
                    trigger = [i for i in used if i not in chunk_of]
                    builder.again(_needed(set(dropped[chunk]), maker, chunk_of, chunk), trigger)
        builder.add(instruction)
    return builder.program()


def with_zeros(program: Program, changed: Program, scalars: Sequence[Any]) -> list[Any]:
    """What a run of the rematerialised form is given: the scalars of the Program, then a zero for each barrier."""
    count = program.num_scalars
    return [*scalars[:count], *[0] * (changed.num_scalars - count)]


def _needed(values: set[int], maker: dict[int, Instruction], chunk_of: dict[int, int], chunk: int) -> list[Instruction]:
    """The chunk's instructions that lead to the values, in their order."""
    found: dict[int, Instruction] = {}
    stack = list(values)
    while stack:
        instruction = maker[stack.pop()]
        if instruction.index not in found:
            found[instruction.index] = instruction
            stack += [index for index in instruction.used if chunk_of[index] == chunk]
    return [found[index] for index in sorted(found)]


class _Builder:
    """Writes the new Program, with its own numbering."""

    def __init__(self, old: Program) -> None:
        self.old = old
        self.editor = old.edit()
        self.first: dict[int, int] = {}  # old number -> new number of when it was made first: what outputs refer to

    def _input_size(self, operand: int) -> int:
        return self.old.inputs[~operand].nbytes

    def add(self, instruction: Instruction) -> None:
        self.first.update(zip(instruction.made, self.editor.copy(instruction).made, strict=True))

    def again(self, part: list[Instruction], trigger: list[int]) -> None:
        """Writes instructions a second time, behind a barrier."""
        made = {index for instruction in part for index in instruction.made}
        entries = {o: None for i in part for o in i.used if o not in made}
        for instruction in part:  # work on inputs of the program alone needs a barrier as well
            operands = instruction.read
            if operands and all(o < 0 and o not in entries for o in operands):
                entries[min(operands, key=self._input_size)] = None
        editor = self.editor
        passed_on = [editor.numbers[operand] for operand in (*entries, *trigger[:1])]
        avals = tuple([editor.avals[number] for number in passed_on])
        barrier = editor.add(find_operation("barrier"), [int, *passed_on], (), avals)
        # Inside the part its own new values are meant; what comes from outside went through the barrier.
        before = {old: editor.numbers[old] for old in entries}
        editor.numbers.update(zip(entries, barrier.made, strict=False))
        for instruction in part:
            editor.copy(instruction, flagged=False)
        editor.numbers.update(before)

    def program(self) -> Program:
        editor = self.editor
        return Program(editor.inputs, editor.instructions, tuple([self.first[index] for index in self.old.outputs]))
