"""A few seconds of what `python -m tests.serving.soak` does for minutes."""

from __future__ import annotations

from tests.serving.soak import soak


def test_a_short_soak() -> None:
    found = soak("mlp", seconds=4, callers=12, processes=1, misbehaving=0.2, with_bare=0)
    assert found["problems"] == []
    assert found["errors_logged"] == []
    assert found["answers"] > 50
    assert min(found["malformed"], found["oversized"], found["aborted"]) > 0
    assert found["alive"]
    assert found["exit_status"] == 0
