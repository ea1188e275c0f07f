"""Rows of a training batch, cut or put together from a token file.

A row is `length` positions; `segments` numbers the documents in it from 1 on (0: nothing is there), `positions` restart
with each, and `labels` are the tokens that follow within the same document, `IGNORED` where there is none or it is not to
be learned. Which row comes when is a function of seed and position alone, so that a training that is continued sees what it
would have seen.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import value_error
from .token_file import TokenFile

IGNORED = -100


@dataclass(frozen=True)
class Batch:
    """Rows of equal length, as arrays [rows, length]."""

    ids: np.ndarray
    labels: np.ndarray
    positions: np.ndarray
    segments: np.ndarray
    is_packed: bool = True  # whether a row may hold several documents

    @property
    def num_learned(self) -> int:
        """How many positions have a label."""
        return int((self.labels != IGNORED).sum())

    @property
    def num_tokens(self) -> int:
        return int((self.segments != 0).sum())


class Rows:
    """What all kinds of rows share: the order in which they come, and batches of them."""

    is_packed = True

    def __init__(self, file: TokenFile, length: int, seed: int = 0, shuffle: bool = True) -> None:
        if isinstance(length, bool) or not isinstance(length, int) or length < 2:
            raise value_error(type(self).__name__, "length must be at least 2 positions", repr(length))
        self.file, self.length, self.seed, self.shuffle = file, length, seed, shuffle
        self._order: tuple[int, np.ndarray] | None = None

    def __len__(self) -> int:
        """How many rows there are before the first one comes again."""
        raise NotImplementedError

    def _parts(self, row: int) -> Sequence[tuple[int, int]]:
        """What a row holds: for each of its documents the first token, and the one behind the last label."""
        raise NotImplementedError

    def number_at(self, position: int) -> int:
        """Which row comes at a place of the endless order: each once, then all again in another order."""
        epoch, place = divmod(position, len(self))
        if not self.shuffle:
            return place
        if self._order is None or self._order[0] != epoch:
            self._order = (epoch, np.random.default_rng([self.seed, epoch]).permutation(len(self)))
        return int(self._order[1][place])

    def batch(self, begin: int, count: int) -> Batch:
        """The rows at `count` places of the order."""
        return self.collect([self.number_at(place) for place in range(begin, begin + count)])

    def teaches(self) -> bool:
        """Whether any position of any row has a label; reads rows until one has."""
        return any(self.collect([number]).num_learned for number in range(len(self)))

    def collect(self, numbers: Sequence[int]) -> Batch:
        """The rows with these numbers."""
        shape = (len(numbers), self.length)
        ids, positions, segments = (np.zeros(shape, np.int64) for _ in range(3))
        labels = np.full(shape, IGNORED, np.int64)
        for row, number in enumerate(numbers):
            place = 0
            for segment, (begin, end) in enumerate(self._parts(number), 1):
                tokens, given = self.file.read(begin, end)
                count = min(len(tokens), self.length - place)
                here = slice(place, place + count)
                ids[row, here] = tokens[:count]
                positions[row, here] = np.arange(count)
                segments[row, here] = segment
                following = np.where(given, IGNORED, tokens)[1 : count + 1]
                labels[row, place : place + len(following)] = following
                place += count
        return Batch(ids, labels, positions, segments, self.is_packed)


class StreamRows(Rows):
    """The file cut every `length` tokens, as pretraining wants it: nothing is padded but the last row."""

    def __len__(self) -> int:
        return max(-(-(self.file.num_tokens - 1) // self.length), 1)

    def _parts(self, row: int) -> list[tuple[int, int]]:
        begin = row * self.length
        end = min(begin + self.length, self.file.num_tokens)
        ends = self.file.ends
        within = ends[np.searchsorted(ends, begin, "right") : np.searchsorted(ends, end)]
        borders = [begin, *within.tolist(), end]
        parts = list(itertools.pairwise(borders))
        # The label of the last position is the next row's first token, if the document goes on there.
        goes_on = int(ends[np.searchsorted(ends, end)] > end)
        return [*parts[:-1], (parts[-1][0], end + goes_on)]


class WholeRows(Rows):
    """Documents kept whole, as many in a row as fit (`pack=False`: one); longer ones lose their end.

    Put together once: long documents first, each into the fullest row that has room for it.
    """

    def __init__(self, file: TokenFile, length: int, seed: int = 0, shuffle: bool = True, pack: bool = True) -> None:
        super().__init__(file, length, seed, shuffle)
        begins = np.concatenate([[0], file.ends[:-1]])
        lengths = np.minimum(file.ends - begins, length + 1)
        self._begins, self._lengths = begins, lengths
        self.is_packed = pack
        self._rows = _packed(lengths, length) if pack else [[document] for document in range(len(lengths))]

    def __len__(self) -> int:
        return len(self._rows)

    def _parts(self, row: int) -> list[tuple[int, int]]:
        begins, lengths = self._begins, self._lengths
        return [(int(begins[d]), int(begins[d] + lengths[d])) for d in self._rows[row]]


def _packed(lengths: np.ndarray, capacity: int) -> list[list[int]]:
    """Documents by row; one that fills a row and has a label beyond it counts as a full row."""
    rows: list[list[int]] = []
    room: list[tuple[int, int]] = []  # (free positions, row), sorted
    for document in np.argsort(-lengths, kind="stable").tolist():
        needed = min(int(lengths[document]), capacity)
        found = bisect.bisect_left(room, (needed, -1))
        if found < len(room):
            free, row = room.pop(found)
        else:
            free, row = capacity, len(rows)
            rows.append([])
        rows[row].append(document)
        if free > needed:
            bisect.insort(room, (free - needed, row))
    return rows


def batches_of(rows: Rows, step: int, rows_each: int, accumulate: int, rank: int = 0, world: int = 1) -> Any:
    """The micro-batches of one process in an optimiser step."""
    for micro in range(step * accumulate, (step + 1) * accumulate):
        yield rows.batch((micro * world + rank) * rows_each, rows_each)
