"""One pass over a loader's data: in this process, or by workers, and ahead onto the device."""

from __future__ import annotations

import contextlib
import queue
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

from ..core.place import Place
from ..core.tracebacks import trim
from ..ir import recorder
from .dataloader.collate import to_tensors
from .fetching import Fetcher
from .seeding import batch_seeds, seeded
from .state import Progress


class InProcess:
    """Batches made here, when they are asked for."""

    def __init__(self, fetcher: Fetcher, orders: Iterator[Any], progress: Progress) -> None:
        self.fetcher = fetcher
        self.orders = orders
        self.seeds = progress.seeds
        self.number = progress.position
        with seeded(batch_seeds(self.seeds, 0)):  # the beginning of a stream may draw, too
            fetcher.restart()
        if fetcher.stream is not None:
            for number in range(progress.position):
                with seeded(batch_seeds(self.seeds, 0, number)):
                    fetcher.skip()

    def next_batch(self) -> tuple[Any, bool]:
        """The batch, and whether its arrays are ours."""
        indices = None if self.fetcher.stream is not None else next(self.orders)
        position = (0, self.number) if indices is None else (self.number,)
        with seeded(batch_seeds(self.seeds, *position)):
            batch = self.fetcher.fetch(indices)
        self.number += 1
        return batch, self.fetcher.collate_fn is None and self.fetcher.in_batches

    def close(self) -> None:
        self.orders = iter(())


class FromWorkers:
    """Batches made by workers, which take turns: so the order is that of the sampler, and a worker's share is fixed."""

    def __init__(
        self, pool: Any, is_stream: bool, orders: Iterator[Any], progress: Progress, prefetch_factor: int, keep_pool: bool,
        ahead: Ahead | None,
    ) -> None:  # fmt: skip
        self.pool = pool
        self.is_stream = is_stream
        self.orders = orders
        self.keep_pool = keep_pool
        self.ahead = ahead
        self.number = progress.position
        self.num_expected = 0
        self.expected: deque[int] = deque()  # whose answer comes next
        pool.begin_epoch(progress.seeds)
        num_workers = len(pool.workers)
        first = 0 if is_stream else progress.position % num_workers
        for turn in range(num_workers * prefetch_factor):
            self._request((first + turn) % num_workers)
        if is_stream:
            # Streams may be of different lengths: only replaying tells which batches were handed out.
            for _ in range(progress.position):
                self.next_batch()

    def _request(self, worker: int) -> None:
        if self.is_stream:
            indices = None
        else:
            try:
                indices = next(self.orders)
            except StopIteration:
                return
        self.pool.request(worker, self.number, indices)
        self.number += 1
        self.num_expected += 1
        if self.ahead is None:
            self.expected.append(worker)
        else:
            self.ahead.expect(worker)

    def next_batch(self) -> tuple[Any, bool]:
        self.pool.check_process()
        while self.num_expected:
            self.num_expected -= 1
            if self.ahead is None:
                worker = self.expected.popleft()
                is_batch, batch = self.pool.receive(worker)
            else:
                worker, is_batch, batch = self.ahead.take()
            if is_batch:
                self._request(worker)
                return batch, True
        raise StopIteration

    def close(self) -> None:
        self.num_expected = 0
        if not self.pool.is_own():
            return  # a forked process: threads and workers are the parent's
        if self.ahead is not None:
            self.ahead.close()
        if not self.keep_pool:
            self.pool.close()


class Ahead:
    """A thread that takes batches from workers and puts them on the device while the program computes.

    Only for places other than the CPU: there a batch is ready where it lies. It touches no dataset or sampler.
    """

    def __init__(self, pool: Any, place: Place, num_batches: int) -> None:
        self.pool = pool
        self.place = place
        self.turns: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self.ready: queue.Queue[tuple[int, bool, Any, BaseException | None]] = queue.Queue(max(1, num_batches))
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, name="DataLoader device prefetch", daemon=True)
        self.thread.start()

    def expect(self, worker: int) -> None:
        self.turns.put(worker)

    def take(self) -> tuple[int, bool, Any]:
        worker, is_batch, batch, error = self.ready.get()
        if error is not None:
            raise error
        return worker, is_batch, batch

    def close(self) -> None:
        self.stopped.set()
        self.turns.put(None)
        if threading.current_thread() is self.thread:
            return  # the garbage collector came by here: the thread ends at its next look
        while self.thread.is_alive():
            with contextlib.suppress(queue.Empty):
                self.ready.get_nowait()  # it may wait for room
            self.thread.join(0.02)

    def _run(self) -> None:
        while True:
            worker = self.turns.get()
            if worker is None or self.stopped.is_set():
                return
            try:
                is_batch, batch = self.pool.receive(worker, self.stopped)
                answer = (worker, is_batch, to_tensors(batch, self.place, True), None)
            except BaseException as error:  # for the thread that asked
                answer = (worker, False, None, error)
            self.ready.put(answer)


class Epoch:
    """What `iter(loader)` gives: tensors on the loader's place, counted as they are handed out."""

    def __init__(
        self, source: InProcess | FromWorkers, progress: Progress, place: Place, length: int | None, loader: Any
    ) -> None:
        self._source = source
        self._loader = loader  # whose workers end with it: a loader that nobody else holds lives as long as its loop
        self._progress = progress
        self._place = place
        self._length = length
        self._finish = weakref.finalize(self, source.close)

    def __iter__(self) -> Epoch:
        return self

    def __len__(self) -> int:
        if self._length is None:
            raise TypeError("(DataLoader) a stream has no length.")
        return self._length

    def __next__(self) -> Any:
        if not self._finish.alive:
            raise StopIteration
        try:
            batch, owned = self._source.next_batch()
        except StopIteration:
            self._progress.finished = True
            self.close()
            raise
        except BaseException as failure:
            self.close()
            trim(failure)
            raise
        if recorder.LOCAL.segment.stepped:
            recorder.boundary()  # new data: the step before is complete
        tensors = to_tensors(batch, self._place, owned)
        self._progress.position += 1
        return tensors

    next = __next__

    def is_over(self) -> bool:
        """Whether there is nothing more to come, be it at the end, after an error or by `close`."""
        return not self._finish.alive

    def close(self) -> None:
        """Ends the pass early; happens by itself when nobody holds the iterator any more."""
        self._finish()
        self._loader = None
