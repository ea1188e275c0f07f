"""A spec of basic indexing (see `ops/shape/slicing.py`) as the slices of other formats say it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.symbols import is_symbolic, same_sizes
from ..ops.shape.slicing import POSITION, choices, is_dynamic


class Region:
    """Which elements of each axis are meant, front to back; `turned` axes are read backwards, `dropped` ones disappear."""

    def __init__(self, sizes: Sequence[int], spec: tuple[Any, ...], position: int) -> None:
        entries = [entry for entry in spec if entry is not None]
        entries += [(0, extent, 1) for extent in sizes[len(entries) :]]
        digits = _digits(sizes, entries, position)
        self.axes: list[int] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.steps: list[int] = []
        self.turned: list[int] = []
        self.dropped: list[int] = []
        self.extents: list[int] = []  # of all axes, 1 where one is dropped
        for axis, entry in enumerate(entries):
            if entry == POSITION:
                self.dropped.append(axis)
                start, length, step = digits[axis], 1, 1
            elif len(entry) == 1:
                start, length, step = digits[axis], entry[0], 1
            else:
                start, length, step = entry
            if step < 0:
                self.turned.append(axis)
                start, step = start + (length - 1) * step, -step
            end = start + (length if step == 1 else (length - 1) * step + 1 if is_symbolic(length) or length else 0)
            self.extents.append(length)
            if not same_sizes((start, end, step), (0, sizes[axis], 1)):
                self.axes.append(axis)
                self.starts.append(start)
                self.ends.append(end)
                self.steps.append(step)
        self.new: list[int] = []  # where new axes are among those that are left
        place = 0
        for entry in spec:
            if entry is None:
                self.new.append(place)
            place += entry != POSITION


def _digits(sizes: Sequence[int], entries: list[Any], position: int) -> list[int]:
    """Where each dynamic entry starts; the first one takes what the others leave of the position."""
    digits = [0] * len(entries)
    moving = [axis for axis, entry in enumerate(entries) if is_dynamic(entry)]
    for axis in reversed(moving):
        if axis == moving[0]:
            digits[axis] = position
        else:
            radix = choices(entries[axis], sizes[axis])
            digits[axis], position = position % radix, position // radix
    return digits
