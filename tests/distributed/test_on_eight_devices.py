"""Distributed tensors on eight virtual devices: `eight/check_*.py` are tests for a process that was started with them."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).with_name("eight")
ROOT = FOLDER.parents[2]


def test_there_are_files() -> None:
    assert len(list(FOLDER.glob("check_*.py"))) >= 1


@pytest.mark.timeout(420)
@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("check_*.py")))
def test_on_eight_devices(name: str) -> None:
    environment = {
        **os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    for variable in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_ADDOPTS"):
        environment.pop(variable, None)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--timeout=300",
        str(FOLDER / name),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=400, check=False, env=environment, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
