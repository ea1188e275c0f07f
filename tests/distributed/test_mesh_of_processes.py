"""Tensors on a mesh of several processes, beside one process."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import subprocess
import sys

import pytest

WORKER = pathlib.Path(__file__).parent / "workers" / "mesh_worker.py"
ROOT = WORKER.parents[3]


def run(mode: str, count: int) -> list[dict]:
    """Starts the processes of a job; what each reports. All are ended when one fails or takes too long."""
    environment = {
        **os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=1",
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = [
        subprocess.Popen(
            [sys.executable, str(WORKER), mode, str(rank), str(count), str(port)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for rank in range(count)
    ]  # fmt: skip
    reports = []
    try:
        for process in started:
            out, err = process.communicate(timeout=200)
            assert process.returncode == 0, f"{out[-1000:]}\n{err[-4000:]}"
            reports.append(json.loads(out.strip().splitlines()[-1]))
    finally:
        for process in started:
            process.kill()
            process.wait()
    return reports


@pytest.mark.timeout(220)
def test_layouts_and_parts_of_two_processes() -> None:
    reports = run("tensors", 2)
    assert [report["rank"] for report in reports] == [0, 1]
    assert all(report["shape"] == [4, 3] for report in reports)


@pytest.mark.timeout(420)
def test_four_processes_train_as_one_does() -> None:
    single = run("train", 1)[0]
    for report in run("train", 4):
        assert report["losses"] == pytest.approx(single["losses"], rel=1e-5)
        assert report["weight"] == pytest.approx(single["weight"], rel=1e-4)
