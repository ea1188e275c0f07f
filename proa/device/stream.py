"""Streams and events.

XLA orders its own work, so a stream is a name here; what is real is waiting: `synchronize` runs what is recorded and waits
for the device, an event's time is the host's clock after such a wait.
"""

from __future__ import annotations

import time
from typing import Any

from ..eager.declare import PUBLIC
from ..ir.process import forking
from ..ir.recorder import LOCAL, flush_current, verify_values
from ..ir.xla import started_jax


def synchronize(device: Any = None) -> None:
    """Runs everything recorded by this thread and waits until it is done."""
    flush_current()
    if forking.State.started and not forking.State.lost:
        jax = started_jax()
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

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self.device: Any = None
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


class stream_guard:
    """`with stream_guard(stream):` makes a stream the current one; None changes nothing."""

    def __init__(self, stream: Stream | None = None) -> None:
        self.stream = stream

    def __enter__(self) -> Stream | None:
        self.before = set_stream(self.stream) if self.stream is not None else None
        return self.stream

    def __exit__(self, *problem: Any) -> None:
        if self.before is not None:
            set_stream(self.before)


class StreamContext(stream_guard):
    """The same as `stream_guard`, under PyTorch's name."""


def stream(stream: Stream | None) -> StreamContext:
    """`with stream(s):` makes `s` the current stream."""
    return StreamContext(stream)


def get_stream_from_external(data_ptr: int, device: Any = None) -> Stream:
    """A stream for one that another library made: its work is waited for whenever this one waits."""
    if not isinstance(data_ptr, int):
        raise TypeError(f"(get_stream_from_external) data_ptr must be an integer; received {type(data_ptr).__name__}.")
    return Stream(device)


def is_current_stream_capturing() -> bool:
    """Whether work is being captured into a CUDA graph: never, XLA makes its own."""
    return False


def ipc_collect() -> None:
    """Nothing: no device memory is shared between processes here."""


PUBLIC.update(Stream=Stream, Event=Event)
