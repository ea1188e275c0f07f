"""What `proa doctor` says of GPUs, their drivers and JAX's plug-ins, and whether each device can compute."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import subprocess
import time

from ..core.place import parse_place
from ..ir.tiers.cupy_tier import why_not
from ..ir.xla import jax_module
from .report import Report, version_of


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


def check_nvidia(report: Report) -> None:
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
    plugin = next((v for n in (13, 12) if (v := version_of(f"jax-cuda{n}-plugin")) != "not installed"), None)
    report.problems += driver_advice(driver, plugin, report.versions["jax"])


def cupy_advice(
    has_gpu: bool, packages: dict[str, str], cuda: str | None, why: str, has_cudnn: bool
) -> tuple[str, list[str]]:
    """What is said of CuPy where JAX can use an NVIDIA GPU: a version, and notes; pure, so that every case can be tested.

    `packages` are CuPy's packages that are installed, with their versions; `cuda` is the version of CUDA that JAX's plug-in
    is for ("12" or "13"); `why` is why CuPy cannot be used, empty where it can; `has_cudnn`: whether cuDNN's front end is
    installed.
    """
    if not has_gpu or cuda is None:
        return "", []
    wanted = f"cupy-cuda{cuda}x"
    if not packages:
        text = "CuPy is not installed: code that is new on the GPU is compiled op by op, which takes a second or more"
        return "not installed", [f"{text}; pip install {wanted}."]
    version = ", ".join(f"{name} {number}" for name, number in packages.items())
    if len(packages) > 1:
        return version, [f"Several packages of CuPy are installed and spoil one another: keep {wanted} alone."]
    if wanted not in packages:
        return version, [f"CuPy ({version}) is for another CUDA than JAX's plug-in: pip install {wanted} instead."]
    if why:
        return version, [f"CuPy is installed and not used: {why}."]
    text = "cuDNN's front end is not installed: convolutions are compiled for every size of pictures"
    return version, [] if has_cudnn else [f"{text}; pip install nvidia-cudnn-frontend."]


def check_cupy(report: Report) -> None:
    names = ("cupy", "cupy-cuda12x", "cupy-cuda13x")
    packages = {name: found for name in names if (found := version_of(name)) != "not installed"}
    cuda = next((str(n) for n in (13, 12) if version_of(f"jax-cuda{n}-plugin") != "not installed"), None)
    has_cudnn = importlib.util.find_spec("cudnn") is not None
    why = why_not() or cannot_import("cupy")
    version, notes = cupy_advice("nvidia" in report.machine, packages, cuda, why, has_cudnn)
    if version:
        report.versions["cupy"] = version
    report.notes += notes


def cannot_import(name: str) -> str:
    """Why a module that is installed cannot be imported; empty where it can, or is not there."""
    if importlib.util.find_spec(name) is None:
        return ""
    try:
        importlib.import_module(name)
    except Exception as error:
        text = str(error).strip().splitlines()
        return text[0] if text else type(error).__name__
    return ""


def list_devices(report: Report) -> None:
    """Every device, with the time it took for a first small program: the way to know that it works."""
    jax = jax_module()
    try:
        devices = jax.local_devices()
    except RuntimeError as error:
        report.problems.append(f"XLA cannot start: {str(error).strip().splitlines()[0]}.")
        return
    for device in devices:
        place = parse_place(device)
        name = "cpu" if place.kind == "cpu" else f"{place.kind}:{place.index}"
        memory = (device.memory_stats() or {}).get("bytes_limit")
        started = time.perf_counter()
        try:
            works = int(jax.device_put(20, device) + 22) == 42
        except Exception as error:
            works = False
            report.problems.append(f"{name} does not compute: {str(error).strip().splitlines()[0][:300]}")
        report.devices.append({
            "place": name, "kind": device.device_kind, "memory": f"{memory / 2**30:.1f} GiB" if memory else "",
            "works": works, "seconds": round(time.perf_counter() - started, 3),
        })  # fmt: skip
