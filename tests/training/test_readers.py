"""Evaluating, checkpointing and logging from another thread while one trains."""

from __future__ import annotations

import pytest

from .readers import run

STEPS = 150


@pytest.mark.parametrize("kind", ["read", "evaluate", "train"])
def test_looking_while_training(kind: str) -> None:
    result = run(kind, STEPS)
    assert result["errors"] == []
    assert len(result["losses"]) == STEPS
    assert result["looks"] > 0
    assert result["losses"][-1] < result["losses"][0]
    if kind == "read":
        assert result["losses"] == run("alone", STEPS)["losses"]
