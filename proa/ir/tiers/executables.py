"""Entries and their executables: when a path is compiled, for itself or together with paths of other sizes."""

from __future__ import annotations

from typing import Any

from ...core.place import CPU, Place
from .. import meshes, report
from ..block import has_effect
from ..observing import RUNTIME
from ..process import forking
from ..recording.mode import ONCE, WHOLE, Mode
from ..recording.segment import Segment
from ..sizes import families
from ..trace import TraceNode, TraceRoot
from ..transforms import donation
from ..transforms.tiling import TiledProgram, find_tiles
from . import cost, cupy_tier
from .kept import note_program, note_use, records
from .lowering import CompiledProgram
from .stored import is_stored, note_stored

# How often a path is seen before it is compiled where running it op by op compiles, too.
_SEEN_OFTEN = 3
# Copies of donated inputs that were still in use, after which a program is compiled without donating them.
MOST_COPIES = 50
# Elements made by a path that is compiled when first seen: running it op by op takes longer than compiling it (a training
# step of ResNet-50 makes 700 million), and in the next process even its first run finds an executable.
_HEAVY = 1 << 28
# How many more runs until a program that could not be compiled is tried again.
_RETRY_AFTER = 1000


class Entry:
    """One way a path ends: which values are wanted, how often it was seen, what it has cost, and the executable once it is
    hot."""

    __slots__ = ("_works", "compiled", "count", "devices", "loading", "member", "price", "program", "sighting", "work")

    def __init__(self, node: TraceNode, outputs: tuple[int, ...]) -> None:
        self.program = node.program(outputs)
        # Those that its operations ask for; inputs may say so, too.
        self.devices = meshes.program_devices(self.program, []) if Mode.sharded else None
        self.count = 0
        self.sighting = 0  # when it was last seen (see `trace.forget_unused`)
        # Of a cold run, of compiling, of loading (see cost.py); not before it is seen again.
        self.work = self.price = self.loading = 0.0
        self._works: tuple[float, float] | None = None
        self.compiled: Any = None
        self.member: Any = None  # of a family, False: of none; None: not asked yet (see families.py)

    def works(self, place: Place) -> tuple[float, float]:
        """What one run costs op by op, and compiled."""
        if self._works is None:
            self._works = cost.works(self.program, place)
        return self._works

    def leave_out_dead(self) -> None:
        """What no result depends on is not run again, as it would not be in a compiled program; checks and effects stay."""
        program = self.program
        effects = [number for i in program.instructions if has_effect(i) for number in i.made]
        needed = program.slice(program.outputs, effects)
        if len(needed.instructions) < len(program.instructions):
            self.program, self._works = needed, None

    @property
    def spent(self) -> float:
        """The work of all cold runs so far."""
        return (self.count - 1) * self.work

    def pays(self, place: Place) -> bool:
        """Whether the work lost on it exceeds what compiling it costs, or loading it where the cache has it."""
        if self.count < 2:
            return False
        if not self.price:
            tiles = find_tiles(self.program, place)
            self.work = cost.saving(self.works(place), place)
            self.price = cost.compiling_work(self.program, tiles, place)
            self.loading = 0.0 if tiles else cost.loading_work(self.program, place)
        if self.loading and self.spent >= self.loading:
            if is_stored(self.program, place):
                self.price = min(self.price, self.loading)
            self.loading = 0.0  # asked once
        return self.spent >= self.price


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
    member = entry.member
    if member is None:
        member = entry.member = _join(root, entry) if segment.devices is None else False
    if member:
        family = member.family
        family.note_walk(member)
        changing = family.keeps_changing
        # What would be compiled at first sight stays in its bucket until a program of its own has been paid for.
        heavy = entry.program.size >= _HEAVY
        if changing or (heavy and family.buckets and not member.has_earned_its_own):
            pays = changing and _pays_together(root, family, entry)
            shared = families.executable(member, entry.program, segment.inputs, segment.scalars, pays)
            if shared is not None or (changing and family.is_understood):
                return shared
    elif entry.count == 2 and segment.devices is None and not root.check_nan:
        entry.leave_out_dead()
    # On many devices every operation would be compiled for itself, which takes longer than compiling them together.
    if segment.devices is None and not _pays(root, entry):
        return None
    donation.settle()
    donated = donation.choose(segment.inputs, entry.program)
    try:
        entry.compiled = compile_program(entry, segment.inputs, segment.scalars, segment.node, donated)
        if member:
            member.family.note_own_program()
    except Exception as error:
        # Work that cannot be compiled still runs, op by op; an error that is the user's own comes up there.
        entry.count = -_RETRY_AFTER
        report.note_failure(entry, error)
    return entry.compiled


def _join(root: TraceRoot, entry: Entry) -> Any:
    """The place of a path in a family of paths that differ in sizes alone; False where it cannot have one, None where it has
    none yet."""
    if root.check_nan or root.window >= WHOLE or Mode.deterministic or Mode.buckets == "never":
        return False
    key = (root.place.kind, root.place.index, root.window)
    return families.join(entry, root.place, key, Mode.buckets == "always", entry.program.size >= _HEAVY)


def _pays_together(root: TraceRoot, family: families.Family, entry: Entry) -> bool:
    """Whether what paths of all sizes have in common is to be compiled now."""
    if entry.program.size >= _HEAVY:
        return True
    if Mode.threshold:
        return family.count >= Mode.threshold
    if not _has_tier0(root):
        return family.count >= _SEEN_OFTEN
    return family.spent >= family.price and pays_for_start(root.place, cost.saving(entry.works(root.place), root.place))


def _pays(root: TraceRoot, entry: Entry) -> bool:
    """Whether a path is to be compiled for itself now."""
    if root.window == ONCE:
        return False
    if root.window == WHOLE or entry.program.size >= _HEAVY:
        return entry.count > 0
    if Mode.threshold:
        return entry.count >= Mode.threshold
    if not _has_tier0(root):
        return entry.count >= _SEEN_OFTEN
    return entry.pays(root.place) and pays_for_start(root.place, cost.saving(entry.works(root.place), root.place))


class _Start:
    """What paths that are worth compiling have lost because XLA was not started yet."""

    lost = 0.0


def pays_for_start(place: Place, saved: float) -> bool:
    """Whether a path that is worth compiling is worth starting XLA for, too: all such paths pay for that together, each with
    what a run of it would have saved. Processes that work together have started it before."""
    if forking.State.started:
        return True
    _Start.lost += saved
    return _Start.lost >= cost.prices_on(place).starting


def _has_tier0(root: TraceRoot) -> bool:
    """Whether something runs op by op there without a compiler."""
    return root.place is CPU or cupy_tier.serves(root.place)


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
    if tiles is None and not Mode.threshold:
        note_stored(program, root.place)
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
