"""Compares the values of proa with those of real Paddle, each in its own interpreter."""

from __future__ import annotations

import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from .compare import Statistics, compare_runs
from .execute import Failure
from .generator import generate
from .known import KNOWN, explanation
from .pool import run_block
from .program import Program
from .report import Progress, numbered
from .worker import MODEL, load


class Against:
    """A run of seeds in two interpreters. Outcomes travel as .npz files."""

    def __init__(self, module: str, mode: str | None, python: str, seconds: float, shown: int = 10) -> None:
        self.module = module
        self.mode = mode
        self.python = python
        self.seconds = seconds
        self.shown = shown
        self.statistics = Statistics()
        self.counts: Counter[str] = Counter()
        self.types: Counter[str] = Counter()
        self.failed: list[int] = []

    def run(self, seeds: list[int], block_size: int, skip: frozenset[str]) -> bool:
        progress = Progress(max(1, len(seeds)))
        for start in range(0, len(seeds), block_size):
            programs = [generate(seed, self.module) for seed in seeds[start : start + block_size]]
            wanted = [one for one in programs if self.is_wanted(one, skip)]
            self.run_block(wanted, progress)
            for _ in range(len(programs) - len(wanted)):
                progress.advance(start, False)
        self.print()
        return not self.failed

    def is_wanted(self, program: Program, skip: frozenset[str]) -> bool:
        if program.is_random:
            self.counts["not compared: random numbers"] += 1
        elif not program.comparable:
            for name in program.known:
                if KNOWN[name].spoils_everything:
                    self.counts[f"not compared: {name}"] += 1
        elif self.module == MODEL and not program.has_model:
            self.counts["not compared: not for the model"] += 1
        elif program.features & skip:
            self.counts["not compared: skipped feature"] += 1
        else:
            return True
        return False

    def run_block(self, programs: list[Program], progress: Progress) -> None:
        with tempfile.TemporaryDirectory() as folder:
            answers: dict[str, dict[int, dict[str, Any]]] = {"ours": {}, "paddle": {}}

            def side(name: str, module: str, mode: str | None, python: str) -> threading.Thread:
                requests = [
                    {"seed": one.seed, "module": module, "modes": [mode],
                     "dump": str(Path(folder) / f"{name}{one.seed}.npz")}
                    for one in programs
                ]  # fmt: skip

                def keep(answer: dict[str, Any]) -> None:
                    answers[name][answer["seed"]] = answer

                return threading.Thread(target=run_block, args=(requests, self.seconds, keep, python), daemon=True)

            threads = [
                side("ours", self.module, self.mode, sys.executable),
                side("paddle", "paddle", None, self.python),
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for program in programs:
                progress.advance(program.seed, self.compare_one(program, Path(folder), answers))

    def compare_one(self, program: Program, folder: Path, answers: dict[str, dict[int, dict[str, Any]]]) -> bool:
        """Compare the two outcomes of a program; returns whether they differ."""
        paths = {name: folder / f"{name}{program.seed}.npz" for name in answers}
        if not paths["paddle"].exists():
            self.counts["not compared: Paddle crashed or hung"] += 1
            return False
        if not paths["ours"].exists():
            differences = answers["ours"][program.seed]["differences"]
            return self.report(program, [f"{one['kind']}: {one['text']}" for one in differences])
        theirs, ours = load(str(paths["paddle"])), load(str(paths["ours"]))
        found = compare_runs(
            program, theirs, ours, "Paddle against ours", self.statistics,
            same_types=False, same_flags=self.module != MODEL,
        )  # fmt: skip
        self.note_types(program, theirs[0].failure, ours[0].failure)
        self.counts["compared"] += 1
        self.counts["errors compared"] += theirs[0].failure is not None
        reasons = [explanation(program.known, one) for one in found]
        for reason in {one for one in reasons if one}:
            self.counts[f"explained: {reason}"] += 1
        unexplained = [one for one, reason in zip(found, reasons, strict=True) if reason is None]
        return self.report(program, [f"{one.kind}: {one.text}" for one in unexplained])

    def note_types(self, program: Program, theirs: Failure | None, ours: Failure | None) -> None:
        if theirs and ours and theirs.kind not in (ours.kind, *ours.bases):
            what = program.wrong_kind or "unplanned"
            self.types[f"{what}: Paddle {theirs.kind}, ours {ours.kind}"] += 1

    def report(self, program: Program, problems: list[str]) -> bool:
        if not problems:
            return False
        self.failed.append(program.seed)
        if len(self.failed) <= self.shown:
            print(f"\n{'=' * 100}\nseed {program.seed}: Paddle against {self.module}\n")
            print(numbered(program.source))
            for problem in problems[:3]:
                print(f"\n-- {problem}")
        return True

    def print(self) -> None:
        print()
        for name, count in sorted(self.counts.items()):
            print(f"  {count:6d}  {name}")
        for name, count in sorted(self.types.items()):
            print(f"  {count:6d}  other exception type: {name}")
        print(
            f"  {self.statistics.values:6d}  float tensors, largest error "
            f"{self.statistics.largest:.3f} of what is allowed"
        )
        print(f"  {len(self.failed):6d}  programs differ", *self.failed[:50])
