"""`paddle.version`: which Paddle this package stands in for, and what it runs on.

`full_version` and its parts are those of the Paddle release whose API is followed, because that is what programs ask
for (`require_version("2.6")`). The package's own version is `proa_version`. Versions of libraries are looked up when
they are asked for.
"""

from __future__ import annotations

import re
from typing import Any

from .core.errors import type_error, value_error
from .eager.declare import public

# What Paddle lists; the other names are reached by their path.
__all__ = [
    "cuda",  # noqa: F822 - looked up when it is asked for
    "cudnn", "nccl", "show", "xpu", "xpu_xre", "xpu_xccl", "xpu_xhpc", "tensorrt", "cuda_archs", "hip", "mkl", "cinn",
    "proa_version",
]  # fmt: skip

full_version = "3.3.1"
major, minor, patch = full_version.split(".")
rc = "0"
commit = "unknown"
is_tagged = False
with_pip_cuda_libraries = "OFF"
with_pip_tensorrt = "OFF"
with_mkl = "OFF"
cinn_version = xpu_xre_version = xpu_xccl_version = xpu_xhpc_version = "False"
tensorrt_version = "None"
hip_version: str | None = None
compiled_cuda_archs: list[int] = []
hip: str | None = None
proa_version = "0.1.0"


class CudaVersion(str):
    """A version that can be called as well, since both forms are in use.

    Examples:
        >>> paddle.version.CudaVersion("12.4")() == "12.4"
        True
    """

    __slots__ = ()

    def __call__(self) -> str:
        return str(self)


def _installed(*packages: str) -> str:
    """The version of the first package that is there, or 'False'."""
    from importlib import metadata

    for package in packages:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return "False"


def __getattr__(name: str) -> Any:
    if name == "cuda":
        version = _installed("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu13", "nvidia-cuda-runtime-cu12")
        return CudaVersion(".".join(version.split(".")[:2]))
    if name == "cuda_version":
        return str(__getattr__("cuda"))
    if name in ("cudnn_version", "nccl_version"):
        return cudnn() if name == "cudnn_version" else nccl()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def cudnn() -> str:
    """The version of cuDNN, or "False".

    Examples:
        >>> isinstance(paddle.version.cudnn(), str)
        True
    """
    return _installed("nvidia-cudnn-cu13", "nvidia-cudnn-cu12")


def nccl() -> str:
    """The version of NCCL, or "0".

    Examples:
        >>> isinstance(paddle.version.nccl(), str)
        True
    """
    found = _installed("nvidia-nccl-cu13", "nvidia-nccl-cu12")
    return "0" if found == "False" else found


def cuda_archs() -> list[int]:
    """The GPUs that were compiled for: none, XLA compiles for the device that is there.

    Examples:
        >>> paddle.version.cuda_archs()
        []
    """
    return []


def tensorrt() -> str | None:
    """None: TensorRT is not used.

    Examples:
        >>> paddle.version.tensorrt() is None
        True
    """
    return None


def cinn() -> str:
    """The string "False": XLA takes the place of this compiler.

    Examples:
        >>> paddle.version.cinn()
        'False'
    """
    return "False"


def mkl() -> str:
    """The string "OFF": NumPy and XLA bring their own libraries.

    Examples:
        >>> paddle.version.mkl()
        'OFF'
    """
    return "OFF"


def xpu() -> str:
    """The string "False": these devices are not reached.

    Examples:
        >>> paddle.version.xpu()
        'False'
    """
    return "False"


xpu_xre = xpu_xccl = xpu_xhpc = xpu


def show() -> None:
    """Prints the versions of this package and of what it runs on.

    Examples:
        >>> paddle.version.show()
        proa: ...
    """
    lines = {
        "proa": proa_version, "full_version": full_version, "major": major, "minor": minor, "patch": patch, "rc": rc,
        "cuda": __getattr__("cuda"), "cudnn": cudnn(), "nccl": nccl(),
        "jax": _installed("jax"), "jaxlib": _installed("jaxlib"),
        "hip": hip, "xpu_xre": xpu_xre(), "xpu_xccl": xpu_xccl(), "xpu_xhpc": xpu_xhpc(),
        "cinn": cinn(), "tensorrt_version": tensorrt(), "cuda_archs": cuda_archs(),
    }  # fmt: skip
    for name, value in lines.items():
        print(f"{name}: {value}")


# ---- paddle.utils.require_version ----------------------------------------------------------------

_PATTERN = re.compile(r"\d+(\.\d+){0,3}")


def _parts(name: str, version: Any) -> tuple[int, ...]:
    if not isinstance(version, str):
        raise type_error("require_version", f"{name} must be a string", type(version).__name__)
    if not _PATTERN.fullmatch(version):
        raise value_error("require_version", f"{name} must look like '2.6.0'", repr(version))
    numbers = tuple(int(part) for part in version.split("."))
    return numbers + (0,) * (4 - len(numbers))


@public(module="utils")
def require_version(min_version: str, max_version: str | None = None) -> None:
    """Raises an Exception unless the Paddle API that is followed here lies between two versions.

    Args:
        min_version: the lowest that will do.
        max_version: the highest, if there is one.

    Raises:
        Exception: it does not.
        ValueError: a version does not look like "2.6.0".

    Examples:
        >>> paddle.version.require_version("2.6")
        >>> paddle.version.require_version("9.0")
        Traceback (most recent call last):
            ...
        Exception: (require_version) version 9.0 or higher of Paddle is required; ...
    """
    here = _parts("full_version", full_version)
    least = _parts("min_version", min_version)
    most = None if max_version is None else _parts("max_version", max_version)
    if here < least or (most is not None and here > most):
        wanted = f"{min_version} or higher" if max_version is None else f"from {min_version} to {max_version}"
        # Paddle raises just Exception here, and programs catch that.
        raise Exception(
            f"(require_version) version {wanted} of Paddle is required; this package follows Paddle {full_version}."
        )
