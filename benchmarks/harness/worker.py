"""One framework at work in its own interpreter: `python -m benchmarks.harness.worker --family F …`.

The driver sends one JSON object per line on standard input and gets one back per line. Commands:

* `{"do": "import"}`: import the framework, timed;
* `{"do": "load", "workload": ..., "options": {...}}`: import the framework and build the workload;
* `{"do": "warm", "runs": 3, "seconds": 2.0}`: run until both are reached;
* `{"do": "round", "repeats": 1}`: one timed round, `repeats` passes;
* `{"do": "memory", "forget": false}`: the most memory the process has had so far, or since it was told to forget;
* `{"do": "quit"}`.

An answer has `ok`; where it is false, `error` and `trace` say why. Only the standard library is
imported here at the start, so that the first import of the framework is a fair measurement.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import json
import os
import signal
import sys
import time
import traceback
from typing import Any, TextIO


def die_with_the_driver() -> None:
    """Ask Linux to end this process when the driver goes: it may be asleep (stopped) by then."""
    parent_death_signal = 1
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)


def private_output() -> TextIO:
    """Keep standard output for answers; what frameworks print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


class Session:
    """The worker's state: the framework once imported, the workload once loaded."""

    def __init__(self, family: str, module: str, threads: int) -> None:
        self.family = family
        self.module = module
        self.threads = threads
        self.framework: Any = None
        self.workload: Any = None

    def do_import(self) -> dict[str, Any]:
        start = time.perf_counter()
        self.framework = importlib.import_module(self.module)
        seconds = time.perf_counter() - start
        return {"import_seconds": seconds, "version": getattr(self.framework, "__version__", "?")}

    def do_load(self, workload: str, options: dict[str, Any]) -> dict[str, Any]:
        answer = self.do_import()
        if self.family == "torch":
            self.framework.set_num_threads(self.threads)
        from benchmarks import workloads

        self.workload = None  # Frees the last one's memory before the next is built.
        gc.collect()
        start = time.perf_counter()
        self.workload = workloads.build(workload, self.family, self.framework, options)
        answer["build_seconds"] = time.perf_counter() - start
        return answer

    def do_warm(self, runs: int, seconds: float) -> dict[str, Any]:
        first = self.do_round(repeats=1)
        done, spent = 1, first["seconds"]
        prepare = getattr(self.workload, "prepare", None)
        while done < runs or spent < seconds:
            if prepare is not None:
                prepare()
            # Only the work itself counts: what is compiled when it pays must have had the time to pay.
            start = time.perf_counter()
            self.workload.run()
            spent += time.perf_counter() - start
            done += 1
        return {
            "first_run_seconds": first["seconds"],
            "first_value": first["value"],
            "warm_seconds": spent,
            "warm_runs": done,
        }

    def do_round(self, repeats: int) -> dict[str, Any]:
        prepare = getattr(self.workload, "prepare", None)
        if prepare is not None:
            prepare()
        run = self.workload.run
        value = 0.0
        gc.collect()  # The last round's garbage is not charged to this one; its own garbage is.
        start = time.perf_counter()
        for _ in range(repeats):
            value = run()
        seconds = time.perf_counter() - start
        answer: dict[str, Any] = {"seconds": seconds, "value": value}
        samples = getattr(self.workload, "samples", None)
        if samples is not None:
            answer["samples"] = samples()
        return answer

    def do_memory(self, forget: bool = False) -> dict[str, Any]:
        peak = None
        try:
            with open("/proc/self/status", encoding="utf-8") as file:
                peak = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
            if forget:
                with open("/proc/self/clear_refs", "w", encoding="utf-8") as file:
                    file.write("5")
        except (OSError, StopIteration):
            pass  # Another system, or not allowed here: then it is the peak from the start, or none.
        return {"peak_bytes": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description="One framework at work; started by the driver.")
    parser.add_argument("--family", choices=("paddle", "torch", "jax", "onnxruntime", "openvino"), required=True)
    parser.add_argument("--module", required=True, help="proa, paddle, torch, jax, onnxruntime or openvino")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", help="where to look for the module first: an earlier commit of it")
    arguments = parser.parse_args()
    if arguments.folder:
        sys.path.insert(0, arguments.folder)
    die_with_the_driver()
    answers = private_output()
    session = Session(arguments.family, arguments.module, arguments.threads)
    for line in sys.stdin:
        command = json.loads(line)
        do = command.pop("do")
        if do == "quit":
            break
        try:
            answer = {"ok": True, **getattr(session, f"do_{do}")(**command)}
        except Exception as error:  # Whatever went wrong is the driver's to report.
            message = f"{type(error).__name__}: {error}"
            answer = {"ok": False, "error": message, "trace": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    # Leave at once: some frameworks take seconds to tear themselves down.
    answers.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
