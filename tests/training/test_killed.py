"""A training that is killed with -9 resumes to the bit-identical loss curve (`killed.py` says how)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_killed_three_times():
    command = [sys.executable, "-m", "tests.training.killed", "--times", "3", "--seed", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "60 steps, killed 3 times: 0 losses differ" in done.stdout
    starts = [int(step) for step in re.findall(r"\d+", done.stdout.splitlines()[-1])]
    assert len(starts) == 4
    assert starts[-1] > 0  # it did go on from a checkpoint
