"""Both frameworks at work on the same requests.

A job is a thread with one process for each framework; both get the same request and work at the same time. A process
that dies or does not answer is replaced, and its request has `crash` or `hang` as its outcome.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from ..workers import Process, run_threads


class Worker:
    """One framework's process, started when first asked."""

    def __init__(
        self, argument: str, python: str, seconds: float, module: str = "tests.parity.worker", mode: str = "immediate"
    ) -> None:
        self.command = (python, module, argument)
        self.seconds = seconds
        # Small arrays: threads only cost. Samples are called in several forms; compiling what is seen three times is
        # not what parity compares.
        self.environment = {"OMP_NUM_THREADS": "1", "PROA_EAGER": os.environ.get("PROA_EAGER", mode)}
        self.process: Process | None = None

    def send(self, request: dict[str, Any]) -> None:
        """Hands over a request; whatever goes wrong shows in `receive`."""
        self.trouble = ""
        try:
            if self.process is None:
                self.process = Process(*self.command, self.environment)
            self.process.send(request)
        except (BrokenPipeError, EOFError):
            self.trouble = "crash"
        except TimeoutError:
            self.trouble = "hang"

    def receive(self) -> dict[str, Any]:
        assert self.process is not None
        if not self.trouble:
            try:
                return self.process.receive(self.seconds)
            except EOFError:
                self.trouble = "crash"
            except TimeoutError:
                self.trouble = "hang"
        code = self.process.exit_code(2.0 if self.trouble == "crash" else 0.0)
        process = self.process
        self.close()
        if self.trouble == "hang":
            return {"hang": f"no answer within {self.seconds:.0f} s"}
        return {"crash": f"exit code {code}; {process.last_words(400).strip()}"}

    def close(self) -> None:
        if self.process is not None:
            self.process.close()
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

    try:
        run_threads([work] * jobs)
    except KeyboardInterrupt as error:
        problems.append(error)
        raise
    if problems:
        raise problems[0]
