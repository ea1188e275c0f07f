"""`docs/tiny.py`, the whole idea in one file, runs and learns."""

from __future__ import annotations

import pathlib
import subprocess
import sys

TINY = pathlib.Path(__file__).parents[2] / "docs" / "tiny.py"


def test_tiny_runs_and_compiles_itself() -> None:
    result = subprocess.run(
        [sys.executable, str(TINY), "--quick"], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "compiled 13 operations" in result.stdout
