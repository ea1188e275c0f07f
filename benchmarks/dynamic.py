"""`python -m benchmarks.dynamic`: whole short programs whose shapes move, beside Paddle, an empty cache each time.

Every run is a fresh process with one thread; the rows are in `workloads/dynamic.py`. Rounds alternate between the two, and
the ratio is proa's time over Paddle's (below 1 when proa is faster): best over best, and the median of the ratios within
each round. Rows whose names are in WHOLE are timed from the start of the process, the others without the import.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.environments import PEERS, peer_python
from benchmarks.workloads.dynamic import ROWS

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "dynamic.json"
WHOLE = {"matrix-page": 1.1, "mlp-200": 1.1, "lenet-100": 1.1, "lstm-60": 1.1}
ALLOWED = 1.0
MOST_PROGRAMS = 8
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PROA_NUM_THREADS"), "1")


def one_run(python: str, module: str, row: str, cache: str) -> dict[str, Any]:
    """A fresh process; its own account with the seconds of the whole process added."""
    environment = {
        **os.environ,
        **THREADS,
        "PROA_CACHE_DIR": cache,
        "PYTHONPATH": str(ROOT) if module == "proa" else "",
    }
    command = [python, str(ROOT / "benchmarks" / "workloads" / "dynamic.py"), module, row]
    started = time.perf_counter()
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=900, cwd=tempfile.gettempdir()
    )
    if done.returncode:
        raise RuntimeError(
            f"{module} {row}: {done.stderr.strip().splitlines()[-1] if done.stderr else done.returncode}"
        )
    answer = json.loads(done.stdout.splitlines()[-1])
    return {**answer, "process": time.perf_counter() - started}


def measure(row: str, rounds: int, python: str) -> dict[str, Any]:
    """All rounds of a row: seconds of both, the ratios, the programs that proa compiled."""
    ours: list[float] = []
    theirs: list[float] = []
    programs = 0
    key = "process" if row in WHOLE else "seconds"
    for number in range(rounds):
        for mine in (True, False) if number % 2 else (False, True):
            with tempfile.TemporaryDirectory() as cache:
                answer = one_run(sys.executable if mine else python, "proa" if mine else "paddle", row, cache)
            (ours if mine else theirs).append(answer[key])
            programs = max(programs, answer["programs"])
    return {
        "row": row, "ours": ours, "theirs": theirs, "programs": programs, "best": min(ours) / min(theirs),
        "median": median(a / b for a, b in zip(ours, theirs, strict=True)), "bar": WHOLE.get(row, ALLOWED),
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of rows, separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else list(ROWS)
    unknown = sorted(set(names) - set(ROWS))
    if unknown:
        parser.error(f"there is no row {', '.join(unknown)}; there are {', '.join(ROWS)}")
    python = peer_python(PEERS["paddle"])
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    print(f"{'row':18s} {'Paddle s':>9s} {'proa s':>9s} {'best':>6s} {'median':>6s} {'bar':>4s} programs")
    for name in names:
        result = found[name] = measure(name, arguments.rounds, python)
        is_met = max(result["best"], result["median"]) <= result["bar"] and result["programs"] <= MOST_PROGRAMS
        print(
            f"{name:18s} {min(result['theirs']):9.2f} {min(result['ours']):9.2f} {result['best']:6.2f} "
            f"{result['median']:6.2f} {result['bar']:4.1f} {result['programs']:3d} {'met' if is_met else 'MISSED'}",
            flush=True,
        )
        RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
