"""`paddle.utils.unique_name`: names that are counted up, and a counting of one's own for a while.

Layers and parameters are counted by the same counters (`eager/naming.py`), so that a model built inside `guard()` gets
the same names every time. A prefix is put before the names that `generate` gives.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..core.errors import type_error
from ..eager import naming


class UniqueNameGenerator:
    """Counters by key, and a prefix for the names made from them."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.counters: dict[str, int] = {}

    def __call__(self, key: str) -> str:
        number = self.counters.get(key, 0)
        self.counters[key] = number + 1
        return f"{self.prefix}{key}_{number}"


_current = UniqueNameGenerator()
_current.counters = naming._counters


def generate(key: str) -> str:
    """`key_0` at first, then `key_1` …"""
    return _current.prefix + naming.unique_name(key)


def switch(new_generator: Any = None, new_para_name_checker: Any = None) -> tuple[UniqueNameGenerator, Any]:
    """Counts with another generator (a fresh one by default) from now on; gives the one used so far.

    The second of the pair is what Paddle checks parameters' names with; there is nothing to check here.
    """
    global _current
    wanted = UniqueNameGenerator() if new_generator is None else new_generator
    if not isinstance(wanted, UniqueNameGenerator):
        raise type_error("unique_name.switch", "a generator comes from switch() or guard()", type(wanted).__name__)
    with naming._lock:
        former, _current = _current, wanted
        former.counters = naming._counters  # a guard of naming's own may have replaced them
        naming._counters = wanted.counters
    return former, new_para_name_checker


@contextlib.contextmanager
def guard(new_generator: Any = None) -> Iterator[None]:
    """Counts from 0 inside, with a prefix if a string is given, and goes on as before outside."""
    if isinstance(new_generator, bytes):
        new_generator = new_generator.decode()
    if isinstance(new_generator, str):
        new_generator = UniqueNameGenerator(new_generator)
    former, _ = switch(new_generator)
    try:
        yield
    finally:
        switch(former)
