"""When a program that was run op by op is compiled, for itself or together with programs of other sizes.

Paths of eager code (`executables.py`) and graphs that run cold at first (`graph/cold.py`) decide alike, by the prices of
`cost.py` and by what the cache has.
"""

from __future__ import annotations

from typing import Any

from ...core.place import CPU, Place
from ..process import forking
from ..program import Program
from ..recording.mode import Mode
from ..sizes import families
from . import cost, cupy_tier, stored

# How often a program is seen before it is compiled where running it op by op compiles, too.
_SEEN_OFTEN = 3
# Elements made by a program that is compiled when first seen: running it op by op takes longer than compiling it (a training
# step of ResNet-50 makes 700 million), and in the next process even its first run finds an executable. A GPU runs it op by
# op about as fast where its kernels are ready ones: there it is compiled when it comes again and again in the same sizes.
_HEAVY = 1 << 28


class Account:
    """A program that runs again and again: how often, what that has cost, and the executable once it is hot."""

    form = ""  # in which its executable is made of the program: others are kept under other names
    __slots__ = ("_heavy", "_works", "compiled", "count", "loading", "member", "price", "program", "work")

    def __init__(self, program: Program) -> None:
        self.program = program
        self.count = 0
        # Of a cold run, of compiling, of loading (see cost.py); not before it is seen again.
        self.work = self.price = self.loading = 0.0
        self._works: tuple[float, float] | None = None
        self._heavy: bool | None = None
        self.compiled: Any = None
        self.member: Any = None  # of a family, False: of none; None: not asked yet (see families.py)

    def works(self, place: Place) -> tuple[float, float]:
        """What one run costs op by op, and compiled."""
        if self._works is None:
            self._works = cost.works(self.program, place)
        return self._works

    def saving(self, place: Place) -> float:
        """What one run saves by being compiled."""
        return cost.saving(self.works(place), place)

    def is_heavy(self, place: Place) -> bool:
        """Whether it would never run op by op, of whatever sizes others of its kind are."""
        if self._heavy is None:
            self._heavy = self.program.size >= _HEAVY and not cupy_tier.suits(self.program, place)
        return self._heavy

    def find_tiles(self, place: Place) -> list[tuple[int, int]] | None:
        """The equal pieces that it would be compiled in; None: whole."""
        return None

    def is_stored(self, place: Place) -> bool:
        """Whether the cache should have its executable."""
        return stored.is_stored(self.program, place, self.form)

    def note_stored(self, place: Place) -> None:
        """It was compiled, and the cache has been given the executable."""
        if not Mode.threshold:
            stored.note_stored(self.program, place, self.form)

    @property
    def spent(self) -> float:
        """The work of all cold runs so far."""
        return (self.count - 1) * self.work

    def pays(self, place: Place) -> bool:
        """Whether the work lost on it exceeds what compiling it costs, or loading it where the cache has it."""
        if self.count < 2:
            return False
        if not self.price:
            tiles = self.find_tiles(place)
            self.work = self.saving(place)
            self.price = cost.compiling_work(self.program, tiles, place)
            self.loading = 0.0 if tiles else cost.loading_work(self.program, place)
        if self.loading and self.spent >= self.loading:
            if self.is_stored(place):
                self.price = min(self.price, self.loading)
            self.loading = 0.0  # asked once
        return self.spent >= self.price

    def note_cold_run(self) -> None:
        """It was run op by op: what its family has lost is counted together."""
        if self.member:
            self.member.family.spent += self.member.work

    def note_own_program(self) -> None:
        """It has an executable of its own."""
        if self.member:
            self.member.family.note_own_program()


def pays(account: Account, place: Place) -> bool:
    """Whether a program is to be compiled for itself now."""
    if account.program.size >= _HEAVY and (not account.member or account.is_heavy(place)):
        at_once = Mode.deterministic or account.is_heavy(place) or account.is_stored(place)
        return account.count > (0 if at_once else _SEEN_OFTEN - 1)
    if Mode.threshold:
        return account.count >= Mode.threshold
    if not _has_tier0(place):
        return account.count >= _SEEN_OFTEN
    if not account.pays(place) or (account.member and not _pays_to_move(account, place)):
        return False
    return pays_for_start(place, account.saving(place))


def _pays_to_move(account: Account, place: Place) -> bool:
    """Whether a run of this program gains more than it costs to bring its inputs to XLA, and back for the next one, which
    will be of another size."""
    moves = place is not CPU and account.member.family.is_restless
    return not moves or account.saving(place) > cost.moving_work(account.program, place)


def join(account: Account, place: Place, kind: Any) -> Any:
    """The place of a program in a family of programs of its kind that differ in sizes alone; False where it cannot have one,
    None where it has none yet."""
    if Mode.deterministic or Mode.buckets == "never":
        return False
    key = (place.kind, place.index, kind)
    always, large = Mode.buckets == "always", account.program.size >= _HEAVY
    return families.join(account, place, key, always, account.is_heavy(place), always or large)


def find_shared(
    account: Account, place: Place, inputs: list[Any], scalars: list[Any], donates: bool = True
) -> tuple[bool, Any]:
    """Whether a member of a family runs with the others, and what runs it so: nothing (None) until that pays. `donates`:
    whether inputs that nobody else refers to may be written over."""
    member = account.member
    family = member.family
    family.note_walk(member)
    changing = family.keeps_changing
    # What would be compiled at first sight stays in its bucket until a program of its own has been paid for.
    heavy = account.is_heavy(place)
    if not changing and not (heavy and family.buckets and not member.has_earned_its_own):
        return False, None
    now = changing and _pays_together(place, family, account)
    shared = families.executable(member, account.program, inputs, scalars, now, donates)
    return shared is not None or (changing and family.is_understood), shared


def _pays_together(place: Place, family: families.Family, account: Account) -> bool:
    """Whether what programs of all sizes have in common is to be compiled now."""
    if account.is_heavy(place):
        return True
    if Mode.threshold:
        return family.count >= Mode.threshold
    if not _has_tier0(place):
        return family.count >= _SEEN_OFTEN
    return family.spent >= family.price and pays_for_start(place, account.saving(place))


class _Start:
    """What programs that are worth compiling have lost because XLA was not started yet."""

    lost = 0.0


def pays_for_start(place: Place, saved: float) -> bool:
    """Whether a program that is worth compiling is worth starting XLA for, too: all such programs pay for that together,
    each with what a run of it would have saved. Processes that work together have started it before."""
    if forking.State.started:
        return True
    _Start.lost += saved
    return _Start.lost >= cost.prices_on(place).starting


def _has_tier0(place: Place) -> bool:
    """Whether something runs op by op there without a compiler."""
    return place is CPU or cupy_tier.serves(place)
