"""The parent's side of the workers: starting, asking, listening, noticing a death, ending them."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import time
import warnings
import weakref
from multiprocessing import connection, get_context, reduction
from threading import Event
from typing import Any

from ...core.errors import message, runtime_error
from ...ir import recorder
from ..fetching import Fetcher
from ..seeding import Seeds
from . import hygiene
from .main import Job, worker_main
from .packing import unpack
from .segments import Mappings

_OWN_ENDS: weakref.WeakSet[Any] = weakref.WeakSet()  # every pool's ends of its pipes
_PATIENCE = 2.0  # seconds a worker has to end by itself, and then again after it was asked to

_LONG = 8192  # bytes of a request
_GLANCE = 0.1  # how often a thread that waits for a worker looks whether it shall stop


def _close_own_ends() -> None:
    """In a forked process, a worker or another: while it holds one of them, a worker never sees the end of the stream."""
    for end in list(_OWN_ENDS):
        end.close()
    _OWN_ENDS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_own_ends)


class _Handle:
    """One worker as the parent sees it."""

    def __init__(self, context: Any, job: Job, num_kept: int) -> None:
        self.number = job.number
        task_reader, self.tasks = context.Pipe(duplex=False)
        self.results, result_writer = context.Pipe(duplex=True)  # a socket: descriptors can be sent over it
        self.mappings = Mappings(num_kept)
        self.has_wide_pipe = False
        _OWN_ENDS.update((self.tasks, self.results))
        self.process = context.Process(
            target=worker_main, args=(job, task_reader, result_writer), daemon=True,
            name=f"DataLoader worker {job.number}",
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork")  # which forking.py takes care of
            self.process.start()
        task_reader.close()
        result_writer.close()

    def widen_pipe(self) -> None:
        """Makes room for long lists of indices: the parent shall not wait for a worker that waits for the parent."""
        self.has_wide_pipe = True
        if sys.platform == "linux":
            import fcntl

            with contextlib.suppress(OSError):
                fcntl.fcntl(self.tasks.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)

    def cause_of_death(self) -> str:
        self.process.join(1.0)
        code = self.process.exitcode
        if code is None or code >= 0:
            return f"it ended with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = "unknown"
        hint = "; SIGKILL often means that memory ran out" if name == "SIGKILL" else ""
        return f"it was killed by signal {-code} ({name}){hint}"


class WorkerPool:
    """`num_workers` processes that make batches on request; answers of one worker come in the order of its requests."""

    def __init__(
        self, fetcher: Fetcher, num_workers: int, seed: int, initialise: Any, prefetch_factor: int, shared: bool,
        timeout: float,
    ) -> None:  # fmt: skip
        self.owner = os.getpid()
        self.epoch = 0
        self.timeout = timeout
        self.is_open = True
        forks = sys.platform == "linux"
        context = get_context("fork" if forks else "spawn")
        recorder.flush_current()  # once here, instead of in each worker that needs it
        copies = hygiene.host_copies(fetcher.dataset, fetcher.collate_fn) if forks else []
        # A pipe holds 64 KiB: all answers that may wait in it have to fit.
        inline_limit = max(128, 32_768 // prefetch_factor) if shared and os.name == "posix" else None
        self.workers: list[_Handle] = []
        try:
            for number in range(num_workers):
                job = Job(number, num_workers, fetcher, seed, initialise, inline_limit, copies)
                self.workers.append(_Handle(context, job, prefetch_factor + 2))
        except BaseException:
            self.close()
            raise

    def is_own(self) -> bool:
        """Whether the workers are this process's, and not those of one that it was forked from."""
        return self.owner == os.getpid()

    def check_process(self) -> None:
        """RuntimeError where the workers are another process's."""
        if not self.is_own():
            raise runtime_error(
                "DataLoader", "workers answer the process that started them, and this one was forked from it",
                fix="make a new iterator here: iter(loader)",
            )  # fmt: skip

    def begin_epoch(self, seeds: Seeds) -> None:
        """From now on batches of a new epoch; answers that are still under way are forgotten when they arrive."""
        self.epoch += 1
        for worker in self.workers:
            self._send(worker, ("epoch", self.epoch, seeds))

    def request(self, worker_number: int, batch_number: int, indices: Any) -> None:
        worker = self.workers[worker_number]
        returned, forgotten = worker.mappings.take_returned()
        self._send(worker, ("batch", batch_number, indices, returned, forgotten))

    def _send(self, worker: _Handle, task: Any) -> None:
        # If it died, whoever waits for its answer says so, with the cause.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            data = reduction.ForkingPickler.dumps(task)
            if len(data) > _LONG and not worker.has_wide_pipe:
                worker.widen_pipe()
            worker.tasks.send_bytes(data)

    def receive(self, worker_number: int, stop: Event | None = None) -> tuple[bool, Any]:
        """The worker's next answer: True and a batch, or False at the end of its stream (or once `stop` is set)."""
        worker = self.workers[worker_number]
        while True:
            try:
                if not self._wait(worker, stop):
                    return False, None
                kind, epoch, _, *rest = worker.results.recv()
                batch = self._take(worker, rest, wanted=epoch == self.epoch) if kind == "data" else None
            except BaseException as error:
                # A dead worker, one that takes too long, Ctrl-C in the middle of an answer: no use listening on.
                self.close()
                is_cut_off = isinstance(error, (EOFError, OSError)) and worker.process.exitcode is not None
                raise (self._death(worker) if is_cut_off and not isinstance(error, TimeoutError) else error) from None
            if epoch != self.epoch:
                continue
            if kind == "end":
                return False, None
            if kind == "error":
                raise rebuild_error(worker.number, worker.process.pid, *rest)
            return True, unpack(*rest) if kind == "inline" else batch

    def _take(self, worker: _Handle, answer: Any, wanted: bool) -> Any:
        header, number, num_bytes, spans = answer
        if num_bytes:
            worker.mappings.add(number, num_bytes, reduction.recv_handle(worker.results))
        memory = worker.mappings.lease(number)
        if not wanted:
            return None
        buffers = [memory[start : start + length] for start, length in spans]
        if header is None:
            header = buffers.pop()
        return unpack(header, buffers)

    def _wait(self, worker: _Handle, stop: Event | None) -> bool:
        """Until the worker has answered; RuntimeError when any of them is dead. False if it was stopped."""
        if worker.results.poll(0):
            return True
        sentinels = {other.process.sentinel: other for other in self.workers}
        waiting = [worker.results, *sentinels]
        deadline = time.monotonic() + self.timeout if self.timeout else None
        while stop is None or not stop.is_set():
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if stop is not None:
                left = _GLANCE if left is None else min(left, _GLANCE)
            ready = connection.wait(waiting, left)
            if worker.results in ready:
                return True
            for sentinel in ready:
                raise self._death(sentinels[sentinel])  # pyright: ignore[reportArgumentType]
            if deadline is not None and time.monotonic() >= deadline:
                what = f"worker {worker.number} (pid {worker.process.pid}) made no batch within {self.timeout} seconds"
                fix = "look at what the dataset does, or set a longer timeout"
                raise TimeoutError(message("DataLoader", what, fix=fix))
        return False

    def _death(self, worker: _Handle) -> RuntimeError:
        what = f"worker {worker.number} (pid {worker.process.pid}) died: {worker.cause_of_death()}"
        return RuntimeError(
            message("DataLoader", what, fix="set num_workers=0 to see an error of the dataset in this process")
        )

    def close(self) -> None:
        """Ends the workers; those that do not end by themselves are made to."""
        if not self.is_open or not self.is_own():
            return
        self.is_open = False
        for worker in self.workers:
            worker.tasks.close()
            worker.results.close()
        for stop in (None, "terminate", "kill"):
            deadline = time.monotonic() + _PATIENCE
            for worker in self.workers:
                if stop is not None and worker.process.is_alive():
                    getattr(worker.process, stop)()
                worker.process.join(max(0.0, deadline - time.monotonic()))
            if not any(worker.process.is_alive() for worker in self.workers):
                break


def rebuild_error(
    worker: int, pid: int | None, data: bytes | None, module: str, name: str, words: str, trace: str
) -> BaseException:
    """The exception a worker raised: of the same type where it can be had, with the worker's traceback as a note."""
    error: BaseException | None = None
    if data is not None:
        try:
            error = pickle.loads(data)
        except Exception:
            error = None
    if not isinstance(error, BaseException):
        error = _local_error(module, name, words) or RuntimeError(f"(DataLoader) {module}.{name}: {words}")
    error.add_note(f"It was raised in DataLoader worker {worker} (pid {pid}):\n{trace.rstrip()}")
    return error


def _local_error(module: str, name: str, words: str) -> BaseException | None:
    """An exception whose type pickle cannot find (defined within a function) but this process has too."""
    waiting: list[type[BaseException]] = [Exception]
    while waiting:
        kind = waiting.pop()
        if kind.__module__ == module and kind.__qualname__ == name:
            error = kind.__new__(kind)
            error.args = (words,)
            return error
        waiting.extend(kind.__subclasses__())
    return None
