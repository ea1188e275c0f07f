"""Damaged files: an exception each, quickly; `mutations.py` runs many more."""

from __future__ import annotations

from tests.formats.paddle.files.mutations import run


def test_damaged_files_raise() -> None:
    outcomes, problems, slowest, memory = run(range(300), seed=2024)
    assert problems == []
    assert sum(outcomes.values()) == 300
    assert outcomes["ValueError"] > 150
    assert slowest < 5
    assert memory < 1024
