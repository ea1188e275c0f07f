"""`python -m tests.parity [--only NAME …] [--jobs N] [--out DIR]`: proa against Paddle, sample by sample."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from . import plan, pool, report, settings
from .compare import DISAGREEMENTS, compare, contradicts, who_is_right
from .environment import ROOT, EnvironmentMissing, paddle_python


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.parity", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="only these functions (matmul, fft.rfft …)"
    )
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
        advance()
        if "missing" in ours and "missing" in theirs:
            return  # a form that neither has
        kind, detail = compare(request, ours, theirs)
        row = {key: request[key] for key in ("name", "form", "variant", "sample", "seconds")}
        row |= {"kind": kind, "detail": detail}
        if kind.endswith((" crashes", " hangs")):
            advance.say(f"{kind}: {request['path']}{request['sample']}, {request['variant']}")
        if kind in ("value", "shape"):
            dtype = None if request["variant"] == "as written" else request["variant"]
            wanted = plan.expected(request["name"], request["sample"], dtype)
            if wanted is not None and not contradicts(ours, wanted, request["tolerance"]):
                row["paddle_wrong"] = contradicts(theirs, wanted, request["tolerance"])
        rows.append(row)

    with progress_bar(len(requests)) as advance:
        pool.run(requests, python, note, jobs=options.jobs, seconds=options.seconds)
    explain_gradients(requests, rows, python, options)
    for row in rows:
        if row["kind"] in DISAGREEMENTS:
            row["deliberate"] = next((entry.reason for entry in deliberate if entry.covers(row)), "")
    totals = report.write(rows, left_out, options.out)
    for kind, count in totals["kinds"].items():
        print(f"  {count:6d}  {kind}")
    print(report.summary_line(totals))
    print(f"table: {options.out / 'table.md'}")
    return 1 if totals["percent_with_deliberate"] < options.fail_under else 0


def explain_gradients(
    requests: list[dict[str, Any]], rows: list[dict[str, Any]], python: str, options: argparse.Namespace
) -> None:
    """Adds to the rows whose gradients differ which side contradicts its own values."""
    differing = {(row["name"], row["sample"]): row for row in rows if row["kind"] == "gradient"}
    # In float32 central differences have too few digits.
    wide = [
        {**request, "verify": True}
        for request in requests
        if (request["name"], request["sample"]) in differing and request["form"] == "function"
        if request["variant"] == "float64"
        or (
            request["variant"] == "as written"
            and "float32[" not in request["sample"]
            and "complex64[" not in request["sample"]
        )
    ]
    answers: dict[tuple[str, str], str] = {}

    def note(request: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        answers[request["name"], request["sample"]] = who_is_right(ours, theirs)

    pool.run(wide, python, note, jobs=options.jobs, seconds=options.seconds)
    for row in rows:
        if row["kind"] == "gradient":
            verdict = answers.get((row["name"], row["sample"]), "")
            row["detail"] += verdict
            row["paddle_wrong"] = "proa's right" in verdict and "Paddle's WRONG" in verdict


class progress_bar:
    """A bar on a terminal, nothing elsewhere; calling it moves it on by one."""

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

    def __enter__(self) -> progress_bar:
        self.bar.start()
        return self

    def __call__(self) -> None:
        self.bar.advance(self.task)

    def say(self, text: str) -> None:
        self.bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def __exit__(self, *details: object) -> None:
        self.bar.stop()


if __name__ == "__main__":
    sys.exit(main())
