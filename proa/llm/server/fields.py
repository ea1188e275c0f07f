"""Fields of a JSON object, read by name and kind.

What was not read when all is done is refused: a field that is not known might change the answer, and ignoring it would be
a wrong answer. A field that is null counts as left out, as with OpenAI.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import Problem


class Fields:
    """An object's fields; `where` is the path to it, such as `messages[2].`."""

    def __init__(self, message: Any, where: str = "") -> None:
        if not isinstance(message, dict):
            raise Problem(
                f"{where.rstrip('.') or 'the request'} must be an object; received {shown(message)}.",
                where.rstrip(".") or None,
            )
        self._message: Mapping[str, Any] = message
        self._where = where
        self._read: set[str] = set()

    def path(self, name: str) -> str:
        return self._where + name

    def any(self, name: str) -> Any:
        self._read.add(name)
        return self._message.get(name)

    def problem(self, name: str, wanted: str, code: str | None = None) -> Problem:
        """`name` is not what it must be."""
        received = shown(self._message.get(name))
        return Problem(f"{self.path(name)} must be {wanted}; received {received}.", self.path(name), code)

    def number(self, name: str, default: Any, least: float, most: float) -> Any:
        value = self.any(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            raise self.problem(name, f"a number from {least:g} to {most:g}")
        return float(value)

    def whole(self, name: str, default: Any, least: int, most: int) -> Any:
        value = self.any(name)
        if value is None:
            return default
        if isinstance(value, float) and math.isfinite(value) and value == int(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.problem(name, f"a whole number from {least} to {most}")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.any(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.problem(name, "true or false")
        return value

    def text(self, name: str, default: Any = None) -> Any:
        value = self.any(name)
        if value is None:
            return default
        if not is_text(value):
            raise self.problem(name, "a text")
        return value

    def choice(self, name: str, default: Any, choices: Sequence[str]) -> Any:
        value = self.any(name)
        if value is None:
            return default
        if value not in choices:
            raise self.problem(name, f"one of {', '.join(choices)}")
        return value

    def table(self, name: str) -> Fields | None:
        value = self.any(name)
        return None if value is None else Fields(value, f"{self.path(name)}.")

    def tables(self, name: str, most: int) -> list[Fields]:
        value = self.any(name)
        if value is None:
            return []
        if not isinstance(value, list) or len(value) > most:
            raise self.problem(name, f"a list of at most {most} objects")
        return [Fields(each, f"{self.path(name)}[{number}].") for number, each in enumerate(value)]

    def raw(self) -> dict[str, Any]:
        return dict(self._message)

    def ignore(self, *names: str) -> None:
        """Fields that cannot change the answer."""
        self._read.update(names)

    def refuse(self, **reasons: str) -> None:
        """Fields that are known and not offered; what they are when they are not used is allowed."""
        for name, reason in reasons.items():
            if self.any(name) not in (None, False, [], {}, ""):
                raise Problem(f"{self.path(name)} is not offered here: {reason}.", self.path(name), "unsupported")

    def end(self) -> None:
        """Problem if there is a field that nobody has asked for."""
        unknown = [name for name in self._message if name not in self._read]
        if unknown:
            path = self.path(unknown[0][:60])
            raise Problem(f"there is no field {path}; leave it out.", path, "unknown_parameter")


def is_text(value: Any) -> bool:
    """Whether it is a text that can be written: JSON may hold halves of characters."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: Any) -> str:
    """A value in an error's words, short and printable."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
