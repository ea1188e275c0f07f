"""Where to cut work that nobody looks at: a full window ends at a whole number of the loop's rounds.

A loop without a natural boundary (no optimiser step, nothing read) fills the window over and over. Cutting it at a fixed
length would start every segment at another place of the loop, so none would ever be seen twice. Here the round is found
from the recorded operations, and the next windows hold whole rounds: from the second on they are all the same segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..keys import attribute_key

_MOST = 0.75  # of the operations belong to a round that explains them


def find_period(items: Sequence[Any]) -> int | None:
    """The length of the round that `items` ends with (seen at least three times), the one that explains most of it."""
    most, shortest = _periods(items)
    return most or shortest


def _periods(items: Sequence[Any]) -> tuple[int | None, int | None]:
    """The shortest round that explains most of the items, and the shortest of all."""
    matches = _prefix_matches(list(items)[::-1])
    shortest: int | None = None
    for length in range(1, len(items) // 3 + 1):
        if matches[length] >= 2 * length:
            if shortest is None:
                shortest = length
            if matches[length] >= _MOST * (len(items) - length):
                return length, shortest
    return None, shortest


def _prefix_matches(items: list[Any]) -> list[int]:
    """For every position, how far the list from there agrees with its own beginning (the Z function)."""
    count = len(items)
    matches = [0] * count
    left = right = 0
    for position in range(1, count):
        length = min(right - position, matches[position - left]) if position < right else 0
        while position + length < count and items[length] == items[position + length]:
            length += 1
        matches[position] = length
        if position + length > right:
            left, right = position, position + length
    return matches


def is_loop(instructions: Sequence[Any]) -> bool:
    """Whether most of it is the rounds of one loop."""
    return _periods(_keys(instructions))[0] is not None


def aligned_window(instructions: Sequence[Any], window: int) -> int:
    """A window of whole rounds for work that looks like `instructions`; `window` itself when there is no round."""
    period = find_period(_keys(instructions))
    if period is None:
        return window
    values = sum(len(instruction.outputs) for instruction in instructions[-period:])
    return window // values * values or window


def _keys(instructions: Sequence[Any]) -> list[Any]:
    return [(i.operation, attribute_key(i.attributes), len(i.outputs)) for i in instructions]
