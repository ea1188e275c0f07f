"""Streams and events.

XLA orders its own work, so a stream is a name here; what is real is waiting: `synchronize` runs what is recorded and waits
for the device, an event's time is the host's clock after such a wait.
"""

from __future__ import annotations

import time
from typing import Any

from ..eager.annotations import DeviceLike
from ..eager.declare import PUBLIC
from ..ir.process import forking
from ..ir.recorder import LOCAL, flush_current, verify_values
from ..ir.xla import started_jax


def synchronize(device: DeviceLike | None = None) -> None:
    """Runs everything recorded by this thread and waits until it is done.

    Examples:
        >>> total = paddle.ones([3]).sum()
        >>> paddle.device.synchronize()
        >>> float(total)
        3.0
    """
    flush_current()
    if forking.State.started and not forking.State.lost:
        jax = started_jax()
        jax.effects_barrier()
        for array in jax.live_arrays():
            array.block_until_ready()
    verify_values()


class Stream:
    """A stream of work on a device. All work of a device is in order already, so it is a name and a way to wait.

    Args:
        device: the device; that of new tensors by default.
        priority: accepted.
        stream_base: accepted.

    Examples:
        >>> stream = paddle.Stream("cpu")
        >>> stream.query()
        True
    """

    def __init__(self, device: DeviceLike | None = None, priority: int = 2, stream_base: Any = None) -> None:
        self.device = device if device is not None else LOCAL.place
        self.priority = priority

    def wait_event(self, event: Event) -> None:
        """Waits for an event.

        Args:
            event: the event.

        Examples:
            >>> stream = paddle.Stream()
            >>> stream.wait_event(stream.record_event())
        """
        event.synchronize()

    def wait_stream(self, stream: Stream) -> None:
        """Waits for another stream.

        Args:
            stream: the other stream.

        Examples:
            >>> paddle.Stream().wait_stream(paddle.Stream())
        """
        stream.synchronize()

    def record_event(self, event: Event | None = None) -> Event:
        """Records an event in this stream.

        Args:
            event: the event; a new one by default.

        Returns:
            The event.

        Examples:
            >>> paddle.Stream().record_event().query()
            True
        """
        event = event if event is not None else Event()
        event.record(self)
        return event

    def query(self) -> bool:
        """Whether all work is done: it is, after the wait that asking implies.

        Examples:
            >>> paddle.Stream().query()
            True
        """
        self.synchronize()
        return True

    def synchronize(self) -> None:
        """Waits until all work of the device is done.

        Examples:
            >>> paddle.Stream().synchronize()
        """
        synchronize(self.device)

    def __repr__(self) -> str:
        return f"Stream(device={self.device})"


class Event:
    """A moment in a stream of work.

    Args:
        enable_timing: accepted; the time is always kept.
        blocking: accepted.
        interprocess: accepted.

    Examples:
        >>> start, end = paddle.Event(), paddle.Event()
        >>> start.record()
        >>> _ = paddle.ones([10]).sum()
        >>> end.record()
        >>> start.elapsed_time(end) >= 0
        True
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self.device: Any = None
        self._time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Waits for the work of the device and keeps the time.

        Args:
            stream: accepted; all work of a device is in order.

        Examples:
            >>> event = paddle.Event()
            >>> event.record()
            >>> event.query()
            True
        """
        synchronize(self.device)
        self._time = time.perf_counter()

    def query(self) -> bool:
        """Whether the event was recorded; its work is done then.

        Examples:
            >>> event = paddle.Event()
            >>> event.query()
            False
        """
        return self._time is not None

    def synchronize(self) -> None:
        """Waits until all work of the device is done.

        Examples:
            >>> event = paddle.Event()
            >>> event.record()
            >>> event.synchronize()
        """
        synchronize(self.device)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds between this event and a later one.

        Args:
            end_event: the later one.

        Raises:
            RuntimeError: one of them was not recorded.

        Examples:
            >>> start, end = paddle.Event(), paddle.Event()
            >>> start.record()
            >>> end.record()
            >>> start.elapsed_time(end) >= 0
            True
        """
        if self._time is None or end_event._time is None:
            raise RuntimeError("(elapsed_time) both events must be recorded first.")
        return (end_event._time - self._time) * 1000.0


class _Current:
    stream: Stream | None = None


def current_stream(device: DeviceLike | None = None) -> Stream:
    """The stream that work goes to now.

    Examples:
        >>> isinstance(paddle.device.current_stream(), paddle.device.Stream)
        True
    """
    if _Current.stream is None:
        _Current.stream = Stream(device)
    return _Current.stream


def set_stream(stream: Stream) -> Stream:
    """Makes a stream the current one.

    Returns:
        The stream that was current before.

    Examples:
        >>> stream = paddle.device.Stream()
        >>> before = paddle.device.set_stream(stream)
        >>> paddle.device.current_stream() is stream
        True
        >>> paddle.device.set_stream(before) is stream
        True
    """
    before = current_stream()
    _Current.stream = stream
    return before


class stream_guard:
    """`with stream_guard(stream):` makes a stream the current one; None changes nothing.

    Examples:
        >>> stream = paddle.device.Stream()
        >>> with paddle.device.stream_guard(stream):
        ...     print(paddle.device.current_stream() is stream)
        True
        >>> paddle.device.current_stream() is stream
        False
    """

    def __init__(self, stream: Stream | None = None) -> None:
        self.stream = stream

    def __enter__(self) -> Stream | None:
        self.before = set_stream(self.stream) if self.stream is not None else None
        return self.stream

    def __exit__(self, *problem: Any) -> None:
        if self.before is not None:
            set_stream(self.before)


class StreamContext(stream_guard):
    """The same as `stream_guard`, under PyTorch's name.

    Examples:
        >>> stream = paddle.device.Stream()
        >>> with paddle.device.StreamContext(stream):
        ...     print(paddle.device.current_stream() is stream)
        True
    """


def stream(stream: Stream | None) -> StreamContext:
    """`with stream(s):` makes `s` the current stream.

    Examples:
        >>> chosen = paddle.device.Stream()
        >>> with paddle.device.stream(chosen):
        ...     print(paddle.device.current_stream() is chosen)
        True
    """
    return StreamContext(stream)


def get_stream_from_external(data_ptr: int, device: DeviceLike | None = None) -> Stream:
    """A stream for one that another library made: its work is waited for whenever this one waits.

    Args:
        data_ptr: the other library's stream, as a number.
        device: its device; None: the current one.

    Raises:
        TypeError: `data_ptr` is not an integer.

    Examples:
        >>> paddle.device.get_stream_from_external(0).query()
        True
    """
    if not isinstance(data_ptr, int):
        raise TypeError(f"(get_stream_from_external) data_ptr must be an integer; received {type(data_ptr).__name__}.")
    return Stream(device)


def is_current_stream_capturing() -> bool:
    """Whether work is being captured into a CUDA graph: never, XLA makes its own.

    Examples:
        >>> paddle.device.is_current_stream_capturing()
        False
    """
    return False


def ipc_collect() -> None:
    """Nothing: no device memory is shared between processes here.

    Examples:
        >>> print(paddle.device.ipc_collect())
        None
    """


PUBLIC.update(Stream=Stream, Event=Event)
