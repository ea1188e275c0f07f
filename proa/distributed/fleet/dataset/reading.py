"""Files through pipe commands: real processes, whose failures are told with what they wrote, read ahead by threads.

Whatever ends a reading early (an error in the training, a break) ends its processes, too.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from ....core.errors import runtime_error
from .parsing import Format, records_of
from .slots import Records

_AHEAD = 4  # pieces of a file that wait to be used
_WAIT = 0.1
_SHOWN = 2000  # characters of what a failed command wrote
_REMOTE = ("hdfs:", "afs:")


@dataclass(frozen=True)
class Source:
    """How a file becomes lines."""

    pipe_command: str = "cat"
    download_command: str = "cat"
    file_system: str = ""
    user: str = ""

    def lines(self, path: str, running: list[_Process]) -> Iterator[str]:
        """The lines of one file, out of the pipe command; `running` is told of processes, for who cannot wait for them."""
        if not path.startswith(_REMOTE):
            _check_readable(path)
        if self.is_direct(path):
            opened = gzip.open(path, "rt", errors="replace") if path.endswith(".gz") else open(path, errors="replace")  # noqa: SIM115
            with opened as file:
                yield from file
            return
        with contextlib.ExitStack() as ended:
            if (command := self._fetching(path)) is None:
                given: Any = ended.enter_context(open(path, "rb"))
                yield from _output(self.pipe_command, given, path, running)
            else:
                fetched = ended.enter_context(_Process(command, subprocess.DEVNULL, path))
                running.append(fetched)
                yield from _output(self.pipe_command, fetched.output, path, running)
                fetched.finish(may_be_cut=True)

    def is_direct(self, path: str) -> bool:
        """Whether no process is needed."""
        return self.pipe_command.strip() in ("", "cat") and not path.startswith(_REMOTE)

    def _fetching(self, path: str) -> str | None:
        """The command that writes a file that cannot be opened as it is."""
        if path.startswith(_REMOTE):
            if self.download_command.strip() not in ("", "cat"):
                return f"{self.download_command} {shlex.quote(path)}"
            settings = {"fs.default.name": self.file_system, "hadoop.job.ugi": self.user}
            options = "".join(f" -D {name}={shlex.quote(value)}" for name, value in settings.items() if value)
            return f"hadoop fs{options} -text {shlex.quote(path)}"
        return f"gzip -dc {shlex.quote(path)}" if path.endswith(".gz") else None


def _check_readable(path: str) -> None:
    if os.path.isdir(path):
        raise IsADirectoryError(f"(dataset) {path} is a folder; set_filelist takes the files in it.")
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"(dataset) there is no file {path} (in {os.getcwd()}); see what was given to set_filelist."
        )


class _Process:
    """A command in a shell, with what it writes to its standard error kept."""

    def __init__(self, command: str, given: Any, path: str) -> None:
        self._command, self._path = command, path
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [shutil.which("bash") or "/bin/sh", "-c", command],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # so that all of it can be ended
        )

    @property
    def output(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: Any) -> None:
        self.kill()
        self._process.wait()
        self.output.close()
        self._errors.close()

    def kill(self) -> None:
        """Ends the command and what it has started, if it still runs."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def finish(self, may_be_cut: bool = False) -> None:
        """Waits for the end; a failure is told. `may_be_cut`: its reader may have had enough."""
        status = self._process.wait()
        self._errors.seek(0)
        wrote = self._errors.read().decode(errors="replace")
        if status and not (may_be_cut and status in (-signal.SIGPIPE, 128 + signal.SIGPIPE)):
            ended = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
            raise runtime_error(
                "dataset", f"the pipe command {self._command!r} {ended} while it read {self._path}",
                f"on its standard error: {wrote[-_SHOWN:].strip() or 'nothing'}",
                f"try it in a shell: ({self._command}) < {self._path}",
            )  # fmt: skip
        sys.stderr.write(wrote)


def _output(command: str, given: Any, path: str, running: list[_Process]) -> Iterator[str]:
    with _Process(command, given, path) as process:
        running.append(process)
        for line in process.output:
            yield line.decode(errors="replace")
        process.finish()


def read(paths: Sequence[str], form: Format, source: Source, threads: int) -> Iterator[Records]:
    """The records of files, in the order of the files, some at a time; `threads` files are read at once."""
    makers = [functools.partial(_file, path, form, source) for path in paths]
    return _ahead(makers, max(1, threads))


def _file(path: str, form: Format, source: Source, running: list[_Process]) -> Iterator[Records]:
    return records_of(source.lines(path, running), form, path, not source.is_direct(path))


class _Reader:
    """One file, read by a thread into a short queue."""

    def __init__(self, make: Callable[[list[_Process]], Iterator[Records]]) -> None:
        self._make = make
        self._running: list[_Process] = []
        self._pieces: queue.Queue[Any] = queue.Queue(_AHEAD)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="proa-dataset", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        pieces = self._make(self._running)
        try:
            for piece in pieces:
                if not self._put(piece):
                    return
            self._put(None)
        except BaseException as error:  # told where the records are used
            self._put(error)
        finally:
            pieces.close()  # type: ignore[attr-defined]

    def _put(self, piece: Any) -> bool:
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._pieces.put(piece, timeout=_WAIT)
                return True
        return False

    def pieces(self) -> Iterator[Records]:
        while (piece := self._pieces.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece

    def stop(self) -> None:
        self._stopped.set()
        while self._thread.is_alive():  # it may wait for a command that writes nothing, or is just being started
            for process in list(self._running):
                process.kill()
            self._thread.join(_WAIT)


def _ahead(makers: Sequence[Callable[[list[_Process]], Iterator[Records]]], count: int) -> Iterator[Records]:
    waiting: list[_Reader] = []
    rest = iter(makers)
    try:
        while True:
            while len(waiting) < count and (make := next(rest, None)) is not None:
                waiting.append(_Reader(make))
            if not waiting:
                return
            yield from waiting[0].pieces()
            waiting.pop(0).stop()
    finally:
        for reader in waiting:
            reader.stop()
