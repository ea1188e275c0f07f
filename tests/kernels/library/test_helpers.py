"""Threads that help with one job and stay for the next: how jobs are handed over and taken back."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from proa.kernels.cpu import compiled

CLIENT = Path(__file__).with_name("helpers_client.cpp")
HEADERS = Path(compiled.__file__).parent / "native" / "headers"


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_a_job_that_is_offered_at_a_place_twice_is_taken_back_once(tmp_path: Path) -> None:
    """It was given to nobody, and a thread that came for it ended the process, where three or more work on a kernel."""
    program = tmp_path / "helpers"
    subprocess.run(
        ["c++", "-std=c++17", "-O1", "-pthread", f"-I{HEADERS}", str(CLIENT), "-o", str(program)], check=True
    )
    assert subprocess.run([program], timeout=60).returncode == 0
