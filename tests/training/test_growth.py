"""Memory that does not grow when nothing is read; `python -m tests.training.growth` runs longer."""

from __future__ import annotations

import pytest

from .growth import run

ROUNDS = {"unread": 4000, "raising": 20000}


@pytest.mark.parametrize("loop", ROUNDS)
def test_memory_stays_flat(loop: str) -> None:
    found = run(loop, ROUNDS[loop])
    assert found["most"] <= 1.05 * found["early"]
