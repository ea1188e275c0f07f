"""Endings and their executables: when a path is compiled, what is kept of it, and what makes room for others.

Executables are kept in order of use and bounded in number (`FLAGS_max_programs`).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from ..core import flags
from ..core.locks import new_reentrant_lock
from ..core.place import CPU, Place
from . import cost, donation, report
from .lowering import CompiledProgram
from .recording_mode import WHOLE, Mode
from .segment import Segment
from .tiling import TiledProgram, find_tiles
from .trace import TraceNode, TraceRoot

# How often a path is seen before it is compiled where running it op by op compiles, too.
_SEEN_OFTEN = 3
# Copies of donated inputs that were still in use, after which a program is compiled without donating them.
MOST_COPIES = 50
# Elements made by a path that is compiled when first seen: running it op by op takes longer than compiling it (a training
# step of ResNet-50 makes 700 million), and in the next process even its first run finds an executable.
_HEAVY = 1 << 28


_LOCK = new_reentrant_lock()
# Endings with an executable, least recently used first, with their records.
PROGRAMS: OrderedDict[Any, report.ProgramRecord] = OrderedDict()


class Ending:
    """One way a path ends: which values are wanted, how often it was seen, what it has cost, and the executable once it is
    hot."""

    __slots__ = ("compiled", "count", "price", "program", "sighting", "work")

    def __init__(self, node: TraceNode, outputs: tuple[int, ...]) -> None:
        self.program = node.program(outputs)
        self.count = 0
        self.sighting = 0  # when it was last seen (see `trace.forget_unused`)
        self.work = self.price = 0.0  # of a cold run, of compiling (see cost.py); not before it is seen again
        self.compiled: Any = None

    @property
    def spent(self) -> float:
        """The work of all cold runs so far."""
        return (self.count - 1) * self.work

    def pays(self, place: Place) -> bool:
        """Whether the work spent on it exceeds what compiling it is expected to cost."""
        if self.count < 2:
            return False
        if not self.price:
            self.work = cost.cold_work(self.program)
            self.price = cost.compiling_work(self.program, find_tiles(self.program, place))
        return self.spent >= self.price


def find_ending(node: TraceNode, outputs: tuple[int, ...]) -> Ending:
    """The ending at a node that gives these values, and perhaps more."""
    if node.endings is None:
        node.endings = {}
    ending = node.endings.get(outputs)
    if ending is None:
        wanted = set(outputs)
        for other in list(node.endings.values()):  # another thread may add one
            # An executable that gives more than is wanted serves as well as a new one.
            if other.compiled is not None and wanted <= set(other.program.outputs):
                return other
        ending = node.endings[outputs] = Ending(node, outputs)
    return ending


def is_due(root: TraceRoot, ending: Ending) -> bool:
    """Whether a path is to be compiled now."""
    if root.window == WHOLE or ending.program.size >= _HEAVY:
        return ending.count > 0
    if Mode.threshold:
        return ending.count >= Mode.threshold
    if root.place is not CPU or Mode.sharded:  # there is no tier 0 without a compiler
        return ending.count >= _SEEN_OFTEN
    return ending.pays(root.place)


def compile_program(
    ending: Any, inputs: list[Any], scalars: list[Any], end: Any, donated: tuple[int, ...], reason: str = ""
) -> Any:
    """The executable of an ending at a node, noted in the list of programs with the reason why it was made."""
    program, root = ending.program, end.root
    tiles = find_tiles(program, root.place)
    compiled: Any
    if tiles is not None:
        donated = ()
        compiled = TiledProgram(program, tiles, inputs, scalars, root.place, root.check_nan)
        compiled.mark_ends(end)
    else:
        compiled = CompiledProgram(program, inputs, scalars, root.place, donated, root.check_nan)
    with _LOCK:
        records = list(reversed(PROGRAMS.values()))
    record = report.ProgramRecord(ending, reason or report.reason_for(ending, records), len(donated))
    record.tiles = len(tiles) if tiles else 1
    record.seconds = compiled.seconds
    with _LOCK:
        report.STATISTICS.compiles += 1
        report.STATISTICS.compile_seconds += compiled.seconds
        PROGRAMS[ending] = record
        while len(PROGRAMS) > flags.get("FLAGS_max_programs"):
            oldest, _ = PROGRAMS.popitem(last=False)
            oldest.compiled = None
            oldest.count = 0
            report.STATISTICS.evictions += 1
    return compiled


def donate_less(segment: Segment, ending: Ending, compiled: Any) -> Any:
    """What the program may write over is in use again and again: compiled anew without those inputs."""
    donated = tuple(sorted(set(compiled.donated) & set(donation.donatable(segment.inputs))))
    compiled.copies = 0
    if donated != compiled.donated:
        ending.compiled = compiled = compile_program(
            ending, segment.inputs, segment.scalars, segment.node, donated, "inputs it wrote over are still in use"
        )
    return compiled


def count_hit(ending: Any) -> None:
    """An executable was used: it is the last to be evicted now."""
    with _LOCK:
        report.STATISTICS.hits += 1
        record = PROGRAMS.get(ending)
        if record is not None:
            record.hits += 1
            PROGRAMS.move_to_end(ending)
