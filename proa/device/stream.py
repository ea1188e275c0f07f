"""Streams and events.

XLA orders its own work, so a stream is a name here; what is real is waiting: `synchronize` runs what is recorded and waits
for the device, an event's time is the host's clock after such a wait.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..ir.recorder import LOCAL, flush_current, verify_values


def synchronize(device: Any = None) -> None:
    """Runs everything recorded by this thread and waits until it is done."""
    import sys

    flush_current()
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.effects_barrier()
        for array in jax.live_arrays():
            array.block_until_ready()
    verify_values()


class Stream:
    """A stream of work on a device; all work of a device is in order already."""

    def __init__(self, device: Any = None, priority: int = 2, stream_base: Any = None) -> None:
        self.device = device if device is not None else LOCAL.place
        self.priority = priority

    def wait_event(self, event: Event) -> None:
        event.synchronize()

    def wait_stream(self, stream: Stream) -> None:
        stream.synchronize()

    def record_event(self, event: Event | None = None) -> Event:
        event = event if event is not None else Event()
        event.record(self)
        return event

    def query(self) -> bool:
        """Whether all work is done (it is, after the wait that asking implies)."""
        self.synchronize()
        return True

    def synchronize(self) -> None:
        synchronize(self.device)

    def __repr__(self) -> str:
        return f"Stream(device={self.device})"


class Event:
    """A moment in a stream."""

    def __init__(
        self, device: Any = None, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False,
        event_base: Any = None,
    ) -> None:  # fmt: skip
        self.device = device
        self._time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        synchronize(self.device)
        self._time = time.perf_counter()

    def query(self) -> bool:
        return self._time is not None

    def synchronize(self) -> None:
        synchronize(self.device)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds between two recorded events."""
        if self._time is None or end_event._time is None:
            raise RuntimeError("(elapsed_time) both events must be recorded first.")
        return (end_event._time - self._time) * 1000.0


class _Current:
    stream: Stream | None = None


def current_stream(device: Any = None) -> Stream:
    if _Current.stream is None:
        _Current.stream = Stream(device)
    return _Current.stream


def set_stream(stream: Stream) -> Stream:
    before = current_stream()
    _Current.stream = stream
    return before


@contextmanager
def stream_guard(stream: Stream) -> Iterator[None]:
    before = set_stream(stream)
    try:
        yield
    finally:
        set_stream(before)
