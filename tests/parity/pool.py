"""Worker processes that may crash or hang without stopping the run.

A job is a thread with one process for each framework; both get the same request and work at the same time. A process
that dies or does not answer is replaced, and its request has `crash` or `hang` as its outcome.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from .environment import ROOT

STARTING_SECONDS = 180.0  # for the imports, on a machine that may be busy


class Worker:
    """One process that answers requests, started when first asked: `python -m module argument`."""

    def __init__(
        self, argument: str, python: str, seconds: float, module: str = "tests.parity.worker", mode: str = "immediate"
    ) -> None:
        self.command = [python, "-W", "ignore", "-m", module, argument]
        self.seconds = seconds
        # Samples are called in several forms; compiling what is seen three times is not what parity compares.
        self.mode = os.environ.get("PROA_EAGER", mode)
        self.process: subprocess.Popen[bytes] | None = None

    def _start(self) -> subprocess.Popen[bytes]:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "GLOG_minloglevel": "3",
            "OMP_NUM_THREADS": "1",  # small arrays: threads only cost
            "PROA_EAGER": self.mode,
        }
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            cwd=ROOT,
            env=environment,
        )
        self._unread = b""
        self._read_line(STARTING_SECONDS)
        return self.process

    def send(self, request: dict[str, Any]) -> None:
        """Hands over a request; whatever goes wrong shows in `receive`."""
        self.trouble = ""
        try:
            process = self.process if self.process is not None else self._start()
            assert process.stdin is not None
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except (BrokenPipeError, EOFError):
            self.trouble = "crash"
        except TimeoutError:
            self.trouble = "hang"

    def receive(self) -> dict[str, Any]:
        if not self.trouble:
            try:
                return json.loads(self._read_line(self.seconds))
            except EOFError:
                self.trouble = "crash"
            except TimeoutError:
                self.trouble = "hang"
        return {self.trouble: self._last_words()}

    def _read_line(self, seconds: float) -> bytes:
        assert self.process is not None
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        deadline = time.monotonic() + seconds
        while b"\n" not in self._unread:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise TimeoutError
            data = os.read(descriptor, 1 << 18)
            if not data:
                raise EOFError
            self._unread += data
        line, self._unread = self._unread.split(b"\n", 1)
        return line

    def _last_words(self) -> str:
        assert self.process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=2 if self.trouble == "crash" else 0)
        code = self.process.poll()
        self.close()
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace").strip()[-400:]
        return f"exit code {code}; {text}" if self.trouble == "crash" else f"no answer within {self.seconds:.0f} s"

    def close(self) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self.process = None


def run(
    requests: list[dict[str, Any]],
    paddle_python: str,
    report: Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], None],
    *,
    jobs: int = 1,
    seconds: float = 10.0,
    modules: tuple[str, str] = ("proa", "paddle"),
) -> None:
    """Runs every request in both frameworks and calls `report(request, proa's outcome, paddle's outcome)`."""
    position = iter(range(len(requests)))
    lock = threading.Lock()
    problems: list[BaseException] = []

    def work() -> None:
        workers = [Worker(modules[0], sys.executable, seconds), Worker(modules[1], paddle_python, seconds)]
        try:
            while not problems:
                with lock:
                    index = next(position, None)
                if index is None:
                    return
                started = time.monotonic()
                for worker in workers:
                    worker.send(requests[index])
                outcomes = [worker.receive() for worker in workers]
                requests[index]["seconds"] = round(time.monotonic() - started, 3)
                with lock:
                    report(requests[index], *outcomes)
        except BaseException as error:
            problems.append(error)
        finally:
            for worker in workers:
                worker.close()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)
    except KeyboardInterrupt as error:
        problems.append(error)
        raise
    if problems:
        raise problems[0]
