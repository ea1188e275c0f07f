"""Long unrolled loops: compiled by the round, not by the mile.

XLA's compile time grows faster than a program's length, and a Python loop of a hundred steps (a recurrent net, say) is
recorded as a hundred copies of the same few operations. Such a Program is cut at the rounds of its loops; equal pieces
("tiles") share one executable, which then runs many times. Programs without much repetition are left whole.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any

from ..core.aval import Aval
from ..core.place import Place
from .lowering import CompiledProgram, flagged_instructions
from .program import Instruction, Program

MINIMUM_LENGTH = 1500
_TILE_LENGTH = 256
_MINIMUM_ROUNDS = 4
_LONGEST_ROUND = 1000
_CANDIDATES = 12

# Executables of tiles, shared by all programs that contain them.
_TILES: weakref.WeakValueDictionary[Any, CompiledProgram] = weakref.WeakValueDictionary()
_LOCK = threading.Lock()


def find_tiles(instructions: list[Instruction]) -> list[tuple[int, int]] | None:
    """Ranges of instructions that cut the list at the rounds of its loops; None where repetition does not pay."""
    numbers: dict[Any, int] = {}
    keys = [numbers.setdefault((i.operation, i.attributes, i.outputs, i.kinds), len(numbers)) for i in instructions]
    following = _next_occurrences(keys)
    tiles: list[tuple[int, int]] = []
    repeated = 0
    position = start = 0
    while position < len(keys):
        found = _run_at(keys, following, position)
        if found is None:
            position += 1
            continue
        period, rounds = found
        if start < position:
            tiles.append((start, position))
        per_tile = max(1, _TILE_LENGTH // period)
        for first in range(0, rounds // per_tile * per_tile, per_tile):
            tiles.append((position + first * period, position + (first + per_tile) * period))
        position = start = position + rounds // per_tile * per_tile * period
        repeated += rounds // per_tile * per_tile * period - per_tile * period
    if start < len(keys):
        tiles.append((start, len(keys)))
    return tiles if repeated >= len(keys) // 2 else None


def _next_occurrences(keys: list[int]) -> list[int]:
    """For each position, where the same key comes next (or -1)."""
    following = [-1] * len(keys)
    last: dict[int, int] = {}
    for position in range(len(keys) - 1, -1, -1):
        following[position] = last.get(keys[position], -1)
        last[keys[position]] = position
    return following


def _run_at(keys: list[int], following: list[int], start: int) -> tuple[int, int] | None:
    """Period and number of rounds of the loop that begins here."""
    candidate = following[start]
    for _ in range(_CANDIDATES):
        if candidate < 0 or candidate - start > _LONGEST_ROUND:
            return None
        period = candidate - start
        end = start + _MINIMUM_ROUNDS * period
        if end <= len(keys) and keys[start : end - period] == keys[start + period : end]:
            while end < len(keys) and keys[end] == keys[end - period]:
                end += 1
            rounds = (end - start) // period
            if rounds >= 2 * max(1, _TILE_LENGTH // period):
                return period, rounds
        candidate = following[candidate]
    return None


class _Tile:
    """One use of an executable: where its inputs come from and what its outputs are called."""

    __slots__ = ("arguments", "ended", "executable", "outputs", "scalars")

    def __init__(self, executable: CompiledProgram, arguments: list[int], outputs: list[int], scalars: slice) -> None:
        self.executable = executable
        self.arguments = arguments
        self.outputs = outputs
        self.scalars = scalars
        self.ended: list[int] = []


class TiledProgram:
    """A Program run as a sequence of tiles; stands where a `CompiledProgram` would."""

    donated: tuple[int, ...] = ()
    copies = 0

    def __init__(
        self, program: Program, ranges: list[tuple[int, int]], inputs: list[Any], scalars: list[Any], place: Place,
        check_nan: bool,
    ) -> None:  # fmt: skip
        started = time.perf_counter()
        self.outputs = program.outputs
        self.num_values = program.num_values
        self.num_flags = len(flagged_instructions(program, check_nan))
        self.tiles: list[_Tile] = []
        last_use = _last_uses(program, ranges)
        values: dict[int, Any] = {}
        position = 0
        for number, (start, end) in enumerate(ranges):
            part = program.instructions[start:end]
            wanted = [
                index
                for instruction in part
                for index in range(instruction.index, instruction.index + len(instruction.outputs))
                if last_use.get(index, -1) > number
            ]
            piece, arguments = _canonical(part, wanted, program.inputs)
            count = len(piece.scalar_kinds)
            given = [values[i] if i >= 0 else inputs[~i] for i in arguments]
            used = scalars[position : position + count]
            executable = _executable(piece, given, used, place, check_nan)
            tile = _Tile(executable, arguments, wanted, slice(position, position + count))
            tile.ended = [i for i in arguments if i >= 0 and last_use[i] == number]
            self.tiles.append(tile)
            # Running while compiling gives the next tiles real inputs (and their shardings) to be compiled for.
            values.update(zip(wanted, executable(given, used), strict=False))
            position += count
        self.seconds = time.perf_counter() - started

    def __call__(self, inputs: list[Any], scalars: list[Any]) -> list[Any]:
        values: dict[int, Any] = {}
        flags: list[Any] = []
        for tile in self.tiles:
            arguments = [values[i] if i >= 0 else inputs[~i] for i in tile.arguments]
            results = tile.executable(arguments, scalars[tile.scalars])
            for index, result in zip(tile.outputs, results, strict=False):
                values[index] = result
            if tile.executable.num_flags:
                flags.append(results[-1])
            for index in tile.ended:
                del values[index]
        outputs = [values[index] for index in self.outputs]
        return [*outputs, flags] if flags else outputs


def _last_uses(program: Program, ranges: list[tuple[int, int]]) -> dict[int, int]:
    """The last tile that needs each value; results of the whole program are needed after all of them."""
    last: dict[int, int] = {}
    for number, (start, end) in enumerate(ranges):
        for instruction in program.instructions[start:end]:
            for operand in instruction.operands:
                if operand.__class__ is int and operand >= 0:
                    last[operand] = number
    for index in program.outputs:
        last[index] = len(ranges)
    return last


def _canonical(part: list[Instruction], wanted: list[int], input_avals: list[Aval]) -> tuple[Program, list[int]]:
    """A piece as a Program of its own, numbered from zero, and what its inputs are called outside."""
    numbers: dict[int, int] = {}
    arguments: list[int] = []
    avals: list[Aval] = []
    instructions: list[Instruction] = []
    index = 0
    for instruction in part:
        operands: list[Any] = []
        for operand, kind in zip(instruction.operands, instruction.kinds, strict=True):
            if operand.__class__ is int:
                if operand not in numbers:
                    numbers[operand] = ~len(arguments)
                    arguments.append(operand)
                    avals.append(kind)  # type: ignore[arg-type]
                operands.append(numbers[operand])
            else:
                operands.append(operand)
        for offset in range(len(instruction.outputs)):
            numbers[instruction.index + offset] = index + offset
        instructions.append(
            Instruction(
                instruction.operation,
                tuple(operands),
                instruction.attributes,
                instruction.outputs,
                index,
                instruction.scalar_dtypes,
                instruction.kinds,
                instruction.flagged,
            )
        )
        index += len(instruction.outputs)
    return Program(avals, instructions, tuple(numbers[i] for i in wanted)), arguments


def _executable(
    piece: Program, inputs: list[Any], scalars: list[Any], place: Place, check_nan: bool
) -> CompiledProgram:
    shardings = tuple(getattr(value, "sharding", None) for value in inputs)
    key = (
        tuple((i.operation, i.operands, i.attributes, i.flagged) for i in piece.instructions),
        tuple(piece.inputs), piece.outputs, place, check_nan,
        shardings if any(s is not None and len(s.device_set) > 1 for s in shardings) else None,
    )  # fmt: skip
    with _LOCK:
        found = _TILES.get(key)
        if found is None:
            found = _TILES[key] = CompiledProgram(piece, inputs, scalars, place, (), check_nan)
    return found
