"""What an engine keeps for single shapes of the inputs: an executable, a session. Few of them, and the right ones.

Making one takes a second or more, and a service may be sent a new shape with every request. So the first shapes get theirs
at once, a later one when it has come often, and the one that was not used for longest goes. The more were given up, the
oftener a shape has to come: shapes that take turns must not push each other out for ever.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

OFTEN = 16  # how often a later shape has to come; that many times more with each one that was given up
_MOST_REMEMBERED = 4096


class Kept:
    """Values by shape. Reading needs no lock; who adds holds the engine's."""

    def __init__(self, most: int, at_once: int) -> None:
        self.most = most
        self.given_up = 0
        self._at_once = min(at_once, most)
        self._values: dict[Any, tuple[Any, list[int]]] = {}  # with the moment of the last use
        self._seen: dict[Any, int] = {}
        self._clock = itertools.count(1)

    def get(self, key: Any) -> Any:
        """The value of a shape, which is used now; None if it has none."""
        found = self._values.get(key)
        if found is None:
            return None
        found[1][0] = next(self._clock)
        return found[0]

    def deserves(self, key: Any) -> bool:
        """Whether a shape without a value shall have one; each question is a time that it came."""
        if len(self._values) + self.given_up < self._at_once:
            return True
        if len(self._seen) >= _MOST_REMEMBERED:
            self._seen.clear()
        count = self._seen[key] = self._seen.get(key, 0) + 1
        return count > OFTEN * (1 + self.given_up)

    def add(self, key: Any, value: Any) -> None:
        while len(self._values) >= self.most:
            del self._values[min(self._values, key=self._used)]
            self.given_up += 1
        self._seen.pop(key, None)
        self._values[key] = (value, [next(self._clock)])

    def release(self) -> None:
        """Gives up all but the one used last."""
        self.given_up += max(0, len(self._values) - 1)
        last = max(self._values, key=self._used, default=None)
        self._values = {last: self._values[last]} if last is not None else {}

    def _used(self, key: Any) -> int:
        return self._values[key][1][0]

    @property
    def num_seen(self) -> int:
        """Shapes that did not come often enough yet."""
        return len(self._seen)

    def values(self) -> list[Any]:
        return [value for value, _ in list(self._values.values())]

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)


__all__ = ["OFTEN", "Kept"]
