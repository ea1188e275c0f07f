"""`paddle.device.cuda`: the GPU forms of the device functions."""

from __future__ import annotations

from .memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_summary,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    vmm_compact,
)
from .select import _platforms, get_device_capability, get_device_name, get_device_properties
from .stream import Event, Stream, current_stream, stream_guard, synchronize

__all__ = [
    "Event",
    "Stream",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "stream_guard",
    "synchronize",
    "vmm_compact",
]


def device_count() -> int:
    """The number of GPUs that can be used.

    Examples:
        >>> paddle.cuda.device_count() >= 0
        True
    """
    return _platforms().get("gpu", 0)


def is_available() -> bool:
    """Whether there is a GPU that can be used.

    Examples:
        >>> paddle.cuda.is_available() == (paddle.cuda.device_count() > 0)
        True
    """
    return device_count() > 0
