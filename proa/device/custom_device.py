"""`paddle.device.custom_device`: the device functions for any PJRT plug-in besides CPU and GPU, by its platform's name."""

from __future__ import annotations

from typing import Any

from ..eager.annotations import DeviceLike
from . import memory, select
from . import stream as _stream

__all__ = [
    "Event",
    "Stream",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_device_properties",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "synchronize",
]


def _named(device: Any, where: str) -> Any:
    """The device by its full name, the first custom one by default; ValueError where there is none."""
    custom = select.get_available_custom_device()
    if not custom:
        raise ValueError(
            f"({where}) no plug-in offers a custom device; use paddle.device.{where}() for the current device."
        )
    if device is None:
        return custom[0]
    return f"{custom[0].partition(':')[0]}:{device}" if isinstance(device, int) else device


class Stream(_stream.Stream):
    """A stream of work on a custom device; all work of a device is in order already.

    Examples:
        >>> paddle.device.custom_device.Stream()
        Traceback (most recent call last):
            ...
        ValueError: (Stream) no plug-in offers a custom device; use paddle.device.Stream() for the current device.
    """

    def __init__(
        self, device: DeviceLike | None = None, device_id: int = -1, priority: int = 2, blocking: bool = False
    ) -> None:
        super().__init__(_named(device, "Stream"), priority)


class Event(_stream.Event):
    """A moment in a stream of a custom device.

    Examples:
        >>> paddle.device.custom_device.Event()
        Traceback (most recent call last):
            ...
        ValueError: (Event) no plug-in offers a custom device; use paddle.device.Event() for the current device.
    """

    def __init__(
        self, device: DeviceLike | None = None, device_id: int = -1, enable_timing: bool = False, blocking: bool = False,
        interprocess: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(enable_timing, blocking, interprocess)
        self.device = _named(device, "Event")


def device_count(device_type: str | None = None) -> int:
    """The number of devices of a plug-in; of all custom ones without a name.

    Examples:
        >>> paddle.device.custom_device.device_count()
        0
    """
    kinds = select.get_all_custom_device_type() if device_type is None else [device_type]
    return sum(select._platforms().get(kind, 0) for kind in kinds)


def current_stream(device: DeviceLike | None = None) -> _stream.Stream:
    """The current stream of a custom device.

    Examples:
        >>> paddle.device.custom_device.current_stream()
        Traceback (most recent call last):
            ...
        ValueError: (current_stream) no plug-in offers a custom device; ...
    """
    return _stream.current_stream(_named(device, "current_stream"))


def synchronize(device: DeviceLike | None = None) -> None:
    """Runs everything recorded by this thread and waits until it is done.

    Examples:
        >>> paddle.device.custom_device.synchronize()
        Traceback (most recent call last):
            ...
        ValueError: (synchronize) no plug-in offers a custom device; ...
    """
    _stream.synchronize(_named(device, "synchronize"))


def empty_cache() -> None:
    """Frees what nothing refers to.

    Examples:
        >>> print(paddle.device.custom_device.empty_cache())
        None
    """
    memory.empty_cache()


def get_device_properties(device: DeviceLike | None = None) -> select.DeviceProperties:
    """What the plug-in tells about a device.

    Examples:
        >>> paddle.device.custom_device.get_device_properties()
        Traceback (most recent call last):
            ...
        ValueError: (get_device_properties) no plug-in offers a custom device; ...
    """
    return select.get_device_properties(_named(device, "get_device_properties"))


def memory_allocated(device: DeviceLike | None = None) -> int:
    """Bytes in use on a device.

    Examples:
        >>> paddle.device.custom_device.memory_allocated()
        Traceback (most recent call last):
            ...
        ValueError: (memory_allocated) no plug-in offers a custom device; ...
    """
    return memory.memory_allocated(_named(device, "memory_allocated"))


def memory_reserved(device: DeviceLike | None = None) -> int:
    """Bytes that the device's allocator holds.

    Examples:
        >>> paddle.device.custom_device.memory_reserved()
        Traceback (most recent call last):
            ...
        ValueError: (memory_reserved) no plug-in offers a custom device; ...
    """
    return memory.memory_reserved(_named(device, "memory_reserved"))


def max_memory_allocated(device: DeviceLike | None = None) -> int:
    """The most bytes that were in use at once.

    Examples:
        >>> paddle.device.custom_device.max_memory_allocated()
        Traceback (most recent call last):
            ...
        ValueError: (max_memory_allocated) no plug-in offers a custom device; ...
    """
    return memory.max_memory_allocated(_named(device, "max_memory_allocated"))


def max_memory_reserved(device: DeviceLike | None = None) -> int:
    """The most bytes that the device's allocator held at once.

    Examples:
        >>> paddle.device.custom_device.max_memory_reserved()
        Traceback (most recent call last):
            ...
        ValueError: (max_memory_reserved) no plug-in offers a custom device; ...
    """
    return memory.max_memory_reserved(_named(device, "max_memory_reserved"))


def reset_max_memory_allocated(device: DeviceLike | None = None) -> None:
    """Counts the most bytes in use anew.

    Examples:
        >>> paddle.device.custom_device.reset_max_memory_allocated()
        Traceback (most recent call last):
            ...
        ValueError: (reset_max_memory_allocated) no plug-in offers a custom device; ...
    """
    memory.reset_max_memory_allocated(_named(device, "reset_max_memory_allocated"))


def reset_max_memory_reserved(device: DeviceLike | None = None) -> None:
    """Counts the most bytes held anew.

    Examples:
        >>> paddle.device.custom_device.reset_max_memory_reserved()
        Traceback (most recent call last):
            ...
        ValueError: (reset_max_memory_reserved) no plug-in offers a custom device; ...
    """
    memory.reset_max_memory_reserved(_named(device, "reset_max_memory_reserved"))
