"""Requests that wait for a model, and the threads that run it: what waits together runs together.

A free thread takes the oldest request and all others of the same shape that fit into a batch. If the batch is not full, it
waits for more until the oldest request has waited as long as it may (`batch_delay_ms`). While all threads are busy, batches
fill by themselves. Rows are filled up to the next of a few sizes, each of which was compiled before the model was ready;
what is larger than a batch is cut into several.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.locks import new_condition
from .refusals import Closed, Kind, Refused
from .settings import ModelSettings
from .statistics import Statistics

logger = logging.getLogger("proa.serving")

Run = Callable[[Sequence[np.ndarray]], list[np.ndarray]]


class Request:
    """The tensors of a request in the model's order, and who waits for the results."""

    __slots__ = ("abandoned", "arrays", "arrived", "future", "key", "loop", "rows")

    def __init__(self, arrays: list[np.ndarray], batched: bool) -> None:
        self.arrays = arrays
        self.rows = len(arrays[0]) if batched else 1
        self.key = tuple([array.shape[1:] for array in arrays]) if batched else None
        self.arrived = time.perf_counter()
        self.abandoned = False
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[list[np.ndarray]] = self.loop.create_future()


def batch_sizes(most: int) -> list[int]:
    """The sizes that batches are filled up to: powers of two, and the largest one itself."""
    sizes = [1 << power for power in range(most.bit_length()) if 1 << power < most]
    return [*sizes, most]


class Scheduler:
    """The queue of one version of a model and its threads, one for each of the functions in `runs`."""

    def __init__(
        self, name: str, runs: Sequence[Run], settings: ModelSettings, batched: bool, statistics: Statistics
    ) -> None:
        self.name = name
        self.batched = batched
        self.statistics = statistics
        self.sizes = batch_sizes(settings.max_batch_size if batched else 1)
        self.num_running = 0  # requests that a thread has taken and not answered yet
        self._settings = settings
        self._queue: deque[Request] = deque()
        self._changed = new_condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, args=(run,), name=f"proa serves {name}", daemon=True) for run in runs
        ]
        for thread in self._threads:
            thread.start()

    @property
    def depth(self) -> int:
        """How many requests wait."""
        return len(self._queue)

    async def run(self, arrays: list[np.ndarray], timeout: float) -> list[np.ndarray]:
        """The results for a request; Refused if they cannot be had within `timeout` seconds."""
        request = Request(arrays, self.batched)
        with self._changed:
            if self._closed:
                raise Closed(f"{self.name} is being unloaded.")
            if len(self._queue) >= self._settings.max_queue:
                raise Refused(Kind.BUSY, f"{self._settings.max_queue} requests wait for {self.name}; ask again later.")
            self._queue.append(request)
            self._changed.notify()
        try:
            async with asyncio.timeout(timeout):
                return await request.future
        except TimeoutError:
            raise Refused(Kind.TOO_LATE, f"{self.name} gave no answer within {timeout:g} s.") from None
        finally:
            request.abandoned = True  # whoever runs it later need not

    def close(self) -> None:
        """Takes nothing more, finishes what waits, and ends the threads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    # ---- in the threads ----------------------------------------------------------------------------------------------

    def _work(self, run: Run) -> None:
        while (batch := self._take()) is not None:
            try:
                self._execute(run, batch)
            except BaseException as error:  # a thread that ends would leave everybody waiting
                logger.exception("%s: an execution was not finished", self.name)
                _deliver([(request, error) for request in batch])
            finally:
                with self._changed:
                    self.num_running -= len(batch)
            del batch

    def _take(self) -> list[Request] | None:
        """The next batch; None when the queue is closed and empty."""
        with self._changed:
            while True:
                while self._queue and self._queue[0].abandoned:
                    self._queue.popleft()
                if not self._queue:
                    if self._closed:
                        return None
                    self._changed.wait()
                    continue
                batch, full = self._company(self._queue[0])
                left = self._queue[0].arrived + self._settings.batch_delay_ms / 1e3 - time.perf_counter()
                if full or left <= 0 or self._closed:
                    taken = set(map(id, batch))
                    self._queue = deque(request for request in self._queue if id(request) not in taken)
                    self.num_running += len(batch)
                    return batch
                self._changed.wait(left)

    def _company(self, first: Request) -> tuple[list[Request], bool]:
        """The oldest request with those that can run beside it, and whether they fill a batch."""
        if not self.batched:
            return [first], True
        batch, rows, most = [], 0, self.sizes[-1]
        for request in self._queue:
            if request.key == first.key and not request.abandoned and (not batch or rows + request.rows <= most):
                batch.append(request)
                rows += request.rows
                if rows >= most:
                    return batch, True
        return batch, False

    def _execute(self, run: Run, batch: list[Request]) -> None:
        try:
            outcomes: list[tuple[Request, Any]] = list(zip(batch, self._results(run, batch)))
        except Exception as error:
            # One request may have spoilt the batch (an index out of range); the others are innocent.
            outcomes = [(batch[0], error)] if len(batch) == 1 else [self._alone(run, request) for request in batch]
        _deliver(outcomes)

    def _alone(self, run: Run, request: Request) -> tuple[Request, Any]:
        try:
            return request, self._results(run, [request])[0]
        except Exception as error:
            return request, error

    def _results(self, run: Run, batch: list[Request]) -> list[list[np.ndarray]]:
        started = time.perf_counter()
        waited = [started - request.arrived for request in batch]
        if not self.batched:
            results = run(batch[0].arrays)
            self.statistics.executed(1, 1, waited, 0.0, time.perf_counter() - started, 0.0)
            return [results]
        rows = sum(request.rows for request in batch)
        columns = [_joined(column) for column in zip(*(request.arrays for request in batch))]
        joined = time.perf_counter()
        results = self.run_rows(run, columns, rows)
        ran = time.perf_counter()
        found, begin = [], 0
        for request in batch:
            found.append([result[begin : begin + request.rows] for result in results])
            begin += request.rows
        self.statistics.executed(
            rows, self.sizes[-1], waited, joined - started, ran - joined, time.perf_counter() - ran
        )
        return found

    def run_rows(self, run: Run, columns: Sequence[np.ndarray], rows: int) -> list[np.ndarray]:
        """The results of any number of rows, in executions of the known sizes only."""
        parts = []
        for begin in range(0, max(rows, 1), self.sizes[-1]):
            count = min(rows - begin, self.sizes[-1])
            size = next(size for size in self.sizes if size >= count)
            results = run([_filled_up(column[begin : begin + count], size) for column in columns])
            for result in results:
                if result.ndim == 0 or len(result) != size:
                    raise RuntimeError(f"{self.name} gave a result of the shape {result.shape} for {size} rows")
            parts.append([result[:count] for result in results])
        return parts[0] if len(parts) == 1 else [np.concatenate(column) for column in zip(*parts)]


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _filled_up(rows: np.ndarray, size: int) -> np.ndarray:
    """As many rows as wanted: the last one is repeated, because it is something that the model understands."""
    missing = size - len(rows)
    if not missing:
        return rows
    filling = rows[-1:] if len(rows) else np.zeros((1, *rows.shape[1:]), rows.dtype)
    return np.concatenate([rows, np.repeat(filling, missing, axis=0)])


def _deliver(outcomes: Sequence[tuple[Request, Any]]) -> None:
    """Hands results to those who wait, with one call into each event loop."""
    for loop in {request.loop for request, _ in outcomes}:
        mine = [(request, outcome) for request, outcome in outcomes if request.loop is loop]
        try:
            loop.call_soon_threadsafe(_settle, mine)
        except RuntimeError:  # the loop has ended, and with it everybody who waited in it
            logger.warning("%d answers came after the server had stopped", len(mine))


def _settle(outcomes: Sequence[tuple[Request, Any]]) -> None:
    for request, outcome in outcomes:
        if request.future.done():
            continue
        if isinstance(outcome, BaseException):
            request.future.set_exception(outcome)
        else:
            request.future.set_result(outcome)
