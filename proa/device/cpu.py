"""`paddle.device.cpu`: the functions of the host, which counts as one device."""

from __future__ import annotations

from typing import Any

from .memory import (
    max_memory_allocated,
    max_memory_reserved,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
)
from .random_state import get_rng_state, manual_seed, set_rng_state
from .stream import Event, Stream

__all__ = [
    "Event",
    "Stream",
    "device_count",
    "get_rng_state",
    "is_available",
    "manual_seed",
    "max_memory_allocated",
    "max_memory_reserved",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "set_rng_state",
]


def device_count(device: Any = None) -> int:
    """One."""
    return 1


def is_available() -> bool:
    return True
