"""Worker processes with a watchdog.

Seeds are dealt out in blocks, and each block is run in order by a process of its own: the caches
that a program finds are then always those of the seeds before it in its block, so that a failure
which needs this history can be repeated. A program that hangs or kills its process is reported,
and the rest of the block goes on in a new process.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

PACKAGE = __package__ or "tests.fuzz"
ROOT = Path(__file__).resolve().parents[len(PACKAGE.split("."))]
STARTING_SECONDS = 180.0  # for the imports, on a machine that may be busy


class Worker:
    """One worker process, which imports the module under test before it takes requests."""

    def __init__(self, module: str, python: str = sys.executable) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        search = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(search), GLOG_minloglevel="3")
        self.process = subprocess.Popen(
            [python, "-W", "ignore", "-m", f"{PACKAGE}.worker", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            cwd=ROOT,
            env=environment,
        )
        self.ready = False
        self._buffer = b""

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a request, or one that says how the process failed to give it."""
        assert self.process.stdin is not None
        limit = STARTING_SECONDS
        try:
            if not self.ready:
                self._read_line(time.monotonic() + limit)
                self.ready = True
            limit = seconds
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            line = self._read_line(time.monotonic() + limit)
        except (BrokenPipeError, EOFError):
            return self._given_up(request, "crash", f"exit code {self.process.wait()}")
        except TimeoutError:
            self.process.send_signal(signal.SIGUSR1)  # prints the stacks of all threads
            time.sleep(1.0)
            return self._given_up(request, "hang", f"no end within {limit:.0f} seconds")
        return json.loads(line)

    def _read_line(self, deadline: float) -> bytes:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise TimeoutError
            data = os.read(descriptor, 1 << 16)
            if not data:
                raise EOFError
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def _given_up(self, request: dict[str, Any], kind: str, text: str) -> dict[str, Any]:
        self.close()
        self.errors.seek(0)
        tail = self.errors.read().decode(errors="replace")[-8000:]
        return {
            "seed": request["seed"],
            "features": [],
            "differences": [{"kind": kind, "text": f"{text}\n{tail}"}],
            "failure": None,
            "statistics": {},
            "compiles": 0,
            "compiled_runs": 0,
            "seconds": [],
        }

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        if self.alive:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None and not stream.closed:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


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

    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)
    except KeyboardInterrupt:
        stopped.set()
        raise
