"""Where the row of a feature is: a hash table of 64-bit numbers that is asked for many at once.

A dictionary of Python needs 100 bytes and a step of the interpreter for each feature. Here keys and places lie in two
arrays, and a question goes through all keys in a few rounds of array operations (linear probing).
"""

from __future__ import annotations

import numpy as np

_EMPTY = -1  # among the places
_SMALLEST = 1024


def mixed(ids: np.ndarray) -> np.ndarray:
    """The numbers with their bits mixed, so that neighbours lie far apart (the finaliser of SplitMix64)."""
    bits = ids.astype(np.uint64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


class Index:
    """From features to the numbers of their rows."""

    def __init__(self, capacity: int = _SMALLEST) -> None:
        size = _SMALLEST
        while size < 2 * capacity:
            size *= 2
        self._keys = np.zeros(size, np.int64)
        self._places = np.full(size, _EMPTY, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def find(self, ids: np.ndarray) -> np.ndarray:
        """The row of each feature, -1 where there is none."""
        return self._places[self._slots(ids)]

    def _slots(self, ids: np.ndarray) -> np.ndarray:
        """For each feature its slot, or the empty one where it would go."""
        mask = np.uint64(len(self._keys) - 1)
        slots = (mixed(ids) & mask).astype(np.int64)
        open_questions = np.arange(len(ids))
        while len(open_questions):
            at = slots[open_questions]
            passed = (self._places[at] != _EMPTY) & (self._keys[at] != ids[open_questions])
            open_questions = open_questions[passed]
            slots[open_questions] = (slots[open_questions] + 1) & int(mask)
        return slots

    def insert(self, ids: np.ndarray, places: np.ndarray) -> None:
        """Adds features, all different and none of them there yet."""
        if 2 * (self._count + len(ids)) > len(self._keys):
            self._grow(self._count + len(ids))
        waiting = np.arange(len(ids))
        while len(waiting):
            slots = self._slots(ids[waiting])
            # Of several that want one empty slot the first gets it; the others ask again.
            _, first = np.unique(slots, return_index=True)
            winners = waiting[first]
            self._keys[slots[first]] = ids[winners]
            self._places[slots[first]] = places[winners]
            waiting = np.delete(waiting, first)
        self._count += len(ids)

    def _grow(self, count: int) -> None:
        ids, places = self.items()
        self.__init__(2 * count)  # type: ignore[misc]
        self.insert(ids, places)

    def items(self) -> tuple[np.ndarray, np.ndarray]:
        """All features and their rows."""
        taken = np.nonzero(self._places != _EMPTY)[0]
        return self._keys[taken], self._places[taken]

    def rebuilt(self, ids: np.ndarray, places: np.ndarray) -> None:
        """Forgets everything and holds these instead."""
        self.__init__(len(ids))  # type: ignore[misc]
        self.insert(ids, places)
