"""`proa run train.py …`: a program written for Paddle, unchanged.

It is handed to Python with one folder more in PYTHONPATH, where `import paddle` finds proa. So the program has a `__main__`,
tracebacks and exit status as ever, and so have the processes that it starts: workers, launchers, kernels of notebooks.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
from collections.abc import MutableMapping
from typing import Any


def run(arguments: argparse.Namespace) -> int:
    if sys.flags.ignore_environment:
        print("proa run: Python was told to ignore PYTHONPATH (-E or -I); start it without.", file=sys.stderr)
        return 2
    if not arguments.as_module and arguments.target.endswith(".ipynb"):
        command = f"proa run -m nbconvert --to notebook --execute {arguments.target}"
        print(f"proa run: {arguments.target} is a notebook, which Python cannot run; try {command}", file=sys.stderr)
        return 2
    announce(os.environ)
    # The interpreter's own options (-X, -W, -O …) go on to the program.
    python: Any = subprocess  # its list of them is what multiprocessing uses
    options: list[str] = python._args_from_interpreter_flags()
    target = ["-m", arguments.target] if arguments.as_module else [arguments.target]
    command = [sys.executable, *options, *target, *arguments.arguments]
    sys.stdout.flush()
    if os.name == "nt":  # there a process cannot become another one
        return subprocess.call(command)
    os.execv(sys.executable, command)


def folder() -> str:
    """Where Python finds a package `paddle` that is proa; the package itself is not imported."""
    found = importlib.util.find_spec("proa")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("proa is not installed beside its command: pip install --force-reinstall proa")
    return str(pathlib.Path(found.origin).parent / "compat" / "path")


def announce(environment: MutableMapping[str, str]) -> None:
    """Makes `import paddle` mean proa in the processes that are given this environment."""
    before = environment.get("PYTHONPATH")
    if folder() not in (before or "").split(os.pathsep):
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [folder(), before]))
