"""A few hundred of the random cases; `python -m tests.kernels.random_shapes` runs as many as wanted."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any

import pytest

from proa.kernels.cpu import library
from tests.kernels import accuracy
from tests.kernels.random_shapes import KINDS, handlers_without_a_case

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")
ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, dict[str, Any]]:
    """What cases of every kind gave, run without XLA in a process that has none."""
    command = [sys.executable, "-m", "tests.kernels.directly", "all", "1000", "24"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=110)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, done.stderr
    return {line["kind"]: line for line in lines}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_random_cases_agree_with_float64(kind: str, outcomes: dict[str, dict[str, Any]]) -> None:
    assert outcomes[kind]["problems"] == []
    assert outcomes[kind]["cases"] == 24
    assert outcomes[kind]["worst"] < 1e-5
    assert outcomes[kind]["declined"] < 20
    assert sum(outcomes[kind]["calls"].values()) > 0


def test_every_handler_of_every_source_has_cases() -> None:
    assert handlers_without_a_case() == set()


@pytest.mark.parametrize("kind", sorted(accuracy.KINDS))
def test_native_kernels_are_as_exact_as_those_of_xla(kind: str) -> None:
    assert [row for row in accuracy.measure(kind, 8, first=3000) if not row.passes] == []
