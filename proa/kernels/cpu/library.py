"""Compiles and loads the native kernels: once for each machine, when the first of them is wanted.

Every source file of `native/` becomes a library of its own, kept in the cache folder by content, compiler and processor.
All are compiled at the same time; who needs a kernel waits for its library alone, and not for ever. Without a compiler,
on another processor or with `PROA_NATIVE=0` there are simply no native kernels, and `why_not` says so.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import platform
import re
import sys
import threading
from typing import Any

import numpy as np

from ...core import flags
from ...core.locks import new_lock
from ...core.waiting import waiting
from ...ir.xla import cache_folder, started_jax

flags.define("FLAGS_native_kernels", True, "Whether C++ kernels are used on the CPU.", "PROA_NATIVE")

_SOURCES = pathlib.Path(__file__).parent / "native"
_INCLUDE = re.compile(r'^#include "(\w+\.h)"', re.MULTILINE)
_DIRECT = "direct"  # what calls the others without XLA
_MEMORY = "memory"  # what keeps memory from run to run
# Compiled behind the others: most programs that are waited for in the meantime train something.
_SELDOM = ("depthwise", "depthwise_fused", "fused", "grids", "quantised", "recurrence")
# How long a program that is being compiled waits for its kernels; then it goes without them.
_PATIENCE = 60.0


def folder() -> pathlib.Path:
    """Where the libraries are kept; one folder may serve any number of processes, versions and machines."""
    return pathlib.Path(os.environ.get("PROA_NATIVE_DIR") or cache_folder() / "native")


@functools.cache
def processor() -> str:
    """What `-march=native` depends on."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    found = dict(line.split(":", 1) for line in reversed(lines) if ":" in line)
    return "".join(found.get(key, "") for key in sorted(found) if key.strip() in ("flags", "model name"))


def sources() -> list[pathlib.Path]:
    """All files that native kernels are made from."""
    return sorted(path for path in _SOURCES.iterdir() if path.suffix in (".cc", ".cpp", ".h"))


def num_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Libraries:
    """The libraries of this process, by source file."""

    def __init__(self) -> None:
        from ..building import read_handlers

        self.lock = new_lock()
        self.futures: dict[str, Any] = {}
        self.owners: dict[str, str] = {}
        for source in sorted(_SOURCES.glob("*.cc")):
            for symbol in read_handlers("proa", [str(source)]):
                self.owners[symbol] = source.stem

    def start(self, wanted: str = "") -> None:
        """Begins with the library that somebody waits for."""
        from concurrent.futures import ThreadPoolExecutor

        with self.lock:
            if self.futures:
                return
            pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="proa-kernels")
            names = sorted(set(self.owners.values()), key=lambda name: (name != wanted, name in _SELDOM, name))
            self.futures = {name: pool.submit(_make, name) for name in names}
            pool.submit(_build, _DIRECT)  # nobody waits for these two
            pool.submit(_keep_memory)
            pool.shutdown(wait=False)

    def targets_of(self, symbol: str) -> dict[str, str]:
        self.start(self.owners[symbol])
        with waiting("compiling native CPU kernels, once for this machine", "1 to 5 minutes, a program waits for one"):
            return self.futures[self.owners[symbol]].result(_PATIENCE)


@functools.cache
def _libraries() -> _Libraries:
    return _Libraries()


def _source(name: str) -> str:
    return str(_SOURCES / (f"{name}.cpp" if name in (_DIRECT, _MEMORY) else f"{name}.cc"))


def _headers_of(source: str) -> list[str]:
    """The files of `native/` that a source includes, and those that they include."""
    found: set[str] = set()
    waiting = [source]
    while waiting:
        text = pathlib.Path(waiting.pop()).read_text(encoding="utf-8")
        new = {str(_SOURCES / name) for name in _INCLUDE.findall(text)} - found
        found |= new
        waiting += new
    return sorted(found)


def _build(name: str, existing: bool = False) -> str:
    """The path of a library, which is compiled if need be; with `existing`, an empty text instead."""
    from ..building import build

    extra = os.environ.get("PROA_NATIVE_FLAGS", "").split()  # -fsanitize=address, say
    return build(
        "proa", f"proa_{name}", [_source(name)], ["-march=native", *extra], [], [], str(folder()),
        headers_of=_headers_of(_source(name)), identity=processor(), existing=existing,
    )  # fmt: skip


def _make(name: str) -> dict[str, str]:
    from ..building import read_handlers, register

    return register("proa", _build(name), read_handlers("proa", [_source(name)]))


def _keep_memory() -> None:
    from . import memory

    memory.keep(_build(_MEMORY))


@functools.cache
def _other_machine() -> str:
    if platform.machine() not in ("x86_64", "AMD64") or sys.platform != "linux":
        return f"there are none for {platform.system()} {platform.machine()}"
    return ""


@functools.cache
def _unsuitable() -> str:
    """Why native kernels cannot be used in this process at all, or an empty text."""
    if _other_machine():
        return _other_machine()
    if started_jax().device_count("cpu") > 1:  # those of other processes count as well
        return "XLA cannot divide them among several CPU devices"
    return ""


def handlers() -> set[str]:
    """The names of all native kernels."""
    return set(_libraries().owners)


def target(symbol: str) -> str | None:
    """The name by which XLA knows a native kernel, or None when the XLA kernel must do."""
    if THREAD.direct:
        from . import direct

        return symbol if flags.get("FLAGS_native_kernels") and direct.handler(symbol) is not None else None
    if not flags.get("FLAGS_native_kernels") or _unsuitable():
        return None
    try:
        return _libraries().targets_of(symbol)[symbol]
    except (RuntimeError, OSError, TimeoutError):
        return None


def why_not() -> str:
    """Why there are no native kernels, in words; an empty text where there are.

    Compiles them if need be, and waits for that: unlike a program, who asks this has nothing else to do.
    """
    if not flags.get("FLAGS_native_kernels"):
        return "switched off (PROA_NATIVE or FLAGS_native_kernels)"
    if _unsuitable():
        return _unsuitable()
    libraries = _libraries()
    libraries.start()
    for future in libraries.futures.values():
        try:
            future.result()
        except (RuntimeError, OSError) as error:
            return str(error).strip()
    return ""


def call(symbol: str, outputs: Any, *operands: Any, over: dict[int, int] | None = None, **attributes: Any) -> Any:
    """Puts a call of a native kernel, which must be there, into the program being traced.

    `over` says which operands have results written over them (operand: result); XLA copies those that others need.
    """
    if THREAD.direct:
        from . import direct

        return direct.call(symbol, outputs, operands, attributes, over or {})
    name = target(symbol)
    assert name is not None
    several = isinstance(outputs, (list, tuple))
    results = outputs if several else (outputs,)
    made = [out.array if isinstance(out, Image) else out for out in results]
    function = started_jax().ffi.ffi_call(
        name, tuple(made) if several else made[0], vmap_method="sequential", input_output_aliases=over or {},
        input_layouts=[_layout(operand) for operand in operands],
        output_layouts=tuple(map(_layout, results)) if several else _layout(outputs),
    )  # fmt: skip
    return function(*[o.array if isinstance(o, Image) else o for o in operands], **attributes)


@dataclasses.dataclass(frozen=True)
class Image:
    """An operand or result [images, channels, ...] whose channels a native kernel wants side by side in memory.

    The shape stays what it is. XLA gives everything around the call the same order in memory, through elementwise
    operations and from one native kernel to the next, and copies only where it ends.
    """

    array: Any

    @property
    def order(self) -> tuple[int, ...]:
        """Its axes as they lie in memory."""
        return (0, *range(2, len(self.array.shape)), 1)


def _layout(operand: Any) -> tuple[int, ...] | None:
    return operand.order if isinstance(operand, Image) else None


@dataclasses.dataclass(frozen=True)
class _Shaped:
    """What a result will be."""

    shape: tuple[int, ...]
    dtype: Any


def shaped(shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
    """A result of a native kernel."""
    if THREAD.direct:
        return _Shaped(shape, np.dtype(dtype))
    return started_jax().ShapeDtypeStruct(shape, np.dtype(dtype))


# ---- without XLA (see direct.py) -----------------------------------------------------------------


class _Thread(threading.local):
    direct = False  # kernels are given NumPy arrays and work at once


THREAD = _Thread()


def owner_of(symbol: str) -> str:
    """The source file of a native kernel."""
    return _libraries().owners[symbol]


def opened(name: str) -> Any:
    """A library that was compiled before, or None: nothing is compiled for one operation."""
    import ctypes

    if _other_machine():
        return None
    try:
        path = _build(name, existing=True)
        return ctypes.CDLL(path) if path else None
    except (RuntimeError, OSError):
        return None
