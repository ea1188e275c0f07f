"""Finding the round of a loop in recorded work."""

from __future__ import annotations

import random

import numpy as np
import pytest

import proa as paddle
from proa.ir.recording.period import _prefix_matches, find_period
from proa.ir.recording.thread_state import LOCAL


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


def _chosen(count: int, generator: random.Random) -> list[str]:
    return [generator.choice(["sin", "cos", "tanh", "exp", "neg", "abs", "square"]) for _ in range(count)]


@pytest.mark.parametrize("is_loop", [True, False])
def test_work_that_nobody_looks_at_is_cut_if_it_is_a_loop(is_loop: bool) -> None:
    """One large computation (high derivatives) is worth more in one piece; both are walked twice, and end alike."""
    generator = random.Random(7)
    names = _chosen(50, generator) * 110 if is_loop else _chosen(5500, generator)
    for _ in range(2):
        x = paddle.ones([2])
        x.numpy()
        segment = LOCAL.segment
        for name in names:
            x = getattr(paddle, name)(x).clip(-1.0, 1.0)
        assert (LOCAL.segment is not segment) == is_loop
        found = x.numpy()
    expected = np.ones(2, np.float32)
    for name in names:
        expected = np.clip({"neg": np.negative}.get(name, getattr(np, name, None))(expected), -1.0, 1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
