"""Table servers as actors of Ray: where they run, how they are found, how they come back.

The first server's process starts Ray at its own address (`PADDLE_PSERVERS_IP_PORT_LIST`) unless RAY_ADDRESS names a cluster
that exists; the others join. An actor that dies is started again by Ray and recovers from its folder; a server's process
that dies finds its actor by its name.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from ...framework.writing import replacing
from .client import Unavailable
from .server import TableServer

_NAMESPACE = "proa"
_CALL_SECONDS = 120.0


def require_ray() -> Any:
    """Ray, or an error that says how to get it."""
    # Ray tells its makers about every cluster unless it is told not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    if os.environ["RAY_AUTH_MODE"] == "token" and not {"RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys():
        os.environ["RAY_AUTH_TOKEN_PATH"] = _token_file()
    try:
        import ray  # type: ignore[import-not-found]
    except ImportError as error:
        raise ImportError(
            "(fleet) parameter servers need Ray and LMDB, which are not installed; pip install 'proa[ps]'."
        ) from error
    return ray


def _token_file() -> str:
    """The secret that the processes of this user's jobs on this machine share: who can talk to Ray can run code there.

    Jobs on several machines are given one by RAY_AUTH_TOKEN.
    """
    path = os.path.join(tempfile.gettempdir(), f"proa-ray-{os.getuid()}.token")
    if not os.path.exists(path):
        descriptor, own = tempfile.mkstemp(dir=tempfile.gettempdir())  # readable by this user alone
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32))
        with contextlib.suppress(FileExistsError):  # another process of the job was quicker
            os.link(own, path)
        os.unlink(own)
    status = os.lstat(path)
    if status.st_uid != os.getuid() or not stat.S_ISREG(status.st_mode) or status.st_mode & 0o077:
        raise PermissionError(
            f"(fleet) {path!r} must be a file that only this user can read; remove it, or set RAY_AUTH_TOKEN."
        )
    return path


class Head:
    """A Ray of our own, which the first server's process starts and ends; one that is started again finds it."""

    def __init__(self, address: str, memory: int = 256 << 20) -> None:
        require_ray()
        host, _, port = address.rpartition(":")
        self._note = os.path.join(tempfile.gettempdir(), f"proa-ray-{os.getuid()}-{port}.pid")
        self._output = f"{self._note}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._pid = self._running()
        if self._pid is None:
            command = [
                sys.executable, "-m", "ray.scripts.scripts", "start", "--head", f"--node-ip-address={host}",
                f"--port={port}", "--include-dashboard=false", "--num-cpus=1", f"--object-store-memory={memory}", "--block",
                "--disable-usage-stats",
            ]  # fmt: skip
            with open(self._output, "wb") as output:  # it would stand among the server's; when Ray fails, it is shown
                self._process = subprocess.Popen(
                    command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True
                )
            self._pid = self._process.pid
            with replacing(os.path.realpath(self._note)) as note:
                note.write(str(self._pid).encode())

    def _running(self) -> int | None:
        """The Ray that a process before this one started, if it still runs."""
        with contextlib.suppress(OSError, ValueError):
            with open(self._note, encoding="ascii") as note:
                pid = int(note.read())
            with open(f"/proc/{pid}/cmdline", "rb") as command:
                return pid if b"ray.scripts" in command.read() else None
        return None

    def check(self) -> None:
        """Raises if Ray has ended."""
        if self._process is not None and self._process.poll() is not None:
            with open(self._output, encoding="utf-8", errors="replace") as output:
                raise RuntimeError(f"(fleet.run_server) Ray did not start: {output.read()[-2000:]}")

    def stop(self) -> None:
        """Ends Ray and everything it has started."""
        assert self._pid is not None
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                (os.kill if number == signal.SIGTERM else os.killpg)(self._pid, number)
            until = time.monotonic() + 20
            while self._is_alive() and time.monotonic() < until:
                time.sleep(0.1)
        for path in (self._note, self._output):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    def _is_alive(self) -> bool:
        return self._process.poll() is None if self._process is not None else self._running() is not None


def connect(address: str, seconds: float = 120.0, check: Callable[[], None] = lambda: None) -> None:
    """Joins the Ray at an address, which may still be starting."""
    ray = require_ray()
    if ray.is_initialized():
        return
    address = os.environ.get("RAY_ADDRESS") or address
    host, _, port = address.rpartition(":")
    until = time.monotonic() + seconds
    while True:
        check()
        try:
            socket.create_connection((host, int(port)), timeout=2).close()
            # Its messages about restarts belong to its own logs.
            ray.init(address=address, namespace=_NAMESPACE, log_to_driver=False, logging_level="ERROR")
            return
        except (OSError, ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            if time.monotonic() > until:
                raise RuntimeError(
                    f"(fleet) no Ray answers at {address} within {seconds:.0f} s; received: {str(error)[:300]}; start the "
                    "servers, or on another machine `ray start --address=" + address + "`."
                ) from error
            time.sleep(0.3)


def disconnect() -> None:
    """Leaves Ray, which goes on."""
    require_ray().shutdown()


def start_server(number: int, folder: str | None, sync: bool = False) -> RayServer:
    """Server `number`, as an actor that is started again when it dies; the one that is there, if there is one."""
    ray = require_ray()
    actor = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=0)(TableServer)
    actor.options(name=_name(number), lifetime="detached", get_if_exists=True).remote(folder, sync)
    return RayServer(number)


def _name(number: int) -> str:
    return f"table-server-{number}"


class RayServer:
    """A server that is an actor."""

    def __init__(self, number: int, seconds: float = 120.0) -> None:
        self._number = number
        self._actor = self._found(seconds)

    def _found(self, seconds: float) -> Any:
        ray = require_ray()
        until = time.monotonic() + seconds
        while True:
            try:
                return ray.get_actor(_name(self._number), namespace=_NAMESPACE)
            except ValueError as error:
                if time.monotonic() > until:
                    raise RuntimeError(
                        f"(fleet.init_worker) table server {self._number} did not appear within {seconds:.0f} s; see "
                        "whether its process is running."
                    ) from error
                time.sleep(0.2)

    def call(self, method: str, *arguments: Any) -> Callable[[], Any]:
        ray = require_ray()
        lost = (ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError, ray.exceptions.GetTimeoutError)
        try:
            reference = getattr(self._actor, method).remote(*arguments)
        except lost as error:
            raise Unavailable(str(error)[:300]) from error

        def wait() -> Any:
            try:
                return ray.get(reference, timeout=_CALL_SECONDS)
            except lost as error:
                raise Unavailable(f"server {self._number}: {str(error)[:300]}") from error

        return wait

    def stop(self) -> None:
        """Closes the server for good."""
        ray = require_ray()
        with contextlib.suppress(Unavailable):
            self.call("close")()
        ray.kill(self._actor, no_restart=True)
