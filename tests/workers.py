"""A process that answers requests, one JSON object a line, and may crash or hang without stopping a run.

Used by the comparison with Paddle (tests/parity) and by the generated programs (tests/fuzz).
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STARTING_SECONDS = 180.0  # for the imports, on a machine that may be busy


class Process:
    """`python -W ignore -m module argument`; it says a first line when its imports are done.

    Whoever asks it gets EOFError (or BrokenPipeError) when it is gone and TimeoutError when it does not answer.
    """

    def __init__(self, python: str, module: str, argument: str, environment: Mapping[str, str] | None = None) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        search = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [python, "-W", "ignore", "-m", module, argument],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": search, "GLOG_minloglevel": "3", **(environment or {})},
        )
        self._ready = False
        self._unread = b""

    def send(self, request: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        if not self._ready:
            self._read_line(STARTING_SECONDS)
            self._ready = True
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self, seconds: float) -> dict[str, Any]:
        return json.loads(self._read_line(seconds))

    def _read_line(self, seconds: float) -> bytes:
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

    def exit_code(self, patience: float = 0.0) -> int | None:
        """Its status if it is gone, or goes within `patience` seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=patience)
        return self.process.poll()

    def last_words(self, length: int) -> str:
        """The end of what it wrote to standard error."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-length:]

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


def run_threads(works: Sequence[Callable[[], None]]) -> None:
    """Runs functions in a thread each until all have ended; an interrupt comes through to the caller."""
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.2)
