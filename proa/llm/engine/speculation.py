"""Guessing ahead: tokens that are checked together in one step instead of being computed one after another.

A guess never changes an answer. Each place of the step draws its token as it would alone, with the number of its index; a
guess counts if it is that token. So greedy and drawn answers are the same with and without guesses, only sooner.
"""

from __future__ import annotations

from collections.abc import Sequence as Tokens

_LENGTHS = (3, 2)  # of the ends that are looked for, the longest first


class NGrams:
    """Guesses from the text itself: what followed the last time that the same few tokens stood at the end."""

    def __init__(self) -> None:
        self._places: list[dict[tuple[int, ...], int]] = [{} for _ in _LENGTHS]
        self._seen = 0

    def guess(self, ids: Tokens[int], count: int) -> list[int]:
        """`count` tokens that may follow `ids`, or none. The ids have only grown since the last call."""
        self._learn(ids)
        for length, places in zip(_LENGTHS, self._places, strict=True):
            place = places.get(tuple(ids[-length:])) if len(ids) >= length else None
            if place is not None:
                # What reaches the end goes on as it began there: a text in a loop is guessed whole.
                period = len(ids) - place
                return [ids[place + number % period] for number in range(count)]
        return []

    def _learn(self, ids: Tokens[int]) -> None:
        """Notes where each few tokens end, up to the last but one: the end itself is what is looked for."""
        for end in range(max(self._seen, 1), len(ids)):
            for length, places in zip(_LENGTHS, self._places, strict=True):
                if end >= length:
                    places[tuple(ids[end - length : end])] = end
        self._seen = len(ids)


def accepted(drafts: Tokens[int], tokens: Tokens[int]) -> int:
    """How many tokens of a checked row stand: the first, and one more behind each guess that was right."""
    count = 1
    for guess, token in zip(drafts, tokens, strict=False):
        if guess != token:
            break
        count += 1
    return count
