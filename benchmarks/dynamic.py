"""`python -m benchmarks.dynamic`: whole short programs whose shapes move, beside Paddle, an empty cache each time.

Every run is a fresh process with one thread; the rows are in `workloads/dynamic.py`. The cache has no programs; the native
kernels, which a wheel brings, are those that `make env` has compiled. With `--warm` the cache is full, and the peer is the
faster one of Paddle and PyTorch (`workloads/in_torch/dynamic.py`). Rounds alternate, and the ratio is proa's time over the
peer's (below 1 when proa is faster): best over best, and the median of the ratios within each round. Rows whose names are in
WHOLE are timed from the start of the process, the others without the import.
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

from benchmarks.harness.environments import PEERS, peer_python
from benchmarks.workloads.dynamic import ROWS
from proa.kernels.cpu import compiled

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
        "PROA_NATIVE_DIR": str(compiled.folder()),
        "PYTHONPATH": str(ROOT) if module == "proa" else "",
    }
    script = "in_torch/dynamic.py" if module == "torch" else "dynamic.py"
    command = [python, str(ROOT / "benchmarks" / "workloads" / script), module, row]
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


def measure(row: str, rounds: int, peers: dict[str, str], warm: bool) -> dict[str, Any]:
    """All rounds of a row: seconds of all, the ratios to the fastest peer, the programs that proa compiled."""
    times: dict[str, list[float]] = {module: [] for module in ("proa", *peers)}
    programs = 0
    key = "process" if row in WHOLE else "seconds"
    with tempfile.TemporaryDirectory() as filled:
        if warm:
            one_run(sys.executable, "proa", row, filled)
        for number in range(rounds):
            for module in list(times)[:: 1 if number % 2 else -1]:
                with tempfile.TemporaryDirectory() as empty:
                    python = peers.get(module, sys.executable)
                    answer = one_run(python, module, row, filled if warm else empty)
                times[module].append(answer[key])
                programs = max(programs, answer["programs"])
    ours = times.pop("proa")
    fastest = min(times, key=lambda module: min(times[module]))
    theirs = times[fastest]
    return {
        "row": row, "ours": ours, "theirs": theirs, "peer": fastest, "programs": programs,
        "best": min(ours) / min(theirs), "median": median(a / b for a, b in zip(ours, theirs, strict=True)),
        "bar": WHOLE.get(row, ALLOWED),
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of rows, separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", action="store_true", help="with a cache that has been filled, beside PyTorch as well")
    arguments = parser.parse_args()
    every = [name for name in ROWS if not (arguments.warm and name in WHOLE)]
    names = arguments.only.split(",") if arguments.only else every
    unknown = sorted(set(names) - set(ROWS))
    if unknown:
        parser.error(f"there is no row {', '.join(unknown)}; there are {', '.join(ROWS)}")
    peers = {name: peer_python(PEERS[name]) for name in (("paddle", "torch") if arguments.warm else ("paddle",))}
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    print(f"{'row':18s} {'peer':>6s} {'peer s':>9s} {'proa s':>9s} {'best':>6s} {'median':>6s} {'bar':>4s} programs")
    for name in names:
        result = measure(name, arguments.rounds, peers, arguments.warm)
        found[f"{name}, warm" if arguments.warm else name] = result
        is_met = max(result["best"], result["median"]) <= result["bar"] and result["programs"] <= MOST_PROGRAMS
        print(
            f"{name:18s} {result['peer']:>6s} {min(result['theirs']):9.2f} {min(result['ours']):9.2f} {result['best']:6.2f} "
            f"{result['median']:6.2f} {result['bar']:4.1f} {result['programs']:3d} {'met' if is_met else 'MISSED'}",
            flush=True,
        )
        RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
