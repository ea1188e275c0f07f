"""Steps that are started before the tokens of the step before them have been read.

A device that waits until the host has read a token, told its reader and described the next step stands still for longer than
a small model computes. Where nothing that the host decides changes what is computed next (no grammar, no penalty), the next
step is started at once and takes its tokens from the last one's result on the device. What the host finds out too late, that
an answer has ended or was cancelled, costs a row of one step whose token nobody takes; what that row writes lies behind
everything that anybody reads.
"""

from __future__ import annotations

from typing import NamedTuple

from .batch import Row
from .choices import Started
from .scheduler import Scheduler
from .sequence import Sequence


class Flight(NamedTuple):
    """A step that has been started, one token for each of its rows."""

    rows: list[Row]
    step: Started

    @property
    def sequences(self) -> list[Sequence]:
        return [row.sequence for row in self.rows]

    def still_wants(self, row: Row, scheduler: Scheduler) -> bool:
        """Whether a row's token is the next one of its sequence, which may have ended or been set back meanwhile."""
        sequence = row.sequence
        return sequence in scheduler.running and len(sequence.ids) - 1 == sequence.computed == row.begin

    def is_wanted(self, scheduler: Scheduler) -> bool:
        return any(self.still_wants(row, scheduler) for row in self.rows)


def is_plain(sequence: Sequence) -> bool:
    """Whether the choice of its tokens needs nothing from the host that depends on the token before."""
    return sequence.guide is None and not sequence.sampling.has_penalties


def known_rows(sequences: list[Sequence]) -> list[Row]:
    """The last token of each."""
    return [Row(sequence, sequence.computed, [sequence.ids[-1]]) for sequence in sequences]


def rows_behind(flight: Flight, decoding: list[Sequence], scheduler: Scheduler) -> list[Row]:
    """The step behind one in flight: its rows that go on whatever they get, and others whose token is known."""
    behind = [
        Row(row.sequence, row.begin + 1, [-1 - number])
        for number, row in enumerate(flight.rows)
        if flight.still_wants(row, scheduler)
        and row.begin + 2 < row.sequence.limit
        and scheduler.has_room(row.sequence, row.begin + 2)
    ]
    flying = {id(sequence) for sequence in flight.sequences}
    return behind + known_rows([sequence for sequence in decoding if id(sequence) not in flying])
