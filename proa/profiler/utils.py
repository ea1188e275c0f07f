"""`paddle.profiler.utils`: events, and names that Paddle's own modules use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .export import load_profiler_result
from .recording import RecordEvent, in_profiler_mode

__all__ = [
    "RecordEvent", "in_profiler_mode", "job_schedule_profiler_range", "load_profiler_result",
    "switch_job_schedule_profiler", "wrap_optimizers",
]  # fmt: skip


def wrap_optimizers() -> None:
    """Nothing to do: updates are recorded as such while a profiler records."""


@contextmanager
def job_schedule_profiler_range(status: bool = False) -> Iterator[bool]:
    """A range of Paddle's job scheduler, which this package does not have; gives back what it is given."""
    yield status


@contextmanager
def switch_job_schedule_profiler(
    model: object, iter_id: int, start: int, end: int, exit_after_prof: bool = True
) -> Iterator[None]:
    """As above."""
    yield
