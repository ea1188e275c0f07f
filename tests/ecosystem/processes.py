"""One run of a package's program, on proa or on Paddle, in a process of its own."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any

from tests.parity.environment import paddle_python

from .packages import ROOT

LONGEST = 1200  # seconds
THREADS = "2"


class Failed(Exception):
    """A program did not come to its end; the message is the last thing that it said."""


@dataclass(frozen=True)
class Runner:
    """Runs the program of a package, as often as asked."""

    package: str
    python: pathlib.Path
    folder: pathlib.Path

    def __call__(self, on: str, **settings: object) -> dict[str, Any]:
        """The program's report. `settings` are the ECOSYSTEM_... variables of `programs/common.py`."""
        program = pathlib.Path(__file__).parent / "programs" / f"run_{self.package}.py"
        started = [str(self.python), "-m", "proa_command", "run"] if on == "proa" else [str(self.python)]
        self.folder.mkdir(parents=True, exist_ok=True)
        # Executables of earlier runs would hide what compiling costs.
        with tempfile.TemporaryDirectory() as programs:
            variables = {
                **os.environ, "PYTHONPATH": str(ROOT) if on == "proa" else _packages_of_paddle(), "PROA_ALLOW_OBJECTS": "1",
                "PROA_CACHE_DIR": programs, "PROA_NATIVE_DIR": _native_kernels(), "OMP_NUM_THREADS": THREADS,
                "PROA_NUM_THREADS": THREADS, "OMP_WAIT_POLICY": "passive",
                **{f"ECOSYSTEM_{name.upper()}": str(value) for name, value in settings.items()},
            }  # fmt: skip
            try:
                done = subprocess.run(
                    [*started, str(program)], capture_output=True, text=True, timeout=LONGEST, check=False, cwd=self.folder,
                    env=variables,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                raise Failed(f"on {on}: no end after {LONGEST} s") from None
        (self.folder / f"{on}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
        if done.returncode:
            raise Failed(f"on {on}: {' '.join(done.stderr.strip().splitlines()[-1:])[:300]}")
        return json.loads(done.stdout.strip().splitlines()[-1])


def _packages_of_paddle() -> str:
    """Paddle's folder of packages: before that of the library, so that `import paddle` finds it and what it needs."""
    asked = [paddle_python(), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def _native_kernels() -> str:
    from proa.kernels.cpu import compiled

    return str(compiled.folder())
