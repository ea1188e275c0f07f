"""The progress bar and the summary of a run."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

from .compare import Statistics

BAR_WIDTH = 30


class Progress:
    """A bar on a terminal; elsewhere a line after each tenth of the work."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.failures = 0
        self._started = time.monotonic()
        self._shown = 0.0
        self._tenth = 0

    def advance(self, seed: int, failed: bool) -> None:
        """Notes a program; one that failed is named at once, as the rest may take hours."""
        self.done += 1
        self.failures += failed
        if failed:
            print(f"\nseed {seed} failed", file=sys.stderr, flush=True)
        now = time.monotonic()
        last = self.done == self.total
        if sys.stderr.isatty():
            if last or now - self._shown > 0.2:
                self._shown = now
                filled = BAR_WIDTH * self.done // self.total
                bar = "#" * filled + "-" * (BAR_WIDTH - filled)
                end = "\n" if last else ""
                print(f"\r[{bar}] {self.text(now)}  ", end=end, file=sys.stderr, flush=True)
        elif self.done * 10 // self.total > self._tenth:
            self._tenth = self.done * 10 // self.total
            print(self.text(now), file=sys.stderr, flush=True)

    def text(self, now: float) -> str:
        speed = self.done / max(1e-9, now - self._started)
        left = (self.total - self.done) / max(1e-9, speed)
        return f"{self.done}/{self.total} programs, {self.failures} failed, {speed:.1f}/s, {left:.0f} s left"


class Summary:
    """Counts over all answers of the workers."""

    def __init__(self) -> None:
        self.programs = 0
        self.features: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.failed: dict[int, dict[str, Any]] = {}
        self.statistics = Statistics()
        self.compiles = 0
        self.compiled_runs = 0
        self.programs_compiled = 0  # in how many programs a compiled segment ran
        self.slowest: tuple[float, int] = (0.0, -1)
        self.started = time.monotonic()

    def add(self, answer: dict[str, Any]) -> None:
        self.programs += 1
        self.features.update(answer["features"])
        if answer["failure"]:
            self.errors[answer["failure"]["kind"]] += 1
        if answer["differences"]:
            self.failed[answer["seed"]] = answer
        self.statistics.add(Statistics(**answer["statistics"]))
        self.compiles += answer["compiles"]
        self.compiled_runs += answer["compiled_runs"]
        self.programs_compiled += answer["compiled_runs"] > 0
        self.slowest = max(self.slowest, (sum(answer["seconds"]), answer["seed"]))

    def print(self) -> None:
        seconds = time.monotonic() - self.started
        print(f"\n{self.programs} programs in {seconds:.0f} s")
        print("\nprograms with each feature:")
        for name, count in sorted(self.features.items(), key=lambda item: (-item[1], item[0])):
            print(f"  {count:6d}  {name}")
        print(f"\nprograms that ended with an error: {sum(self.errors.values())}")
        for name, count in self.errors.most_common():
            print(f"  {count:6d}  {name}")
        found = self.statistics
        if found.values:
            print(
                f"\ncompared {found.values} float tensors, {found.identical} of them bit for bit "
                f"the same;\nlargest error {found.largest:.3f} of what is allowed; "
                f"{found.saved_by_floor} agree only as magnitudes below one count as one"
            )
        print(
            f"\n{self.compiles} segments were compiled; compiled segments ran "
            f"{self.compiled_runs} times in {self.programs_compiled} programs"
        )
        print(f"slowest program: seed {self.slowest[1]} with {self.slowest[0]:.1f} s")
        kinds = Counter(
            kind
            for answer in self.failed.values()
            for kind in {difference["kind"] for difference in answer["differences"]}
        )
        print(f"\nfailed programs: {len(self.failed)}")
        for name, count in kinds.most_common():
            print(f"  {count:6d}  {name}")
        if self.failed:
            print("  seeds:", *sorted(self.failed)[:100])


def numbered(source: str) -> str:
    return "\n".join(f"{number:4d}  {line}" for number, line in enumerate(source.splitlines(), 1))


def print_failure(source: str, answer: dict[str, Any], note: str = "") -> None:
    """A failing program with line numbers, and what was different."""
    print(f"\n{'=' * 100}\nseed {answer['seed']} {note}\n")
    print(numbered(source))
    for difference in answer["differences"][:5]:
        print(f"\n-- {difference['kind']}: {difference['text']}")
