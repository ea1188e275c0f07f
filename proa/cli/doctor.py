"""`proa doctor`: what is installed, whether it works, and what to do. The exit status is 1 when something is broken.

With `--script` it looks at a program instead (`script.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from dataclasses import asdict

from . import script
from .accelerators import check_cupy, check_nvidia, list_devices
from .report import Report, render, version_of
from .surroundings import check_bytecode, check_cache, check_compiler, check_environment, check_kernels

PYTHONS = ((3, 11), (3, 14))
JAX = ((0, 10), (0, 12))
_JAX_WANTED = "'jax>=0.10,<0.13'"


def run(arguments: argparse.Namespace) -> int:
    if arguments.script:
        return script.run(arguments.script, arguments.json)
    report = examine()
    print(json.dumps(asdict(report), indent=2) if arguments.json else render(report))
    return 1 if report.problems else 0


def examine() -> Report:
    """Looks at this process's installation."""
    report = Report()
    for package in ("proa", "jax", "jaxlib", "numpy", "scipy", "ml_dtypes"):
        report.versions[package] = version_of(package)
    report.machine = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "memory": _memory(),
    }
    report.problems += version_problems(report.versions, sys.version_info[:2])
    check_environment(report)
    check_bytecode(report)
    check_nvidia(report)
    check_cupy(report)
    check_cache(report)
    check_compiler(report)
    if report.versions["jax"] != "not installed":
        list_devices(report)
        check_kernels(report)
    return report


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.1f} GiB"
    except (ValueError, OSError, AttributeError):
        return "unknown"


def version_problems(versions: dict[str, str], python: tuple[int, ...]) -> list[str]:
    """Sentences about versions that do not fit; pure, so that every case can be tested."""
    problems = []
    if not PYTHONS[0] <= python <= PYTHONS[1]:
        problems.append(f"Python {'.'.join(map(str, python))} is not supported: use 3.11, 3.12, 3.13 or 3.14.")
    found = versions["jax"]
    match = re.match(r"(\d+)\.(\d+)", found)
    if match is None:
        return [*problems, f"JAX is not installed: pip install {_JAX_WANTED}."]
    if not JAX[0] <= (int(match[1]), int(match[2])) <= JAX[1]:
        problems.append(f"JAX {found} is outside the supported range: pip install {_JAX_WANTED}.")
    if found != versions["jaxlib"]:
        problems.append(f"jax {found} and jaxlib {versions['jaxlib']} differ: pip install 'jaxlib=={found}'.")
    if versions["numpy"].split(".")[0] in ("0", "1"):
        problems.append(f"NumPy {versions['numpy']} is too old: pip install 'numpy>=2.0'.")
    return problems
