"""The text form of protocol buffers, as `.prototxt` files have it: `name: value`, `name { … }`, comments after #."""

from __future__ import annotations

import re
from typing import Any

from ...core.errors import value_error

_TOKEN = re.compile(
    r"\s*(?:#[^\n]*\s*)*(?:(?P<name>[A-Za-z_]\w*)|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?f?)"
    r"|(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<sign>[{}:\[\],;<>]))"
)
_SPACE = re.compile(r"\s*(?:#[^\n]*\s*)*")
_DEEPEST = 32
_WORDS = {"true": True, "false": False}

Message = dict[str, list[Any]]


def parse(text: str) -> Message:
    """Every field as a list of its values, since the text does not say which may be repeated."""
    return _Parser(text).message(0, "")


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.kind, self.token = "", ""
        self.advance()

    def advance(self) -> None:
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            space = _SPACE.match(self.text, self.at)
            self.at = space.end() if space else self.at
            rest = self.text[self.at :]
            if rest:
                raise self.wrong(f"{rest[:20]!r} is nothing that belongs here")
            self.kind, self.token = "end", ""
            return
        self.at = found.end()
        self.kind = found.lastgroup or ""
        self.token = found.group(self.kind)

    def wrong(self, what: str) -> ValueError:
        line = self.text.count("\n", 0, self.at) + 1
        return value_error("prototxt", what, f"line {line}")

    def message(self, depth: int, closing: str) -> Message:
        found: Message = {}
        while self.token != closing or self.kind == "text":
            if self.kind != "name":
                raise self.wrong(f"the name of a field is expected, not {self.token!r}")
            name = self.token
            self.advance()
            if self.token == ":":
                self.advance()
            found.setdefault(name, []).extend(self.values(depth))
            if self.token in (",", ";"):
                self.advance()
        self.advance()
        return found

    def values(self, depth: int) -> list[Any]:
        if depth > _DEEPEST:
            raise self.wrong(f"messages are nested more than {_DEEPEST} deep")
        if self.token in ("{", "<"):
            closing = "}" if self.token == "{" else ">"
            self.advance()
            return [self.message(depth + 1, closing)]
        if self.token == "[":
            self.advance()
            found: list[Any] = []
            while self.token != "]":
                found += self.values(depth + 1)
                if self.token == ",":
                    self.advance()
            self.advance()
            return found
        kind, token = self.kind, self.token
        if kind not in ("name", "number", "text"):
            raise self.wrong(f"a value is expected, not {token!r}")
        self.advance()
        if kind == "text":
            return [token[1:-1]]
        if kind == "name":
            return [_WORDS.get(token, token)]
        number = token.rstrip("f")
        return [int(number) if re.fullmatch(r"[-+]?\d+", number) else float(number)]


__all__ = ["Message", "parse"]
