"""What one rendering of a template may take."""

from __future__ import annotations

import threading
import time
from collections.abc import ItemsView, KeysView, ValuesView
from typing import Any

from jinja2.exceptions import SecurityError

HOLDERS = (dict, list, tuple, KeysView, ValuesView, ItemsView)  # what prints and compares what it holds
PIECES = 4  # how much more a text needs that is taken apart


class Budget:
    """What one rendering may take."""

    def __init__(self, units: int, rounds: int, seconds: float) -> None:
        self.units, self.rounds = units, rounds
        self.deadline = time.monotonic() + seconds

    def tick(self) -> bool:
        self.rounds -= 1
        if self.rounds < 0:
            raise SecurityError("the template goes round too often")
        if not self.rounds & 63 and time.monotonic() > self.deadline:
            raise SecurityError("the template takes too long")
        return True

    def take(self, units: int) -> None:
        """Before or after something of this size is made."""
        self.units -= units
        if self.units < 0:
            raise SecurityError("the template makes too much text")
        self.spend(units)

    def spend(self, size: int) -> None:
        """Before something is read: that takes nothing but time."""
        if size > 4096 and time.monotonic() > self.deadline:
            raise SecurityError("the template takes too long")

    def walk(self, value: Any) -> Any:
        """Takes what it costs to visit everything within a value, which may hold the same list many times over."""
        if isinstance(value, HOLDERS):
            left = [value]
            while left:
                each = left.pop()
                self.take(size_of(each) + 1)
                if isinstance(each, HOLDERS):
                    self.tick()
                    left.extend(each)
                    left.extend(each.values() if isinstance(each, dict) else ())
        elif isinstance(value, str):
            self.spend(len(value))
        return value


class _Local(threading.local):
    budget: Budget | None = None


_LOCAL = _Local()


def budget_now() -> Budget:
    if _LOCAL.budget is None:
        raise SecurityError("a template is run outside of its sandbox")
    return _LOCAL.budget


class limited:
    """`with limited(budget):` what templates do inside is counted."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def __enter__(self) -> None:
        self._outer, _LOCAL.budget = _LOCAL.budget, self._budget

    def __exit__(self, *_: object) -> None:
        _LOCAL.budget = self._outer


def size_of(value: Any) -> int:
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, HOLDERS):
        return 8 * len(value)  # of a pointer's bytes
    return value.bit_length() >> 3 if isinstance(value, int) else 0


def counted(value: Any) -> Any:
    budget_now().take(size_of(value) + 1)
    return value


def replaced_size(text: str, old: Any = "", new: Any = "") -> int:
    if not isinstance(old, str) or not isinstance(new, str):
        return 0
    return len(text) + text.count(old) * len(new)
