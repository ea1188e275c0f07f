"""`python -m benchmarks.serving`: a server beside bare loops over the predictor, with one process and with one per core.

Callers are tritonclient in processes of their own, on the same machine. The bar: with 64 callers at least 0.9 of the rows a
second of a bare loop that calls the predictor row by row. What a row costs the processor is told as well, as it
does not depend on who else uses the machine. Results are kept in benchmarks/results/serving.json, each model by itself; a
run replaces those of the models that it measured.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.machine import machine_facts
from benchmarks.workloads.serving import bare, call, processor_seconds, save_model, start_server

RESULTS = Path(__file__).resolve().parent / "results" / "serving.json"
MODELS = ("resnet18", "encoder", "mlp")
BAR = 0.9


def one_per_core(path: Path, batch: int, seconds: float) -> tuple[float, float]:
    """As `bare`, by as many processes as there are cores, each with one thread."""
    cores = sorted(os.sched_getaffinity(0))
    with ThreadPoolExecutor(len(cores)) as pool:
        found = list(pool.map(lambda core: bare(path, batch, seconds, core), cores))
    return sum(rate for rate, _ in found), float(np.mean([cost for _, cost in found]))


def served(path: Path, callers: int, protocol: str, seconds: float) -> dict[str, Any]:
    """A server with that many callers of one protocol."""
    process, entry = start_server(path)
    try:
        used = processor_seconds(process)
        found = call(path, entry, seconds, callers, min(2, callers), protocols=(protocol,))()
        used = processor_seconds(process) - used
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    finally:
        process.kill()
    problems = [problem for one in found for problem in one["problems"]]
    if problems:
        raise RuntimeError(f"{len(problems)} wrong answers or refusals, such as {problems[0]}")
    times = np.array([each for one in found for each in one["seconds"]]) * 1e3
    return {
        "way": f"server, {callers} callers, {protocol}", "rows_per_second": len(times) / seconds,
        "processor_ms_per_row": used / len(times) * 1e3,
        "callers_ms_per_row": sum(one["processor_seconds"] for one in found) / len(times) * 1e3,
        "p50_ms": float(np.percentile(times, 50)), "p99_ms": float(np.percentile(times, 99)),
    }  # fmt: skip


def measure(kind: str, seconds: float, rounds: int) -> list[dict[str, Any]]:
    """The best round of each way; the ways take turns."""
    best: dict[str, dict[str, Any]] = {}

    def keep(row: dict[str, Any]) -> None:
        before = best.get(row["way"])
        if before is None or row["rows_per_second"] > before["rows_per_second"]:
            best[row["way"]] = row

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        save_model(kind, path)
        for _ in range(rounds):
            for batch in (1, 8):
                for way, function in (("bare loop", bare), ("one process per core", one_per_core)):
                    rate, cost = function(path, batch, seconds)
                    keep({"way": f"{way}, batches of {batch}", "rows_per_second": rate, "processor_ms_per_row": cost})
            for protocol in ("http", "grpc"):
                for callers in (1, 64):
                    keep(served(path, callers, protocol, seconds))
    return list(best.values())


def shown(kind: str, rows: list[dict[str, Any]]) -> None:
    alone = next(row["rows_per_second"] for row in rows if row["way"] == "bare loop, batches of 1")
    print(f"\n{kind:32} {'rows/s':>9} {'of bare':>8} {'ms/row':>8} {'p50 ms':>8} {'p99 ms':>8}")
    for row in rows:
        times = "".join(f" {row[name]:8.1f}" if name in row else f" {'':8}" for name in ("p50_ms", "p99_ms"))
        print(
            f"{row['way']:32} {row['rows_per_second']:9.1f} {row['rows_per_second'] / alone:8.2f} "
            f"{row['processor_ms_per_row']:8.2f}{times}"
        )


def keep(kind: str, rows: list[dict[str, Any]], seconds: float, path: Path) -> None:
    """Puts a model's results into the file, with what else the machine did meanwhile."""
    try:
        models = json.loads(path.read_text(encoding="utf-8"))["models"]
    except (OSError, ValueError, KeyError):
        models = {}
    models[kind] = {"load": os.getloadavg(), "seconds": seconds, "rows": rows}
    partial = path.with_suffix(".partial")
    text = json.dumps({"machine": machine_facts(), "models": models}, indent=1, default=str)
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(path)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__)
    parser.add_argument("--only", default=",".join(MODELS), help="comma-separated models (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each measurement (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=2, help="the best one counts (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file to write (default: %(default)s)")
    arguments = parser.parse_args()
    names = arguments.only.split(",")
    if unknown := sorted(set(names) - set(MODELS)):
        parser.error(f"--only: there is no model {', '.join(unknown)}; there are {', '.join(MODELS)}")
    for kind in names:
        rows = measure(kind, arguments.seconds, arguments.rounds)
        keep(kind, rows, arguments.seconds, arguments.results)
        shown(kind, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
