"""Families: paths that differ in sizes alone share their programs.

    path, 8 x 57 ┐                                       ┌ bucket 8 x 64   (one executable)
    path, 8 x 91 ┼─ same operations ─► General, 8 x n ───┤ bucket 8 x 128
    path, 8 x 63 ┘                                       └ …

Text of every length and pictures of every size give a new path at each step. What such paths cost is counted together, and
when compiling has paid for all of them, what they have in common is compiled for a bucket of sizes: inputs are filled up to
the bucket's size, results are cut. The real part of every value is exactly that of the program without padding (the
planner's rules see to it); where a rule is missing the paths stay as they are, and `explain()` says why.

All decisions are counted, none is timed: every process of a job takes the same. A first bucket reaches to the next power of
two. A finer one is made when the work that went into padding exceeds what compiling it costs (on a GPU, when it soon will).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

from ...core import flags
from ...core.expressions import Symbol
from ...core.locks import new_reentrant_lock
from .. import report
from ..padding import plan_padding
from ..padding.axes import Refused
from ..program import Program
from ..tiers import cost, kept
from ..tiers.lent import bring_out
from ..tiers.lowering import flagged_instructions
from ..transforms.donation import donatable, settle
from .bucketed import Bucket, Fitted, PaddingPlan
from .dimensions import Known
from .generalising import General, NotGeneral, generalise, signature

# Cold work of a path from which it is looked for relatives: below, looking would cost more than it could save.
_WORTH = 2_000.0
_MOST_FAMILIES = 256
# What it costs to fill up inputs and to cut results.
_FILLING = 100.0
_MOST_ATTEMPTS = 6
_MOST_BUCKETS = 8
# What a padded program costs to compile, beside the exact one: it has more instructions.
_PADDED = 1.5
# How many times the work of a close bucket a wide one may be.
_MUCH_WIDER = 2.0
# How many times a finer bucket an old one must be, to have one beside it.
_CLOSER = 1.15
_GAINS_LESS = 1.2
# How often a size comes, on average, in a family whose sizes keep changing.
_RARE = 3
# The part of its last walks (some four of them) that were of another size than the one before.
_RESTLESS, _LATELY = 0.6, 0.25

_LOCK = new_reentrant_lock()
FAMILIES: OrderedDict[Any, Family] = OrderedDict()


class Family:
    """Paths with the same operations: what they cost together, and what they share."""

    def __init__(self, program: Program, place: Any, rough: Any) -> None:
        self.place = place
        self.rough = rough
        self.price = _PADDED * cost.compiling_work(program, None, place)
        self.num_instructions = len(program.instructions)
        self.examples: list[Program] = []
        self.members = 0  # how many paths
        self.count = 0  # how often they were walked
        self.restlessness = 1.0  # how often, lately, another one was walked than the time before
        self.last: Any = None
        self.spent = 0.0  # on cold runs
        self.attempts = 0
        self.general: General | None = None
        self.plan: PaddingPlan | None = None
        self.buckets: list[Bucket] = []
        self.reasons: list[str] = []

    @property
    def keeps_changing(self) -> bool:
        """Whether its paths differ more often than they repeat: none of them is worth a program of its own."""
        return self.is_restless and self.count < _RARE * self.members

    @property
    def is_restless(self) -> bool:
        """Whether another of its paths is walked nearly every time."""
        return self.members > 1 and self.restlessness > _RESTLESS

    def note_walk(self, member: Member) -> None:
        """One of its paths is walked. Two models of other widths, one after the other, are no changing sizes."""
        self.count += 1
        self.restlessness += _LATELY * ((member is not self.last) - self.restlessness)
        self.last = member

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
        general = generalise(example, program)
        plan = plan_padding(general.program, general.program.inputs)
        if plan.reasons and general.has_multiples:  # perhaps it was chance that sizes were multiples of others
            apart = generalise(example, program, multiples=False)
            other = plan_padding(apart.program, apart.program.inputs)
            if len(other.reasons) < len(plan.reasons):
                general, plan = apart, other
        self.reasons = list(plan.reasons)
        if plan.sizes:
            self.general, self.plan = general, PaddingPlan(general.program, plan)
            self.examples = []
            _UNDERSTOOD.setdefault(self.rough, []).append(self)
        else:
            self.attempts = _MOST_ATTEMPTS  # the rules will not be others for other sizes

    def bucket_for(self, member: Member) -> Bucket | None:
        """The smallest bucket that holds the sizes of a path, and costs less than running it cold."""
        fitting = [b for b in self.buckets if b.holds(member.real, member.exact) and member.gains_by(b)]
        return min(fitting, key=lambda bucket: bucket.volume, default=None)


class Member:
    """One path of a family."""

    __slots__ = ("always", "exact", "family", "fitted", "heavy", "hot", "known", "real", "wasted", "whole")

    def __init__(self, family: Family, whole: float, hot: float, always: bool, heavy: bool) -> None:
        self.family = family
        self.heavy = heavy  # compiled when first seen
        self.whole, self.hot = whole, hot  # what a run costs, cold and compiled for itself
        self.always = always
        self.known: Known | None = None  # the sizes, once the family has a General that this path is a case of
        self.real: dict[Symbol, int] = {}
        self.exact: dict[Symbol, int] = {}
        self.fitted: Fitted | None = None
        self.wasted = 0.0  # work that went into padding it

    @property
    def has_earned_its_own(self) -> bool:
        """Whether what was spent on padding this path would have paid for a program of its own."""
        return self.wasted >= self.family.price / _PADDED

    @property
    def work(self) -> float:
        """What a cold run loses."""
        return self.whole - self.hot

    def gains_by(self, bucket: Bucket) -> bool:
        """Whether a bucket costs less than running cold: several sizes padded at once may be many times the work. What would
        be compiled at first sight never runs cold: there it is a program of its own that a bucket saves."""
        if self.heavy and bucket.hot <= _MUCH_WIDER * self.hot:
            return True
        return self.always or bucket.hot + _FILLING < self.whole

    def place_in_family(self, program: Program) -> bool:
        """Whether this path is a case of what its family has in common."""
        family = self.family
        if family.general is None:
            family.learn(program)
        if self.known is None and family.general is not None:
            self.take_sizes(family.general.match(program) or Known())
        return bool(self.known)

    def take_sizes(self, known: Known) -> None:
        """Takes over what the family's symbols are here; nothing where its plan does not hold for them."""
        assert self.family.plan is not None
        found = self.family.plan.sizes_of(known) if known else None
        self.known = known if found is not None else Known()
        if found is not None:
            self.real, self.exact = found


# The first path of each length: signatures are compared once a second one comes, which most paths never see.
_FIRST: OrderedDict[Any, Any] = OrderedDict()
_RELATED: set[Any] = set()  # where a second one came
_UNDERSTOOD: dict[Any, list[Family]] = {}  # families that have a General, by the length of their paths


def join(entry: Any, place: Any, key: Any, always: bool, heavy: bool, large: bool) -> Any:
    """The place of a path in a family (a `Member`); None while it has no relatives, False where it is not worth it: what is
    neither `large` nor loses anything to speak of. `heavy`: compiled when first seen."""
    program: Program = entry.program
    if not program.instructions:
        return False
    whole, hot = entry.works(place)
    if whole - hot < _WORTH and not large:
        return False
    rough = (key, len(program.instructions), len(program.inputs), program.outputs)
    with _LOCK:
        first = _FIRST.get(rough)
        if first is None:
            _FIRST[rough] = entry
            if len(_FIRST) > _MOST_FAMILIES:
                forgotten, _ = _FIRST.popitem(last=False)
                _RELATED.discard(forgotten)
        if first is None or (first.program.inputs == program.inputs and rough not in _RELATED):
            return None
        _RELATED.add(rough)
        found = _understood(rough, program)
        if found is not None:
            family, known = found
            family.members += 1
            member = Member(family, whole, hot, always, heavy)
            member.take_sizes(known)
            return member
        exact = (key, signature(program))
        family = FAMILIES.get(exact)
        if family is None:
            family = FAMILIES[exact] = Family(program, place, rough)
            while len(FAMILIES) > _MOST_FAMILIES:
                _forget(FAMILIES.popitem(last=False)[1])
            if first is not entry and signature(first.program) == exact[1]:
                family.members, family.examples = 1, [first.program]
                family.restlessness = 1.0 / max(1, first.count)
        FAMILIES.move_to_end(exact)
        if not any(example is program for example in family.examples):
            family.members += 1
            if family.general is None and len(family.examples) < 2:
                family.examples.append(program)
    return Member(family, whole, hot, always, heavy)


def _understood(rough: Any, program: Program) -> tuple[Family, Known] | None:
    """The family of whose General a path is a case, and its sizes there."""
    for family in _UNDERSTOOD.get(rough, ()):
        known = family.general.match(program) if family.general is not None else None
        if known:
            return family, known
    return None


def _forget(family: Family) -> None:
    related = _UNDERSTOOD.get(family.rough, [])
    if family in related:
        related.remove(family)


def executable(
    member: Member, program: Program, inputs: list[Any], scalars: list[Any], pays: bool, donates: bool = True
) -> Fitted | None:
    """What runs a path in a bucket of its family: one that is there, or one that is made because that `pays` now. `donates`:
    whether it may write over inputs that nobody else refers to."""
    family = member.family
    fitted = member.fitted
    if fitted is not None and fitted.bucket.compiled is not None and not _wants_finer(family, member, fitted.bucket):
        return _used(member, fitted)
    with _LOCK:
        if (not family.buckets and not pays) or not member.place_in_family(program):
            return None
        bring_out(inputs)
        bucket = family.bucket_for(member)
        if bucket is None:
            bucket = _new_bucket(member) if pays else None
        elif bucket.compiled is not None and _wants_finer(family, member, bucket):
            bucket.wasted = 0.0
            bucket = _new_bucket(member, finer=True) or bucket
        if bucket is None or (
            bucket.compiled is None and not _compile(member, bucket, program, inputs, scalars, donates)
        ):
            return None
        member.fitted = Fitted(bucket, member.real, program)
        return _used(member, member.fitted)


def _used(member: Member, fitted: Fitted) -> Fitted:
    bucket = fitted.bucket
    wasted = max(0.0, bucket.hot - member.hot)
    bucket.wasted += wasted
    member.wasted += wasted
    kept.note_use(bucket.record())
    return fitted


def _wants_finer(family: Family, member: Member, bucket: Bucket) -> bool:
    """Whether what was spent on padding would have paid for a bucket that fits better."""
    return (
        bucket.wasted * _horizon(family) >= family.price
        and len(family.buckets) < _MOST_BUCKETS
        and bucket.volume > _CLOSER * math.prod(_finer(member.real).values())
    )


def _horizon(family: Family) -> float:
    """How many times what padding has wasted so far it is taken to waste yet; each finer bucket gains less than the last."""
    return max(1.0, cost.prices_on(family.place).horizon / _GAINS_LESS ** len(family.buckets))


def _new_bucket(member: Member, finer: bool = False) -> Bucket | None:
    """A bucket for the sizes of a path that is worth compiling: as far as the next power of two, unless a closer one is half
    the work (pictures grow in two directions); of its very sizes where no others fit (a table may be no longer)."""
    family = member.family
    if len(family.buckets) >= min(_MOST_BUCKETS, flags.get("FLAGS_max_programs")):
        return None
    close = _bucket(member, _finer(member.real))
    wide = None if finer else _bucket(member, _coarse(member.real))
    if wide is not None and (close is None or wide.hot <= _MUCH_WIDER * close.hot):
        return wide
    return close or _bucket(member, dict(member.real))


def _bucket(member: Member, sizes: dict[Symbol, int]) -> Bucket | None:
    """The bucket of these sizes; None where the path cannot be padded to them, or gains nothing by it."""
    family = member.family
    plan = family.plan
    assert plan is not None
    if not plan.plan.holds_for(plan.all_sizes(sizes, member.exact)):
        return None
    try:
        bucket = Bucket(plan, sizes, member.exact, family.place)
    except Exception:  # such sizes are too large for something, or not what the formulas say
        return None
    return bucket if member.gains_by(bucket) else None


def _compile(
    member: Member, bucket: Bucket, program: Program, inputs: list[Any], scalars: list[Any], donates: bool
) -> bool:
    """Compiles a bucket; where that fails its family goes on without any."""
    family, real = member.family, member.real
    settle()  # what somebody still reads would not be donated
    try:
        written = bucket.make(real, inputs, scalars, donatable(inputs) if donates else ())
        if len(flagged_instructions(written, False)) != len(flagged_instructions(program, False)):
            raise Refused("checks of the padded program are not those of the exact one")
    except Exception as error:
        family.reasons.append(f"{type(error).__name__}: {error}")
        family.general, family.attempts = None, _MOST_ATTEMPTS
        family.buckets = []
        _forget(family)
        report.note_failure(bucket.record(), error)
        return False
    if bucket not in family.buckets:
        family.buckets.append(bucket)
        family.spent = max(0.0, family.spent - family.price)
    owner = bucket.record()
    kept.note_program(
        owner, bucket.compiled, report.ProgramRecord(owner, f"for sizes up to {bucket}", len(bucket.donated))
    )
    return True


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
        _FIRST.clear()
        _RELATED.clear()
        _UNDERSTOOD.clear()
