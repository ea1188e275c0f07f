"""When a worker's updates go to the servers.

at once      the step waits until the servers have acknowledged its update
background   a thread sends; at most a few updates wait (asynchronous training)
geo          the worker updates a copy of its own and sends, every so many steps, what has changed
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .client import Client
from .config import TableConfig
from .table import SparseTable

_WAITING = 8  # updates that may wait to be sent


class AtOnce:
    """Every update is acknowledged before the step ends."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def pull(self, name: str, ids: np.ndarray, create: bool = True) -> np.ndarray:
        return self._client.pull(name, ids, create)

    def push(self, name: str, ids: np.ndarray, grads: np.ndarray, shows: np.ndarray, rate: float | None) -> None:
        self._client.update("push", name, ids, grads, shows, rate)

    def stepped(self) -> None:
        """Called after each step."""

    def flush(self) -> None:
        """Waits until everything is acknowledged."""


class Background(AtOnce):
    """Updates are sent by a thread of their own while the next step computes."""

    def __init__(self, client: Client, sender: Client) -> None:
        super().__init__(client)
        self._sender = sender
        self._queue: queue.Queue[Any] = queue.Queue(_WAITING)
        self._failure: Exception | None = None
        # A daemon, so that a worker that fails ends; `flush` sees to it that one that ends well has sent everything.
        self._thread = threading.Thread(target=self._send, name="parameter server updates", daemon=True)
        self._thread.start()

    def _send(self) -> None:
        while True:
            item = self._queue.get()
            try:
                if self._failure is None:
                    self._sender.update("push", *item)
            except Exception as error:
                self._failure = error
            finally:
                self._queue.task_done()

    def push(self, name: str, ids: np.ndarray, grads: np.ndarray, shows: np.ndarray, rate: float | None) -> None:
        self._raise_failure()
        self._queue.put((name, ids, grads, shows, rate))

    def flush(self) -> None:
        self._queue.join()
        self._raise_failure()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure


class Geo(AtOnce):
    """The worker trains rows of its own; every `steps` steps their changes, divided by the number of workers, are sent."""

    def __init__(self, client: Client, steps: int, num_workers: int, configs: Callable[[str], TableConfig]) -> None:
        super().__init__(client)
        self._steps, self._num_workers, self._configs = steps, num_workers, configs
        self._since = 0
        self._tables: dict[str, SparseTable] = {}
        self._shows: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        self._bases: dict[str, SparseTable] = {}

    def _local(self, name: str) -> SparseTable:
        if name not in self._tables:
            self._tables[name] = SparseTable(self._configs(name))
            self._bases[name] = SparseTable(self._configs(name))
            self._shows[name] = []
        return self._tables[name]

    def pull(self, name: str, ids: np.ndarray, create: bool = True) -> np.ndarray:
        table = self._local(name)
        there = table.has(ids)
        missing = ids[~there]
        if len(missing):
            rows = self._client.pull(name, missing, create)
            for copy in (table, self._bases[name]):
                copy.assign(missing, rows, version=1)
        return table.pull(ids)

    def push(self, name: str, ids: np.ndarray, grads: np.ndarray, shows: np.ndarray, rate: float | None) -> None:
        table = self._local(name)
        self.pull(name, ids)
        table.push(ids, grads, shows, table.next_version(), rate)
        self._shows[name].append((ids, shows))

    def stepped(self) -> None:
        self._since += 1
        if self._since >= self._steps:
            self.flush()

    def flush(self) -> None:
        """Sends what has changed and forgets the copies, so that the next step sees what others have learned."""
        self._since = 0
        for name, table in self._tables.items():
            if not self._shows[name]:
                continue
            ids, places = np.unique(np.concatenate([ids for ids, _ in self._shows[name]]), return_inverse=True)
            shows = np.bincount(places, np.concatenate([shows for _, shows in self._shows[name]]), len(ids))
            deltas = (table.pull(ids) - self._bases[name].pull(ids)) / np.float32(self._num_workers)
            self._client.update("add", name, ids, deltas, shows.astype(np.float32))
        self._tables.clear()
        self._bases.clear()
        self._shows.clear()
