"""Exchanging arrays between processes: small compiled programs over the devices of some of them.

Each process gives an array of its own; together they are one array that is divided among the devices, for which XLA has
collectives (Gloo on CPUs, NCCL on GPUs). Programs are kept by what they do, shape and dtype. On a CPU arrays are flattened
first, which costs nothing there and saves programs.

Order. A `Line` is an ordered tuple of processes with a communicator of its own. Its calls run one after another in a thread
of its own, so that none can overtake another; they are matched among processes by their order, as in NCCL. Whoever waits,
waits in Python: it can be interrupted, and says who is missing after `PADDLE_PG_TIMEOUT`. The two directions between two
processes are two lines, so messages may cross.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import job
from ...core.errors import message
from ...core.locks import new_lock
from ...core.waiting import waiting
from ...ir.xla import started_jax
from . import store

# Seconds after which a process that waits lets the others know where it is.
_PATIENCE = 2.0
AXIS = "processes"


class Call:
    """An exchange that was begun; `wait` gives its result."""

    def __init__(self, line: Line, name: str, shown: str, work: Callable[[], Any]) -> None:
        self.line, self.name, self.shown, self.work = line, name, shown, work
        self.number = -1
        self.result: Any = None
        self.error: BaseException | None = None
        self.finished = threading.Event()

    def run(self) -> None:
        """In the line's thread."""
        try:
            self.line.open(self.name)
            self.result = self.work()
        except BaseException as error:
            self.error = error
        self.work = _done
        self.finished.set()

    def wait(self, milliseconds: int | None = None) -> Any:
        """The result; TimeoutError where the others have not come in time, RuntimeError where one of them is gone."""
        limit = milliseconds or self.line.milliseconds or job.milliseconds_to_wait()
        if not self.finished.wait(min(_PATIENCE, limit / 1000)):
            place = f"line/{self.line.name}/{self.number}"
            store.put(f"{place}/{job.rank()}", self.shown.encode())
            with waiting(f"waiting for other processes ({self.name} {self.shown})", "until they are here"):
                finished = self.finished.wait(max(0.0, limit / 1000 - _PATIENCE))
            if not finished:
                raise store.missing(self.name, place, self.line.ranks, limit, self.shown)
        if self.error is not None:
            raise _explained(self.error, self)
        return self.result


def _done() -> None:
    return None


def _explained(error: BaseException, call: Call) -> BaseException:
    text = str(error)
    if "Gloo" not in text and "NCCL" not in text and "UNAVAILABLE" not in text:
        return error
    if job.is_launched():
        # The launcher ends this process as soon as it sees the one that failed, whose message should be the first.
        time.sleep(_PATIENCE)
    return RuntimeError(
        message(
            call.name,
            f"another process has ended or cannot be reached: {text.splitlines()[0][:300]}",
            f"{call.shown} in a group of processes {', '.join(map(str, call.line.ranks))}",
            "look for the process that failed first, and what it said",
        )
    )


class Line:
    """An ordered tuple of processes that exchange arrays, and the thread in which they do."""

    def __init__(self, ranks: tuple[int, ...]) -> None:
        self.ranks = ranks
        self.position = ranks.index(job.rank())
        self.name = "-".join(map(str, ranks))
        self.milliseconds: int | None = None  # how long a call may take, where a group says so
        self._last: Call | None = None
        self._count = 0
        self._lock = new_lock()
        self._calls: queue.SimpleQueue[Call] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._programs: dict[Any, Any] = {}
        self._is_open = self._is_connected = False
        self._sharding: Any = None

    def begin(self, name: str, shown: str, work: Callable[[], Any]) -> Call:
        """Puts an exchange into the line."""
        call = Call(self, name, shown, work)
        job.go_on()
        with self._lock:
            call.number = self._count
            self._count += 1
            self._calls.put(call)
            self._last = call
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, daemon=True, name=f"exchange {self.name}")
                self._thread.start()
        return call

    def _serve(self) -> None:
        while True:
            call = self._calls.get()
            call.run()
            del call  # which may hold large arrays

    def open(self, where: str) -> None:
        """Waits for the others before the first exchange: making the communicator has a short time limit of its own."""
        if not self._is_open:
            store.meet(where, f"open/{self.name}", self.ranks, job.milliseconds_to_wait())
            jax = started_jax()
            first: dict[int, Any] = {}
            for device in jax.devices():
                first.setdefault(device.process_index, device)
            mesh = jax.sharding.Mesh(np.array([first[rank] for rank in self.ranks]), (AXIS,))
            self._sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(AXIS))
            self._is_open = True

    def run(self, kind: Any, body: Callable[[Any], Any], value: Any) -> Any:
        """What `body`, a function of this process's flat array that uses JAX's collectives over `AXIS`, gives here.

        It is traced once for each `kind`, shape and dtype.
        """
        jax = started_jax()
        device = self._sharding.mesh.devices.flat[self.position]
        local = value
        if device.platform == "cpu" and (value.ndim != 1 or value.__class__ is np.ndarray):
            local = np.ascontiguousarray(value).reshape(-1)
        local = jax.device_put(local if local.shape else local.reshape(1), device)
        program = self._programs.get(kind)
        if program is None:
            program = self._programs[kind] = jax.jit(
                jax.shard_map(
                    lambda x: body(x.reshape(-1)), mesh=self._sharding.mesh, in_specs=self._sharding.spec,
                    out_specs=self._sharding.spec, check_vma=False,
                )
            )  # fmt: skip
        shape = (local.shape[0] * len(self.ranks), *local.shape[1:])
        whole = jax.make_array_from_single_device_arrays(shape, self._sharding, [local])
        with contextlib.nullcontext() if self._is_connected else _GREETINGS:
            result = program(whole).addressable_shards[0].data.block_until_ready()
        self._is_connected = True
        return result

    def shaped(self, result: Any, shape: Sequence[int]) -> Any:
        """A result in its shape; on a CPU, the same memory seen by NumPy."""
        if result.shape == tuple(shape):
            return result
        on_host = self._sharding.mesh.devices.flat[self.position].platform == "cpu"
        return (np.asarray(result) if on_host else result).reshape(shape)

    def forget_programs(self) -> None:
        """Behind the calls that were begun."""
        self.begin("shutdown_process_group", "", self._programs.clear).wait()

    def drain(self) -> None:
        """Waits for the last call that was begun: a message may still be on its way when the process ends."""
        if self._last is not None and not job.State.status:
            self._last.finished.wait(job.milliseconds_to_wait() / 1000)

    def placed(self, array: np.ndarray) -> Any:
        """An array of the host's where this process's results lie."""
        device = self._sharding.mesh.devices.flat[self.position]
        return array if device.platform == "cpu" else started_jax().device_put(array, device)


class _Greetings:
    """Gloo greets on the standard output when it connects, where a program's results may be: that is taken out.

    Several threads may connect at once, and none can wait for another, which may wait for another process: the first one
    turns the output away, the last one turns it back.
    """

    def __init__(self) -> None:
        self._lock = new_lock()
        self._count = self._outside = self._held = 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._count:
                sys.stdout.flush()
                self._outside, self._held = os.dup(1), os.memfd_create("output")
                os.dup2(self._held, 1)
            self._count += 1

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._count -= 1
            if self._count:
                return
            os.dup2(self._outside, 1)
            os.close(self._outside)
            with open(self._held, "rb") as file:
                file.seek(0)
                os.write(1, re.sub(rb"\[Gloo\] [^\n]*\n", b"", file.read()))


_GREETINGS: Any = _Greetings() if hasattr(os, "memfd_create") else contextlib.nullcontext()


_LINES: dict[tuple[int, ...], Line] = {}
_MAKING = new_lock()


def line_of(ranks: Sequence[int]) -> Line:
    """The line of these processes, in this order; this one is among them."""
    key = tuple(ranks)
    found = _LINES.get(key)
    if found is None:
        with _MAKING:
            if not _LINES:
                atexit.register(_drain)
            found = _LINES.setdefault(key, Line(key))
    return found


def _drain() -> None:
    for line in list(_LINES.values()):
        line.drain()
