"""Watching the machinery at work: layers called, backward passes, updates, programs compiled and run.

Nothing is asked on the hot path. While somebody watches, the few functions through which everything goes are exchanged
for ones that tell; when the last observer leaves, the originals are put back. The profiler and `proa.debug` are built on
this.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import threading
import weakref
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from ..core.locks import new_reentrant_lock
from ..ir.recorder import LOCAL
from ..ir.tiers.kept import PROGRAMS


class Observer:
    """What can be told; times are those of `perf_counter_ns`. Methods run in the thread that did the work."""

    keeps_inputs = False  # True: programs compiled while it watches leave their inputs alone, so that it may keep them
    keeps_whole = False  # True: segments are not cut to start their work early (see ir/recording/cutting.py)
    times_operations = False  # True: `ran_cold` gets the time of every operation

    def layer_entered(self, path: str, layer: Any) -> None:
        """A layer is about to compute; `path` is its dotted name below the outermost one."""

    def layer_left(self, path: str, layer: Any, begin: int, end: int) -> None:
        """A layer has computed (or failed)."""

    def layer_failed(self, path: str, error: BaseException) -> None:
        """An error passes through a layer on its way out, innermost first."""

    def phase_entered(self, name: str) -> None:
        """`backward` or `update` is about to begin."""

    def phase_left(self, name: str, begin: int, end: int) -> None:
        """… and is over."""

    def compiled(self, entry: Any, executable: Any, arguments: dict[str, Any], begin: int, end: int) -> Any:
        """A program was compiled, by `executables.compile_program(**arguments)`. May give what is to run in its place."""

    def before_compiled(self, executable: Any) -> None:
        """An executable is about to run; an error raised here reaches the user, and nothing runs."""

    def ran_compiled(self, executable: Any, inputs: Any, scalars: Any, begin: int, end: int) -> None:
        """An executable ran (on an accelerator: was launched)."""

    def ran_cold(self, program: Any, times: list[tuple[Any, int, int]], begin: int, end: int) -> None:
        """A program ran op by op; `times` are (instruction, begin, end)."""


class LayerRanges(threading.local):
    """Which layer recorded which instructions of the thread's open segment; told by `mark`, asked by `take`."""

    def __init__(self) -> None:
        self.segment: Any = None
        self.path = ""
        self.starts: list[tuple[int, str]] = []

    def mark(self, path: str) -> None:
        """From here on the thread is in another layer (or outside of all: an empty path)."""
        if self.segment is not LOCAL.segment:
            self.segment, self.starts = LOCAL.segment, [(0, self.path)]
        self.starts.append((LOCAL.segment.node.next_index, path))
        self.path = path

    def ranges(self, end: Any = None) -> list[tuple[int, int, str]]:
        """(begin, end, path) of the segment that is being run now; none if it is not the one that ends at node `end`."""
        if not self.starts or (end is not None and self.segment.node is not end):
            return []
        ends = [*self.starts[1:], (self.segment.node.next_index, "")]
        return [(begin, end, path) for (begin, path), (end, _) in zip(self.starts, ends, strict=True) if end > begin]

    def take(self) -> list[tuple[int, int, str]]:
        """The same, which are then forgotten."""
        found = self.ranges()
        self.segment, self.starts = None, []
        return found


class _Stack(threading.local):
    """The layers this thread is in, outermost first."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.names: dict[int, str] = {}


_OBSERVERS: list[Observer] = []
_STACK = _Stack()
_LOCK = new_reentrant_lock()
_ORIGINALS: list[tuple[Any, str, Any]] = []
_PROGRAMS: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def attach(observer: Observer) -> None:
    """Lets an observer watch from now on."""
    with _LOCK:
        _OBSERVERS.append(observer)
        if not _ORIGINALS:
            for module, owner, name, wrapper in _POINTS:
                _exchange(module, owner, name, wrapper)


def detach(observer: Observer) -> None:
    """Ends that."""
    with _LOCK:
        if observer in _OBSERVERS:
            _OBSERVERS.remove(observer)
        if not _OBSERVERS:
            while _ORIGINALS:
                place, name, original = _ORIGINALS.pop()
                setattr(place, name, original)


def current_layer() -> str:
    """The path of the layer this thread is in, while somebody watches; empty outside of all."""
    return _STACK.paths[-1] if _STACK.paths else ""


def program_of(executable: Any) -> Any:
    """The Program that an executable was made of, if it is known."""
    found = _PROGRAMS.get(executable)
    if found is None:
        for entry in list(PROGRAMS):
            if entry.compiled is executable:
                found = _PROGRAMS[executable] = entry.program
                break
    return found


def _exchange(module: str, owner: str, name: str, wrapper: Callable[[Any], Any]) -> None:
    # The rooms above this one (nn, optimizer) are looked up, not imported: whoever has layers has imported them.
    place = sys.modules.get(module) if module.split(".")[1] not in ("ir", "eager") else importlib.import_module(module)
    place = getattr(place, owner, None) if owner else place
    if place is not None:
        original = vars(place)[name]
        _ORIGINALS.append((place, name, original))
        setattr(place, name, functools.wraps(original)(wrapper(original)))


# ---- what stands in for the originals ------------------------------------------------------------


def _layer_call(original: Any) -> Any:
    def call(self: Any, *inputs: Any, **kwargs: Any) -> Any:
        paths = _STACK.paths
        if not paths:
            _STACK.names = {id(layer): name for name, layer in self.named_sublayers()}
            path = type(self).__name__
        else:
            name = _STACK.names.get(id(self))
            path = f"{paths[-1]}/{type(self).__name__}" if name is None else f"{paths[0]}.{name}"
        observers = list(_OBSERVERS)
        for observer in observers:
            observer.layer_entered(path, self)
        paths.append(path)
        begin = perf_counter_ns()
        try:
            return original(self, *inputs, **kwargs)
        except BaseException as error:
            for observer in observers:
                observer.layer_failed(path, error)
            raise
        finally:
            end = perf_counter_ns()
            paths.pop()
            for observer in observers:
                observer.layer_left(path, self, begin, end)

    return call


def _phase(name: str) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        def call(*arguments: Any, **kwargs: Any) -> Any:
            observers = list(_OBSERVERS)
            for observer in observers:
                observer.phase_entered(name)
            begin = perf_counter_ns()
            try:
                return original(*arguments, **kwargs)
            finally:
                end = perf_counter_ns()
                for observer in observers:
                    observer.phase_left(name, begin, end)

        return call

    return wrapper


def _compile(original: Any) -> Any:
    signature = inspect.signature(original)

    def compile_program(*arguments: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*arguments, **kwargs)
        observers = list(_OBSERVERS)
        if any(observer.keeps_inputs for observer in observers):
            bound.arguments["donated"] = ()
        begin = perf_counter_ns()
        executable = original(*bound.args, **bound.kwargs)
        end = perf_counter_ns()
        entry = bound.arguments["entry"]
        _PROGRAMS[executable] = entry.program
        for observer in observers:
            instead = observer.compiled(entry, executable, dict(bound.arguments), begin, end)
            executable = executable if instead is None else instead
        return executable

    return compile_program


def _run_compiled(original: Any) -> Any:
    def call(self: Any, inputs: Any, scalars: Any) -> Any:
        for observer in list(_OBSERVERS):
            observer.before_compiled(self)
        begin = perf_counter_ns()
        results = original(self, inputs, scalars)
        if self.device is None or self.device.platform == "cpu":
            for result in results:  # an event is as long as the work; an accelerator's own trace tells for itself
                result.block_until_ready()
        end = perf_counter_ns()
        for observer in list(_OBSERVERS):
            observer.ran_compiled(self, inputs, scalars, begin, end)
        return results

    return call


def _run_cold(original: Any) -> Any:
    signature = inspect.signature(original)

    def run(*arguments: Any, **kwargs: Any) -> Any:
        observers = list(_OBSERVERS)
        bound = signature.bind(*arguments, **kwargs)
        times: list[tuple[Any, int, int]] = []
        begin = before = perf_counter_ns()
        if any(observer.times_operations for observer in observers):
            watch = bound.arguments.get("watch")

            def note(instruction: Any, operands: Any, results: Any) -> None:
                nonlocal before
                now = perf_counter_ns()
                times.append((instruction, before, now))
                if watch is not None:
                    watch(instruction, operands, results)
                before = perf_counter_ns()

            bound.arguments["watch"] = note
        values = original(*bound.args, **bound.kwargs)
        end = perf_counter_ns()
        for observer in observers:
            observer.ran_cold(bound.arguments["program"], times, begin, end)
        return values

    return run


def _cut(original: Any) -> Any:
    def note_late_read(*arguments: Any) -> None:
        if not any(observer.keeps_whole for observer in _OBSERVERS):
            original(*arguments)

    return note_late_read


_POINTS: tuple[tuple[str, str, str, Callable[[Any], Any]], ...] = (
    ("proa.nn.layer", "Layer", "__call__", _layer_call),
    ("proa.optimizer.optimizer", "Optimizer", "step", _phase("update")),
    ("proa.eager.backward.engine", "", "run_engine", _phase("backward")),
    ("proa.ir.tiers.executables", "", "compile_program", _compile),
    ("proa.ir.recording.running", "", "note_late_read", _cut),
    ("proa.ir.recording.running", "", "run_on_numpy", _run_cold),
    ("proa.ir.recording.running", "", "run_on_jax", _run_cold),
    ("proa.ir.recording.running", "", "run_on_cupy", _run_cold),
    ("proa.ir.tiers.lowering", "CompiledProgram", "__call__", _run_compiled),
)
