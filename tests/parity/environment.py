"""Paddle's interpreter: the one that PROA_PARITY_PADDLE_PYTHON names, or `.venv-paddle` made with pip."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "PROA_PARITY_PADDLE_PYTHON"
REQUIREMENTS = ("paddlepaddle==3.3.1", "numpy", "setuptools")
FOLDER = ROOT / ".venv-paddle"


class EnvironmentMissing(RuntimeError):
    """Paddle could not be found or installed; the message says what to do."""


def paddle_python() -> str:
    """An interpreter that holds Paddle, made on the first call where the user names none."""
    given = os.environ.get(VARIABLE)
    if given:
        if shutil.which(given) is None:
            raise EnvironmentMissing(f"{VARIABLE} names {given}, which is no program; unset it or correct it.")
        return given
    stamp = FOLDER / "installed.txt"
    python = FOLDER / "bin" / "python"
    wanted = "\n".join(REQUIREMENTS)
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return str(python)
    print(f"Installing {REQUIREMENTS[0]} into {FOLDER.name} (minutes, once) …", file=sys.stderr, flush=True)
    for step in (
        [sys.executable, "-m", "venv", "--clear", str(FOLDER)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS],
    ):
        answer = subprocess.run(step, capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            raise EnvironmentMissing(
                f"{' '.join(step)} failed:\n{answer.stderr.strip()[-1500:]}\n"
                f"Install {REQUIREMENTS[0]} somewhere yourself and let {VARIABLE} name that Python."
            )
    (FOLDER / ".gitignore").write_text("*\n", encoding="utf-8")
    stamp.write_text(wanted, encoding="utf-8")  # last: an environment without it was interrupted
    return str(python)
