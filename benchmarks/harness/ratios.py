"""From seconds per round to ratios and verdicts.

The machine may be twice as fast in one minute as in the next. So rounds alternate between the
contenders, and a ratio is taken in two ways: fastest round against fastest round, and the median
over the rounds of the ratio within a round. A bar counts as met when both say so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import median
from typing import Any

# First values come from float32 arithmetic in another order of operations.
VALUE_TOLERANCE = 2e-3


@dataclass(frozen=True)
class Bar:
    """What proa has to reach: `speed` times the speed of the fastest of the named contenders."""

    speed: float
    against: tuple[str, ...]
    text: str


@dataclass
class Series:
    """What one contender did in one benchmark."""

    name: str
    label: str
    threads: int
    version: str = "?"
    seconds: list[float] = field(default_factory=list)
    first_run_seconds: float | None = None
    first_value: float | None = None
    # The most memory of the process: from its start on, and during the rounds alone.
    peak_bytes: int | None = None
    round_peak_bytes: int | None = None
    error: str | None = None

    @property
    def usable(self) -> bool:
        return self.error is None and bool(self.seconds)

    def as_json(self) -> dict[str, Any]:
        record = dict(self.__dict__)
        if self.seconds:
            record["min_seconds"] = min(self.seconds)
            record["median_seconds"] = median(self.seconds)
        return record


@dataclass(frozen=True)
class Ratio:
    """How many times faster the subject is than `against`, by both measures."""

    against: str
    by_minimum: float
    by_rounds: float


def ratio(subject: Series, other: Series) -> Ratio:
    """The subject's speed over the other's (above 1: the subject is faster)."""
    rounds = [theirs / ours for ours, theirs in zip(subject.seconds, other.seconds, strict=False)]
    return Ratio(other.label, min(other.seconds) / min(subject.seconds), median(rounds))


def fastest(series: list[Series], names: tuple[str, ...] | None = None) -> Series | None:
    """The quickest of the usable series, by its best round."""
    candidates = [s for s in series if s.usable and (names is None or s.name in names)]
    return min(candidates, key=lambda s: min(s.seconds), default=None)


def judge(subject: Series, others: list[Series], bar: Bar) -> dict[str, Any]:
    """The bar, what was reached against its hardest opponent, and whether that is enough."""
    verdict: dict[str, Any] = {"text": bar.text, "speed": bar.speed, "against": list(bar.against)}
    opponents = [s for s in others if s.usable and s.name in bar.against]
    if not subject.usable or not opponents:
        return {**verdict, "met": None, "why": "not measured"}
    ratios = [ratio(subject, opponent) for opponent in opponents]
    verdict["by_minimum"] = min(r.by_minimum for r in ratios)
    verdict["by_rounds"] = min(r.by_rounds for r in ratios)
    reached = [verdict["by_minimum"] >= bar.speed, verdict["by_rounds"] >= bar.speed]
    missing = [name for name in bar.against if name not in {s.name for s in opponents}]
    if missing:
        # A bar against all of them says nothing when one of them did not run.
        return {**verdict, "met": None, "why": f"{', '.join(missing)} not measured"}
    if all(reached):
        return {**verdict, "met": True}
    return {**verdict, "met": False, "why": "by one measure only" if any(reached) else ""}


def value_differences(series: list[Series], tolerance: float = VALUE_TOLERANCE) -> list[str]:
    """Contenders whose first value is not the first contender's: they do not do the same work."""
    values = [(s.label, s.first_value) for s in series if s.first_value is not None]
    if not values:
        return []
    expected_label, expected = values[0]
    return [
        f"{label} computed {value:.6g} where {expected_label} computed {expected:.6g}"
        for label, value in values[1:]
        if not math.isclose(value, expected, rel_tol=tolerance, abs_tol=1e-5)
    ]
