"""Unique names for layers and parameters: `linear_0`, `linear_0.w_0`, as Paddle counts them.

State dictionaries of optimisers are keyed by these names, so the same model code must give the same
names in the next process; `guard()` starts counting anew for a while.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

_lock = threading.Lock()
_counters: dict[str, int] = {}


def unique_name(key: str) -> str:
    """`key_0` at first, then `key_1` …"""
    with _lock:
        number = _counters.get(key, 0)
        _counters[key] = number + 1
    return f"{key}_{number}"


@contextlib.contextmanager
def guard() -> Iterator[None]:
    """Counts from 0 inside, and goes on as before outside."""
    global _counters
    with _lock:
        before, _counters = _counters, {}
    try:
        yield
    finally:
        with _lock:
            _counters = before
