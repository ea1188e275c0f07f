"""What happened, as events: the observer that collects them, and the user's own (`RecordEvent`)."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from contextlib import ContextDecorator
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

from ..core.dtype import name_of
from ..core.errors import type_error
from ..ir.layer_ranges import LayerRanges, program_of
from ..ir.observing import RUNTIME, Observer, current_layer
from .enums import TracerEventType

_PHASES = {"backward": TracerEventType.Backward, "update": TracerEventType.Optimization}
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass
class Event:
    """Something with a name that took a time in a thread."""

    name: str
    kind: TracerEventType
    begin: int  # nanoseconds, on the clock of perf_counter_ns
    end: int
    thread: int
    args: dict[str, Any] = field(default_factory=dict)

    @property
    def duration(self) -> int:
        return self.end - self.begin


@dataclass
class MemorySample:
    """Bytes in use at a moment."""

    when: int
    resident: int
    device: int


def resident_bytes() -> int:
    """Bytes of this process in the machine's memory (0 where the system does not say)."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def device_bytes() -> int:
    """Bytes held by the default device's arrays, once there is one."""
    jax = sys.modules.get("jax")
    if jax is None or not hasattr(jax, "local_devices"):
        return 0
    device = jax.local_devices()[0]
    statistics = device.memory_stats()
    if statistics:
        return int(statistics.get("bytes_in_use", 0))
    return sum(array.nbytes for array in jax.live_arrays(device.platform))


class Recording(Observer):
    """Collects events from `start` to `stop`."""

    def __init__(self, record_shapes: bool = False, profile_memory: bool = False, with_flops: bool = False) -> None:
        self.events: list[Event] = []
        self.memory: list[MemorySample] = []
        self.threads: dict[int, str] = {}
        self.device_events: list[dict[str, Any]] = []  # ready for a chrome trace
        self.layer_operations: Counter[str] = Counter()  # recorded in each layer
        self.layer_nanoseconds: Counter[str] = Counter()  # of its operations that ran one by one
        self.compiled_operations: Counter[str] = Counter()  # that ran inside compiled programs
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_flops = with_flops
        self.times_operations = True
        self.begin = self.end = perf_counter_ns()
        self.epoch = time.time_ns() - perf_counter_ns()  # added to a time, it gives nanoseconds since 1970
        self.processor = (time.process_time_ns(), _system_times())
        self._ranges = LayerRanges()

    # ---- beginning and end ---------------------------------------------------------------------

    def start(self) -> None:
        RUNTIME.attach(self)
        self.begin = perf_counter_ns()
        self.processor = (time.process_time_ns(), _system_times())
        _ACTIVE.append(self)
        self.sample_memory()

    def stop(self) -> None:
        self.end = perf_counter_ns()
        self.processor = (
            time.process_time_ns() - self.processor[0],
            tuple(now - before for now, before in zip(_system_times(), self.processor[1], strict=True)),
        )
        self.sample_memory()
        if self in _ACTIVE:
            _ACTIVE.remove(self)
        RUNTIME.detach(self)

    def add(self, name: str, kind: TracerEventType, begin: int, end: int, **args: Any) -> None:
        thread = threading.get_ident()
        if thread not in self.threads:
            self.threads[thread] = threading.current_thread().name
        self.events.append(Event(name, kind, begin, end, thread, args))

    def sample_memory(self) -> None:
        if self.profile_memory:
            self.memory.append(MemorySample(perf_counter_ns(), resident_bytes(), device_bytes()))

    # ---- what the machinery tells --------------------------------------------------------------

    def layer_entered(self, path: str, layer: Any) -> None:
        self._ranges.mark(path)

    def layer_left(self, path: str, layer: Any, begin: int, end: int) -> None:
        self._ranges.mark(current_layer())
        self.add(path, TracerEventType.Forward, begin, end, layer=type(layer).__name__)

    def phase_left(self, name: str, begin: int, end: int) -> None:
        self.add(name, _PHASES[name], begin, end)

    def compiled(self, entry: Any, executable: Any, arguments: dict[str, Any], begin: int, end: int) -> None:
        size = len(entry.program.instructions)
        self.add(f"compile segment_of_{size}", TracerEventType.Compilation, begin, end, operations=size)

    def ran_compiled(self, executable: Any, inputs: Any, scalars: Any, begin: int, end: int) -> None:
        program = program_of(executable)
        args: dict[str, Any] = {}
        if program is not None:
            args["operations"] = len(program.instructions)
            self.compiled_operations.update(i.operation.name for i in program.instructions)
        if self.with_flops:
            args["flops"] = _flops(executable)
        name = f"segment_of_{args['operations']}" if program is not None else "tile of a segment"
        self.add(name, TracerEventType.CompiledProgram, begin, end, **args)
        self._note_layers([])

    def ran_cold(self, program: Any, times: list[tuple[Any, int, int]], begin: int, end: int) -> None:
        for instruction, started, ended in times:
            args: dict[str, Any] = {}
            if self.record_shapes:
                args["inputs"] = [str(kind) for kind in instruction.kinds]
                args["outputs"] = [f"{name_of(aval.dtype)}{list(aval.shape)}" for aval in instruction.outputs]
            self.add(instruction.operation.name, TracerEventType.Operator, started, ended, **args)
        self._note_layers(times)

    def _note_layers(self, times: list[tuple[Any, int, int]]) -> None:
        """Divides the operations of the segment that has just run among the layers that recorded them."""
        for begin, end, path in self._ranges.take():
            if path:
                self.layer_operations[path] += end - begin
                self.layer_nanoseconds[path] += sum(e - b for i, b, e in times if begin <= i.index < end)


_ACTIVE: list[Recording] = []


def in_profiler_mode() -> bool:
    """Whether something is being recorded right now."""
    return bool(_ACTIVE)


class RecordEvent(ContextDecorator):
    """Gives a stretch of your code a name in the recording: a `with` block, a decorator, or `begin` and `end`.

    Args:
        name: the name.
        event_type: the kind of event.

    Raises:
        TypeError: the name is no string.

    Examples:
        >>> with paddle.profiler.Profiler(on_trace_ready=lambda profiler: None) as profiler:
        ...     with paddle.profiler.RecordEvent("loading"):
        ...         _ = sum(range(100))
        >>> "loading" in [event.name for event in profiler.recording.events]
        True
    """

    def __init__(self, name: str, event_type: TracerEventType = TracerEventType.PythonUserDefined) -> None:
        if not isinstance(name, str):
            raise type_error("RecordEvent", "name must be a string", repr(name))
        self.name = name
        self.event_type = event_type
        self._begins: list[int] = []

    def begin(self) -> None:
        """The stretch begins here.

        Examples:
            >>> event = paddle.profiler.RecordEvent("loading")
            >>> with paddle.profiler.Profiler(on_trace_ready=lambda profiler: None) as profiler:
            ...     event.begin()
            ...     event.end()
            >>> "loading" in [event.name for event in profiler.recording.events]
            True
        """
        if _ACTIVE:
            self._begins.append(perf_counter_ns())

    def end(self) -> None:
        """The stretch ends here; without a beginning in the recording nothing happens.

        Examples:
            >>> paddle.profiler.RecordEvent("loading").end()
        """
        if self._begins:
            begin = self._begins.pop()
            for recording in _ACTIVE:
                recording.add(self.name, self.event_type, max(begin, recording.begin), perf_counter_ns())

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def _flops(executable: Any) -> float:
    try:
        analysis = executable.executable.cost_analysis()
    except Exception:
        return 0.0
    analysis = analysis[0] if isinstance(analysis, list) else analysis
    return float((analysis or {}).get("flops", 0.0))


def _system_times() -> tuple[int, int]:
    """Ticks that the machine's processors were busy, and all ticks (zeros where the system does not say)."""
    try:
        with open("/proc/stat") as file:
            ticks = [int(number) for number in file.readline().split()[1:]]
    except (OSError, ValueError):
        return 0, 0
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)
