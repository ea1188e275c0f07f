"""Errors that come up later than the call: flags of compiled runs that nobody has looked at, and values that were lost."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import locate
from ..program import Program
from ..tiers.lowering import flagged_instructions
from ..watch import nan_error
from .segment import Failure, Segment
from .thread_state import LOCAL

if TYPE_CHECKING:
    from ..tiers.executables import Entry


def spread_failure(
    live: list[tuple[Any, int]], program: Program, index: int, error: Exception
) -> list[tuple[Any, int]]:
    """Has every later use of the tensors that depend on a failed instruction raise its error; gives the other tensors."""
    lost, failure = program.dependents(index), Failure(error)
    for tensor, number in live:
        if number in lost:
            tensor._value = failure
    return [(tensor, number) for tensor, number in live if number not in lost]


class Unchecked:
    """Flags of a compiled run that nobody has looked at yet: looking would wait for the device."""

    __slots__ = ("check_nan", "flags", "locations", "program", "tensors")

    def __init__(self, flags_array: Any, segment: Segment, entry: Entry, live: list[tuple[Any, int]]) -> None:
        self.flags: list[Any] = flags_array if isinstance(flags_array, list) else [flags_array]
        self.program = entry.program
        self.locations = segment.locations
        self.check_nan = segment.root.check_nan
        self.tensors = [(weakref.ref(tensor), index) for tensor, index in live]

    def fetch(self) -> None:
        """Starts the transfer to the host; waiting for many of them together costs as much as for one."""
        for array in self.flags:
            array.copy_to_host_async()

    def verify(self) -> None:
        good = np.concatenate([np.asarray(f) for f in self.flags])
        if good.all():
            return
        live = [(tensor, i) for reference, i in self.tensors if (tensor := reference()) is not None]
        flagged = flagged_instructions(self.program, self.check_nan)
        errors: list[Exception] = []
        for number in np.flatnonzero(~good).tolist():
            instruction = flagged[number]
            error = instruction.value_error() if instruction.flagged else nan_error(instruction)
            locate(error, self.locations.get(instruction.index))
            live = spread_failure(live, self.program, instruction.index, error)
            errors.append(error)
        raise errors[0]


def verify_values() -> None:
    """Raises the error of a compiled run whose values were not acceptable; called when a value is read."""
    unchecked = LOCAL.unchecked
    for run in unchecked:
        run.fetch()
    while unchecked:
        unchecked.popleft().verify()
