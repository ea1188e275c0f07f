"""A table server: the features of some tables whose hash belongs to it, kept so that nothing acknowledged is lost.

With a folder, every update is a record of the log before it is applied and acknowledged. Whoever starts again on the same
folder (after `kill -9`, after a crash) reads the store, replays the log, and has what was there. Rows carry the number of
their last update, so replaying over a store that is ahead of the log does nothing twice.

Workers number their updates. One that was not answered is sent again with its number; if it was applied before the server
died, it is acknowledged and not applied again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import time
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...framework.writing import replacing
from .config import TableConfig
from .log import Log
from .records import pack, unpack
from .store import RowStore
from .table import SparseTable

_SEGMENT_BYTES = 256 << 20  # the log is brought to the store when it is longer
_SESSIONS = 10_000  # of workers that are remembered
_LOCK_SECONDS = 60


class TableServer:
    """The tables of one server. Calls come one after another (an actor's do)."""

    def __init__(self, folder: str | None = None, sync: bool = False, segment_bytes: int = _SEGMENT_BYTES) -> None:
        self._folder = folder
        self._tables: dict[str, SparseTable] = {}
        self._stores: list[RowStore] = []
        self._sessions: dict[str, int] = {}
        self._left: set[int] = set()  # workers that have ended
        self._arrived: dict[str, set[int]] = {}
        self._posted: dict[str, dict[int, Any]] = {}  # what workers tell each other
        self._sequence = 0
        self._segment_bytes = segment_bytes
        self._log: Log | None = None
        if folder is not None:
            os.makedirs(folder, exist_ok=True)
            self._lock = _locked(os.path.join(folder, "lock"))
            self._recover(folder, sync)

    # ---- tables ----------------------------------------------------------------------------------

    def create(self, settings: dict[str, Any]) -> None:
        """Makes a table, unless it is there; then it must be alike."""
        config = TableConfig(**settings)
        there = self._tables.get(config.name)
        if there is None:
            self._open_table(config)
            self._save_state()
        elif (there.config.width, there.config.rule, there.config.seed) != (config.width, config.rule, config.seed):
            raise value_error(
                "fleet", f"the table {config.name!r} exists and is another one", f"{settings}",
                f"it has width {there.config.width}, rule {there.config.rule!r}, seed {there.config.seed}",
            )  # fmt: skip

    def _open_table(self, config: TableConfig) -> None:
        table = SparseTable(config)
        if self._folder is not None:
            store = RowStore(os.path.join(self._folder, f"rows.{config.name}"), table.row_width)
            self._stores.append(store)
            table = SparseTable(config, store)
        self._tables[config.name] = table

    def _table(self, name: str) -> SparseTable:
        if name not in self._tables:
            raise value_error("fleet", f"the servers have no table {name!r}", f"they have {sorted(self._tables)}")
        return self._tables[name]

    # ---- what workers ask ------------------------------------------------------------------------

    def pull(self, name: str, ids: np.ndarray, create: bool = True) -> np.ndarray:
        """The weights of features, which must be in increasing order."""
        return self._table(name).pull(_checked(ids), create)

    def update(
        self, kind: str, name: str, session: str, number: int, ids: np.ndarray, numbers: np.ndarray, shows: np.ndarray,
        rate: float | None = None,
    ) -> int:  # fmt: skip
        """Applies an update (`push`, `add` or `assign`) once, however often it is sent; gives the number of the last one."""
        if self._sessions.get(session, 0) >= number:
            return self._sessions[session]
        table = self._table(name)
        if numbers.shape != (len(ids), table.config.width):
            raise value_error(
                "fleet",
                f"an update of {name!r} needs {table.config.width} numbers for each feature",
                f"{numbers.shape}",
            )
        _checked(ids)
        self._sequence += 1
        if self._log is not None:
            self._log.append(self._sequence, pack(kind, name, session, number, ids, numbers, shows, rate))
        self._apply(self._sequence, kind, name, session, number, ids, numbers, shows, rate)
        if self._log is not None and self._log.num_bytes > self._segment_bytes:
            self.compact()
        return number

    def _apply(
        self,
        sequence: int,
        kind: str,
        name: str,
        session: str,
        number: int,
        ids: Any,
        numbers: Any,
        shows: Any,
        rate: Any,
    ) -> None:
        table = self._table(name)
        if kind == "push":
            table.push(ids, numbers, shows, sequence, rate)
        elif kind == "add":
            table.add(ids, numbers, shows, sequence)
        elif kind == "assign":
            table.assign(ids, numbers, sequence)
        elif kind == "shrink":
            table.shrink(int(rate))
        else:
            raise value_error("fleet", "an update is a push, an add, an assign or a shrink", repr(kind))
        if session:
            self._sessions.pop(session, None)  # the last one to be heard of stands last
            self._sessions[session] = number

    def shrink(self, name: str, day: int) -> int:
        """Makes it that day for a table and forgets features that are too old or too rare; gives how many are left."""
        # First everything into the store: what a later replay would find in the log must not bring back what is forgotten.
        self.compact()
        self._sequence += 1
        nothing = np.zeros(0, np.int64), np.zeros((0, 1), np.float32), np.zeros(0, np.float32)
        if self._log is not None:
            self._log.append(self._sequence, pack("shrink", name, "", 0, *nothing, float(day)))
        self._apply(self._sequence, "shrink", name, "", 0, *nothing, day)
        return self.num_features(name)

    def day(self, name: str) -> int:
        """The day that it is for a table."""
        return self._table(name).day

    def num_features(self, name: str) -> int:
        """How many features a table has: all, with those on disk."""
        table = self._table(name)
        if self._folder is None:
            return len(table)
        table.save_dirty()
        return len(self._stores[list(self._tables).index(name)])

    def export(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """All features that were updated and their weights."""
        table = self._table(name)
        if self._folder is None:
            return table.all_rows()
        table.save_dirty()
        store = self._stores[list(self._tables).index(name)]
        parts = [(np.frombuffer(b"".join(keys), ">i8").astype(np.int64), rows) for keys, rows in store.scan()]
        ids = np.concatenate([keys for keys, _ in parts]) if parts else np.zeros(0, np.int64)
        width = table.config.width
        rows = np.concatenate([rows[:, :width] for _, rows in parts]) if parts else np.zeros((0, width), np.float32)
        return ids, rows

    # ---- workers ---------------------------------------------------------------------------------

    def join(self, worker: int) -> None:
        """A worker begins, or begins again."""
        self._left.discard(worker)
        self._save_state()

    def leave(self, worker: int) -> None:
        """A worker has ended: everything it sent is acknowledged."""
        self._left.add(worker)
        self._save_state()

    def num_left(self) -> int:
        """How many workers have ended."""
        return len(self._left)

    def arrive(self, barrier: str, worker: int) -> int:
        """A worker waits at a barrier; it says so again and again, as a server that starts anew has forgotten it."""
        waiting = self._arrived.setdefault(barrier, set())
        waiting.add(worker)
        return len(waiting)

    def post(self, label: str, worker: int, thing: Any) -> None:
        """A worker leaves something for all others."""
        self._posted.setdefault(label, {})[worker] = thing

    def posters(self, label: str) -> list[int]:
        """Which workers have; one that is missing posts again, as a server that starts anew has forgotten it."""
        return sorted(self._posted.get(label, ()))

    def posted(self, label: str, worker: int) -> Any:
        """What a worker has left."""
        return self._posted[label][worker]

    def forget_posted(self, label: str) -> None:
        """All have read it."""
        self._posted.pop(label, None)

    def process(self) -> int:
        """The process in which this server runs."""
        return os.getpid()

    # ---- what is kept ----------------------------------------------------------------------------

    def _recover(self, folder: str, sync: bool) -> None:
        path = os.path.join(folder, "state.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                state = json.load(file)
            self._sequence, self._sessions = state["sequence"], state["sessions"]
            self._left = set(state["left"])
            for settings in state["tables"]:
                self._open_table(TableConfig(**settings))
            for name, day in state["days"].items():
                self._tables[name].day = day
        self._log = Log(folder, sync)
        for sequence, payload in self._log.replay():
            self._apply(sequence, *unpack(payload))
            self._sequence = max(self._sequence, sequence)
        self._log.open()
        self.compact()

    def compact(self) -> None:
        """Brings all updates to the store and begins a new log."""
        if self._log is None:
            return
        self._log.open()
        for table in self._tables.values():
            table.save_dirty()
        for store in self._stores:
            store.flush()
        self._save_state()
        self._log.forget_old()

    def _save_state(self) -> None:
        if self._folder is None:
            return
        for session in list(self._sessions)[:-_SESSIONS]:
            del self._sessions[session]
        state = {
            "sequence": self._sequence,
            "sessions": self._sessions,
            "left": sorted(self._left),
            "tables": [dataclasses.asdict(table.config) for table in self._tables.values()],
            "days": {name: table.day for name, table in self._tables.items()},
        }
        with replacing(os.path.join(self._folder, "state.json")) as file:
            file.write(json.dumps(state).encode())

    def close(self) -> None:
        """Brings everything to the disk and lets the folder go."""
        self._left.clear()
        self.compact()
        if self._log is not None:
            self._log.close()
            for store in self._stores:
                store.close()
            os.close(self._lock)
            self._log = None


def _checked(ids: np.ndarray) -> np.ndarray:
    if ids.dtype != np.int64 or ids.ndim != 1 or (len(ids) > 1 and not (ids[1:] > ids[:-1]).all()):
        raise value_error(
            "fleet", "features must be 64-bit integers in increasing order", f"{ids.dtype}{list(ids.shape)}"
        )
    return ids


def _locked(path: str) -> int:
    """A lock on a server's folder: the system opens it when the process ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        if time.monotonic() > until:
            os.close(descriptor)
            raise RuntimeError(f"(fleet.run_server) another server uses the folder {os.path.dirname(path)!r}.")
        time.sleep(0.1)
