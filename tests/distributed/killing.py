"""Processes of a training job are killed at random moments; the launcher starts it again, and it ends as if nothing were.

    python -m tests.distributed.killing --runs 20

Every other run goes on with fewer processes. The final loss must be that of a run without disturbance.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from .support.processes import ROOT, environment

WORKER = str(ROOT / "tests" / "distributed" / "workers" / "elastic_worker.py")


def run(
    folder: pathlib.Path, steps: int, processes: str, kills: list[tuple[float, int]], limit: float, saved: bool = False
) -> tuple[float, int]:
    """One job; gives its final loss and how many processes were killed.

    `kills`: for each round, seconds since its processes began to join, and which of them. `saved`: since there is a
    checkpoint to go on from.
    """
    command = [
        sys.executable, "-m", "proa.distributed.launch", "--nproc_per_node", processes, "--max_restart", str(len(kills)),
        "--log_dir", str(folder / "log"), WORKER, str(folder), str(steps),
    ]  # fmt: skip
    with open(folder / "out", "w") as out:
        job = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment(), cwd=ROOT)
    begin, killed = time.monotonic(), 0
    try:
        for number, (moment, which) in enumerate(kills):
            while not (pids := sorted(folder.glob(f"pid.{number}.*"))) and job.poll() is None:
                time.sleep(0.01)
            while saved and not (folder / "checkpoint.pd").exists() and job.poll() is None:
                time.sleep(0.001)
            end = time.monotonic() + moment
            while time.monotonic() < end and job.poll() is None:
                time.sleep(0.01)
            pids = sorted(folder.glob(f"pid.{number}.*"))
            if job.poll() is None and pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pids[which % len(pids)].read_text()), signal.SIGKILL)
                    killed += 1
        job.wait(max(1.0, begin + limit - time.monotonic()))
    finally:
        job.terminate()
        job.wait(60)
    said = (folder / "out").read_text()
    assert job.returncode == 0, said[-3000:]
    left = [file for file in folder.glob("pid.*") if _lives(int(file.read_text()))]
    assert not left, f"left behind: {left}"
    return float((folder / "final").read_text()), killed


def _lives(pid: int) -> bool:
    return pathlib.Path(f"/proc/{pid}").exists()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    chance = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        expected, _ = run(pathlib.Path(folder), chosen.steps, "2", [], 300)
        duration = time.time() - (pathlib.Path(folder) / "pid.0.0").stat().st_mtime
    print(f"undisturbed: {expected:.7f} in {duration:.1f} s", flush=True)
    total = 0
    for number in range(chosen.runs):
        kills = [(chance.uniform(0.0, 0.8) * duration, chance.randrange(4)) for _ in range(1 + number % 2)]
        with tempfile.TemporaryDirectory() as folder:
            found, killed = run(pathlib.Path(folder), chosen.steps, "1:3" if number % 2 else "2", kills, 600)
        total += killed
        difference = abs(found - expected) / expected
        print(f"run {number}: {killed} killed, {found:.7f}, relative difference {difference:.1e}", flush=True)
        assert difference < 1e-4, f"run {number} ended elsewhere"
    print(f"{chosen.runs} runs, {total} processes killed, all ended at the same loss")


if __name__ == "__main__":
    main()
