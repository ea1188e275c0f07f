"""Worker processes with a watchdog.

Seeds are dealt out in blocks, and each block is run in order by a process of its own: the caches
that a program finds are then always those of the seeds before it in its block, so that a failure
which needs this history can be repeated. A program that hangs or kills its process is reported,
and the rest of the block goes on in a new process.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..workers import ROOT, STARTING_SECONDS, Process, run_threads

# Programs are to be compiled, not found in a cache on disk; a large one also costs more than it saves here. They are small
# and short, so that compiling them would never pay: it is done at the third sight, and for buckets of sizes.
ENVIRONMENT = {"JAX_ENABLE_COMPILATION_CACHE": "false", "PROA_HOT_THRESHOLD": "3", "PROA_SIZE_BUCKETS": "always"}

__all__ = ["ROOT", "STARTING_SECONDS", "Worker", "run_block", "run_blocks"]


class Worker(Process):
    """One worker process, which imports the module under test before it takes requests."""

    def __init__(self, module: str, python: str = sys.executable) -> None:
        given = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        super().__init__(python, "tests.fuzz.worker", module, {**ENVIRONMENT, **given})

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a request, or one that says how the process failed to give it."""
        try:
            self.send(request)
            return self.receive(seconds)
        except (BrokenPipeError, EOFError):
            return self._given_up(request, "crash", f"exit code {self.process.wait()}")
        except TimeoutError:
            self.process.send_signal(signal.SIGUSR1)  # prints the stacks of all threads
            time.sleep(1.0)
            return self._given_up(request, "hang", f"no end within {seconds:.0f} seconds")

    def _given_up(self, request: dict[str, Any], kind: str, text: str) -> dict[str, Any]:
        self.close()
        return {
            "seed": request["seed"],
            "features": [],
            "differences": [{"kind": kind, "text": f"{text}\n{self.last_words(8000)}"}],
            "failure": None,
            "statistics": {},
            "compiles": 0,
            "compiled_runs": 0,
            "seconds": [],
        }


def run_block(
    requests: Sequence[dict[str, Any]],
    seconds: float,
    report: Callable[[dict[str, Any]], None],
    python: str = sys.executable,
    stopped: threading.Event | None = None,
) -> None:
    """Run requests one after the other, in one process as long as it lives."""
    worker: Worker | None = None
    try:
        for request in requests:
            if stopped is not None and stopped.is_set():
                return
            if worker is None or not worker.alive:
                worker = Worker(request["module"], python)
            report(worker.ask(request, seconds))
    finally:
        if worker is not None:
            worker.close()


def run_blocks(
    blocks: Sequence[Sequence[dict[str, Any]]],
    jobs: int,
    seconds: float,
    report: Callable[[dict[str, Any]], bool],
    python: str = sys.executable,
) -> None:
    """Run blocks with `jobs` processes at a time.

    `report` is called by one thread at a time; where it returns False the run comes to an end.
    """
    waiting = list(reversed(blocks))
    lock = threading.Lock()
    stopped = threading.Event()

    def report_alone(answer: dict[str, Any]) -> None:
        with lock:
            if not stopped.is_set() and not report(answer):
                stopped.set()

    def work() -> None:
        while not stopped.is_set():
            with lock:
                if not waiting:
                    return
                block = waiting.pop()
            run_block(block, seconds, report_alone, python, stopped)

    try:
        run_threads([work] * jobs)
    except KeyboardInterrupt:
        stopped.set()
        raise
