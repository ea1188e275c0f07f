"""What `proa doctor` says of the compiler, native kernels, the cache folder and the variables of the environment."""

from __future__ import annotations

import difflib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping

from ..core import flags
from ..ir.xla import cache_folder
from ..kernels.building import compiler
from .report import Report

_READ_ON = "docs/everyday.md"
# Below this, programs that are compiled next may not find room.
_LITTLE_SPACE = 256 << 20
# Variables that are no flags.
_OTHER_NAMES = ("PROA_NATIVE_DIR", "PROA_NATIVE_FLAGS", "PROA_WEIGHTS")
_FOREIGN = (
    "CUDA_VISIBLE_DEVICES", "CXX", "JAX_PLATFORMS", "LD_PRELOAD", "NVCC", "OMP_NUM_THREADS", "PYTHONDONTWRITEBYTECODE",
    "XDG_CACHE_HOME", "XLA_FLAGS",
)  # fmt: skip


def check_environment(report: Report) -> None:
    for name in sorted(os.environ):
        if name in _FOREIGN or name.startswith(("PROA_", "FLAGS_", "JAX_", "XLA_", "TPU_")):
            report.environment[name] = os.environ[name]
    notes, problems = environment_advice(os.environ)
    report.notes += notes
    report.problems += problems


def environment_advice(environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Notes and problems; pure, so that every case can be tested."""
    known = [*flags.environment_names(), *_OTHER_NAMES]
    notes, problems = [], []
    for name in sorted(environment):
        if name.startswith("PROA_") and name not in known:
            near = difflib.get_close_matches(name, known, 1, 0.7)
            notes.append(f"{name} means nothing here" + (f": is {near[0]} meant?" if near else "."))
    if environment.get("JAX_DISABLE_JIT", "").lower() in ("1", "true", "on"):
        problems.append("JAX_DISABLE_JIT is on, so nothing can be compiled: unset it.")
    if environment.get("CUDA_VISIBLE_DEVICES", "unset").strip() in ("", "-1"):
        notes.append("CUDA_VISIBLE_DEVICES hides every GPU.")
    if environment.get("PROA_EAGER") == "immediate":
        notes.append("PROA_EAGER=immediate: every operation runs at once and nothing is compiled; slow, for debugging.")
    if environment.get("PROA_NATIVE", "1").lower() in ("0", "false", "no", "off"):
        notes.append("PROA_NATIVE switches the native CPU kernels off.")
    return notes, problems


def check_bytecode(report: Report) -> None:
    """Without bytecode beside the sources every import compiles some five hundred files."""
    package = pathlib.Path(__file__).parents[1]
    tag = sys.implementation.cache_tag
    folder = (
        pathlib.Path(sys.pycache_prefix or "") / str(package)[1:] if sys.pycache_prefix else package / "__pycache__"
    )
    if (folder / f"__init__.{tag}.pyc").exists():
        return
    reason = "PYTHONDONTWRITEBYTECODE is set" if sys.dont_write_bytecode else f"{folder} cannot be written"
    if sys.dont_write_bytecode or not os.access(package, os.W_OK):
        report.notes.append(
            f"import proa compiles its sources every time, because {reason}: run {sys.executable} -m compileall -q {package}"
        )


def check_cache(report: Report) -> None:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:  # the way to know: permissions do not tell of read-only disks
            file.write(b"proa")
    except OSError as error:
        report.problems.append(
            f"The cache of compiled programs cannot be written ({folder}: {error.strerror}): "
            "set PROA_CACHE_DIR to a folder that can."
        )
        return
    used = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    limit = flags.get("FLAGS_cache_size_mb") << 20
    free = shutil.disk_usage(folder).free
    report.cache = {
        "folder": str(folder), "used": _mebibytes(used), "limit": _mebibytes(limit), "free": _mebibytes(free),
    }  # fmt: skip
    if free < _LITTLE_SPACE:
        report.problems.append(
            f"Only {_mebibytes(free)} are free where compiled programs are kept ({folder}): "
            "make room, or set PROA_CACHE_DIR."
        )


def _mebibytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"


def check_compiler(report: Report) -> None:
    try:
        path = compiler("doctor")[0]
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        report.compiler = "none"
        report.notes.append(f"{str(error).removeprefix('(doctor) ')} (Debian, Ubuntu: apt install g++)")
        return
    if answer.returncode:
        report.problems.append(
            f"The C++ compiler {path} does not run: {(answer.stderr or answer.stdout).strip()[:200]}"
        )
        return
    report.compiler = f"{path}: {answer.stdout.splitlines()[0]}"


def check_kernels(report: Report) -> None:
    """Whether the CPU's native kernels work, and memory is kept; they are compiled here if they were not before."""
    from ..kernels.cpu import compiled, library, memory

    reason = library.why_not()
    if not reason:
        where = pathlib.Path(compiled.find(compiled.MEMORY)).parent
        report.kernels = f"native CPU kernels are in use, from {where}"
        not_kept = memory.why_not()
        report.memory_keeping = "that compiled programs use is " + (
            f"given back after every run: {not_kept}" if not_kept else "kept from run to run"
        )
        return
    report.kernels = "plain XLA on the CPU"
    sentence = f"No native CPU kernels, everything runs on XLA alone: {reason}"
    if report.compiler not in ("", "none") and "error" in reason:
        report.problems.append(f"{sentence} Set PROA_NATIVE=0 to go on without them; see {_READ_ON}.")
    else:
        report.notes.append(sentence)
