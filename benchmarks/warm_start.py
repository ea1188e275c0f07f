"""`python -m benchmarks.warm_start`: how long the first steps take when the same script ran before on this machine.

Each workload runs twice, in a fresh process each time, with one cache folder that is empty at the beginning. Steps are
timed one by one, the loss read after each. The bar is for the second run: its first step takes at most twice a steady step
and three seconds. The slowest of all its early steps is shown too and held to the same bar: proa compiles (or fetches
from its cache) when the work spent on a step exceeds what compiling costs, not at the first.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness.environments import subject_contender
from benchmarks.harness.processes import Contender, Worker, WorkerError

WORKLOADS = {"cnn": "models.cnn", "char-gpt": "models.char_gpt", "lstm-layer": "models.lstm_layer"}
EARLY_STEPS = 10
STEADY_STEPS = 10
ALLOWED_FACTOR = 2.0
ALLOWED_SECONDS = 3.0


def one_run(contender: Contender, workload: str, cache: Path) -> dict[str, Any]:
    """A fresh process: seconds of the import, of building the model, and of each step."""
    with Worker(contender, cache=cache) as worker:
        answer = worker.ask("load", workload=workload, options={"num_steps": 1})
        steps = [worker.ask("round", repeats=1)["seconds"] for _ in range(EARLY_STEPS + STEADY_STEPS)]
    return {
        "import": answer["import_seconds"],
        "build": answer["build_seconds"],
        "first": steps[0],
        "slowest": max(steps[:EARLY_STEPS]),
        "early": sum(steps[:EARLY_STEPS]),
        "steady": median(steps[EARLY_STEPS:]),
        "steps": steps,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.warm_start", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(WORKLOADS)} (default: cnn char-gpt)")
    parser.add_argument("--verbose", action="store_true", help="print the seconds of every step")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in WORKLOADS]
    if unknown:
        parser.error(f"no workload named {', '.join(unknown)}; there are: {', '.join(WORKLOADS)}")
    # The worker's cache folder counts, whatever the user's environment says.
    contender = replace(subject_contender(), environment={"PROA_CACHE_DIR": ""})
    columns = ("import", "build", "first", "slowest", "early", "steady")
    print(f"seconds; slowest and early: the slowest and the sum of the first {EARLY_STEPS} steps")
    print(
        f"{'work':12}{'run':8}" + "".join(f"{name:>9}" for name in columns) + "  first ≤ 2 × steady + 3 s  slowest too"
    )
    met = True
    for name in arguments.names or ["cnn", "char-gpt"]:
        with tempfile.TemporaryDirectory() as cache:
            for run in ("cold", "warm"):
                try:
                    seconds = one_run(contender, WORKLOADS[name], Path(cache))
                except WorkerError as error:
                    print(f"{name:12}{run:8}failed: {error}")
                    met = False
                    break
                line = f"{name:12}{run:8}" + "".join(f"{seconds[column]:9.3f}" for column in columns)
                if run == "warm":
                    allowed = ALLOWED_FACTOR * seconds["steady"] + ALLOWED_SECONDS
                    verdicts = [seconds["first"] <= allowed, seconds["slowest"] <= allowed]
                    met = met and verdicts[0]
                    line += "".join(f"  {'yes' if good else 'NO'} ({allowed:.2f} s)" for good in verdicts)
                print(line, flush=True)
                if arguments.verbose:
                    print("  " + " ".join(f"{step:.3f}" for step in seconds["steps"]))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
