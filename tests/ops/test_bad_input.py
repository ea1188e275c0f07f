"""Bad arguments, tried on every public function: an exception or the right answer, never a crash, a hang or the memory.

What is tried is made in `bad_input_worker.py`, in a process of its own with limited memory and in both eager modes.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proa.eager.declare import PUBLIC
from proa.eager.samples import SampleSet
from tests.parity.pool import Worker
from tests.parity.settings import attached_samples

FUNCTIONS = sorted(
    name
    for name, function in PUBLIC.items()
    if inspect.isfunction(function) and isinstance(attached_samples(function), SampleSet)
)
SECONDS = 60.0  # for all that is tried on one function
MANY = 4  # crashes after which a function is left alone


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Worker, Path]]:
    note = tmp_path_factory.mktemp("bad_input") / "current"
    process = Worker(str(note), sys.executable, SECONDS, "tests.ops.bad_input_worker", mode="auto")
    yield process, note
    process.close()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bad_arguments(worker: tuple[Worker, Path], name: str) -> None:
    """Zero, negative and huge sizes, axes and indices that do not exist, wrong types, in both modes."""
    process, note = worker
    problems: list[str] = []
    start = 0
    while start >= 0 and len(problems) < MANY:
        process.send({"function": name, "modes": ["immediate", "auto"], "start": start})
        outcome = process.receive()
        if "problems" in outcome:
            problems += outcome["problems"]
            start = -1
        else:  # the process is gone: go on behind the attempt that ended it
            number, _, tried = note.read_text(errors="replace").strip().partition(" ")
            problems.append(f"{tried}: {outcome}")
            start = int(number) + 1
    assert not problems, "\n".join([f"{len(problems)} problems", *problems])
