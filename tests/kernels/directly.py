"""Random cases run by native handlers without XLA: `python -m tests.kernels.directly all 0 100`.

Nothing is compiled for a case, whatever its size it goes to native code, and each array is a block of memory of its own,
so that a sanitizer sees where it ends (XLA keeps its arrays in one block). Results start as NaN, operands lie in memory in
all sorts of ways. What only XLA can do is counted and left out.
"""

from __future__ import annotations

import collections
import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from proa.kernels.cpu import choice, direct, library
from tests.kernels import random_shapes
from tests.kernels.cases import references as r

LIMIT = 1e-5


@dataclass
class Outcome:
    """What the cases of one kind gave."""

    kind: str
    cases: int = 0
    declined: int = 0  # cases, some part of which was left to XLA
    worst: float = 0.0
    seconds: float = 0.0
    calls: dict[str, int] = field(default_factory=dict)  # of each handler
    errors: dict[str, float] = field(default_factory=dict)  # the worst of the cases that call it
    problems: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        self.cases += other.cases
        self.declined += other.declined
        self.worst = max(self.worst, other.worst)
        self.seconds += other.seconds
        self.calls = dict(collections.Counter(self.calls) + collections.Counter(other.calls))
        self.note_errors(other.errors)
        self.problems += other.problems

    def note_errors(self, errors: dict[str, float]) -> None:
        for symbol, error in errors.items():
            self.errors[symbol] = max(self.errors.get(symbol, 0.0), error)


def _poisoned(room: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Memory of results in which nothing is right yet."""

    def make(out: Any) -> Any:
        array = room(out)
        array.fill(np.nan if array.dtype.kind == "f" else np.iinfo(array.dtype).max)
        return array

    return make


def laid_out(generator: np.random.Generator, array: Any) -> Any:
    """The same values elsewhere in memory: not aligned, with gaps, or with axes in another order."""
    if not isinstance(array, np.ndarray) or not array.ndim:
        return array
    form = int(generator.integers(6))
    if form == 0:  # as far from alignment as its type may be
        room = np.empty(array.size + 1, array.dtype)[1:].reshape(array.shape)
    elif form == 1:
        room = np.empty((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)[..., 1::2]
    elif form == 2:
        room = np.empty(array.shape[::-1], array.dtype).T
    else:
        return array
    np.copyto(room, array)
    return room


def _run_one(case: Any, generator: np.random.Generator) -> list[Any]:
    arrays, function, _ = case
    thread, forcing = library.THREAD, choice._THREAD
    thread.direct, forcing.forced = direct, True
    try:
        with np.errstate(all="ignore"):
            return list(function(np, *[laid_out(generator, array) for array in arrays]))
    finally:
        thread.direct, forcing.forced = None, False


def run_directly(kind: str, seeds: Iterable[int], tell: Callable[[int], None] = lambda seed: None) -> Outcome:
    """All cases of a kind; `tell` is given each seed before its case runs."""
    outcome, calls = Outcome(kind), collections.Counter[str]()
    call, room, started = direct.call, direct._room, time.perf_counter()

    def counting(symbol: str, *rest: Any) -> Any:
        calls[symbol] += 1
        return call(symbol, *rest)

    direct.call, direct._room = counting, _poisoned(room)
    try:
        for seed in seeds:
            tell(seed)
            before = calls.copy()
            generator = np.random.default_rng(seed)
            case = random_shapes.KINDS[kind](generator)
            outcome.cases += 1
            try:
                found = _run_one(case, generator)
            except ImportError:  # the XLA kernel was asked for; there is no jax here
                outcome.declined += 1
                continue
            sizes, largest = [None if a is None else a.shape for a in case[0]], 0.0
            for number, (one, expected) in enumerate(zip(found, case[2], strict=True)):
                array = np.asarray(one)
                if not np.isfinite(array).all():
                    outcome.problems.append(f"{kind}, seed {seed}: output {number} is not finite; {sizes}")
                    continue
                error = r.error_of(array, expected)
                largest = max(largest, error)
                if error > LIMIT:
                    outcome.problems.append(f"{kind}, seed {seed}: output {number} is off by {error:.1e}; {sizes}")
            outcome.worst = max(outcome.worst, largest)
            outcome.note_errors(dict.fromkeys(calls - before, largest))
    finally:
        direct.call, direct._room = call, room
    outcome.calls, outcome.seconds = dict(calls), time.perf_counter() - started
    return outcome


def main(kind: str, first: int, count: int) -> int:
    sys.modules["jax"] = None  # type: ignore[assignment]
    if direct._caller() is None:
        print("The libraries are not there: compile them first (python -m proa.kernels.cpu).", file=sys.stderr)
        return 2
    right = True
    for one in random_shapes.KINDS if kind == "all" else [kind]:
        outcome = run_directly(one, range(first, first + count), lambda seed: print(seed, flush=True))
        print(json.dumps(asdict(outcome)), flush=True)
        right = right and not outcome.problems
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
