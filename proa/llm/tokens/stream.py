"""Decoding piece by piece.

A character may be spread over several tokens, and what a token shows may depend on the one before it. So the tokens since
the last whole character are decoded together with those before them, and what is new is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tokenizer import Tokenizer

_BROKEN = "�"
_LONGEST = 4  # bytes of a character, so tokens too


class Stream:
    """Takes token after token, gives text that is final.

        stream = tokenizer.stream()
        for token in tokens:
            print(stream.step(token), end="")
        print(stream.flush())

    All pieces together are what `decode` gives for all tokens together.
    """

    def __init__(self, tokenizer: Tokenizer, skip_special: bool = True) -> None:
        self._tokenizer = tokenizer
        self._skipped = tokenizer.special_ids if skip_special else frozenset()
        self._window: list[int] = []  # what the text is decoded from: tokens that are shown, then tokens that wait
        self._num_waiting = 0
        self._num_shown = 0  # characters of the window's text

    def step(self, token: int) -> str:
        """What is certain to follow, which may be nothing yet."""
        if token in self._skipped:
            return ""
        self._window.append(token)
        self._num_waiting += 1
        text = self._text()
        if not text.endswith(_BROKEN):
            found = text[self._num_shown :]
            if found:
                self._restart(self._num_waiting)
            return found
        if self._num_waiting < _LONGEST:
            return ""
        # The oldest token that waits cannot become whole any more. Only the last sign may still change.
        found = text[self._num_shown : -1]
        self._restart(1)
        self._num_shown -= 1
        return found

    def flush(self) -> str:
        """What is left at the end, broken or not."""
        found = self._text()[self._num_shown :]
        self._window, self._num_waiting, self._num_shown = [], 0, 0
        return found

    def _restart(self, count: int) -> None:
        """Keeps the last tokens, which have been shown, to decode what follows them."""
        del self._window[: len(self._window) - count]
        self._num_waiting = 0
        self._num_shown = len(self._text())

    def _text(self) -> str:
        return self._tokenizer.decode(self._window, skip_special=False)
