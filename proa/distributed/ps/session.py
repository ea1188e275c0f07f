"""A worker's session with the tables: which there are, when updates go, which lookups wait for their gradients."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from .client import Client, LocalServer
from .communicator import AtOnce, Background, Geo
from .config import TableConfig
from .server import TableServer

# The session of this process: that of the job's servers (`fleet.init_worker`), or tables of its own.
_current: list[Session] = []
_joined: list[Session] = []  # that of the job's servers
_SMALLEST = 64


class Session:
    """Tables as one worker sees them."""

    def __init__(
        self, servers: Sequence[Any], worker: int = 0, num_workers: int = 1, mode: str = "at once", geo_steps: int = 0
    ) -> None:
        self._servers = servers
        self.client = Client(servers)
        self.worker, self.num_workers = worker, num_workers
        self.configs: dict[str, TableConfig] = {}
        self.lookups: list[Lookup] = []
        self._barriers = self._gathers = 0
        if mode == "background":
            self.communicator: AtOnce = Background(self.client, Client(servers))
        elif mode == "geo":
            self.communicator = Geo(self.client, geo_steps, num_workers, self.configs.__getitem__)
        else:
            self.communicator = AtOnce(self.client)

    def create(self, config: TableConfig) -> None:
        """Makes a table, or finds the one that is there."""
        known = self.configs.get(config.name)
        if known is not None and known != config:
            raise value_error(
                "SparseEmbedding",
                f"there are two tables of the name {config.name!r}",
                f"{known} and {config}",
                "rename one",
            )
        if known is None:
            self.client.create(config)
            self.configs[config.name] = config

    def push_lookups(self, rate: float | None) -> None:
        """Sends the gradients of all rows that were looked up since the last time."""
        waiting, self.lookups = self.lookups, []
        by_table: dict[str, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
        for lookup in waiting:
            gradient = lookup.rows.grad
            if gradient is not None:
                count = len(lookup.ids)
                by_table.setdefault(lookup.table, []).append((lookup.ids, gradient.numpy()[:count], lookup.shows))
        for name, parts in by_table.items():
            self.communicator.push(name, *summed(parts), rate)

    def barrier(self, name: str = "barrier") -> None:
        """Waits for all workers."""
        self._barriers += 1
        label = f"{name}/{self._barriers}"
        while self.client.ask_first("arrive", label, self.worker) < self.num_workers:
            time.sleep(0.05)

    def gather(self, thing: Any) -> list[Any]:
        """The things of all workers, through the first server."""
        self._gathers += 1
        label = f"gather/{self._gathers}"
        while len(there := self.client.ask_first("posters", label)) < self.num_workers:
            if self.worker not in there:
                self.client.ask_first("post", label, self.worker, thing)
            else:
                time.sleep(0.05)
        found = [
            thing if worker == self.worker else self.client.ask_first("posted", label, worker)
            for worker in range(self.num_workers)
        ]
        self.barrier("gathered")
        if self.worker == 0:
            self.client.ask_first("forget_posted", label)
        return found


class Lookup:
    """Rows that were looked up, and wait for their gradient."""

    __slots__ = ("ids", "rows", "shows", "table")

    def __init__(self, table: str, ids: np.ndarray, shows: np.ndarray, rows: Any) -> None:
        self.table, self.ids, self.shows, self.rows = table, ids, shows, rows


def summed(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Several lookups of one table as one: every feature once, its gradients added."""
    if len(parts) == 1:
        return parts[0]
    ids, places = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    grads = np.zeros((len(ids), parts[0][1].shape[1]), np.float32)
    np.add.at(grads, places, np.concatenate([part[1] for part in parts]))
    shows = np.bincount(places, np.concatenate([part[2] for part in parts]), len(ids)).astype(np.float32)
    return ids, grads, shows


def current_session() -> Session:
    """The session of this process; without servers, one with tables of its own, which end with it."""
    if not _current:
        _current.append(Session([LocalServer(TableServer())]))
    return _current[0]


def joined_session(where: str) -> Session:
    """The session with the job's servers."""
    if not _joined:
        raise RuntimeError(f"({where}) this worker has not joined the table servers; call fleet.init_worker() first.")
    return _current[0]


def padded_length(count: int) -> int:
    """How many rows so many features are filled up to: batches of different numbers shall be the same program."""
    return max(_SMALLEST, 1 << max(0, count - 1).bit_length())


def set_session(session: Session | None) -> None:
    _current[:] = _joined[:] = [session] if session is not None else []
