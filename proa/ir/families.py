"""Families: paths that differ in sizes alone share their programs.

    path, 8 x 57 ┐                                       ┌ bucket 8 x 64   (one executable)
    path, 8 x 91 ┼─ same operations ─► General, 8 x n ───┤ bucket 8 x 128
    path, 8 x 63 ┘                                       └ …

Text of every length and pictures of every size give a new path at each step. What such paths cost is counted together, and
when compiling has paid for all of them, what they have in common is compiled for a bucket of sizes: inputs are filled up to
the bucket's size, results are cut. The real part of every value is exactly that of the program without padding (the
planner's rules see to it); where a rule is missing the paths stay as they are, and `explain()` says why.

All decisions are counted, none is timed: every process of a job takes the same. A first bucket reaches to the next power of
two. A finer one is made when the work that went into padding exceeds what compiling it costs.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from ..core import flags
from ..core.expressions import Symbol
from ..core.locks import new_reentrant_lock
from . import cost, kept, report
from .bucketed import Bucket, Fitted, PaddingPlan, volume_of
from .dimensions import Known
from .donation import donatable
from .generalising import General, NotGeneral, generalise, signature
from .program import Program

# Cold work of a path from which it is looked for relatives: below, looking would cost more than it could save.
_WORTH = 2_000.0
_MOST_FAMILIES = 256
_MOST_ATTEMPTS = 6
_MOST_BUCKETS = 8
# What a padded program costs to compile, beside the exact one: it has more instructions.
_PADDED = 1.5
# How often a size comes, on average, in a family whose sizes keep changing.
_RARE = 3

_LOCK = new_reentrant_lock()
FAMILIES: OrderedDict[Any, Family] = OrderedDict()


class Family:
    """Paths with the same operations: what they cost together, and what they share."""

    def __init__(self, program: Program, place: Any) -> None:
        self.place = place
        self.price = _PADDED * cost.compiling_work(program, None, place)
        self.num_instructions = len(program.instructions)
        self.examples: list[Program] = []
        self.members = 0  # how many paths
        self.count = 0  # how often they were walked
        self.spent = 0.0  # on cold runs
        self.attempts = 0
        self.general: General | None = None
        self.plan: PaddingPlan | None = None
        self.buckets: list[Bucket] = []
        self.reasons: list[str] = []

    @property
    def keeps_changing(self) -> bool:
        """Whether its paths differ more often than they repeat: none of them is worth a program of its own."""
        return self.members > 1 and self.count < _RARE * self.members

    @property
    def is_understood(self) -> bool:
        """Whether there is a program with symbols that its paths are cases of, and a plan to pad it."""
        return self.general is not None

    def note_own_program(self) -> None:
        """One of its paths was compiled for itself: what was spent is paid for, and that path, for one, repeats."""
        self.spent = max(0.0, self.spent - self.price)
        self.count += _RARE * _MOST_BUCKETS

    def learn(self, program: Program) -> None:
        """Compares a path with those before it, until they are understood."""
        if self.general is None and self.attempts < _MOST_ATTEMPTS:
            for example in self.examples:
                if example.inputs != program.inputs:
                    self.attempts += 1
                    try:
                        self._generalise(example, program)
                        break
                    except NotGeneral as error:
                        self.reasons = [str(error)]

    def _generalise(self, example: Program, program: Program) -> None:
        from .padding import plan_padding  # the rules are many, and seldom needed

        general = generalise(example, program)
        plan = plan_padding(general.program, general.program.inputs)
        self.reasons = list(plan.reasons)
        if plan.sizes:
            self.general, self.plan = general, PaddingPlan(general, plan)
            self.examples = []
        else:
            self.attempts = _MOST_ATTEMPTS  # the rules will not be others for other sizes

    def bucket_for(self, real: dict[Symbol, int], exact: dict[Symbol, int]) -> Bucket | None:
        """The smallest bucket that holds these sizes."""
        fitting = [bucket for bucket in self.buckets if bucket.holds(real, exact)]
        return min(fitting, key=lambda bucket: bucket.volume, default=None)


class Member:
    """One path of a family."""

    __slots__ = ("exact", "family", "fitted", "known", "real", "work")

    def __init__(self, family: Family, work: float) -> None:
        self.family = family
        self.work = work
        self.known: Known | None = None  # the sizes, once the family has a General that this path is a case of
        self.real: dict[Symbol, int] = {}
        self.exact: dict[Symbol, int] = {}
        self.fitted: Fitted | None = None

    def place_in_family(self, program: Program) -> bool:
        """Whether this path is a case of what its family has in common."""
        family = self.family
        if family.general is None:
            family.learn(program)
        if self.known is None and family.general is not None:
            assert family.plan is not None
            self.known = family.general.match(program) or Known()
            found = family.plan.sizes_of(self.known) if self.known else None
            if found is None:
                self.known = Known()
            else:
                self.real, self.exact = found
        return bool(self.known)


def join(program: Program, place: Any, key: Any, always: bool) -> Member | None:
    """The family of a path that was not walked before; None where it has none."""
    if not program.instructions:
        return None
    work = cost.cold_work(program, place)
    if work < _WORTH and not always:
        return None
    key = (key, signature(program))
    with _LOCK:
        family = FAMILIES.get(key)
        if family is None:
            family = FAMILIES[key] = Family(program, place)
            while len(FAMILIES) > _MOST_FAMILIES:
                FAMILIES.popitem(last=False)
        FAMILIES.move_to_end(key)
        family.members += 1
        if family.general is None and len(family.examples) < 2:
            family.examples.append(program)
    return Member(family, work)


def executable(member: Member, program: Program, inputs: list[Any], scalars: list[Any], pays: bool) -> Fitted | None:
    """What runs a path in a bucket of its family: one that is there, or one that is made because that `pays` now."""
    family = member.family
    fitted = member.fitted
    if fitted is not None and fitted.bucket.compiled is not None and not _wants_finer(family, member, fitted.bucket):
        return _used(member, fitted)
    with _LOCK:
        if not family.buckets and not pays:
            return None
        if not member.place_in_family(program):
            return None
        bucket = family.bucket_for(member.real, member.exact)
        if bucket is None or bucket.compiled is None or _wants_finer(family, member, bucket):
            made = _make(family, member, bucket, program, inputs, scalars) if pays or bucket is not None else None
            bucket = made or (bucket if bucket is not None and bucket.compiled is not None else None)
        if bucket is None:
            return None
        member.fitted = Fitted(bucket, member.real, program)
        return _used(member, member.fitted)


def _used(member: Member, fitted: Fitted) -> Fitted:
    fitted.bucket.wasted += fitted.waste * member.work
    kept.note_use(fitted.bucket.record())
    return fitted


def _wants_finer(family: Family, member: Member, bucket: Bucket) -> bool:
    """Whether what was spent on padding would have paid for a bucket that fits better."""
    return (
        bucket.wasted >= family.price
        and len(family.buckets) < _MOST_BUCKETS
        and bucket.volume > 1.3 * volume_of(_finer(member.real))
    )


def _make(
    family: Family, member: Member, coarse: Bucket | None, program: Program, inputs: list[Any], scalars: list[Any]
) -> Bucket | None:
    """A new bucket for the sizes of a path: as far as the next power of two, or closer where that was wasteful."""
    assert family.plan is not None
    if coarse is not None and coarse.compiled is None:
        bucket = coarse  # its executable had to go
    else:
        if len(family.buckets) >= min(_MOST_BUCKETS, flags.get("FLAGS_max_programs")):
            return None
        sizes = _sizes_for(family.plan, member, coarse is not None)
        if coarse is not None:
            coarse.wasted = 0.0
        bucket = Bucket(family.plan, sizes, member.exact)
    try:
        bucket.make(program, inputs, scalars, family.place, donatable(inputs))
    except Exception as error:
        family.reasons.append(f"{type(error).__name__}: {error}")
        family.general, family.attempts = None, _MOST_ATTEMPTS
        family.buckets = []
        report.note_failure(bucket.record(), error)
        return None
    if bucket is not coarse:
        family.buckets.append(bucket)
        family.spent = max(0.0, family.spent - family.price)
    owner = bucket.record()
    kept.note_program(
        owner, bucket.compiled, report.ProgramRecord(owner, f"for sizes up to {bucket}", len(bucket.donated))
    )
    return bucket


def _sizes_for(plan: PaddingPlan, member: Member, finer: bool) -> dict[Symbol, int]:
    """The sizes of a bucket for a path; its own ones where no other fits (a table may be no longer than that)."""
    for choose in (_finer,) if finer else (_coarse, _finer):
        sizes = choose(member.real)
        if plan.plan.holds_for(plan.all_sizes(sizes, member.exact)):
            return sizes
    return member.real


def _coarse(real: dict[Symbol, int]) -> dict[Symbol, int]:
    return {symbol: max(8, 1 << (size - 1).bit_length()) for symbol, size in real.items()}


def _finer(real: dict[Symbol, int]) -> dict[Symbol, int]:
    """Up to an eighth more than is needed."""
    return {symbol: _rounded(size) for symbol, size in real.items()}


def _rounded(size: int) -> int:
    step = max(8, (1 << (size - 1).bit_length()) // 8)
    return -(-size // step) * step


def forget_families() -> None:
    """Forgets all of them (tests begin anew)."""
    with _LOCK:
        FAMILIES.clear()
