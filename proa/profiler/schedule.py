"""Which steps are recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import failed_check, type_error
from .enums import ProfilerState

Schedule = Callable[[int], ProfilerState]


def make_scheduler(*, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0) -> Schedule:
    """Which steps a Profiler records: after `skip_first` steps come rounds of `closed`, `ready` and `record` steps.

    At the end of each round the recording is handed over.

    Args:
        closed: the steps of a round in which nothing is done.
        ready: the steps that warm up.
        record: the steps that are recorded, at least 1.
        repeat: the number of rounds; 0 means without end.
        skip_first: the steps before the first round.

    Returns:
        A function of the step's number that gives a `ProfilerState`.

    Raises:
        AssertionError: one is no number of steps.

    Examples:
        >>> schedule = paddle.profiler.make_scheduler(closed=1, ready=1, record=2, repeat=1)
        >>> [schedule(step).name for step in range(5)]
        ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN', 'CLOSED']
    """
    counts = {"closed": closed, "ready": ready, "record": record, "repeat": repeat, "skip_first": skip_first}
    for name, count in counts.items():
        if not isinstance(count, int) or count < (1 if name == "record" else 0):
            least = "at least 1" if name == "record" else "not negative"
            raise failed_check("make_scheduler", f"{name} must be a number of steps, {least}", repr(count))
    length = closed + ready + record

    def state_of(step: int) -> ProfilerState:
        position = step - skip_first
        if position < 0 or (repeat and position >= repeat * length):
            return ProfilerState.CLOSED
        position %= length
        if position < closed:
            return ProfilerState.CLOSED
        if position < closed + ready:
            return ProfilerState.READY
        return ProfilerState.RECORD_AND_RETURN if position == length - 1 else ProfilerState.RECORD

    return state_of


def as_schedule(given: Any) -> Schedule:
    """What a Profiler was given: nothing (always record), a range of steps, or a function."""
    if given is None:
        return lambda step: ProfilerState.RECORD
    if callable(given):
        return given  # type: ignore[return-value]
    if isinstance(given, (list, tuple)) and len(given) == 2:
        begin, end = given
        if not (isinstance(begin, int) and isinstance(end, int)) or not 0 <= begin < end:
            raise failed_check("Profiler", "scheduler must be a range (begin, end) with 0 <= begin < end", repr(given))
        ready = 1 if begin else 0
        return make_scheduler(closed=begin - ready, ready=ready, record=end - begin, repeat=1)
    raise type_error("Profiler", "scheduler must be a function of the step, a range (begin, end) or None", repr(given))
