"""Compares two outcomes of the same program.

Floats must agree to 1e-6 (float32) of the largest magnitude in the tensor, where magnitudes below
one count as one: the generator keeps all values near one, so that a value much smaller than that
is what a cancellation left over. float64 values must agree to 1e-12 unless float32 values flowed
into them. Everything else must be equal. No program gets a tolerance of its own.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from .execute import Outcome
from .program import Program
from .runtime import Entry

FLOAT32_TOLERANCE = 1e-6
FLOAT64_TOLERANCE = 1e-12


@dataclasses.dataclass(frozen=True)
class Difference:
    """One thing in which two outcomes differ. `kind` is what a minimised program must keep."""

    kind: str
    text: str
    key: str = ""  # of the recorded value


@dataclasses.dataclass
class Statistics:
    """How close the compared floats came, so that a drift towards the tolerance is seen."""

    values: int = 0
    identical: int = 0
    largest: float = 0.0  # largest error as a fraction of what is allowed
    saved_by_floor: int = 0  # values that agree only because small magnitudes count as one

    def add(self, other: Statistics) -> None:
        self.values += other.values
        self.identical += other.identical
        self.largest = max(self.largest, other.largest)
        self.saved_by_floor += other.saved_by_floor


def tolerance_for(dtype: np.dtype, mixed_precision: bool) -> float:
    if dtype == np.float64 and not mixed_precision:
        return FLOAT64_TOLERANCE
    return FLOAT32_TOLERANCE


def compare(
    program: Program,
    reference: Outcome,
    other: Outcome,
    statistics: Statistics | None = None,
    same_types: bool = True,
    same_flags: bool = True,
) -> list[Difference]:
    """All differences between two outcomes.

    `same_types` asks for the same type of exception too, `same_flags` for the same `stop_gradient`.
    """
    statistics = statistics if statistics is not None else Statistics()
    differences = compare_failures(reference, other, same_types)
    if differences:
        return differences
    refusing = "refused#0" in reference.entries and refuses(reference) != refuses(other)
    if refusing:
        which = "reference" if refuses(reference) else "other run"
        differences.append(Difference(f"refused by the {which}", "a gradient is refused by one of them", "refused#0"))
    for key, entry in reference.entries.items():
        if refusing and is_of_gradient(key):
            continue
        if key not in other.entries:
            differences.append(Difference("missing", f"{key} was recorded in one run only", key))
            continue
        second = other.entries[key]
        where = f"{key}, recorded in line {entry.line}: "
        problem = compare_entries(entry, second, program.mixed_precision, statistics)
        if problem:
            differences.append(Difference("value", where + problem, key))
        elif same_flags and entry.stop_gradient != second.stop_gradient:
            text = f"stop_gradient {entry.stop_gradient} against {second.stop_gradient}"
            is_float = entry.value is not None and np.issubdtype(entry.value.dtype, np.floating)
            kind = "stop_gradient" if is_float else "stop_gradient of an integer"
            differences.append(Difference(kind, where + text, key))
    extra = [key for key in other.entries if key not in reference.entries and not (refusing and is_of_gradient(key))]
    # An error that is found late lets the program record a little more before it ends.
    if extra and not (other.failure and other.failure.deferred):
        differences.append(Difference("missing", f"{extra} were recorded in the other run only"))
    return differences


def refuses(outcome: Outcome) -> bool:
    """Whether a memory program's gradient was refused (`runtime.is_refused`)."""
    entry = outcome.entries.get("refused#0")
    return entry is not None and bool(entry.value)


def is_of_gradient(key: str) -> bool:
    return key.startswith("refused#") or ".grad#" in key


def compare_runs(
    program: Program,
    references: Sequence[Outcome],
    others: Sequence[Outcome],
    label: str,
    statistics: Statistics | None = None,
    **options: bool,
) -> list[Difference]:
    """The differences between two runs, repetition by repetition."""
    return [
        dataclasses.replace(one, text=f"{label}, repetition {number}: {one.text}")
        for number, (reference, other) in enumerate(zip(references, others, strict=True))
        for one in compare(program, reference, other, statistics, **options)
    ]


def compare_failures(reference: Outcome, other: Outcome, same_types: bool) -> list[Difference]:
    first, second = reference.failure, other.failure
    if first is None and second is None:
        return []
    if first is None or second is None:
        failure = first or second
        assert failure is not None
        which = "the reference" if first else "the other run"
        text = f"only {which} ended with {failure.kind} in line {failure.line}: {failure.message}"
        return [Difference("error", text + "\n" + failure.trace)]
    if same_types and first.kind != second.kind:
        text = f"{first.kind} ({first.message}) against {second.kind} ({second.message})"
        return [Difference("error type", text)]
    if first.line != second.line:
        text = f"{first.kind} in line {first.line} against {second.kind} in line {second.line}"
        return [Difference("error line", text + "\n" + second.trace)]
    return []


def compare_entries(first: Entry, second: Entry, mixed_precision: bool, statistics: Statistics) -> str | None:
    """What is different about two recorded values, or None."""
    a, b = first.value, second.value
    if a is None or b is None:
        return None if a is b else f"{describe(a)} against {describe(b)}"
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{describe(a)} against {describe(b)}"
    if not np.issubdtype(a.dtype, np.floating):
        return None if np.array_equal(a, b) else f"\n{a}\nagainst\n{b}"
    if a.size == 0:
        return None
    return compare_floats(a, b, tolerance_for(a.dtype, mixed_precision), statistics)


def compare_floats(a: np.ndarray, b: np.ndarray, tolerance: float, statistics: Statistics) -> str | None:
    statistics.values += 1
    if not np.array_equal(np.isfinite(a), np.isfinite(b)) or not np.isfinite(a).all():
        # The generator keeps values finite, so that one which is not is worth a look anyway.
        return f"values that are not finite\n{a}\nagainst\n{b}"
    error = float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))))
    statistics.identical += error == 0.0
    magnitude = float(np.max(np.abs(a)))
    allowed = tolerance * max(1.0, magnitude)
    statistics.largest = max(statistics.largest, error / allowed)
    if error <= allowed:
        statistics.saved_by_floor += error > tolerance * magnitude
        return None
    relative = error / magnitude if magnitude else math.inf
    return f"largest error {error:.3g} (relative {relative:.3g})\n{a}\nagainst\n{b}"


def describe(value: np.ndarray | None) -> str:
    return "None" if value is None else f"{value.dtype}{list(value.shape)}"


def check_expectations(outcome: Outcome, mode: str | None) -> list[Difference]:
    """What a program itself found wrong: it records whether the reads of other threads are possible."""
    return [
        Difference("impossible read", f"mode {mode}, line {entry.line}: {entry.key} is False", entry.key)
        for entry in outcome.entries.values()
        if entry.key.startswith("expected: ") and not entry.value
    ]


def check_plan(program: Program, outcome: Outcome, must_compare: bool = True) -> list[Difference]:
    """Whether the program ended as the generator meant it to: properly, or by its wrong line."""
    failure = outcome.failure
    if program.wrong_line is None:
        if failure is None:
            return []
        text = f"unplanned {failure.kind} in line {failure.line}: {failure.message}"
        return [Difference("unplanned error", text + "\n" + failure.trace)]
    if not must_compare:
        return []
    if failure is None:
        text = f"line {program.wrong_line} ({program.wrong_kind}) raised nothing"
        return [Difference("no error", text)]
    if failure.line != program.wrong_line:
        text = (
            f"line {program.wrong_line} ({program.wrong_kind}) should have raised; "
            f"{failure.kind} belongs to line {failure.line}: {failure.message}"
        )
        return [Difference("unplanned error", text + "\n" + failure.trace)]
    return []
