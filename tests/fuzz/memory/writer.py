"""Writes a memory program while running it in the model, in as many worlds as the program has repetitions.

A statement is tried in all worlds. Where the model refuses it in one of them, or numbers leave the grid that float32
holds exactly, everything is put back and the statement is not written.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import runtime
from . import strided
from .strided import Storage, Tensor

GRID = 2.0**10  # values are multiples of 1 / GRID ...
LARGEST = 64.0  # ... and not larger than this: sums of some tens of them are exact in float32
MOST_ELEMENTS = 60
MOST_DIMENSIONS = 4

World = dict[str, Any]


class Snapshot:
    """Everything a statement may change: names, numbers, and the shapes of tensors."""

    def __init__(self, worlds: list[World]) -> None:
        self.names = [dict(world) for world in worlds]
        self.tensors = [
            (one, dict(one.__dict__))
            for world in worlds
            for one in {id(x): x for x in world.values() if isinstance(x, Tensor)}.values()
        ]
        storages: dict[int, Storage] = {id(one.storage): one.storage for one, _ in self.tensors}
        self.storages = [
            (
                one,
                one.values.copy(),
                {leaf: slope.copy() for leaf, slope in one.slopes.items()},
                one.is_shared,
                one.has_changed_leaf,
            )
            for one in storages.values()
        ]

    def restore(self, worlds: list[World]) -> None:
        for world, names in zip(worlds, self.names, strict=True):
            world.clear()
            world.update(names)
        for tensor, facts in self.tensors:
            tensor.__dict__.clear()
            tensor.__dict__.update(facts)
        for storage, values, slopes, is_shared, has_changed_leaf in self.storages:
            storage.values, storage.slopes = values, slopes
            storage.is_shared, storage.has_changed_leaf = is_shared, has_changed_leaf


class Writer:
    """The program under construction. `names` are the tensors in reach, oldest first."""

    def __init__(self, chance: random.Random, repetitions: int) -> None:
        self.chance = chance
        self.worlds: list[World] = [runtime.names_for_programs(strided) for _ in range(repetitions)]
        self.lines: list[str] = []
        self.names: list[str] = []
        self.features: set[str] = set()
        self.known: set[str] = set()  # names of differences from Paddle that the program may show
        self.indentation = 0
        self.with_gradients = False
        self.leaves: list[str] = []  # tensors whose gradients are wanted; not all of them are in reach
        self._counts: dict[str, int] = {}

    # Random choices

    def decide(self, probability: float) -> bool:
        return self.chance.random() < probability

    def fresh(self, prefix: str) -> str:
        number = self._counts.get(prefix, 0)
        self._counts[prefix] = number + 1
        return f"{prefix}{number}"

    def tensor(self, name: str) -> Tensor:
        """A tensor as it is in the first repetition."""
        return self.worlds[0][name]

    def pick(self, wanted: Callable[[Tensor], bool] = lambda tensor: True) -> str | None:
        """A name in reach that fits, young ones more often."""
        found = [name for name in self.names if wanted(self.tensor(name))]
        return self.chance.choices(found, range(1, len(found) + 1))[0] if found else None

    # Statements

    def attempt(self, text: str) -> bool:
        """Run a statement (or a block) in all worlds, or leave everything as it was."""
        before = Snapshot(self.worlds)
        code = compile(text, "<statement>", "exec")
        try:
            for repetition, world in enumerate(self.worlds):
                with runtime.repetition_is(repetition), runtime.not_recording():
                    exec(code, world)
                check(world)
        except Exception:  # refused, or an error of NumPy's about shapes: either way no statement
            before.restore(self.worlds)
            return False
        return True

    def write(self, text: str, *, binds: str | None = None) -> bool:
        """Try a statement and write it down; `binds` is the name it gives a tensor."""
        if not self.attempt(text):
            return False
        self.emit(text)
        if binds is not None:
            if binds in self.names:
                self.names.remove(binds)
            self.names.append(binds)
        return True

    def emit(self, text: str) -> None:
        self.lines.extend("    " * self.indentation + line for line in text.splitlines())

    def record(self, name: str, expression: str | None = None) -> None:
        self.emit(f'record("{name}", {expression or name})')

    @contextmanager
    def draft(self) -> Iterator[list[str]]:
        """Lines written in this block are handed over instead, and what they did is taken back."""
        before, lines, names = Snapshot(self.worlds), self.lines, list(self.names)
        self.lines = []
        yield self.lines
        before.restore(self.worlds)
        self.lines, self.names = lines, names


def check(world: World) -> None:
    """strided.Refused where a tensor in reach is too large, or its numbers are not exact."""
    for one in world.values():
        if not isinstance(one, Tensor):
            continue
        values = one.values
        if not 0 < values.size <= MOST_ELEMENTS or values.ndim > MOST_DIMENSIONS:
            raise strided.Refused("too large")
        if values.dtype != bool:
            scaled = values * GRID
            if not (np.abs(values) <= LARGEST).all() or not (scaled == np.rint(scaled)).all():
                raise strided.Refused("numbers that float32 does not hold exactly")
