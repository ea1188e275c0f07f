"""Entries and their executables: when a path is compiled, for itself or together with paths of other sizes."""

from __future__ import annotations

from typing import Any

from ...core.place import Place
from .. import meshes, report
from ..block import has_effect
from ..observing import RUNTIME
from ..recording.mode import ONCE, WHOLE, Mode
from ..recording.segment import Segment
from ..trace import TraceNode, TraceRoot
from ..transforms import donation
from ..transforms.tiling import TiledProgram, find_tiles
from . import worth
from .kept import note_program, note_use, records
from .lent import bring_out
from .lowering import CompiledProgram
from .worth import Account

# Copies of donated inputs that were still in use, after which a program is compiled without donating them.
MOST_COPIES = 50
# How many more runs until a program that could not be compiled is tried again.
_RETRY_AFTER = 1000


class Entry(Account):
    """One way a path ends: which values are wanted, how often it was seen, what it has cost, and the executable once it is
    hot."""

    __slots__ = ("devices", "sighting")

    def __init__(self, node: TraceNode, outputs: tuple[int, ...]) -> None:
        super().__init__(node.program(outputs))
        # Those that its operations ask for; inputs may say so, too.
        self.devices = meshes.program_devices(self.program, []) if Mode.sharded else None
        self.sighting = 0  # when it was last seen (see `trace.forget_unused`)

    def leave_out_dead(self) -> None:
        """What no result depends on is not run again, as it would not be in a compiled program; checks and effects stay."""
        program = self.program
        effects = [i.index for i in program.instructions if has_effect(i)]
        needed = program.slice(program.outputs, effects)
        if len(needed.instructions) < len(program.instructions):
            self.program, self._works = needed, None

    def find_tiles(self, place: Place) -> list[tuple[int, int]] | None:
        return find_tiles(self.program, place)


def find_entry(node: TraceNode, outputs: tuple[int, ...]) -> Entry:
    """The entry at a node that gives these values, and perhaps more."""
    if node.entries is None:
        node.entries = {}
    entry = node.entries.get(outputs)
    if entry is None:
        wanted = set(outputs)
        for other in list(node.entries.values()):  # another thread may add one
            # An executable that gives more than is wanted serves as well as a new one.
            if other.compiled is not None and wanted <= set(other.program.outputs):
                return other
        entry = node.entries[outputs] = Entry(node, outputs)
    return entry


def find_executable(segment: Segment, entry: Entry) -> Any:
    """What runs a path compiled that has no executable yet: one that is made now, or one that it shares with paths of other
    sizes; None: it runs cold."""
    root = segment.root
    if entry.member is None:
        entry.member = _join(root, entry) if segment.devices is None else False
    if entry.member:
        is_decided, shared = worth.find_shared(entry, root.place, segment.inputs, segment.scalars)
        if is_decided:
            return shared
    elif entry.count == 2 and segment.devices is None and not root.check_nan:
        entry.leave_out_dead()
    # On many devices every operation would be compiled for itself, which takes longer than compiling them together.
    if segment.devices is None and not _pays(root, entry):
        return None
    donation.settle()
    bring_out(segment.inputs)
    donated = donation.choose(segment.inputs, entry.program)
    try:
        entry.compiled = compile_program(entry, segment.inputs, segment.scalars, segment.node, donated)
        entry.note_own_program()
    except Exception as error:
        # Work that cannot be compiled still runs, op by op; an error that is the user's own comes up there.
        entry.count = -_RETRY_AFTER
        report.note_failure(entry, error)
    return entry.compiled


def _join(root: TraceRoot, entry: Entry) -> Any:
    """The place of a path in a family of paths that differ in sizes alone; False where it cannot have one, None where it has
    none yet."""
    if root.check_nan or root.window >= WHOLE:
        return False
    return worth.join(entry, root.place, root.window)


def _pays(root: TraceRoot, entry: Entry) -> bool:
    """Whether a path is to be compiled for itself now."""
    if root.window == ONCE:
        return False
    if root.window == WHOLE:
        return entry.count > 0
    return worth.pays(entry, root.place)


def compile_program(
    entry: Any, inputs: list[Any], scalars: list[Any], end: Any, donated: tuple[int, ...], reason: str = ""
) -> Any:
    """The executable of an entry at a node, noted in the list of programs with the reason why it was made."""
    observed = RUNTIME.observed
    if observed is None:
        return _compile_program(entry, inputs, scalars, end, donated, reason)
    named = {"entry": entry, "inputs": inputs, "scalars": scalars, "end": end, "donated": donated, "reason": reason}
    return observed.compile(_compile_program, named)


def _compile_program(
    entry: Any, inputs: list[Any], scalars: list[Any], end: Any, donated: tuple[int, ...], reason: str
) -> Any:
    program, root = entry.program, end.root
    tiles = find_tiles(program, root.place)
    compiled: Any
    if tiles is not None:
        compiled = TiledProgram(program, tiles, inputs, scalars, root.place, root.check_nan, donated)
        donated = compiled.donated
        compiled.mark_ends(end)
    else:
        compiled = CompiledProgram(program, inputs, scalars, root.place, donated, root.check_nan)
    reason = reason or report.reason_for(entry, records())
    record = report.ProgramRecord(entry, reason, len(donated))
    record.tiles = len(tiles) if tiles else 1
    note_program(entry, compiled, record)
    if tiles is None:
        entry.note_stored(root.place)
    return compiled


def donate_less(segment: Segment, entry: Entry, compiled: Any) -> Any:
    """What the program may write over is in use again and again: compiled anew without those inputs."""
    donated = tuple(sorted(set(compiled.donated) & set(donation.choose(segment.inputs, entry.program))))
    compiled.copies = 0
    if donated != compiled.donated:
        entry.compiled = compiled = compile_program(
            entry, segment.inputs, segment.scalars, segment.node, donated, "inputs it wrote over are still in use"
        )
    return compiled


def count_hit(entry: Any) -> None:
    """An executable was used: it is the last to be evicted now."""
    report.STATISTICS.hits += 1
    note_use(entry)
