"""`python -m tests.parity [--only NAME …] [--jobs N] [--out DIR]`: proa against Paddle, sample by sample."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from . import plan, pool, report, settings
from .compare import DISAGREEMENTS, compare
from .environment import ROOT, EnvironmentMissing, paddle_python


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.parity", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these functions (matmul, fft.rfft …)")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2), help="pairs of processes")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "parity", help="folder for the table")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long one call may take")
    parser.add_argument("--fail-under", type=float, default=0.0, help="exit status 1 below this percentage")
    options = parser.parse_args()
    try:
        python = paddle_python()
    except EnvironmentMissing as error:
        print(error, file=sys.stderr)
        return 2
    requests, left_out = plan.requests(options.only)
    if not requests:
        print(f"no function with samples is named {', '.join(options.only)}", file=sys.stderr)
        return 2
    deliberate = settings.load_deliberate()
    rows: list[dict[str, Any]] = []

    def note(request: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        if "missing" in ours and "missing" in theirs:
            return  # a form that neither has
        kind, detail = compare(request, ours, theirs)
        row = {key: request[key] for key in ("name", "form", "variant", "sample", "seconds")} | {"kind": kind, "detail": detail}
        if kind in DISAGREEMENTS:
            row["deliberate"] = next((entry.reason for entry in deliberate if entry.covers(row)), "")
        rows.append(row)
        advance()

    with progress_bar(len(requests)) as advance:
        pool.run(requests, python, note, jobs=options.jobs, seconds=options.seconds)
    totals = report.write(rows, left_out, options.out)
    for kind, count in totals["kinds"].items():
        print(f"  {count:6d}  {kind}")
    print(report.summary_line(totals))
    print(f"table: {options.out / 'table.md'}")
    return 1 if totals["percent_with_deliberate"] < options.fail_under else 0


class progress_bar:  # noqa: N801 - used like a function
    """A bar on a terminal, nothing elsewhere; gives the function that advances it."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self.bar = Progress(
            TextColumn("parity"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task("parity", total=total)

    def __enter__(self) -> Any:
        self.bar.start()
        return lambda: self.bar.advance(self.task)

    def __exit__(self, *details: object) -> None:
        self.bar.stop()


if __name__ == "__main__":
    sys.exit(main())
