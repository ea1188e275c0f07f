"""A sparse table: a row of numbers for each feature that was ever asked for.

A row is [weights | states of the rule | shows, last day seen] in float32, and beside it the number of the last update that
is in it (`version`), by which a log is replayed without doing anything twice. Rows lie in one array; what does not fit
into `memory_rows` goes to the store on disk, the longest unused first, and comes back when it is asked for.

New rows come from seed and feature alone, so a row that was only looked at needs no memory: it is the same next time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import value_error
from .config import TableConfig
from .index import Index, mixed
from .rules import make_rule

_SHOWS, _DAY = -2, -1  # columns at the end of a row


class SparseTable:
    """The rows of one server. Whoever calls it sees to it that one call ends before the next begins."""

    def __init__(self, config: TableConfig, store: Any = None) -> None:
        self.config = config
        self._rule = make_rule(config.rule, **config.settings)
        self._states = self._rule.start(config.width)
        self.row_width = config.width + len(self._states) + 2
        self._store = store
        self._index = Index()
        self._rows = np.zeros((1024, self.row_width), np.float32)
        self._ids = np.zeros(1024, np.int64)
        self._versions = np.zeros(1024, np.int64)
        self._used = np.zeros(1024, np.int64)  # when a row was last asked for, in calls
        self._dirty = np.zeros(1024, bool)
        self._count = self._calls = 0
        self.day = 0

    # ---- what workers ask ------------------------------------------------------------------------

    def pull(self, ids: np.ndarray, create: bool = True) -> np.ndarray:
        """The weights of features (all different); zeros where one does not take part, or is unknown and not created."""
        places = self._places(ids, create)
        known = places >= 0
        found = np.zeros((len(ids), self.config.width), np.float32)
        rows = self._rows[places[known]]
        found[known] = rows[:, : self.config.width]
        hidden = np.zeros(len(ids), bool)
        hidden[known] = ~self._takes_part(ids[known], rows[:, _SHOWS])
        found[hidden] = 0
        return found

    def push(
        self, ids: np.ndarray, grads: np.ndarray, shows: np.ndarray, version: int, rate: float | None = None
    ) -> None:
        """One update of features (all different) that were seen `shows` times; rows that have it already are left alone."""
        places = self._places(ids, create=True)
        fresh = self._versions[places] < version
        places, ids, grads, shows = places[fresh], ids[fresh], grads[fresh], shows[fresh]
        rows = self._rows[places]
        self._count_shows(rows, shows)
        trained = self._takes_part(ids, rows[:, _SHOWS])
        updated = rows[trained]
        self._rule.update(updated, grads[trained], self.config.rate if rate is None else rate)
        rows[trained] = updated
        self._put(places, rows, version)

    def add(self, ids: np.ndarray, deltas: np.ndarray, shows: np.ndarray, version: int) -> None:
        """What a worker has learned by itself: differences of weights, added as they are."""
        places = self._places(ids, create=True)
        fresh = self._versions[places] < version
        rows = self._rows[places[fresh]]
        self._count_shows(rows, shows[fresh])
        rows[:, : self.config.width] += deltas[fresh]
        self._put(places[fresh], rows, version)

    def assign(self, ids: np.ndarray, weights: np.ndarray, version: int) -> None:
        """Weights of features that nobody has updated yet; the others stay."""
        places = self._places(ids, create=True)
        fresh = self._versions[places] == 0
        rows = self._rows[places[fresh]]
        rows[:, : self.config.width] = weights[fresh]
        self._put(places[fresh], rows, version)

    def _count_shows(self, rows: np.ndarray, shows: np.ndarray) -> None:
        rows[:, _SHOWS] = self._decayed(rows) + shows
        rows[:, _DAY] = self.day

    def _decayed(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, _SHOWS] * np.float32(self.config.show_decay) ** (self.day - rows[:, _DAY])

    def _put(self, places: np.ndarray, rows: np.ndarray, version: int) -> None:
        self._rows[places] = rows
        self._versions[places] = version
        self._dirty[places] = True

    def _takes_part(self, ids: np.ndarray, shows: np.ndarray) -> np.ndarray:
        admitted = shows >= self.config.min_shows
        if self.config.probability < 1:
            draw = mixed(ids ^ np.int64(0x5DEECE66D)) >> np.uint64(11)
            admitted &= draw < np.uint64(int(self.config.probability * 2**53))
        return admitted

    def has(self, ids: np.ndarray) -> np.ndarray:
        """Which features have a row in memory."""
        return self._index.find(ids) >= 0

    def next_version(self) -> int:
        """A version that no row has: for a table that is nobody's but one worker's."""
        return 1 + int(self._versions[: self._count].max(initial=0))

    # ---- where rows are --------------------------------------------------------------------------

    def _places(self, ids: np.ndarray, create: bool) -> np.ndarray:
        """The places of features in memory, to which they are brought from the store, or made."""
        self._calls += 1
        places = self._index.find(ids)
        missing = np.nonzero(places < 0)[0]
        if len(missing):
            places[missing] = self._bring(ids[missing], create)
            if self._count > self.config.memory_rows:
                self._used[places[places >= 0]] = self._calls
                self.spill()
                places = self._index.find(ids)
        self._used[places[places >= 0]] = self._calls
        return places

    def _bring(self, ids: np.ndarray, create: bool) -> np.ndarray:
        rows = np.empty((len(ids), self.row_width), np.float32)
        versions = np.zeros(len(ids), np.int64)
        stored = self._store.read(ids, versions, rows) if self._store is not None else np.zeros(len(ids), bool)
        if create:
            rows[~stored] = self._new_rows(ids[~stored])
            wanted = np.ones(len(ids), bool)
        else:
            wanted = stored
        places = np.full(len(ids), -1, np.int64)
        places[wanted] = self._append(ids[wanted], rows[wanted], versions[wanted])
        return places

    def _new_rows(self, ids: np.ndarray) -> np.ndarray:
        width = self.config.width
        rows = np.zeros((len(ids), self.row_width), np.float32)
        numbers = np.arange(1, width + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        base = mixed(ids) + np.uint64(self.config.seed * 0xD1342543DE82EF95 % 2**64)
        bits = mixed(base[:, None] + numbers[None, :]) >> np.uint64(40)
        rows[:, :width] = (bits.astype(np.float32) * np.float32(2**-23) - 1) * np.float32(self.config.initial_range)
        rows[:, width:_SHOWS] = self._states
        rows[:, _DAY] = self.day
        return rows

    def _append(self, ids: np.ndarray, rows: np.ndarray, versions: np.ndarray) -> np.ndarray:
        end = self._count + len(ids)
        if end > len(self._rows):
            self._resize(max(end, 2 * len(self._rows)))
        places = np.arange(self._count, end)
        self._rows[places], self._ids[places], self._versions[places] = rows, ids, versions
        self._dirty[places] = False
        self._index.insert(ids, places)
        self._count = end
        return places

    def _resize(self, capacity: int) -> None:
        for name in ("_rows", "_ids", "_versions", "_used", "_dirty"):
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]), old.dtype)
            new[: self._count] = old[: self._count]
            setattr(self, name, new)

    # ---- the store -------------------------------------------------------------------------------

    def save_dirty(self) -> None:
        """Brings every row that was updated to the store."""
        if self._store is not None:
            dirty = np.nonzero(self._dirty[: self._count])[0]
            self._store.write(self._ids[dirty], self._versions[dirty], self._rows[dirty])
            self._dirty[: self._count] = False

    def spill(self) -> None:
        """Lets go of the rows that were not used for longest, down to three quarters of what memory may hold."""
        if self._store is None:
            if self._count > self.config.memory_rows:
                raise value_error(
                    "SparseTable", f"table {self.config.name!r} has more features than memory_rows, and no store on disk",
                    f"{self._count} features", "give the servers a folder, or raise memory_rows",
                )  # fmt: skip
            return
        recent = int(np.count_nonzero(self._used[: self._count] == self._calls))
        keep = min(self._count, max(recent, self.config.memory_rows * 3 // 4))
        order = np.argpartition(-self._used[: self._count], keep - 1)
        gone = order[keep:]
        changed = gone[self._dirty[gone]]
        self._store.write(self._ids[changed], self._versions[changed], self._rows[changed])
        self._keep_only(np.sort(order[:keep]))

    def _keep_only(self, places: np.ndarray) -> None:
        for name in ("_rows", "_ids", "_versions", "_used", "_dirty"):
            array = getattr(self, name)
            array[: len(places)] = array[places]
        self._count = len(places)
        self._index.rebuilt(self._ids[: self._count], np.arange(self._count))

    # ---- what is forgotten -----------------------------------------------------------------------

    def shrink(self, day: int) -> int:
        """Makes it that day, and forgets features that are too old or too rare; gives how many."""
        self.day = max(self.day, day)
        rows = self._rows[: self._count]
        old = self._is_old(rows)
        removed = self._ids[: self._count][old]
        self._keep_only(np.nonzero(~old)[0])
        if self._store is None:
            return len(removed)
        return self._store.remove(self._is_old, removed)

    def _is_old(self, rows: np.ndarray) -> np.ndarray:
        return (self.day - rows[:, _DAY] > self.config.max_age) | (self._decayed(rows) < self.config.keep_shows)

    def __len__(self) -> int:
        """Features in memory; with a store there may be more."""
        return self._count

    def all_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Features in memory and their weights, for tests and exports of tables that fit."""
        return self._ids[: self._count].copy(), self._rows[: self._count, : self.config.width].copy()
