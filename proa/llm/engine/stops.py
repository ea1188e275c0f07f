"""Stop texts in a stream of text: they may begin in one token and end in another, and are never shown."""

from __future__ import annotations

from collections.abc import Sequence


class Stops:
    """Takes text as it comes and gives what can be shown: all that cannot be the beginning of a stop text any more."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self._held = ""
        self.found: str | None = None

    def add(self, text: str) -> str:
        """What can be shown now. Once a stop text was found (`found`), nothing more."""
        if self.found is not None:
            return ""
        if not self.texts:
            return text
        self._held += text
        places = [(place, -len(stop), stop) for stop in self.texts if (place := self._held.find(stop)) >= 0]
        if places:
            place, _, self.found = min(places)
            shown, self._held = self._held[:place], ""
            return shown
        keep = max(_overlap(self._held, stop) for stop in self.texts)
        cut = len(self._held) - keep
        shown, self._held = self._held[:cut], self._held[cut:]
        return shown

    def rest(self) -> str:
        """What was held back, where the text ends without a stop."""
        shown, self._held = self._held, ""
        return shown


def _overlap(text: str, stop: str) -> int:
    """The length of the longest end of `text` that begins `stop`."""
    for length in range(min(len(text), len(stop) - 1), 0, -1):
        if stop.startswith(text[-length:]):
            return length
    return 0
