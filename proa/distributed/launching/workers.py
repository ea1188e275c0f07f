"""The processes of a job on this machine: started together, watched, stopped together.

Each is a session of its own, so that a signal reaches what it has started, too, and Ctrl-C comes to the launcher alone. If
the launcher itself is killed, the kernel kills them (Linux).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, BinaryIO

_PAUSE = 0.05  # seconds between two looks at the processes
_SHOWN = 4000  # characters of a log's end
# A process that says this has lost another one, which is the one to show.
_SECONDARY = (
    b"another process has ended or cannot be reached", b"the process that keeps the job together is gone",
    b"the JAX distributed service detected fatal errors",
)  # fmt: skip


class Worker:
    """One process and the file with what it says."""

    def __init__(self, rank: int, local: int, process: subprocess.Popen[bytes], log: str | None) -> None:
        self.rank, self.local, self.process, self.log = rank, local, process, log
        self.tees: list[threading.Thread] = []
        self._is_asked_to_end = False

    def send(self, number: int) -> None:
        """Sends a signal, SIGTERM only once.

        A Python process that ends has given its handlers back, so a second SIGTERM would kill it on its way out.
        """
        if self.process.poll() is not None or (number == signal.SIGTERM and self._is_asked_to_end):
            return
        self._is_asked_to_end |= number == signal.SIGTERM
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def end_of_log(self) -> bytes:
        if self.log is None:
            return b""
        for tee in self.tees:
            tee.join(2)
        with open(self.log, "rb") as file:
            file.seek(max(0, os.path.getsize(self.log) - 4 * _SHOWN))
            return file.read()

    def is_secondary(self) -> bool:
        said = self.end_of_log()
        return any(text in said for text in _SECONDARY)


class Workers:
    """All processes of one round."""

    def __init__(self, log_dir: str | None) -> None:
        self._temporary = None if log_dir else tempfile.TemporaryDirectory(prefix="proa_launch_")
        self.folder = log_dir or self._temporary.name  # type: ignore[union-attr]
        self._tee_first = log_dir is not None
        os.makedirs(self.folder, exist_ok=True)
        self.workers: list[Worker] = []

    def start(
        self, command: Sequence[str], rank: int, local: int, environment: Mapping[str, str], log: str = "workerlog",
        is_quiet: bool = False,
    ) -> Worker:  # fmt: skip
        """Starts a process; what it says goes to a file, and that of the machine's first one to the terminal."""
        name = os.path.join(self.folder, f"{log}.{local}")
        is_first = local == 0 and not is_quiet
        options: dict[str, Any] = {"env": dict(environment), "start_new_session": True}
        if sys.platform == "linux":
            options["preexec_fn"] = _die_with_parent()
        if is_first and not self._tee_first:
            self.workers.append(Worker(rank, local, _started(command, options), None))
            return self.workers[-1]
        with open(name, "ab") as file:
            if is_first:
                options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            else:
                options.update(stdout=file, stderr=subprocess.STDOUT)
            process = _started(command, {"stdin": subprocess.DEVNULL, **options})
        worker = Worker(rank, local, process, name)
        if is_first:
            pipes = ((process.stdout, sys.stdout.buffer), (process.stderr, sys.stderr.buffer))
            worker.tees = [_tee(pipe, terminal, name) for pipe, terminal in pipes if pipe is not None]
        self.workers.append(worker)
        return worker

    def wait(self, goes_on: Callable[[], bool]) -> Worker | None:
        """Waits until all have succeeded (None), or one has failed (it), or `goes_on` says that enough is enough (None)."""
        while goes_on():
            failed = self.failed()
            if failed is not None:
                return failed
            if self.have_succeeded():
                return None
            time.sleep(_PAUSE)
        return None

    def failed(self) -> Worker | None:
        """The process that has failed, where one has."""
        failed = [worker for worker in self.workers if worker.process.poll()]
        return self._first_cause(failed) if failed else None

    def have_succeeded(self) -> bool:
        return all(worker.process.poll() == 0 for worker in self.workers)

    def _first_cause(self, failed: list[Worker]) -> Worker:
        """The process that failed by itself: others fail because they have lost it, and may be seen earlier."""
        end = time.monotonic() + 2
        while all(worker.is_secondary() for worker in failed) and time.monotonic() < end:
            time.sleep(_PAUSE)
            failed = [worker for worker in self.workers if worker.process.poll()]
        return next((worker for worker in failed if not worker.is_secondary()), failed[0])

    def signal(self, number: int) -> None:
        """Sends a signal to every process that still runs, SIGTERM once."""
        for worker in self.workers:
            worker.send(number)

    def wait_for_end(self, seconds: float, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Waits until no process runs any more, for some time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and goes_on() and any(w.process.poll() is None for w in self.workers):
            time.sleep(_PAUSE)

    def stop(self, seconds: float, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Ends all processes and what they started: asked first, then, after some time, killed."""
        self.signal(signal.SIGTERM)
        self.wait_for_end(seconds, goes_on)
        for worker in self.workers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(worker.process.pid, signal.SIGKILL)
            worker.process.wait()
            for tee in worker.tees:
                tee.join(2)

    def forget(self, worker: Worker) -> None:
        """Ends what a process that is gone has left behind, and lets it be: its number may be another's one day."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(worker.process.pid, signal.SIGKILL)
        self.workers.remove(worker)

    def close(self) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()


def leave(workers: Workers, received: list[int], seconds: float) -> int:
    """SIGTERM and Ctrl-C go to all; who saves its state has time for it. A second Ctrl-C ends everything at once."""
    first, before = received[0], len(received)
    workers.signal(first)
    if first != signal.SIGTERM:  # a process may take Ctrl-C for something to be asked about
        workers.wait_for_end(seconds, lambda: len(received) == before)
    workers.stop(seconds, lambda: len(received) == before)
    succeeded = all(worker.process.returncode == 0 for worker in workers.workers)
    return 0 if succeeded else 128 + first


def show(worker: Worker, attempts_left: int, outcome: str = "the job is ended") -> None:
    """Says which process failed, what follows from that, and the end of what it said."""
    status = worker.process.returncode
    how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
    said = worker.end_of_log().decode(errors="replace")[-_SHOWN:].rstrip()
    text = f"\nlaunch: process {worker.rank} {how}; {outcome}.\n"
    if said and not worker.tees:
        text += f"launch: the end of what it said:\n{said}\n"
    if attempts_left > 0:
        text += f"launch: starting again ({attempts_left} more times).\n"
    sys.stderr.write(text)
    sys.stderr.flush()


def _started(command: Sequence[str], options: dict[str, Any]) -> subprocess.Popen[bytes]:
    process: Any = subprocess.Popen(command, **options)  # without the options of text, so it speaks in bytes
    return process


def _tee(source: IO[bytes], terminal: BinaryIO, name: str) -> threading.Thread:
    def copy() -> None:
        with open(name, "ab", buffering=0) as log:
            while chunk := os.read(source.fileno(), 1 << 16):
                log.write(chunk)
                terminal.write(chunk)
                terminal.flush()

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    return thread


def _die_with_parent() -> Callable[[], None]:
    """To be called in a new process: the kernel kills it when its parent is gone."""
    import ctypes

    set_option = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def prepare() -> None:
        set_option(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)

    return prepare
