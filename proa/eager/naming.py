"""Unique names for layers and parameters: `linear_0`, `linear_0.w_0`, as Paddle counts them.

State dictionaries of optimisers are keyed by these names, so the same model code must give the same
names in the next process; `guard()` starts counting anew for a while.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..core.locks import new_lock

_lock = new_lock()


class UniqueNameGenerator:
    """Counters by key, and a prefix for the names made from them.

    Args:
        prefix: what names begin with.

    Examples:
        >>> generator = paddle.utils.unique_name.UniqueNameGenerator("net/")
        >>> generator("fc"), generator("fc")
        ('net/fc_0', 'net/fc_1')
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.counters: dict[str, int] = {}

    def __call__(self, key: str) -> str:
        with _lock:
            number = self.counters.get(key, 0)
            self.counters[key] = number + 1
        return f"{self.prefix}{key}_{number}"


_current = UniqueNameGenerator()


def unique_name(key: str) -> str:
    """`key_0` at first, then `key_1` …"""
    return _current(key)


def switch(generator: UniqueNameGenerator | None = None) -> UniqueNameGenerator:
    """Counts with another generator (a fresh one by default) from now on; gives the one used so far."""
    global _current
    wanted = UniqueNameGenerator() if generator is None else generator
    with _lock:
        former, _current = _current, wanted
    return former


@contextlib.contextmanager
def guard(generator: UniqueNameGenerator | None = None) -> Iterator[None]:
    """Counts from 0 inside (or with the given generator), and goes on as before outside."""
    former = switch(generator)
    try:
        yield
    finally:
        switch(former)
