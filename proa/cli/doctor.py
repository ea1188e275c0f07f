"""`proa doctor`: versions, devices, driver problems in plain words, and what to install."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Report:
    """What was found; `problems` are sentences that say what to do."""

    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, str] = field(default_factory=dict)
    devices: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("doctor", help="show versions and devices, explain what is wrong and what to install")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    report = examine()
    print(json.dumps(asdict(report), indent=2) if arguments.json else render(report))
    return 1 if report.problems else 0


def examine() -> Report:
    """Looks at this process's installation."""
    report = Report()
    for package in ("proa", "jax", "jaxlib", "numpy", "scipy", "ml_dtypes"):
        report.versions[package] = _version(package)
    report.machine = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "memory": _memory(),
    }
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        report.problems.append(f"Python {platform.python_version()} is not supported: use 3.11, 3.12 or 3.13.")
    _check_jax(report)
    _check_nvidia(report)
    _list_devices(report)
    _check_cache(report)
    _check_native_kernels(report)
    return report


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.1f} GiB"
    except (ValueError, OSError, AttributeError):
        return "unknown"


def _check_jax(report: Report) -> None:
    found = report.versions["jax"]
    match = re.match(r"(\d+)\.(\d+)", found)
    if match is None:
        report.problems.append("JAX is not installed: pip install 'jax>=0.10,<0.12'.")
    elif not (0, 10) <= (int(match[1]), int(match[2])) < (0, 12):
        report.problems.append(f"JAX {found} is outside the supported range: pip install 'jax>=0.10,<0.12'.")
    if found != report.versions["jaxlib"] and match is not None:
        report.problems.append(
            f"jax {found} and jaxlib {report.versions['jaxlib']} differ: pip install 'jaxlib=={found}'."
        )


def driver_advice(driver: str | None, cuda_plugin: str | None, jax_version: str) -> list[str]:
    """Sentences about a GPU that is there and cannot be used; pure, so that every case can be tested.

    `driver` is NVIDIA's driver version (None: no GPU seen), `cuda_plugin` the version of JAX's CUDA plug-in (None:
    not installed).
    """
    if driver is None:
        if cuda_plugin is not None:
            return [
                "JAX's CUDA plug-in is installed, but no NVIDIA driver answers: install the driver, "
                "or ignore this on a CPU machine."
            ]
        return []
    major = int(driver.split(".")[0])
    advice = []
    if cuda_plugin is None:
        wanted = "cuda13" if major >= 580 else "cuda12"
        advice.append(
            f"An NVIDIA GPU is here (driver {driver}), but JAX has no CUDA plug-in: "
            f"pip install 'jax[{wanted}]=={jax_version}'."
        )
    elif cuda_plugin.split("+")[0] != jax_version:
        advice.append(f"The CUDA plug-in is {cuda_plugin}, JAX is {jax_version}: install the same version of both.")
    if major < 525:
        advice.append(
            f"The NVIDIA driver {driver} is too old for CUDA 12: install 525 or newer (580 or newer for CUDA 13)."
        )
    elif major < 580 and importlib.util.find_spec("jax_cuda13_plugin") is not None:
        advice.append(
            f"The NVIDIA driver {driver} is too old for CUDA 13: install driver 580, "
            "or jax[cuda12] instead of jax[cuda13]."
        )
    return advice


def _check_nvidia(report: Report) -> None:
    driver = None
    if shutil.which("nvidia-smi"):
        try:
            answer = subprocess.run(
                ["nvidia-smi", "--query-gpu=driver_version,name", "--format=csv,noheader"],
                capture_output=True, text=True, timeout=20, check=False,
            )  # fmt: skip
            if answer.returncode == 0 and answer.stdout.strip():
                driver = answer.stdout.split(",")[0].strip()
                report.machine["nvidia"] = answer.stdout.strip().splitlines()[0]
            else:
                text = (answer.stdout + answer.stderr).strip().splitlines()
                report.problems.append(
                    f"nvidia-smi fails: {text[0] if text else 'no output'}. The driver needs repair."
                )
        except (OSError, subprocess.TimeoutExpired):
            report.problems.append("nvidia-smi does not answer: the driver needs repair or a restart.")
    plugin = next((v for n in (13, 12) if (v := _version(f"jax-cuda{n}-plugin")) != "not installed"), None)
    report.problems += driver_advice(driver, plugin, report.versions["jax"])


def _list_devices(report: Report) -> None:
    if report.versions["jax"] == "not installed":
        return
    from ..core.place import parse_place
    from ..ir.xla import jax_module

    try:
        devices = jax_module().local_devices()
    except RuntimeError as error:
        report.problems.append(f"XLA cannot start: {str(error).strip().splitlines()[0]}.")
        return
    for device in devices:
        memory = (device.memory_stats() or {}).get("bytes_limit")
        place = parse_place(device)
        report.devices.append(
            {
                "place": "cpu" if place.kind == "cpu" else f"{place.kind}:{place.index}",
                "kind": device.device_kind,
                "memory": f"{memory / 2**30:.1f} GiB" if memory else "",
            }
        )


def _check_cache(report: Report) -> None:
    from ..ir.xla import cache_folder

    folder = cache_folder()
    probe: pathlib.Path = folder if folder.exists() else folder.parent
    while not probe.exists() and probe != probe.parent:
        probe = probe.parent
    if not os.access(probe, os.W_OK):
        report.problems.append(f"The cache of compiled programs cannot be written ({folder}): set PROA_CACHE_DIR.")
        return
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) if folder.exists() else 0
    report.notes.append(f"compiled programs are cached in {folder} ({size / 2**20:.0f} MiB)")


def _check_native_kernels(report: Report) -> None:
    """Says whether the CPU's native kernels work; they are compiled here if they were not before."""
    if report.versions["jax"] == "not installed":
        return
    from ..kernels.cpu.library import why_not

    reason = why_not()
    if reason:
        report.notes.append(f"no native CPU kernels, everything runs on XLA alone: {reason}")
    else:
        report.notes.append("native CPU kernels are in use (PROA_NATIVE=0 switches them off)")


def render(report: Report) -> str:
    lines = ["versions   " + ", ".join(f"{k} {v}" for k, v in report.versions.items())]
    lines.append("machine    " + ", ".join(f"{k} {v}" for k, v in report.machine.items()))
    for device in report.devices:
        lines.append(f"device     {device['place']}  {device['kind']}  {device['memory']}".rstrip())
    lines += [f"note       {note}" for note in report.notes]
    lines += [f"PROBLEM    {problem}" for problem in report.problems]
    if not report.problems:
        lines.append("No problems found.")
    return "\n".join(lines)
