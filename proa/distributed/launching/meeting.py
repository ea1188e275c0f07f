"""The list of the machines that are there, and when their processes start and stop: `--nnodes MIN:MAX`.

One launcher keeps it, the one that listens at `--master`; every launcher, that one too, has a connection to it. What is said
are small JSON objects over `multiprocessing.connection`, which asks both sides for the job's key:

    launcher: ready (with its address and number of processes), failed, done
    list:     start (with the numbers of its processes), stop, end (with a status)

The processes are started when all who are there are ready and MAX have come, or MIN and nobody else for some time. They
are stopped, to be started anew, when one fails, a machine is lost, or another one comes.
"""

from __future__ import annotations

import json
import queue
import socket
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from typing import Any

_LONGEST = 1 << 16  # bytes of a message
_PAUSE = 0.2  # seconds between two looks at the clock


def send(connection: Any, kind: str, **more: Any) -> None:
    connection.send_bytes(json.dumps({"kind": kind, **more}).encode())


def receive(connection: Any) -> dict[str, Any]:
    """The next message; EOFError or OSError where the other side is gone, or speaks another language."""
    try:
        message = json.loads(connection.recv_bytes(_LONGEST))
    except ValueError as error:
        raise OSError("this is no message of a launcher") from error
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise OSError("this is no message of a launcher")
    return message


def notice_loss(connection: Any) -> None:
    """Lets the system ask now and then whether the other machine is still there."""
    with socket.socket(fileno=socket.dup(connection.fileno())) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


@dataclass(eq=False)
class _Machine:
    connection: Connection
    state: str = "ready"  # or working, stopping, done
    host: str = ""
    port: int = 0
    count: int = 0


class Meeting:
    """Kept in a thread of one launcher."""

    def __init__(self, listener: Listener, key: bytes, least: int, most: int, patience: float, restarts: int) -> None:
        self._listener, self._key = listener, key
        self._least, self._most, self._patience, self._restarts = least, most, patience, restarts
        self._machines: list[_Machine] = []
        self._events: queue.Queue[tuple[_Machine, dict[str, Any] | None]] = queue.Queue()
        self._number = 0  # of the next start
        self._is_running = False
        self._changed = time.monotonic()  # when a machine last came or went
        self._has_said = False
        self._thread = threading.Thread(target=self._keep, daemon=True)
        threading.Thread(target=self._accept, daemon=True).start()
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Waits until everybody was told that the job is over."""
        self._thread.join(seconds)

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except OSError:
                return  # it is closed
            threading.Thread(target=self._hear, args=(connection,), daemon=True).start()

    def _hear(self, connection: Connection) -> None:
        """One launcher, until its connection ends. Whoever does not know the key is not let in, and holds up nobody."""
        machine = _Machine(connection)
        is_known = False
        try:
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            notice_loss(connection)
            while True:
                message = receive(connection)
                is_known = True
                self._events.put((machine, message))
        except (AuthenticationError, EOFError, OSError):
            if is_known:
                self._events.put((machine, None))
            connection.close()

    def _keep(self) -> None:
        status = None
        while status is None:
            with suppress(queue.Empty):
                self._note(*self._events.get(timeout=_PAUSE))
            status = self._decide()
        for machine in self._machines:
            self._tell(machine, "end", status=status)
        self._listener.close()

    def _note(self, machine: _Machine, message: dict[str, Any] | None) -> None:
        if message is None:
            if machine in self._machines:
                self._machines.remove(machine)
                self._changed = time.monotonic()
                if machine.state != "ready":
                    self._break(f"the machine of {machine.host} is gone")
            return
        kind = message["kind"]
        if kind == "ready":
            machine.host, machine.port, machine.count = message["host"], message["port"], message["count"]
            machine.state = "ready"
            if machine not in self._machines:
                self._admit(machine)
        elif kind == "failed":
            machine.state = "stopping"
            self._break(f"a process on {machine.host} failed")
        elif kind == "done" and machine.state == "working":
            machine.state = "done"

    def _admit(self, machine: _Machine) -> None:
        if len(self._machines) >= self._most:
            self._tell(machine, "end", status=1, why=f"the job has its {self._most} machines already")
            return
        self._machines.append(machine)
        self._changed = time.monotonic()
        if self._is_running:
            self._stop()

    def _break(self, why: str) -> None:
        """A start that has failed; the first one to say so counts."""
        if self._is_running:
            self._restarts -= 1
            _say(f"{why}; {'all are started again' if self._restarts >= 0 else 'it was started often enough'}")
            self._stop()

    def _stop(self) -> None:
        self._is_running = False
        for machine in self._machines:
            if machine.state in ("working", "done"):
                machine.state = "stopping"
                self._tell(machine, "stop")

    def _decide(self) -> int | None:
        """Starts what can be started; the status of the job where it is over."""
        states = {machine.state for machine in self._machines}
        if self._restarts < 0:
            return 1
        if self._is_running:
            return 0 if states == {"done"} else None
        if not self._machines or states != {"ready"}:
            return None
        waited = time.monotonic() - self._changed >= self._patience
        if len(self._machines) >= self._most or (waited and len(self._machines) >= self._least):
            self._start()
        elif waited and not self._has_said:
            self._has_said = True
            _say(f"{len(self._machines)} of at least {self._least} machines are there; waiting for more")
        return None

    def _start(self) -> None:
        self._is_running, self._has_said = True, False
        first, total = 0, sum(machine.count for machine in self._machines)
        leader = self._machines[0]
        for node, machine in enumerate(self._machines):
            machine.state = "working"
            self._tell(
                machine, "start", number=self._number, first=first, total=total, node=node, nodes=len(self._machines),
                master=f"{leader.host}:{leader.port}",
            )  # fmt: skip
            first += machine.count
        self._number += 1

    @staticmethod
    def _tell(machine: _Machine, kind: str, **more: Any) -> None:
        with suppress(OSError):  # its end is noticed where it is heard
            send(machine.connection, kind, **more)


def _say(text: str) -> None:
    sys.stderr.write(f"launch: {text}.\n")
    sys.stderr.flush()
