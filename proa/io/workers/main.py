"""The loop of a worker process: it makes the batches it is asked for."""

# ruff: noqa: NPY002 - the global state is what Paddle draws from, and what users seed

from __future__ import annotations

import pickle
import random
import traceback
from multiprocessing import connection, process, reduction
from typing import Any

import numpy as np

from ...core.generator import default_generator
from ...core.tracebacks import trim_to_show
from ..dataloader.worker import WorkerInfo, set_worker_info
from ..fetching import Fetcher
from ..seeding import Seeds, apply_seeds, batch_seeds
from . import hygiene
from .packing import pack
from .segments import Store


class Job:
    """Everything a worker needs, decided by the parent before it starts."""

    def __init__(
        self, number: int, num_workers: int, fetcher: Fetcher, seed: int, initialise: Any, inline_limit: int | None,
        copies: hygiene.HostCopies,
    ) -> None:  # fmt: skip
        self.number = number
        self.num_workers = num_workers
        self.fetcher = fetcher
        self.seed = seed
        self.initialise = initialise
        self.inline_limit = inline_limit  # how long a message may be at most; None: no shared memory
        self.copies = copies


def worker_main(job: Job, tasks: connection.Connection, results: connection.Connection) -> None:
    """Answers requests until the parent closes its end or is gone."""
    # A daemon may have no children, but a dataset may well use a loader or a pool of its own.
    process.current_process()._config["daemon"] = False  # pyright: ignore[reportAttributeAccessIssue]
    hygiene.after_fork(job.copies)
    try:
        _Worker(job, tasks, results).run()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is done, or dead
    except KeyboardInterrupt:
        pass


class _Worker:
    def __init__(self, job: Job, tasks: connection.Connection, results: connection.Connection) -> None:
        self.job = job
        self.tasks = tasks
        self.results = results
        self.fetcher = job.fetcher
        self.store = Store()
        self.broken: BaseException | None = None  # why no batch can be made at all
        self.streams: set[str] = {"numpy", "python", "paddle"}

    def run(self) -> None:
        self._initialise()
        epoch, seeds, count = -1, {}, 0
        while True:
            task = self.tasks.recv()
            if task[0] == "epoch":
                _, epoch, seeds = task
                self._start_epoch(seeds)
                count = 0
                continue
            _, number, indices, returned, forgotten = task
            self.store.give_back(returned, forgotten)
            # A stream's batches are counted by worker, as the streams differ; others by their place in the epoch.
            position = (self.job.number, count) if indices is None else (number,)
            self._answer(epoch, number, indices, batch_seeds(seeds, *position))
            count += 1

    def _initialise(self) -> None:
        job = self.job
        set_worker_info(WorkerInfo(job.number, job.num_workers, job.fetcher.dataset, job.seed))
        apply_seeds(batch_seeds({"numpy": job.seed, "python": job.seed, "paddle": job.seed}, job.number))
        if job.initialise is None:
            return
        before = _fingerprints()
        try:
            job.initialise(job.number)
        except BaseException as error:
            self.broken = error
        # A stream that the user has seeded here is the user's: it is not seeded again before each batch.
        after = _fingerprints()
        self.streams = {stream for stream in before if before[stream] == after[stream]}

    def _start_epoch(self, seeds: Seeds) -> None:
        if self.broken is not None:
            return
        try:
            self._seed(batch_seeds(seeds, self.job.number))  # the beginning of a stream may draw, too
            self.fetcher.restart()
        except Exception as error:
            self.broken = error

    def _seed(self, seeds: Seeds) -> None:
        apply_seeds({stream: seed for stream, seed in seeds.items() if stream in self.streams})

    def _answer(self, epoch: int, number: int, indices: Any, seeds: Seeds) -> None:
        store = self.store
        try:
            if self.broken is not None:
                raise self.broken
            self._seed(seeds)
            store.begin()
            batch = self.fetcher.fetch(indices, np.empty if self.job.inline_limit is None else store.allocate)
            header, buffers = pack(batch)
        except StopIteration:
            self.results.send(("end", epoch, number))
            return
        except Exception as error:
            self.results.send(("error", epoch, number, *describe(error)))
            return
        if self.job.inline_limit is None:
            self.results.send(("inline", epoch, number, header, buffers))
            return
        if len(header) > self.job.inline_limit:
            # Answers stay short: then no answer waits for a reader, and the parent never waits for us to take a task.
            buffers.append(np.frombuffer(header, np.uint8))
            header = None
        segment, spans, is_new = store.place(buffers)
        if segment is None:
            self.results.send(("inline", epoch, number, header, []))
            return
        self.results.send(("data", epoch, number, header, segment.number, segment.num_bytes if is_new else 0, spans))
        if is_new:
            reduction.send_handle(self.results, segment.descriptor, None)  # pyright: ignore[reportArgumentType]
            segment.close_descriptor()


def _fingerprints() -> dict[str, Any]:
    state: Any = np.random.get_state()
    return {
        "numpy": (state[1].tobytes(), state[2]),
        "python": random.getstate(),
        "paddle": default_generator.get_state(),
    }


def describe(error: BaseException) -> tuple[bytes | None, str, str, str, str]:
    """An exception for another process: its pickle if it has one, module and name of its type, its words, its traceback."""
    try:
        data = pickle.dumps(error)
        if len(data) > 16_384 or type(pickle.loads(data)) is not type(error):
            data = None
    except Exception:
        data = None
    trim_to_show(error)
    trace = "".join(traceback.format_exception(error))
    if len(trace) > 8192:
        trace = trace[:4096] + "\n    …\n" + trace[-4096:]
    kind = type(error)
    return data, kind.__module__, kind.__qualname__, str(error)[:4096], trace
