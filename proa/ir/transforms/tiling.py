"""Long unrolled loops: compiled by the round, not by the mile.

XLA's compile time grows faster than a program's length, and a Python loop of a hundred steps (a recurrent net, say) is
recorded as a hundred copies of the same few operations. Such a Program is cut at the rounds of its loops; equal pieces
("tiles") share one executable, which then runs many times. Programs without much repetition are left whole.

A tile can start as soon as its last instruction is recorded. Once a path has been compiled this way, passing the end of
a tile launches it: the device works on the first rounds of the loop while Python records the others. Should the program
then take another turn than the last time, what was launched is forgotten and the segment runs as any other.
"""

from __future__ import annotations

import time
import weakref
from typing import Any

from ...core.locks import new_lock
from ...core.place import CPU, Place
from ..editing import extracted
from ..keys import attribute_key
from ..meshes import program_devices
from ..program import Instruction, Program
from ..tiers.lent import brought_out
from ..tiers.lowering import CompiledProgram, flagged_instructions
from ..trace import TraceNode
from ..xla import jax_module

_MINIMUM_LENGTH = 1500
# Of large arrays on an accelerator: there XLA saves more memory in a whole than compiling in pieces saves time (a Llama of
# 1.1 billion parameters, some 2,300 instructions, is compiled whole in 15 s on an H200), until compiling takes minutes.
_MINIMUM_LENGTH_OF_HEAVY_WORK = 6000
_HEAVY_WORK = 1 << 18
# Where recording an instruction takes about as long as running it, starting early pays for shorter programs too: that
# is so for instructions that make, on average, this many elements.
_MINIMUM_LENGTH_OF_LIGHT_WORK = 600
_LIGHT_WORK = range(512, 32_768)
_MOST_FORGOTTEN = 8
_TILE_LENGTH = 128
_MINIMUM_ROUNDS = 4
_LONGEST_ROUND = 1000
_CANDIDATES = 12

# Executables of tiles, shared by all programs that contain them.
_TILES: weakref.WeakValueDictionary[Any, CompiledProgram] = weakref.WeakValueDictionary()
_LOCK = new_lock()


def find_tiles(program: Program, place: Place) -> list[tuple[int, int]] | None:
    """Ranges of instructions that cut a program at the rounds of its loops; None where that does not pay."""
    instructions = program.instructions
    if len(instructions) < _MINIMUM_LENGTH_OF_LIGHT_WORK:
        return None
    return find_rounds(instructions) if len(instructions) >= _minimum_length(program, place) else None


def _minimum_length(program: Program, place: Place) -> int:
    if place is CPU and int(program.mean_size) in _LIGHT_WORK:
        return _MINIMUM_LENGTH_OF_LIGHT_WORK
    if place is not CPU and program.mean_size > _HEAVY_WORK:
        return _MINIMUM_LENGTH_OF_HEAVY_WORK
    return _MINIMUM_LENGTH


def find_rounds(instructions: list[Instruction]) -> list[tuple[int, int]] | None:
    """Ranges of instructions that cut the list at the rounds of its loops; None where it has little repetition."""
    numbers: dict[Any, int] = {}
    whole = [(i.operation, attribute_key(i.attributes), i.outputs, i.kinds) for i in instructions]
    keys = [numbers.setdefault(key, len(numbers)) for key in whole]
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

    __slots__ = ("arguments", "end", "ended", "executable", "outputs", "scalars")

    def __init__(
        self, executable: CompiledProgram, arguments: list[int], outputs: list[int], scalars: list[int], end: int
    ) -> None:
        self.executable = executable
        self.arguments = arguments
        self.outputs = outputs
        self.scalars = scalars
        self.end = end  # the number of its last instruction
        self.ended: list[int] = []  # values that nobody needs after it


class TiledProgram:
    """A Program run as a sequence of tiles; stands where a `CompiledProgram` would.

    Of the inputs that may be written over, the last tile writes over those that it uses: that is where parameters are
    updated, and it is never launched early.
    """

    def __init__(
        self, program: Program, ranges: list[tuple[int, int]], inputs: list[Any], scalars: list[Any], place: Place,
        check_nan: bool, donated: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        started = time.perf_counter()
        self.copies = 0
        self.donated: tuple[int, ...] = ()
        self.outputs = program.outputs
        self.num_values = program.num_values
        self.mean_size = program.mean_size
        self.num_flags = len(flagged_instructions(program, check_nan))
        self.tiles: list[_Tile] = []
        self.forgotten = 0  # runs that were begun early in vain
        last_use = _last_uses(program, ranges)
        is_spread = program_devices(program, inputs) is not None
        values: dict[int, Any] = {} if is_spread else _abstract_values(program)
        for number, (start, end) in enumerate(ranges):
            part = program.instructions[start:end]
            wanted = [index for instruction in part for index in instruction.made if last_use.get(index, -1) > number]
            piece, arguments, numbers = extracted(part, wanted)
            given = [values[i] if i >= 0 else inputs[~i] for i in arguments]
            used = [scalars[i] for i in numbers]
            over: tuple[int, ...] = ()
            if number == len(ranges) - 1 and not is_spread:
                over = tuple(k for k, i in enumerate(arguments) if i < 0 and ~i in donated)
                self.donated = tuple(sorted(~arguments[k] for k in over))
            executable = _executable(piece, given, used, place, check_nan, over)
            tile = _Tile(executable, arguments, wanted, numbers, part[-1].index)
            tile.ended = [i for i in arguments if i >= 0 and last_use[i] == number]
            self.tiles.append(tile)
            if is_spread:  # running while compiling gives the next tiles inputs with the right shardings
                values.update(zip(wanted, executable(given, used), strict=False))
        self.seconds = time.perf_counter() - started

    def __call__(self, inputs: list[Any], scalars: list[Any]) -> list[Any]:
        return TiledRun(self).finish(inputs, scalars)

    def mark_ends(self, end: TraceNode) -> None:
        """Has tiles launched when the path to `end` is walked again (see `TraceNode.launches`)."""
        if self.mean_size < _LIGHT_WORK.start:
            return  # running them takes no time worth hiding
        numbers = {tile.end: number for number, tile in enumerate(self.tiles[:-1])}
        node: TraceNode | None = end
        while node is not None:
            if node.instruction is not None and node.index in numbers:
                node.launches = (self, numbers[node.index])
                node.hook = True
            node = node.parent


class TiledRun:
    """One run of a tiled program. Interrupted anywhere, it can be continued."""

    __slots__ = ("flags", "launched", "program", "values")

    def __init__(self, program: TiledProgram) -> None:
        self.program = program
        self.launched = 0
        self.values: dict[int, Any] = {}
        self.flags: dict[int, Any] = {}  # by tile

    def launch(self, inputs: list[Any], scalars: list[Any]) -> None:
        """Starts the next tile; only what its instructions use has to be among the inputs yet."""
        tile = self.program.tiles[self.launched]
        values = self.values
        arguments = [values[i] if i >= 0 else inputs[~i] for i in tile.arguments]
        results = tile.executable(arguments, [scalars[i] for i in tile.scalars])
        for index, result in zip(tile.outputs, results, strict=False):
            values[index] = result
        if tile.executable.num_flags:
            self.flags[self.launched] = results[-1]
        self.launched += 1
        for index in tile.ended:
            values.pop(index, None)

    def finish(self, inputs: list[Any], scalars: list[Any]) -> list[Any]:
        """Starts what is left; gives the program's outputs (and the flags of its checks)."""
        while self.launched < len(self.program.tiles):
            self.launch(inputs, scalars)
        outputs = [self.values[index] for index in self.program.outputs]
        return [*outputs, list(self.flags.values())] if self.flags else outputs


def run_early(run: TiledRun | None, node: TraceNode, inputs: list[Any], scalars: list[Any]) -> TiledRun | None:
    """Launches the tile that ends at a node; gives the run it belongs to, or None if there is none to begin."""
    program, number = node.launches
    if run is None and number == 0 and program.forgotten < _MOST_FORGOTTEN:
        run = TiledRun(program)
    if run is not None and run.program is program and run.launched == number:
        try:
            run.launch([brought_out(value) for value in inputs], scalars)
        except Exception:
            return None  # comes up again, and to the user, when the whole segment runs
    return run


def _last_uses(program: Program, ranges: list[tuple[int, int]]) -> dict[int, int]:
    """The last tile that needs each value; results of the whole program are needed after all of them."""
    last: dict[int, int] = {}
    for number, (start, end) in enumerate(ranges):
        for instruction in program.instructions[start:end]:
            for operand in instruction.used:
                last[operand] = number
    for index in program.outputs:
        last[index] = len(ranges)
    return last


def _abstract_values(program: Program) -> dict[int, Any]:
    """What tiles are compiled for: the shape and type of each value."""
    struct = jax_module().ShapeDtypeStruct
    return {
        number: struct(aval.shape, aval.dtype)
        for instruction in program.instructions
        for number, aval in zip(instruction.made, instruction.outputs, strict=True)
    }


def _executable(
    piece: Program, inputs: list[Any], scalars: list[Any], place: Place, check_nan: bool, donated: tuple[int, ...]
) -> CompiledProgram:
    shardings = tuple(getattr(value, "sharding", None) for value in inputs)
    key = (
        tuple((i.operation, i.operands, attribute_key(i.attributes), i.flagged) for i in piece.instructions),
        tuple(piece.inputs), piece.outputs, place, check_nan, donated,
        shardings if any(s is not None and len(s.device_set) > 1 for s in shardings) else None,
    )  # fmt: skip
    with _LOCK:
        found = _TILES.get(key)
        if found is None:
            found = _TILES[key] = CompiledProgram(piece, inputs, scalars, place, donated, check_nan)
    return found
