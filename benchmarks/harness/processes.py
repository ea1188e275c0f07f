"""The driver's side of a worker: start it, talk to it, let it sleep while another one works."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_THREADS = 2


class WorkerError(RuntimeError):
    """A worker could not do what it was asked; the message says which one and why."""


@dataclass(frozen=True)
class Contender:
    """A framework in an interpreter, with a number of threads."""

    name: str
    family: str
    module: str
    python: str
    threads: int = DEFAULT_THREADS
    # Changes to a benchmark's options for this contender alone, and to its environment.
    options: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    # A folder whose packages come before the checkout's: an earlier commit of proa.
    folder: str | None = None
    # How often it runs before it is measured, where that is not as often as the benchmark says.
    warm_runs: int | None = None

    @property
    def label(self) -> str:
        if self.threads == DEFAULT_THREADS:
            return self.name
        return f"{self.name}, {self.threads} thread{'s' if self.threads > 1 else ''}"


class Worker:
    """A worker process. Use as a context manager; outside `awake` it takes no processor time."""

    def __init__(self, contender: Contender, cache: Path | None = None) -> None:
        """Start the process. `cache` is the user's cache folder it shall believe in."""
        self.contender = contender
        environment = dict(os.environ)
        # Installed packages have their bytecode; a checkout must be allowed to keep its own.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        # Every maths library reads a variable of its own.
        for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            environment[variable] = str(contender.threads)
        # Threads that spin at a barrier make a loop ten times slower as soon as anything else wants
        # a core. Set the variable to `active` to see an idle machine's best.
        environment.setdefault("OMP_WAIT_POLICY", "passive")
        if cache is not None:
            environment["XDG_CACHE_HOME"] = str(cache)
        environment.update(contender.environment)
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        self.process = subprocess.Popen(
            [
                contender.python,
                "-m",
                "benchmarks.harness.worker",
                f"--family={contender.family}",
                f"--module={contender.module}",
                f"--threads={contender.threads}",
                *([f"--folder={contender.folder}"] if contender.folder else []),
            ],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            bufsize=0,
            start_new_session=True,  # Ctrl-C reaches the driver alone, which then ends the workers.
        )
        self._unread = b""

    def ask(self, do: str, timeout: float = 600.0, **command: Any) -> dict[str, Any]:
        """Send one command and wait for its answer."""
        self.send(do, **command)
        return self.receive(timeout)

    def send(self, do: str, **command: Any) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"do": do, **command}).encode() + b"\n")
        except BrokenPipeError:
            raise WorkerError(self._ended()) from None

    def receive(self, timeout: float = 600.0) -> dict[str, Any]:
        assert self.process.stdout is not None
        deadline = time.monotonic() + timeout
        while b"\n" not in self._unread:
            left = deadline - time.monotonic()
            ready = left > 0 and select.select([self.process.stdout], [], [], left)[0]
            if not ready:
                raise WorkerError(f"{self.contender.label}: no answer within {timeout:.0f} s")
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                raise WorkerError(self._ended())
            self._unread += chunk
        line, self._unread = self._unread.split(b"\n", 1)
        answer = json.loads(line)
        if not answer.pop("ok"):
            trace = answer["trace"].replace(f"{ROOT}{os.sep}", "")  # kept results name no machine's folders
            raise WorkerError(f"{self.contender.label}: {answer['error']}\n{trace}")
        return answer

    def sleep(self) -> None:
        """Stop the process, so that threads that spin while they wait disturb nobody."""
        self.process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.log):
            if stream is not None:
                stream.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ended(self) -> str:
        """What to say about a process that is gone: its status and its last words."""
        status = self.process.wait()
        self.log.seek(0)
        words = self.log.read().decode(errors="replace").strip()[-2000:]
        return f"{self.contender.label}: the worker ended with status {status}\n{words}"
