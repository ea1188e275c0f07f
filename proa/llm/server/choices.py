"""One answer while it is written: pieces of the engine become what a caller is sent."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ..engine.request import Piece
from .calls import Call, CallReader
from .tools import Tools

# OpenAI's clients read numbers; JSON has no infinity.
_LEAST_LOGPROB = -9999.0


@dataclass
class Token:
    """A token with how likely it was, and the likeliest ones beside it."""

    text: str
    data: bytes | None  # of a part of a character too, which no text can hold
    logprob: float
    top: list[Token] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The text; parts of characters by their bytes, as OpenAI names them, since they would all be called �."""
        if self.data is None or "\ufffd" not in self.text:
            return self.text
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in self.data)


@dataclass
class Delta:
    """What one answer has to say since the last time."""

    index: int
    text: str = ""
    calls: list[Call] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)
    finish: str | None = None

    def __bool__(self) -> bool:
        return bool(self.text or self.calls or self.tokens or self.finish)


class Choice:
    """The state of one answer."""

    def __init__(self, index: int, tokenizer: Any, tools: Tools | None = None) -> None:
        self.index = index
        self.num_tokens = 0
        self._tokenizer = tokenizer
        self._reader = None if tools is None else CallReader(tools.names)
        self._has_calls = False

    def take(self, piece: Piece) -> Delta:
        delta = Delta(self.index)
        self._add_text(delta, piece)
        if piece.token is not None:
            self.num_tokens += 1
            # The model's end is a token like any other, but none of the answer's.
            if piece.logprob is not None and piece.token not in self._tokenizer.eos:
                chosen = self._token(piece.token, piece.logprob)
                chosen.top = [self._token(token, value) for token, value in piece.top]
                delta.tokens.append(chosen)
        if piece.finish is not None:
            delta.finish = "tool_calls" if self._has_calls and piece.finish == "stop" else piece.finish
        return delta

    def _add_text(self, delta: Delta, piece: Piece) -> None:
        if self._reader is None:
            delta.text = piece.text
            return
        found = self._reader.add(piece.text)
        if piece.finish is not None:
            found += self._reader.finish()
        delta.text = "".join(each for each in found if isinstance(each, str))
        delta.calls = [each for each in found if isinstance(each, Call)]
        if delta.calls:
            self._has_calls = True
        if self._has_calls and not delta.text.strip():
            delta.text = ""  # the line breaks between calls are no text of the answer

    def _token(self, number: int, logprob: float) -> Token:
        text = self._tokenizer.decode([number], skip_special=False)
        return Token(text, self._tokenizer.bytes_of(number), _finite(logprob))


def _finite(value: float) -> float:
    return value if math.isfinite(value) else _LEAST_LOGPROB
