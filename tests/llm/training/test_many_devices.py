"""Training on many devices through the Trainer; `many_devices.py` does the work in a process that has eight."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proa.llm.training import Trainer, settings_from
from tests.llm.training.tiny import tiny_model, tiny_rows, tiny_settings

ROOT = Path(__file__).parents[3]


@pytest.mark.timeout(420)
def test_losses_are_those_of_one_device() -> None:
    """Data, tensors and stages together, weights cut; and gone on with on one device."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.llm.training.many_devices", "--short"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False, env=environment, cwd=ROOT)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert "all, tied" in done.stdout


@pytest.mark.parametrize(("change", "words"), [
    ({"parallel": {"data": 0}}, "parallel.data must be at least 1"),
    ({"parallel": {"sharding": 4}}, "parallel.sharding must be at most 3"),
    ({"parallel": {"tensors": 2}}, "there is no key parallel.tensors; .* did you mean tensor"),
    ({"parallel": {"data": 3}, "batch": 8}, "batch must be a multiple of parallel.data; received batch 8, data 3"),
    ({"parallel": {"data": 2}, "lora": {}, "quantised": "int8"}, "quantised weights lie on one device"),
    ({"parallel": {"data": 2}, "task": "preference"}, "preferences on several devices need an adapter"),
])  # fmt: skip
def test_settings_that_cannot_be(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        settings_from({"model": "-", "output": "-", "data": {"train": "-"}, **change})


def test_devices_that_are_not_there(tmp_path: Path) -> None:
    settings = tiny_settings(tmp_path, parallel={"data": 2, "tensor": 512})
    with pytest.raises(ValueError, match=r"there are \d+ devices"):
        Trainer(tiny_model(), tiny_rows(tmp_path), settings)
