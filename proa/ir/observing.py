"""The runtime as others may watch it: layers called, backward passes, updates, programs compiled and run.

The places through which everything goes ask `RUNTIME.observed`: it is None while nobody watches, and else does the work in
their stead, telling the observers. The profiler, `proa.debug` and the planner are observers.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from ..core.locks import new_reentrant_lock


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
        """A program was compiled, by `compile_program(**arguments)`. May give what is to run in its place."""

    def before_compiled(self, executable: Any) -> None:
        """An executable is about to run; an error raised here reaches the user, and nothing runs."""

    def ran_compiled(self, executable: Any, inputs: Any, scalars: Any, begin: int, end: int) -> None:
        """An executable ran (on an accelerator: was launched)."""

    def ran_cold(self, program: Any, times: list[tuple[Any, int, int]], begin: int, end: int) -> None:
        """A program ran op by op; `times` are (instruction, begin, end)."""


class _Stack(threading.local):
    """The layers this thread is in, outermost first."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.names: dict[int, str] = {}


_STACK = _Stack()
_PROGRAMS: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


class Observed:
    """Does the runtime's work for some observers."""

    def __init__(self, observers: tuple[Observer, ...]) -> None:
        self.observers = observers
        self.keeps_inputs = any(observer.keeps_inputs for observer in observers)
        self.keeps_whole = any(observer.keeps_whole for observer in observers)
        self.times_operations = any(observer.times_operations for observer in observers)

    def call_layer(self, layer: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a layer with its hooks."""
        paths = _STACK.paths
        if not paths:
            _STACK.names = {id(part): name for name, part in layer.named_sublayers()}
            path = type(layer).__name__
        else:
            name = _STACK.names.get(id(layer))
            path = f"{paths[-1]}/{type(layer).__name__}" if name is None else f"{paths[0]}.{name}"
        for observer in self.observers:
            observer.layer_entered(path, layer)
        paths.append(path)
        begin = perf_counter_ns()
        try:
            return layer._call_with_hooks(inputs, kwargs)
        except BaseException as error:
            for observer in self.observers:
                observer.layer_failed(path, error)
            raise
        finally:
            end = perf_counter_ns()
            paths.pop()
            for observer in self.observers:
                observer.layer_left(path, layer, begin, end)

    def phase(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Runs a backward pass or an update."""
        for observer in self.observers:
            observer.phase_entered(name)
        begin = perf_counter_ns()
        try:
            return function(*arguments)
        finally:
            end = perf_counter_ns()
            for observer in self.observers:
                observer.phase_left(name, begin, end)

    def compile(self, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        """Compiles a program."""
        if self.keeps_inputs:
            arguments["donated"] = ()
        begin = perf_counter_ns()
        executable = function(**arguments)
        end = perf_counter_ns()
        entry = arguments["entry"]
        _PROGRAMS[executable] = entry.program
        for observer in self.observers:
            instead = observer.compiled(entry, executable, dict(arguments), begin, end)
            executable = executable if instead is None else instead
        return executable

    def run_compiled(self, executable: Any, inputs: Any, scalars: Any) -> Any:
        """Runs an executable."""
        for observer in self.observers:
            observer.before_compiled(executable)
        begin = perf_counter_ns()
        results = executable.run(inputs, scalars)
        if executable.device is None or executable.device.platform == "cpu":
            for result in results:  # an event is as long as the work; an accelerator's own trace tells for itself
                result.block_until_ready()
        end = perf_counter_ns()
        for observer in self.observers:
            observer.ran_compiled(executable, inputs, scalars, begin, end)
        return results

    def run_cold(self, function: Callable[..., Any], program: Any, watch: Any, *arguments: Any) -> Any:
        """Runs a program op by op: `function(program, *arguments, watch)`."""
        times: list[tuple[Any, int, int]] = []
        begin = before = perf_counter_ns()
        note = watch
        if self.times_operations:

            def note(instruction: Any, operands: Any, results: Any) -> None:
                nonlocal before
                now = perf_counter_ns()
                times.append((instruction, before, now))
                if watch is not None:
                    watch(instruction, operands, results)
                before = perf_counter_ns()

        values = function(program, *arguments, note)
        end = perf_counter_ns()
        for observer in self.observers:
            observer.ran_cold(program, times, begin, end)
        return values


class Runtime:
    """What stands between the parts that record and run, and whoever watches them."""

    __slots__ = ("_lock", "observed")

    def __init__(self) -> None:
        self.observed: Observed | None = None
        self._lock = new_reentrant_lock()

    def attach(self, observer: Observer) -> None:
        """Lets an observer watch from now on."""
        with self._lock:
            self._watch((*self._observers(), observer))

    def detach(self, observer: Observer) -> None:
        """Ends that; what has begun meanwhile is told to the end."""
        with self._lock:
            self._watch(tuple(other for other in self._observers() if other is not observer))

    def phase(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Runs a backward pass or an update."""
        observed = self.observed
        return function(*arguments) if observed is None else observed.phase(name, function, *arguments)

    def _observers(self) -> tuple[Observer, ...]:
        return () if self.observed is None else self.observed.observers

    def _watch(self, observers: tuple[Observer, ...]) -> None:
        self.observed = Observed(observers) if observers else None


RUNTIME = Runtime()

# Called with the tensors that an optimiser changes: at its first step, and when other parameters get gradients than before.
UPDATE_WATCHERS: list[Callable[[list[Any]], None]] = []


def current_layer() -> str:
    """The path of the layer this thread is in, while somebody watches; empty outside of all."""
    return _STACK.paths[-1] if _STACK.paths else ""


def note_program(executable: Any, program: Any) -> None:
    """Notes which Program an executable was made of."""
    _PROGRAMS[executable] = program


def noted_program(executable: Any) -> Any:
    """The Program that an executable was made of, if it was made while somebody watched."""
    return _PROGRAMS.get(executable)
