"""Values that captured code has read, and whether they are still the same.

A value is compared as the code could tell it apart: numbers and texts by type and value (0.0 and -0.0 differ, NaN is NaN),
lists, dictionaries and sets by what is in them, small arrays by their bytes, everything else by identity. No `__eq__` of
the user's is ever called.
"""

from __future__ import annotations

from collections import deque
from types import MappingProxyType
from typing import Any

import numpy as np

from ..ir.keys import attribute_key

# Containers with more elements are watched by identity and length only, deeper ones and larger arrays by identity.
_MOST_ELEMENTS = 1000
_MOST_BYTES = 16 * 1024
_DEEPEST = 20
_SCALARS = (int, float, complex, str, bytes, np.generic)
SEQUENCES = (list, tuple, deque)
CONTAINERS = (*SEQUENCES, dict, set, frozenset, MappingProxyType)


class Absent:
    """What is found where an attribute, a name or an entry is not there."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT = Absent()


def is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, _SCALARS)


def is_container(value: Any) -> bool:
    return isinstance(value, CONTAINERS)


class Frozen:
    """A value as it was: `fits(now)` says whether another one is the same."""

    __slots__ = ("kind", "parts", "value")

    def __init__(self, value: Any, around: tuple[int, ...] = (), budget: list[int] | None = None) -> None:
        self.value = value  # also keeps its identity from being given to another
        self.kind = type(value)
        self.parts: Any = None
        budget = budget if budget is not None else [_MOST_ELEMENTS]
        if is_scalar(value):
            self.parts = attribute_key(value)
        elif isinstance(value, np.ndarray):
            if value.nbytes <= _MOST_BYTES and value.dtype.kind != "O":
                self.parts = (value.dtype, value.shape, value.tobytes())
        elif is_container(value) and id(value) not in around and len(around) < _DEEPEST:
            budget[0] -= len(value)
            if budget[0] < 0:
                self.parts = len(value)
            else:
                self.parts = self._inside(value, (*around, id(value)), budget)

    @staticmethod
    def _inside(value: Any, around: tuple[int, ...], budget: list[int]) -> Any:
        if isinstance(value, (set, frozenset)):
            return frozenset(attribute_key(part) for part in value)
        if isinstance(value, SEQUENCES):
            return [Frozen(part, around, budget) for part in value]
        return [(key, Frozen(part, around, budget)) for key, part in value.items()]

    def fits(self, now: Any) -> bool:
        parts = self.parts
        if parts is None or type(now) is not self.kind:
            return now is self.value
        if isinstance(now, np.ndarray):
            return (now.dtype, now.shape, now.tobytes()) == parts
        if not is_container(now):
            return attribute_key(now) == parts
        if isinstance(parts, int):
            return now is self.value and len(now) == parts
        if len(now) != len(parts):
            return False
        if isinstance(parts, frozenset):
            return frozenset(attribute_key(part) for part in now) == parts
        if isinstance(now, SEQUENCES):
            return all(part.fits(other) for part, other in zip(parts, now, strict=True))
        return all(
            (key is other or attribute_key(key) == attribute_key(other)) and part.fits(value)
            for (key, part), (other, value) in zip(parts, now.items(), strict=True)
        )

    def put_back(self) -> None:
        """Gives a list or dictionary the entries that it had."""
        container, entries = self.value, self.parts
        container.clear()
        if isinstance(container, dict):
            container.update({key: part.value for key, part in entries})
        else:
            container.extend([part.value for part in entries])

    @property
    def is_fixed(self) -> bool:
        """Whether the same object is always the same value."""
        if isinstance(self.value, (list, dict, set, deque, MappingProxyType)):
            return False
        if isinstance(self.parts, list):
            return all(part.is_fixed for part in self.parts)
        return not (isinstance(self.value, np.ndarray) and self.parts is not None)


def shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."
