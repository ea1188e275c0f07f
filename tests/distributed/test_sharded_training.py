"""Tensors that span devices: the same training loop on one device, on 8 virtual ones, and on two processes.

(The distributed API is built on this later; here a tensor simply holds a sharded `jax.Array`.)
"""

from __future__ import annotations

import json
import os
import pathlib
import socket
import subprocess
import sys

import pytest

WORKER = pathlib.Path(__file__).parent / "workers" / "sharded_worker.py"


def run_workers(mode: str, processes: int = 1, devices: int = 1) -> list[dict]:
    """Runs the loop in fresh processes (device counts are fixed at start) and gives what each reported."""
    environment = dict(os.environ, JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = [
        subprocess.Popen(
            [sys.executable, str(WORKER), mode, str(rank), str(processes), str(port)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for rank in range(processes)
    ]  # fmt: skip
    reports = []
    for process in started:
        try:
            out, err = process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            for other in started:
                other.kill()
            raise
        assert process.returncode == 0, err[-3000:]
        reports.append(json.loads(out.strip().splitlines()[-1]))
    return reports


@pytest.fixture(scope="module")
def single() -> dict:
    return run_workers("single")[0]


def test_single_device_learns(single: dict) -> None:
    assert single["losses"][-1] < 0.5 * single["losses"][0]
    assert single["programs"] >= 1


def test_eight_virtual_devices_give_the_same_losses(single: dict) -> None:
    report = run_workers("sharded", devices=8)[0]
    assert report["devices"] == 8
    assert report["losses"] == pytest.approx(single["losses"], rel=1e-5)
    assert report["programs"] >= 1, "the sharded step was compiled"
    assert report["weight_shards"] == 8, "the weight stayed sharded through the updates"


def test_two_processes_give_the_same_losses(single: dict) -> None:
    reports = run_workers("sharded", processes=2, devices=1)
    for report in reports:
        assert report["devices"] == 2
        assert report["losses"] == pytest.approx(single["losses"], rel=1e-5)
        assert report["weight_shards"] == 2
    assert reports[0]["programs"] == reports[1]["programs"], "both processes compile the same programs"
