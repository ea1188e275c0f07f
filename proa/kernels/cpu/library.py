"""Loads the native kernels and puts calls of them into programs.

Where they come from is `compiled.py`'s. A program gets native kernels when all libraries are there at the time it is
traced; nothing ever waits for them. Without a compiler, on another processor or with `PROA_NATIVE=0` there are simply
none, and `why_not` says so.
"""

from __future__ import annotations

import dataclasses
import functools
import platform
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import flags
from ...core.locks import new_lock
from ...ir.process import forking
from ...ir.recording.mode import Mode
from ...ir.tiers import cache
from ...ir.xla import started_jax
from ..building import register
from . import background, compiled

flags.define("FLAGS_native_kernels", True, "Whether C++ kernels are used on the CPU.", "PROA_NATIVE")

_LOOK_AGAIN = 1.0  # seconds after which it is asked again whether libraries that were missing are there


class _Libraries:
    """The libraries of this process, by source file."""

    def __init__(self) -> None:
        self.lock = new_lock()
        self.paths: dict[str, str] = {}  # of all libraries, once all are there
        self.next_look = 0.0
        self.single: dict[str, tuple[str, float]] = {}  # of those that were asked for alone, and when to look again
        self.started = False  # compiling in the background
        self.targets: dict[str, dict[str, str]] = {}  # of loaded libraries
        self.owners: dict[str, str] = {}
        for name in compiled.names():
            if name not in (compiled.DIRECT, compiled.MEMORY):
                self.owners.update(dict.fromkeys(compiled.handlers_of(name), name))

    def are_there(self) -> bool:
        """Whether every library can be loaded: kernels call one another, so there are all of them or none."""
        if self.paths:
            return True
        if time.monotonic() < self.next_look:
            return False
        with self.lock:
            found = {name: compiled.find(name) for name in compiled.names()}
            if all(found.values()):
                self.paths = found
                compiled.note_use(found.values())
            elif flags.get("FLAGS_cpu_deterministic"):
                self.next_look = float("inf")  # another start of the program shall not depend on when they appear
            else:
                self.next_look = time.monotonic() + _LOOK_AGAIN
        return bool(self.paths)

    def path_of(self, name: str) -> str:
        """Where one library lies, for who needs no other: looking for all of them takes as long as thousands of small calls.
        An empty text where it is not there."""
        if self.paths or flags.get("FLAGS_cpu_deterministic"):
            return self.paths[name] if self.are_there() else ""
        path, next_look = self.single.get(name, ("", 0.0))
        if not path and time.monotonic() >= next_look:
            path = compiled.find(name)
            if path:
                compiled.note_use([path])
            self.single[name] = path, time.monotonic() + _LOOK_AGAIN
        return path

    def compile_in_background(self) -> None:
        with self.lock:
            if not self.started:
                self.started = True
                background.start()

    def targets_of(self, name: str) -> dict[str, str]:
        """By handler, the names by which XLA knows a library's; loads it."""
        from . import memory

        found = self.targets.get(name)
        if found is None:
            with self.lock:
                if not self.targets:
                    memory.keep(self.paths[compiled.MEMORY])
                if name not in self.targets:  # another thread may have been quicker
                    handlers = dict.fromkeys(compiled.handlers_of(name), "cpu")
                    self.targets[name] = register("proa", self.paths[name], handlers)
                found = self.targets[name]
        return found


@functools.cache
def _libraries() -> _Libraries:
    return _Libraries()


@functools.cache
def _other_machine() -> str:
    if compiled.variant() is None:
        return f"there are none for {platform.system()} {platform.machine()}"
    return ""


@functools.cache
def _has_several_devices() -> bool:
    # A forked process, which has no XLA, runs by itself.
    return not forking.State.lost and started_jax().local_device_count("cpu") > 1


def _unsuitable() -> str:
    """Why native kernels cannot be used in this process, as it is now, or an empty text.

    In a job each process has programs of its own, for its one device; from the first tensor on that spans several, programs
    may span them, too.
    """
    if _other_machine():
        return _other_machine()
    if Mode.sharded or _has_several_devices():
        return "XLA cannot divide them among several CPU devices"
    return ""


def handlers() -> set[str]:
    """The names of all native kernels."""
    return set(_libraries().owners)


def target(symbol: str) -> str | None:
    """The name by which XLA knows a native kernel, or None when the XLA kernel must do."""
    direct = THREAD.direct
    if direct is not None:
        return symbol if flags.get("FLAGS_native_kernels") and direct.handler(symbol) is not None else None
    if not flags.get("FLAGS_native_kernels") or _unsuitable():
        return None
    libraries = _libraries()
    if not libraries.are_there():
        libraries.compile_in_background()
        return None
    try:
        return libraries.targets_of(libraries.owners[symbol])[symbol]
    except (RuntimeError, OSError):
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
    try:
        if not libraries.are_there():
            compiled.make_all(lambda line: print(line, file=sys.stderr, flush=True))
            libraries.next_look = 0.0
        if not libraries.are_there():
            return f"compiled libraries do not stay intact in {compiled.folder()}"
        for name in sorted(set(libraries.owners.values())):
            libraries.targets_of(name)
    except OSError as error:
        cache.tell_unusable(compiled.folder(), error, "native CPU kernels cannot be compiled")
        return f"the folder {compiled.folder()} cannot keep them: {error.strerror or error}"
    except RuntimeError as error:
        return str(error).strip()
    return ""


def call(symbol: str, outputs: Any, *operands: Any, over: dict[int, int] | None = None, **attributes: Any) -> Any:
    """Puts a call of a native kernel, which must be there, into the program being traced.

    `over` says which operands have results written over them (operand: result); XLA copies those that others need.
    """
    if THREAD.direct is not None:
        return THREAD.direct.call(symbol, outputs, operands, attributes, over or {})
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

    @property
    def inverse(self) -> tuple[int, ...]:
        """Where its axes are found in that order."""
        last = len(self.array.shape) - 1
        return (0, last, *range(1, last))


def _layout(operand: Any) -> tuple[int, ...] | None:
    return operand.order if isinstance(operand, Image) else None


@dataclasses.dataclass(frozen=True)
class _Shaped:
    """What a result will be."""

    shape: tuple[int, ...]
    dtype: Any


def shaped(shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
    """A result of a native kernel."""
    if THREAD.direct is not None:
        return _Shaped(shape, np.dtype(dtype))
    return started_jax().ShapeDtypeStruct(shape, np.dtype(dtype))


# ---- without XLA (see direct.py) -----------------------------------------------------------------


def once(name: str, arrays: tuple[Any, ...], number: int, compute: Callable[[], Any]) -> Any:
    """Results that several operations ask for, one after the other. XLA sees by itself that calls are equal."""
    return compute() if THREAD.direct is None else THREAD.direct.once(name, arrays, number, compute)


class _Thread(threading.local):
    direct: Any = None  # the module direct.py where kernels are given NumPy arrays and work at once


THREAD = _Thread()


def owner_of(symbol: str) -> str:
    """The source file of a native kernel."""
    return _libraries().owners[symbol]


def opened(name: str) -> Any:
    """A library that was compiled before, or None: nothing is compiled for one operation."""
    import ctypes

    path = "" if _other_machine() else _libraries().path_of(name)
    if not path:
        return None
    try:
        return ctypes.CDLL(path)
    except OSError:
        return None
