"""The executables that are kept: in order of use, bounded in number (`FLAGS_max_programs`)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from ...core import flags
from ...core.locks import new_reentrant_lock
from .. import report

_LOCK = new_reentrant_lock()
# What has an executable (an entry, a bucket), least recently used first, with its record.
PROGRAMS: OrderedDict[Any, report.ProgramRecord] = OrderedDict()


def records() -> list[report.ProgramRecord]:
    """The records of all that are kept, the latest first."""
    with _LOCK:
        return list(reversed(PROGRAMS.values()))


def note_program(owner: Any, compiled: Any, record: report.ProgramRecord) -> None:
    """Notes that a program was compiled; what was not used for longest has to go when there are too many."""
    record.seconds = compiled.seconds
    with _LOCK:
        report.STATISTICS.compiles += 1
        report.STATISTICS.compile_seconds += compiled.seconds
        PROGRAMS[owner] = record
        while len(PROGRAMS) > flags.get("FLAGS_max_programs"):
            oldest, _ = PROGRAMS.popitem(last=False)
            oldest.compiled = None
            oldest.count = 0
            report.STATISTICS.evictions += 1


def note_use(owner: Any) -> None:
    """An executable is used. Without the lock, as this is on the path of every step: each line is one step for Python."""
    record = PROGRAMS.get(owner)
    if record is not None:
        record.hits += 1
        try:  # noqa: SIM105 (a context manager costs more)
            PROGRAMS.move_to_end(owner)
        except KeyError:  # another thread has just made room
            pass
