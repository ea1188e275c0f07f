"""What the recorder did and why: counters, and for each compiled program what it is and why it was made.

`proa.jit.explain()` prints this.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.errors import warn


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


class ProgramRecord:
    """One compiled program, for people."""

    def __init__(self, entry: Any, reason: str, donated: int) -> None:
        self.num_instructions = len(entry.program.instructions)
        self.num_inputs = len(entry.program.inputs)
        self.num_outputs = len(entry.program.outputs)
        self.program = entry.program
        self.reason = reason
        self.donated = donated
        self.hits = 0
        self.seconds = 0.0
        self.tiles = 1  # more than one: a long loop, compiled by the round (see tiling.py)


def note_failure(entry: Any, error: Exception) -> None:
    """Tells the user that a program could not be compiled and what happens instead."""
    text = str(error).strip().splitlines()
    STATISTICS.failures += 1
    warn(
        f"a segment of {len(entry.program.instructions)} operations could not be compiled and runs op by op: "
        f"{type(error).__name__}: {text[0] if text else ''}",
        RuntimeWarning,
    )


def reason_for(entry: Any, records: Iterable[ProgramRecord]) -> str:
    """Why this program is not one of those already there: the first thing in which the nearest one differs."""
    program = entry.program
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
    return f"seen {entry.count} times"


def count_cold(entry: Any) -> None:
    STATISTICS.cold_runs += 1
    STATISTICS.cold_instructions += len(entry.program.instructions)
