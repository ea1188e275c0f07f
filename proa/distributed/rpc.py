"""`paddle.distributed.rpc`: functions called in another process of the job, by its name.

Calls go over the standard library's authenticated connections (`multiprocessing.connection`): who does not know the job's
key is refused before anything that it sent is unpickled. The key is drawn by process 0, handed out through the job's store,
and mixed with `PROA_JOB_KEY`, which the launcher draws for its processes (on several machines: set it yourself
to the same secret). Functions are sent by their names, so both sides must be able to import them.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import pickle
import secrets
import socket
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Listener, answer_challenge, deliver_challenge
from typing import Any

from ..core import job
from ..core.errors import message, runtime_error, value_error
from ..core.tracebacks import boundary
from .environment import init_parallel_env
from .transport import store

_THREADS = 16  # calls of this process that may be under way at the same time


@dataclass(frozen=True)
class WorkerInfo:
    """A process that takes part: its name, its number, and where it listens."""

    name: str
    rank: int
    ip: str
    port: int

    def __repr__(self) -> str:
        return f"{{name: {self.name}, rank: {self.rank}, ip: {self.ip}, port: {self.port}}}"


class Future:
    """The result of a call that was begun; `wait()` gives it, or raises what the function raised."""

    def __init__(self, inner: concurrent.futures.Future[Any]) -> None:
        self._inner = inner

    def wait(self) -> Any:
        return self._inner.result()

    def done(self) -> bool:
        return self._inner.done()


class _Agent:
    """This process's side: it answers calls, and makes them."""

    def __init__(self, own: WorkerInfo, listener: Listener, key: bytes) -> None:
        self.own, self.listener, self.key = own, listener, key
        self.workers: dict[str, WorkerInfo] = {}
        self.pool = concurrent.futures.ThreadPoolExecutor(_THREADS, "rpc")
        self._kept = threading.local()
        threading.Thread(target=self._listen, daemon=True, name="rpc listener").start()

    def _listen(self) -> None:
        while True:
            try:
                connection = self.listener.accept()
            except OSError:
                if getattr(self.listener, "_listener", None) is None:  # it was closed
                    return
                continue
            threading.Thread(target=_serve, args=(connection, self.key), daemon=True, name="rpc server").start()

    def call(self, worker: WorkerInfo, request: bytes, seconds: float | None) -> Any:
        """In a thread of the pool: sends a call and waits for its answer."""
        connections: dict[Any, Any] = vars(self._kept)  # by worker
        connection: Any = connections.pop(worker, None)
        try:
            if connection is None:
                connection = Client((worker.ip, worker.port), authkey=self.key)
            connection.send_bytes(request)
            if not connection.poll(seconds):
                raise TimeoutError(message("rpc", f"{worker.name} has not answered within {seconds:g} s"))
            succeeded, result = connection.recv()
        except (EOFError, ConnectionError) as error:
            raise runtime_error(
                "rpc", f"{worker.name} has ended or cannot be reached: {error!r}", f"{worker!r}"
            ) from None
        connections[worker] = connection
        if succeeded:
            return result
        raise result

    def close(self) -> None:
        self.pool.shutdown(wait=True)
        self.listener.close()
        # The listener's thread waits in accept(), which only a connection ends.
        try:
            socket.create_connection((self.own.ip, self.own.port), 1).close()
        except OSError:
            return


def _serve(connection: Any, key: bytes) -> None:
    """Answers the calls of one connection, one after another.

    Both sides prove that they know the key here, in the connection's own thread: a silent stranger holds up nobody.
    """
    try:
        deliver_challenge(connection, key)
        answer_challenge(connection, key)
    except (AuthenticationError, EOFError, OSError):
        connection.close()
        return
    while True:
        try:
            function, arguments, named = connection.recv()
        except EOFError:
            return
        except Exception as error:  # what was sent cannot be unpickled here
            connection.send((False, _portable(error)))
            continue
        try:
            answer = (True, function(*arguments, **named))
        except Exception as error:
            answer = (False, _portable(error))
        try:
            connection.send(answer)
        except OSError:
            return
        except Exception as error:  # a result that cannot be pickled
            connection.send((False, _portable(error)))


def _portable(error: Exception) -> Exception:
    """An exception that can travel, with the other side's traceback in its notes."""
    error.add_note("in the process that was called:\n" + traceback.format_exc().rstrip())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return error


_state: dict[str, _Agent | None] = {"agent": None}


def _agent(where: str) -> _Agent:
    agent = _state["agent"]
    if agent is None:
        raise runtime_error(where, "this process takes no part in calls", fix="call rpc.init_rpc(name) first")
    return agent


@boundary
def init_rpc(
    name: str, rank: int | None = None, world_size: int | None = None, master_endpoint: str | None = None
) -> None:
    """Takes part under a name. All processes of the job call this, and it ends when all have.

    Without `rank`, `world_size` and `master_endpoint` they are those of the launcher.

    Args:
        name: what this process is called.
        rank: its number.
        world_size: how many processes there are.
        master_endpoint: where they meet, as "host:port".

    Raises:
        RuntimeError: it takes part already.
        ValueError: two processes have one name.

    Examples:
        >>> paddle.distributed.rpc.init_rpc("worker0")
        >>> paddle.distributed.rpc.rpc_sync("worker0", max, (2, 3))
        3
        >>> paddle.distributed.rpc.shutdown()
    """
    if _state["agent"] is not None:
        raise runtime_error("init_rpc", f"this process takes part already, as {_agent('init_rpc').own.name}")
    for variable, value in ((job.RANK, rank), (job.SIZE, world_size), (job.MASTER, master_endpoint)):
        if value is not None and not job.is_joined():
            os.environ[variable] = str(value)
    init_parallel_env()
    host, port = _endpoint()
    key = _key()
    listener = Listener((host, port), backlog=64)
    own = WorkerInfo(name, job.rank(), host, listener.address[1])  # type: ignore[misc]
    agent = _Agent(own, listener, key)
    everybody = [own]
    if job.size() > 1:
        store.put(f"rpc/{own.rank}", json.dumps([own.name, own.rank, own.ip, own.port]).encode())
        told = [store.take(f"rpc/{other}", job.milliseconds_to_wait()) for other in range(job.size())]
        everybody = [WorkerInfo(*json.loads(text)) for text in told]
    agent.workers = {worker.name: worker for worker in everybody}
    if len(agent.workers) != len(everybody):
        agent.close()
        raise value_error("init_rpc", "every process needs a name of its own", f"{[each.name for each in everybody]}")
    _state["agent"] = agent


def _endpoint() -> tuple[str, int]:
    """Where this process listens: `PADDLE_WORKER_ENDPOINT`, or the address by which it reaches process 0."""
    given = os.environ.get("PADDLE_WORKER_ENDPOINT")
    if given:
        host, _, port = given.rpartition(":")
        return host, int(port)
    master = (os.environ.get(job.MASTER) or "127.0.0.1:1").rpartition(":")[0].removeprefix("tcp://")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:  # nothing is sent
        probe.connect((master, 1))
        return probe.getsockname()[0], 0


def _key() -> bytes:
    drawn = secrets.token_bytes(32)
    if job.size() > 1:
        if job.rank() == 0:
            store.put("rpc/key", drawn)
        drawn = store.take("rpc/key", job.milliseconds_to_wait())
    return hashlib.sha256(drawn + store.job_key()).digest()


@boundary
def rpc_async(
    to: str, fn: Callable[..., Any], args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
    timeout: float = -1,
) -> Future:  # fmt: skip
    """Begins `fn(*args, **kwargs)` in the process called `to`; `timeout` in seconds (0 or less: none).

    Args:
        to: the name of a process.
        fn: a function that both processes can import.
        args: its arguments.
        kwargs: its named arguments.
        timeout: how long it may take.

    Returns:
        A future: `wait()` gives the result, or raises what the function raised.

    Examples:
        >>> paddle.distributed.rpc.init_rpc("worker0")
        >>> future = paddle.distributed.rpc.rpc_async("worker0", max, (2, 3))
        >>> future.wait()
        3
        >>> paddle.distributed.rpc.shutdown()
    """
    agent = _agent("rpc_async")
    worker = get_worker_info(to)
    request = pickle.dumps((fn, tuple(args or ()), dict(kwargs or {})))  # now: arguments may change afterwards
    seconds = timeout if timeout and timeout > 0 else None
    return Future(agent.pool.submit(agent.call, worker, request, seconds))


@boundary
def rpc_sync(
    to: str, fn: Callable[..., Any], args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
    timeout: float = -1,
) -> Any:  # fmt: skip
    """The result of `fn(*args, **kwargs)` in the process called `to`.

    Args:
        to: the name of a process.
        fn: a function that both processes can import.
        args: its arguments.
        kwargs: its named arguments.
        timeout: how many seconds it may take (0 or less: any number).

    Examples:
        >>> paddle.distributed.rpc.init_rpc("worker0")
        >>> paddle.distributed.rpc.rpc_sync("worker0", sorted, ([3, 1, 2],))
        [1, 2, 3]
        >>> paddle.distributed.rpc.shutdown()
    """
    return rpc_async(to, fn, args, kwargs, timeout).wait()


def get_worker_info(name: str) -> WorkerInfo:
    """The process of that name.

    Raises:
        ValueError: there is none.

    Examples:
        >>> paddle.distributed.rpc.init_rpc("worker0")
        >>> paddle.distributed.rpc.get_worker_info("worker0").rank
        0
        >>> paddle.distributed.rpc.shutdown()
    """
    workers = _agent("get_worker_info").workers
    if name not in workers:
        raise value_error("get_worker_info", f"the processes are called {', '.join(workers)}", f"name: {name!r}")
    return workers[name]


def get_all_worker_infos() -> list[WorkerInfo]:
    """All processes, by their numbers.

    Examples:
        >>> paddle.distributed.rpc.init_rpc("worker0")
        >>> [worker.name for worker in paddle.distributed.rpc.get_all_worker_infos()]
        ['worker0']
        >>> paddle.distributed.rpc.shutdown()
    """
    return sorted(_agent("get_all_worker_infos").workers.values(), key=lambda worker: worker.rank)


def get_current_worker_info() -> WorkerInfo:
    """This process.

    Examples:
        >>> paddle.distributed.rpc.init_rpc("worker0")
        >>> paddle.distributed.rpc.get_current_worker_info().name
        'worker0'
        >>> paddle.distributed.rpc.shutdown()
    """
    return _agent("get_current_worker_info").own


@boundary
def shutdown() -> None:
    """Takes no part any more. It waits for this process's own calls, then for all processes to come here.

    Examples:
        >>> paddle.distributed.rpc.init_rpc("worker0")
        >>> paddle.distributed.rpc.shutdown()
        >>> paddle.distributed.rpc.get_all_worker_infos()
        Traceback (most recent call last):
            ...
        RuntimeError: (get_all_worker_infos) this process takes no part in calls; call rpc.init_rpc(name) first.
    """
    agent = _state["agent"]
    if agent is None:
        return
    agent.pool.shutdown(wait=True)
    if job.size() > 1:
        store.meet("rpc.shutdown", "rpc/shutdown", range(job.size()), job.milliseconds_to_wait())
    agent.close()
    _state["agent"] = None


__all__ = [
    "get_all_worker_infos", "get_current_worker_info", "get_worker_info", "init_rpc", "rpc_async", "rpc_sync", "shutdown",
]  # fmt: skip
