"""Checkpoints of tensors that span devices and processes: saved on one mesh, loaded on any other, bit for bit."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import subprocess
import sys

import pytest

import proa.distributed as dist

WORKER = pathlib.Path(__file__).parents[1] / "workers" / "checkpoint_worker.py"
IDENTICAL = {"different": [], "step": 7}


def run_workers(folder: pathlib.Path, commands: str, processes: int, devices: int) -> list[dict]:
    """Runs commands in fresh processes with some devices each, and gives what each process reported."""
    environment = dict(os.environ, JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = [
        subprocess.Popen(
            [sys.executable, str(WORKER), str(rank), str(processes), str(port), str(folder), *commands.split()],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for rank in range(processes)
    ]  # fmt: skip
    try:
        ended = [process.communicate(timeout=90) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    for process, (_, errors) in zip(started, ended):
        assert process.returncode == 0, errors[-3000:]
    return [json.loads(out.strip().splitlines()[-1]) for out, _ in ended]


def test_eight_devices_of_one_process(tmp_path) -> None:
    [report] = run_workers(tmp_path, "save 2x4 / load 8x1 4x2 1x1 1x8 2x2 / save 4x2 / load 2x4", 1, 8)
    assert report["save 2x4"]["files"] == ["0.metadata", *[f"{device}_0.distcp" for device in range(8)]]
    for mesh in ("8x1", "4x2", "1x1", "1x8", "2x2", "2x4"):
        assert report[f"load {mesh}"] == IDENTICAL, mesh
    merged = dist.load_merged_state_dict(str(tmp_path), prefix="model")
    assert list(merged["both"].shape) == [16, 24]
    stored = sum(os.path.getsize(tmp_path / f"{device}_0.distcp") for device in range(8))
    assert stored < 9000, "every block is written once: the numbers are 3.4 kB"


def test_two_processes_save_in_the_background_and_one_loads(tmp_path) -> None:
    reports = run_workers(tmp_path, "save-in-background 2x4 / load 8x1 1x1 / save-on-full-disk 4x2 / load 4x2", 2, 4)
    for rank, report in enumerate(reports):
        assert report["save-in-background 2x4"]["files"] == [
            "0.metadata",
            *[f"{device}_0.distcp" for device in range(8)],
        ]
        for mesh in ("8x1", "1x1", "4x2"):
            assert report[f"load {mesh}"] == IDENTICAL, (rank, mesh)
    assert reports[1]["save-on-full-disk 4x2"]["error"] == "OSError: disk full"
    message = "RuntimeError: (save_state_dict) checkpoint 1 was not written: process 1: OSError: disk full."
    assert reports[0]["save-on-full-disk 4x2"]["error"] == message
    [report] = run_workers(tmp_path, "load 2x1", 1, 2)
    assert report["load 2x1"] == IDENTICAL


def test_processes_that_were_not_joined_are_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    with pytest.raises(RuntimeError, match=r"save_state_dict.*2 processes of the job have not met.*init_parallel_env"):
        dist.save_state_dict({}, str(tmp_path))
