"""`python -m tests.serving.soak --seconds 120`: many callers, some of them malformed, oversized or aborted, for a while.

What has to hold: no wrong answer, no unexpected refusal, the server alive at the end and its memory no larger than after
the first tenth, and at least 0.9 of the throughput of a bare loop over the predictor that calls it row by row. The loop
is measured in a process of its own, before and after, with the machine to itself; callers and server share the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.workloads.serving import bare, call, memory_mb, processor_seconds, save_model, start_server


def soak(
    kind: str, seconds: float, callers: int = 64, processes: int = 2, misbehaving: float = 0.05, with_bare: float = 8.0,
    options: tuple[str, ...] = (),
) -> dict[str, Any]:  # fmt: skip
    """What happened, as numbers and lists."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        save_model(kind, path)
        rates = [bare(path, batch, with_bare) for batch in (1, 8)] if with_bare else [(0.0, 0.0)] * 2
        process, entry = start_server(path, *options)
        try:
            used = processor_seconds(process)
            wait = call(path, entry, seconds, callers, processes, misbehaving)
            time.sleep(3 + seconds / 10)
            memory = memory_mb(process)
            found = wait()
            grown = memory_mb(process) - memory
            alive = process.poll() is None
            used = processor_seconds(process) - used
            process.send_signal(signal.SIGTERM)
            status = process.wait(60)
        finally:
            process.kill()
        if with_bare:
            rates[0] = max(rates[0], bare(path, 1, with_bare))
            rates[1] = max(rates[1], bare(path, 8, with_bare))
        log = [json.loads(line) for line in Path(f"{path}.log").read_text().splitlines() if line.startswith("{")]
    times = np.array([each for one in found for each in one["seconds"]]) * 1e3
    tally = {name: sum(one["tally"].get(name, 0) for one in found) for name in ("malformed", "oversized", "aborted")}
    return {
        "model": kind, "callers": callers, "seconds": seconds, "answers": len(times), **tally,
        "rows_per_second": round(len(times) / seconds, 1), "bare": round(rates[0][0], 1),
        "bare_in_batches_of_8": round(rates[1][0], 1),
        "ratio": round(len(times) / seconds / rates[0][0], 3) if with_bare else None,
        "ratio_to_batches_of_8": round(len(times) / seconds / rates[1][0], 3) if with_bare else None,
        # On a machine that others use as well these tell more: what a row costs, whoever else is running.
        "processor_ms_per_row": {
            "bare": round(rates[0][1], 2), "bare_in_batches_of_8": round(rates[1][1], 2),
            "server": round(used / max(len(times), 1) * 1e3, 2),
            "callers": round(sum(one["processor_seconds"] for one in found) / max(len(times), 1) * 1e3, 2),
        },
        **{f"p{q}_ms": round(float(np.percentile(times, q)), 1) for q in (50, 95, 99) if len(times)},
        "memory_mb": round(memory), "memory_grown_mb": round(grown, 1), "alive": alive, "exit_status": status,
        "problems": [problem for one in found for problem in one["problems"]],
        "errors_logged": [line["message"] for line in log if line["level"] == "ERROR"],
        "load": os.getloadavg()[0],
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.serving.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--callers", type=int, default=64)
    parser.add_argument("--processes", type=int, default=2, help="of callers")
    parser.add_argument("--model", default="resnet18", help="resnet18, encoder or mlp")
    parser.add_argument("--option", action="append", default=[], help="of proa serve, such as --option=--instances=2")
    arguments = parser.parse_args()
    found = soak(
        arguments.model, arguments.seconds, arguments.callers, arguments.processes, options=tuple(arguments.option)
    )
    print(json.dumps(found, indent=2))
    good = not found["problems"] and not found["errors_logged"] and found["alive"] and found["exit_status"] == 0
    print(
        f"{'good' if good else 'BAD'}; throughput {'at least' if found['ratio'] >= 0.9 else 'BELOW'} 0.9 of the bare loop"
    )
    return 0 if good and found["ratio"] >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
