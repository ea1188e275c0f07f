"""Finding the round of a loop in recorded work."""

from __future__ import annotations

import random

import pytest

from proa.ir.recording.period import _prefix_matches, find_period


@pytest.mark.parametrize(
    ("items", "expected"),
    [("abcabcabcabc", 3), ("xyzababababab", 2), ("abcd", None), ("aaaa", 1), ("", None), ("abab", None)],
)
def test_find_period(items: str, expected: int | None) -> None:
    assert find_period(items) == expected


def test_the_period_of_the_outer_loop_is_preferred() -> None:
    outer = "ab" * 10 + "c"
    items = outer * 6
    assert find_period(items) == len(outer)


def test_prefix_matches_against_the_definition() -> None:
    generator = random.Random(3)
    for _ in range(200):
        items = [generator.choice("ab") for _ in range(generator.randrange(1, 12))]
        found = _prefix_matches(items)
        for position in range(1, len(items)):
            length = 0
            while position + length < len(items) and items[length] == items[position + length]:
                length += 1
            assert found[position] == length
