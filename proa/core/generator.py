"""Random state: a seed and an offset.

Random numbers are a pure function of (seed, offset, position): every random operation takes the next offset at the
call and passes both numbers to its kernel as data. So both tiers, and any re-run, draw the same numbers.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from .locks import new_lock

_MASK = (1 << 63) - 1
OWN_SEED = -1  # the offset beside a seed that an operation was given: no generator deals it, and runs do not draw anew


class GeneratorState(NamedTuple):
    """What `get_rng_state` returns: enough to continue exactly where one was."""

    seed: int
    offset: int


class Generator:
    """A stream of (seed, offset) pairs; thread-safe."""

    def __init__(self, seed: int | None = None) -> None:
        self._lock = new_lock()
        self._seed = int.from_bytes(os.urandom(7), "little") if seed is None else seed & _MASK
        self._offset = 0

    def manual_seed(self, seed: int) -> Generator:
        with self._lock:
            self._seed, self._offset = int(seed) & _MASK, 0
        return self

    def seed(self) -> int:
        return self.manual_seed(int.from_bytes(os.urandom(7), "little")).initial_seed()

    def initial_seed(self) -> int:
        return self._seed

    def draw(self) -> tuple[int, int]:
        """The seed and the next offset."""
        with self._lock:
            offset = self._offset
            self._offset = offset + 1
            return self._seed, offset

    def get_state(self) -> GeneratorState:
        with self._lock:
            return GeneratorState(self._seed, self._offset)

    def set_state(self, state: GeneratorState) -> None:
        seed, offset = state
        with self._lock:
            self._seed, self._offset = int(seed), int(offset)


default_generator = Generator()
