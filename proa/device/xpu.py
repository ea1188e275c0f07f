"""`paddle.device.xpu`: the device functions for a PJRT plug-in named `xpu`, where one is installed.

Without such a plug-in there are no XPUs: counting says 0, everything else raises ValueError.
"""

from __future__ import annotations

from typing import Any

from ..eager.annotations import DeviceLike
from . import memory
from . import stream as _stream
from .select import _device_of, _platforms
from .stream import Event, Stream

__all__ = [
    "Event",
    "Stream",
    "device_count",
    "empty_cache",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_total",
    "memory_used",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "set_debug_level",
    "synchronize",
]


def _named(device: Any, where: str) -> str:
    """The device by its full name; ValueError where there is no XPU."""
    if not device_count():
        instead = "get_device_properties().total_memory" if where == "memory_total" else f"{where}()"
        raise ValueError(f"({where}) no plug-in offers XPUs; use paddle.device.{instead} for the current device.")
    if device is None or isinstance(device, int):
        return f"xpu:{device or 0}"
    return device


def device_count() -> int:
    """The number of XPUs that can be used.

    Examples:
        >>> paddle.device.xpu.device_count()
        0
    """
    return _platforms().get("xpu", 0)


def synchronize(device: DeviceLike | None = None) -> None:
    """Runs everything recorded by this thread and waits until it is done.

    Examples:
        >>> paddle.device.xpu.synchronize()
        Traceback (most recent call last):
            ...
        ValueError: (synchronize) no plug-in offers XPUs; use paddle.device.synchronize() for the current device.
    """
    _stream.synchronize(_named(device, "synchronize"))


def empty_cache() -> None:
    """Frees what nothing refers to.

    Examples:
        >>> print(paddle.device.xpu.empty_cache())
        None
    """
    memory.empty_cache()


def memory_allocated(device: DeviceLike | None = None) -> int:
    """Bytes in use on an XPU.

    Examples:
        >>> paddle.device.xpu.memory_allocated()
        Traceback (most recent call last):
            ...
        ValueError: (memory_allocated) no plug-in offers XPUs; ...
    """
    return memory.memory_allocated(_named(device, "memory_allocated"))


def memory_reserved(device: DeviceLike | None = None) -> int:
    """Bytes that the XPU's allocator holds.

    Examples:
        >>> paddle.device.xpu.memory_reserved()
        Traceback (most recent call last):
            ...
        ValueError: (memory_reserved) no plug-in offers XPUs; ...
    """
    return memory.memory_reserved(_named(device, "memory_reserved"))


def max_memory_allocated(device: DeviceLike | None = None) -> int:
    """The most bytes that were in use at once.

    Examples:
        >>> paddle.device.xpu.max_memory_allocated()
        Traceback (most recent call last):
            ...
        ValueError: (max_memory_allocated) no plug-in offers XPUs; ...
    """
    return memory.max_memory_allocated(_named(device, "max_memory_allocated"))


def max_memory_reserved(device: DeviceLike | None = None) -> int:
    """The most bytes that the XPU's allocator held at once.

    Examples:
        >>> paddle.device.xpu.max_memory_reserved()
        Traceback (most recent call last):
            ...
        ValueError: (max_memory_reserved) no plug-in offers XPUs; ...
    """
    return memory.max_memory_reserved(_named(device, "max_memory_reserved"))


def reset_max_memory_allocated(device: DeviceLike | None = None) -> None:
    """Counts the most bytes in use anew.

    Examples:
        >>> paddle.device.xpu.reset_max_memory_allocated()
        Traceback (most recent call last):
            ...
        ValueError: (reset_max_memory_allocated) no plug-in offers XPUs; ...
    """
    memory.reset_max_memory_allocated(_named(device, "reset_max_memory_allocated"))


def reset_max_memory_reserved(device: DeviceLike | None = None) -> None:
    """Counts the most bytes held anew.

    Examples:
        >>> paddle.device.xpu.reset_max_memory_reserved()
        Traceback (most recent call last):
            ...
        ValueError: (reset_max_memory_reserved) no plug-in offers XPUs; ...
    """
    memory.reset_max_memory_reserved(_named(device, "reset_max_memory_reserved"))


def memory_total(device: DeviceLike | None = None) -> int:
    """All bytes of an XPU's memory.

    Examples:
        >>> paddle.device.xpu.memory_total()
        Traceback (most recent call last):
            ...
        ValueError: (memory_total) no plug-in offers XPUs; use paddle.device.get_device_properties().total_memory ...
    """
    return int((_device_of(_named(device, "memory_total")).memory_stats() or {}).get("bytes_limit", 0))


def memory_used(device: DeviceLike | None = None) -> int:
    """Bytes in use on an XPU.

    Examples:
        >>> paddle.device.xpu.memory_used()
        Traceback (most recent call last):
            ...
        ValueError: (memory_allocated) no plug-in offers XPUs; ...
    """
    return memory_allocated(device)


def set_debug_level(level: int = 0) -> None:
    """ValueError: XLA has flags of its own (XLA_FLAGS).

    Examples:
        >>> paddle.device.xpu.set_debug_level(1)
        Traceback (most recent call last):
            ...
        ValueError: (set_debug_level) there is no such level here; XLA is told by the environment's XLA_FLAGS.
    """
    raise ValueError("(set_debug_level) there is no such level here; XLA is told by the environment's XLA_FLAGS.")
