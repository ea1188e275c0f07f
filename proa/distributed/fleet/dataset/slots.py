"""Slots and records: what a line of text holds, and many lines of it as arrays.

A line is, for each slot, a number and as many values: `2 7 9 1 0.5` is a slot with the features 7 and 9 and one with 0.5.
Records lie in columns, so that memory holds numbers and not Python objects, and a shuffle is an index.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....core.errors import type_error, value_error
from ....eager.tensor import Tensor
from ....ir.sizes.dimensions import shown_shape
from ....static.ragged import ragged_feed

_TINY = 1e-6  # below this a number of a ragged slot counts as absent in memory, as in Paddle


@dataclass(frozen=True)
class Slot:
    """One variable as the files give it."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    ragged: bool

    @property
    def unit(self) -> int:
        """How many values make one row."""
        sizes = self.shape if -1 in self.shape else self.shape[1:]
        return math.prod(size for size in sizes if size != -1)

    def feed(self, column: Column, one_batch: bool) -> dict[str, np.ndarray]:
        """What a program is fed for a batch; `one_batch`: a line was not a row but a whole batch."""
        values = column.values
        if self.ragged:
            rows = values.reshape(-1, *self.shape[1:])
            lengths = np.ones(len(rows), np.int64) if one_batch else column.lengths // self.unit
            return ragged_feed(self.name, rows, lengths)
        open_size = max((n for n, size in enumerate(self.shape) if size == -1), default=0)
        sizes = list(self.shape)
        sizes[open_size] = len(values) // max(1, self.unit)
        return {self.name: values.reshape(sizes)}


def slots_of(where: str, variables: Any) -> list[Slot]:
    """The slots that variables stand for."""
    if not isinstance(variables, (list, tuple)):
        raise type_error(where, "use_var must be a list of variables", type(variables).__name__)
    found = []
    for variable in variables:
        if not isinstance(variable, Tensor):
            raise type_error(where, "use_var must be a list of variables of static.data", type(variable).__name__)
        dtype = np.dtype(variable._aval.dtype)
        if dtype not in (np.dtype("float32"), np.dtype("int64")):
            raise value_error(where, f"{variable.name} must be float32 or int64", dtype.name, "cast it in the program")
        shape = tuple(shown_shape(variable._aval.shape))
        if shape.count(-1) > 1:
            raise value_error(where, f"{variable.name} may have one size of -1", f"{list(shape)}", "state the others")
        found.append(Slot(variable.name, dtype, shape, variable.lod_level > 0))
    return found


@dataclass
class Column:
    """The values of a slot in many records, one behind another, and how many each record has."""

    values: np.ndarray
    lengths: np.ndarray

    def __len__(self) -> int:
        return len(self.lengths)

    @functools.cached_property
    def _bounds(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def part(self, begin: int, end: int) -> Column:
        return Column(self.values[self._bounds[begin] : self._bounds[end]], self.lengths[begin:end])

    def taken(self, order: np.ndarray) -> Column:
        """The records of these numbers, in this order."""
        starts = self._bounds[:-1]
        lengths = self.lengths[order]
        begins = np.cumsum(lengths) - lengths
        places = np.repeat(starts[order] - begins, lengths) + np.arange(int(lengths.sum()))
        return Column(self.values[places], lengths)

    def without_zeros(self) -> Column:
        """Without zeros, but for one in a record that has nothing else."""
        kept = np.abs(self.values) >= _TINY if self.values.dtype.kind == "f" else self.values != 0
        if kept.all():
            return self
        owners = np.repeat(np.arange(len(self)), self.lengths)
        starts = self._bounds[:-1]
        empty = np.bincount(owners[kept], minlength=len(self)) == 0
        kept[starts[empty]] = True
        values = self.values.copy()
        values[starts[empty]] = 0
        return Column(values[kept], np.bincount(owners[kept], minlength=len(self)).astype(np.int64))


class Records:
    """Many records: a column for each slot, and names of the records where lines have them."""

    def __init__(
        self, columns: list[Column], names: list[str] | None = None, contents: list[str] | None = None
    ) -> None:
        self.columns = columns
        self.names = names
        self.contents = contents

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def part(self, begin: int, end: int) -> Records:
        return Records(
            [column.part(begin, end) for column in self.columns],
            None if self.names is None else self.names[begin:end],
            None if self.contents is None else self.contents[begin:end],
        )

    def taken(self, order: np.ndarray) -> Records:
        return Records(
            [column.taken(order) for column in self.columns],
            None if self.names is None else [self.names[n] for n in order],
            None if self.contents is None else [self.contents[n] for n in order],
        )

    @staticmethod
    def joined(parts: Sequence[Records]) -> Records:
        """One behind another."""
        if len(parts) == 1:
            return parts[0]
        columns = [
            Column(np.concatenate([c.values for c in same]), np.concatenate([c.lengths for c in same]))
            for same in zip(*(part.columns for part in parts), strict=True)
        ]
        names = [name for part in parts for name in part.names or ()]
        contents = [content for part in parts for content in part.contents or ()]
        return Records(columns, names or None, contents or None)

    def feed(self, slots: Sequence[Slot], one_batch: bool) -> dict[str, np.ndarray]:
        """These records as a batch."""
        made: dict[str, np.ndarray] = {}
        for slot, column in zip(slots, self.columns, strict=True):
            made.update(slot.feed(column, one_batch))
        return made


def no_records(slots: Sequence[Slot]) -> Records:
    return Records([Column(np.zeros(0, slot.dtype), np.zeros(0, np.int64)) for slot in slots])
