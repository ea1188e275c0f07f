"""What the recorder did and why: counters, the list of compiled programs.

`proa.jit.explain()` prints this. Compiled programs are kept in order of use and bounded in number.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from ..core import flags
from ..core.errors import warn
from ..core.locks import new_reentrant_lock


class Statistics:
    """Counters since start (or since `reset`)."""

    def __init__(self) -> None:
        self.cold_runs = 0
        self.cold_instructions = 0
        self.hits = 0
        self.compiles = 0
        self.compile_seconds = 0.0
        self.evictions = 0
        self.failures = 0


STATISTICS = Statistics()
_LOCK = new_reentrant_lock()
# Endings with an executable, least recently used first, with their records.
PROGRAMS: OrderedDict[Any, ProgramRecord] = OrderedDict()


class ProgramRecord:
    """One compiled program, for people."""

    def __init__(self, ending: Any, reason: str, donated: int) -> None:
        self.num_instructions = len(ending.program.instructions)
        self.num_inputs = len(ending.program.inputs)
        self.num_outputs = len(ending.program.outputs)
        self.program = ending.program
        self.reason = reason
        self.donated = donated
        self.hits = 0
        self.seconds = 0.0
        self.tiles = 1  # more than one: a long loop, compiled by the round (see tiling.py)


def compile_program(
    ending: Any, inputs: list[Any], scalars: list[Any], end: Any, donated: tuple[int, ...], reason: str = ""
) -> Any:
    """The executable of an ending at a node, noted in the list of programs with the reason why it was made."""
    from .lowering import CompiledProgram
    from .tiling import TiledProgram, find_tiles

    program, root = ending.program, end.root
    tiles = find_tiles(program, root.place)
    compiled: Any
    if tiles is not None:
        compiled = TiledProgram(program, tiles, inputs, scalars, root.place, root.check_nan, donated)
        donated = compiled.donated
        compiled.mark_ends(end)
    else:
        compiled = CompiledProgram(program, inputs, scalars, root.place, donated, root.check_nan)
    record = ProgramRecord(ending, reason or _reason(ending), len(donated))
    record.tiles = len(tiles) if tiles else 1
    record.seconds = compiled.seconds
    with _LOCK:
        STATISTICS.compiles += 1
        STATISTICS.compile_seconds += compiled.seconds
        PROGRAMS[ending] = record
        while len(PROGRAMS) > flags.get("FLAGS_max_programs"):
            oldest, _ = PROGRAMS.popitem(last=False)
            oldest.compiled = None
            oldest.count = 0
            STATISTICS.evictions += 1
    return compiled


def note_failure(ending: Any, error: Exception) -> None:
    """Tells the user that a program could not be compiled and what happens instead."""
    text = str(error).strip().splitlines()
    STATISTICS.failures += 1
    warn(
        f"a segment of {len(ending.program.instructions)} operations could not be compiled and runs op by op: "
        f"{type(error).__name__}: {text[0] if text else ''}",
        RuntimeWarning,
    )


def _reason(ending: Any) -> str:
    """Why this program is not one of those already there: the first thing in which the nearest one differs."""
    program = ending.program
    with _LOCK:
        records = list(reversed(PROGRAMS.values()))
    for record in records:
        other = record.program
        if len(other.instructions) != len(program.instructions):
            continue
        same_code = all(
            a.operation is b.operation and a.operands == b.operands
            for a, b in zip(program.instructions, other.instructions, strict=True)
        )
        if not same_code:
            continue
        for position, (old, new) in enumerate(zip(other.inputs, program.inputs, strict=False)):
            if old is not new:
                return f"input {position} was {old}, now {new}"
        for a, b in zip(program.instructions, other.instructions, strict=True):
            if a.attributes != b.attributes:
                names = a.operation.attribute_names
                for name, old, new in zip(names, b.attributes, a.attributes, strict=False):
                    if old != new:
                        return f"{a.operation.name}: {name} was {old}, now {new}"
        return "other results of the same work are kept"
    return f"seen {ending.count} times"


def count_hit(ending: Any) -> None:
    with _LOCK:
        STATISTICS.hits += 1
        record = PROGRAMS.get(ending)
        if record is not None:
            record.hits += 1
            PROGRAMS.move_to_end(ending)


def count_cold(ending: Any) -> None:
    STATISTICS.cold_runs += 1
    STATISTICS.cold_instructions += len(ending.program.instructions)
