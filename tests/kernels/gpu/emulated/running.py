"""Kernels in CUDA, compiled by the C++ compiler and run on NumPy's arrays, and a namespace that passes for CuPy's."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import re
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from proa.kernels.gpu.cold.raw import BLOCK_SUM

HEADER = Path(__file__).with_name("cuda.h")
_KERNEL = re.compile(r'extern "C" __global__ void (\w+)\(([^)]*)\)', re.DOTALL)


class Array(np.ndarray):
    """An array that knows where it lies, as CuPy's do."""

    @property
    def data(self) -> Any:  # type: ignore[override]
        return SimpleNamespace(ptr=self.ctypes.data)

    @property
    def device(self) -> Any:  # type: ignore[override]
        return SimpleNamespace(id=0)


class Namespace:
    """NumPy, with arrays of the class above."""

    __name__ = "cupy"
    device = stream = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if name == "ndarray":
            return Array
        if not callable(found) or isinstance(found, type):
            return found

        @functools.wraps(found)
        def call(*arguments: Any, **named: Any) -> Any:
            result = found(*arguments, **named)
            return result.view(Array) if isinstance(result, np.ndarray) else result

        return call


@functools.cache
def _library(source: str) -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp(prefix="cuda-"))
    launchers = []
    for name, parameters in _KERNEL.findall(source):
        names = ", ".join(parameter.split()[-1].lstrip("*") for parameter in parameters.split(","))
        launchers.append(
            f'extern "C" void launch_{name}(int gx, int gy, int bx, int by, {parameters}) '
            f"{{ run({{gx, gy}}, {{bx, by}}, [=] {{ {name}({names}); }}); }}"
        )
    text = "\n".join([f'#include "{HEADER}"', source, *launchers])
    file = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.cpp"
    file.write_text(text)
    library = file.with_suffix(".so")
    command = ["c++", "-std=c++20", "-O1", "-w", "-shared", "-fPIC", "-pthread", str(file), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


_CTYPES = {
    "int32": ctypes.c_int32, "int64": ctypes.c_int64, "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float, "float64": ctypes.c_double, "bool": ctypes.c_bool,
}  # fmt: skip


def _argument(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return ctypes.c_void_p(value.ctypes.data)
    return _CTYPES[value.dtype.name](value.item())


def function(source: str, name: str) -> Any:
    """In the place of `raw.function`."""
    launch = getattr(_library(BLOCK_SUM + source), f"launch_{name}")

    def start(grid: tuple[int, ...], block: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
        places = [*grid, 1][:2] + [*block, 1][:2]
        launch(*map(int, places), *map(_argument, arguments))

    return start
