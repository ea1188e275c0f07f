"""One machine of a job in which machines come and go (`--nnodes MIN:MAX`).

Every machine runs the same command. The launcher that can listen at `--master` keeps the list (`meeting.py`), so it must be
an address of a machine that stays: the job ends with it.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
import time
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener
from typing import Any

from ...core.errors import message, value_error
from .meeting import Meeting, notice_loss, receive, send
from .options import Options, address
from .variables import Start, variables
from .workers import Workers, leave, show

_PAUSE = 0.05
_RESTARTS = 3  # where nothing was said, as Paddle's launcher has it


def free_port(host: str) -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def run(command: list[str], chosen: Options, received: list[int]) -> int:
    """Takes part until the job is over; its status."""
    host, port = address(chosen.master or "")
    key = (os.environ.get("PROA_JOB_KEY") or chosen.job_id).encode()
    meeting = _listen(host, port, key, chosen)
    machine = _Machine(command, chosen, host if meeting else chosen.host, received)
    connection = _connect(host, port, key, chosen.elastic_timeout, received)
    try:
        return machine.take_part(connection)
    finally:
        connection.close()
        if meeting is not None:
            meeting.join(5)


def _listen(host: str, port: int, key: bytes, chosen: Options) -> Meeting | None:
    """The list itself, where its address is this machine's and nobody keeps it yet."""
    try:
        listener = Listener((host, port), backlog=64)
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EADDRNOTAVAIL):
            return None
        raise
    restarts = _RESTARTS if chosen.max_restart is None else chosen.max_restart
    return Meeting(listener, key, chosen.least_nodes or 1, chosen.nodes, chosen.elastic_timeout, restarts)


def _connect(host: str, port: int, key: bytes, seconds: float, received: list[int]) -> Any:
    """The connection to the list; its launcher may be started a little later than this one."""
    end = time.monotonic() + seconds
    while True:
        try:
            connection = Client((host, port), authkey=key)
            notice_loss(connection)
            return connection
        except AuthenticationError:
            raise value_error(
                "launch", f"the launcher at {host}:{port} has another key",
                fix="give all machines the same PROA_JOB_KEY and --job_id",
            ) from None  # fmt: skip
        except (OSError, EOFError) as error:
            if received or time.monotonic() > end:
                text = f"nobody keeps the list of machines at {host}:{port} ({error})"
                raise TimeoutError(message("launch", text, fix="start the launcher on that machine, too")) from None
            time.sleep(_PAUSE)


class _Machine:
    """This one: its processes are started and stopped as the list says."""

    def __init__(self, command: list[str], chosen: Options, host: str, received: list[int]) -> None:
        self._command, self._chosen, self._host, self._received = command, chosen, host, received
        self._workers: Workers | None = None
        self._is_done = False

    def take_part(self, connection: Any) -> int:
        try:
            self._be_ready(connection)
            while True:
                status = self._go_on(connection)
                if status is not None:
                    return status
        except (EOFError, OSError):
            sys.stderr.write("launch: the launcher that keeps the list of machines is gone; the job is ended.\n")
            self._end(self._chosen.stop_timeout)
            return 1
        finally:
            self._end(0)

    def _go_on(self, connection: Any) -> int | None:
        """One look at everything that may happen; a status where the job is over."""
        if self._received:
            workers = self._workers or Workers(self._chosen.log_dir)
            return leave(workers, self._received, self._chosen.stop_timeout)
        if connection.poll(_PAUSE):
            heard = receive(connection)
            if heard["kind"] == "start":
                self._start(Start(**{name: value for name, value in heard.items() if name != "kind"}))
            elif heard["kind"] == "stop":
                self._end(self._chosen.stop_timeout)
                self._be_ready(connection)
            elif heard["kind"] == "end":
                if heard.get("why"):
                    sys.stderr.write(f"launch: {heard['why']}.\n")
                return int(heard["status"])
        if self._workers is not None and not self._is_done:
            self._look(connection, self._workers)
        return None

    def _look(self, connection: Any, workers: Workers) -> None:
        failed = workers.failed()
        if failed is not None:
            workers.stop(min(self._chosen.stop_timeout, 5.0))
            show(failed, 0, "this start is over")
            send(connection, "failed")
            self._end(0)
            self._be_ready(connection)
        elif workers.have_succeeded():
            self._is_done = True
            send(connection, "done")

    def _be_ready(self, connection: Any) -> None:
        send(connection, "ready", host=self._host, port=self._free_port(), count=self._chosen.most)

    def _free_port(self) -> int:
        with suppress(OSError):
            return free_port(self._host)
        return free_port("")  # the address is another name of this machine

    def _start(self, start: Start) -> None:
        self._is_done = False
        self._workers = workers = Workers(self._chosen.log_dir)
        count = self._chosen.most
        for local in range(count):
            own = {**os.environ, **variables(self._chosen, start, count, local)}
            workers.start(self._command, start.first + local, local, own)

    def _end(self, seconds: float) -> None:
        if self._workers is not None:
            self._workers.stop(seconds)
            self._workers.close()
            self._workers = None
