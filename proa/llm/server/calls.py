"""Calls of functions in the text of an answer, found while it is written.

Two forms cover the common templates, whichever the model was trained with:

    <tool_call>{"name": …, "arguments": {…}}</tool_call>      Hermes and Qwen, also amid text, also several
    {"name": …, "parameters": {…}}                            Llama 3: the whole answer; several are separated by ";",
                                                              or stand in a list

Only a call of a function that the request has defined is a call; all else is text and is handed out as it came. What may
still become a call is held back until it is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_PREFIX = "<|python_tag|>"  # what Llama 3 writes before calls, where special tokens are shown


@dataclass(frozen=True)
class Call:
    """A function and its arguments, as JSON."""

    name: str
    arguments: str


Found = str | Call


class CallReader:
    """Takes text as it comes, and gives text and calls."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._held = ""
        self._state = (
            "start"  # start: nothing but spaces so far; text; call: behind <tool_call>; json: the whole answer
        )

    def add(self, text: str) -> list[Found]:
        self._held += text
        return [found for found in self._read(at_end=False) if found]

    def finish(self) -> list[Found]:
        """What was held back, at the end of the answer."""
        return [found for found in self._read(at_end=True) if found]

    def _read(self, at_end: bool) -> Iterator[Found]:
        if self._state == "start":
            self._state = self._begun(at_end)
        if self._state == "json" and at_end:
            yield from self._whole()
        while self._state in ("text", "call"):
            if self._state == "text":
                place = self._held.find(_OPEN)
                if place < 0:
                    yield self._take(len(self._held) - (0 if at_end else _overlap(self._held)))
                    return
                yield self._take(place)
                self._state = "call"
            place = self._held.find(_CLOSE)
            if place < 0 and not at_end:
                return
            # At the end the closing mark may be missing: it is a stop token of some models.
            inside = self._take(len(self._held) if place < 0 else place + len(_CLOSE))
            self._state = "text"
            yield from self._calls(inside.removeprefix(_OPEN).removesuffix(_CLOSE)) or [inside]
            if not self._held:
                return

    def _begun(self, at_end: bool) -> str:
        begin = self._held.lstrip()
        if begin and _PREFIX.startswith(begin) and not at_end:
            return "start"
        if begin.startswith(_PREFIX):
            return "json"
        return "start" if not begin and not at_end else "json" if begin[:1] in ("{", "[") else "text"

    def _whole(self) -> Iterator[Found]:
        text = self._take(len(self._held))
        yield from self._calls(text.strip().removeprefix(_PREFIX)) or [text]

    def _take(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        return taken

    def _calls(self, text: str) -> list[Found]:
        """The calls that a text consists of; none if it is something else."""
        values = list(_values(text.strip()))
        if len(values) == 1 and isinstance(values[0], list):
            values = values[0]
        calls = [self._call(value) for value in values]
        return [] if None in calls else [call for call in calls if call is not None]

    def _call(self, value: Any) -> Call | None:
        if not isinstance(value, dict) or value.get("name") not in self._names:
            return None
        arguments = value.get("arguments", value.get("parameters", {}))
        if isinstance(arguments, str):  # some models write the JSON of their arguments as a text
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                return None
        return Call(value["name"], json.dumps(arguments, ensure_ascii=False)) if isinstance(arguments, dict) else None


def _values(text: str) -> Iterator[Any]:
    """JSON values separated by `;` or spaces; None for what is none."""
    decoder, position = json.JSONDecoder(), 0
    while position < len(text):
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            yield None
            return
        yield value
        while position < len(text) and text[position] in "; \n\t\r":
            position += 1


def _overlap(text: str) -> int:
    """How many characters at the end of `text` may begin the opening mark."""
    return next((n for n in range(min(len(text), len(_OPEN) - 1), 0, -1) if _OPEN.startswith(text[-n:])), 0)
