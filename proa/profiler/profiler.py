"""`Profiler`: records chosen steps and hands the recordings over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter_ns
from typing import Any

from ..core.errors import runtime_error, type_error, value_error
from ..core.place import default_place
from . import export as exporting
from .enums import ProfilerState, ProfilerTarget, SortedKeys, SummaryView, TracerEventType
from .recording import Recording
from .schedule import as_schedule
from .summary import _UNITS, Summary
from .timer import StepTimer

_RECORDING = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)


class Profiler:
    """Records what happens in chosen steps: the user's events, layers, operations, compilations, compiled programs.

        with Profiler(scheduler=(3, 5), on_trace_ready=export_chrome_tracing("log")) as profiler:
            for batch in loader:
                train(batch)
                profiler.step()
        profiler.summary()

    `targets` with anything but CPU adds the accelerator's own trace. `timer_only` records nothing and only times steps
    (`step_info`). `record_shapes`, `profile_memory` and `with_flops` add what they say. Nothing is paid for while no
    step is being recorded; while one is, compiled programs on a CPU are waited for, so that an event is as long as the work.
    """

    def __init__(
        self,
        *,
        targets: Iterable[ProfilerTarget] | None = None,
        scheduler: Callable[[int], ProfilerState] | tuple[int, int] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        timer_only: bool = False,
        emit_nvtx: bool = False,
        custom_device_types: list[str] = [],  # noqa: B006 (Paddle's default; never changed)
        with_flops: bool = False,
    ) -> None:
        if targets is None:
            targets = [ProfilerTarget.CPU] + ([] if default_place().kind == "cpu" else [ProfilerTarget.GPU])
        self.targets = list(targets)
        if not all(isinstance(target, ProfilerTarget) for target in self.targets):
            raise type_error("Profiler", "targets must be ProfilerTargets", repr(self.targets))
        self.scheduler = as_schedule(scheduler)
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.timer_only = timer_only
        self.emit_nvtx = emit_nvtx
        self.custom_device_types = custom_device_types
        self.with_flops = with_flops
        self.step_num = 0
        self.current_state = ProfilerState.CLOSED
        self.recording: Recording | None = None  # the last one, also while it is being made
        self._timer = StepTimer()
        self._device_trace: exporting.DeviceTrace | None = None
        self._step_begin = 0

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # ---- steps ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Begins with the first step."""
        self._timer.begin()
        self.step_num = 0
        if self.timer_only:
            return
        self.current_state = self.scheduler(0)
        if self.current_state in _RECORDING:
            self._start_recording()
        self._step_begin = perf_counter_ns()

    def step(self, num_samples: int | None = None) -> None:
        """The step is over; the next one begins."""
        self._timer.step(num_samples)
        self.step_num += 1
        if self.timer_only:
            return
        before, self.current_state = self.current_state, self.scheduler(self.step_num)
        if before in _RECORDING:
            self._end_step()
            if before is ProfilerState.RECORD_AND_RETURN or self.current_state not in _RECORDING:
                self._hand_over()
        if self.current_state in _RECORDING and (self.recording is None or not self._is_recording):
            self._start_recording()
        self._step_begin = perf_counter_ns()

    def stop(self) -> None:
        """Ends profiling; what was being recorded is handed over."""
        if self.timer_only or self.current_state is ProfilerState.CLOSED:
            return
        if self.current_state in _RECORDING:
            self._end_step()
            self._hand_over()
        self.current_state = ProfilerState.CLOSED

    def step_info(self, unit: str | None = None) -> str:
        """Mean time of a step and samples (or steps) a second, since this was last asked."""
        return self._timer.info(unit)

    _is_recording = False

    def _start_recording(self) -> None:
        self.recording = Recording(self.record_shapes, self.profile_memory, self.with_flops)
        if any(target is not ProfilerTarget.CPU for target in self.targets) and default_place().kind != "cpu":
            self._device_trace = exporting.DeviceTrace()
        self.recording.start()
        self._is_recording = True

    def _end_step(self) -> None:
        assert self.recording is not None
        name = f"ProfileStep#{max(0, self.step_num - 1)}"
        self.recording.add(name, TracerEventType.ProfileStep, self._step_begin, perf_counter_ns())
        self.recording.sample_memory()

    def _hand_over(self) -> None:
        assert self.recording is not None
        self.recording.stop()
        self._is_recording = False
        if self._device_trace is not None:
            self._device_trace.stop(self.recording)
            self._device_trace = None
        ready = self.on_trace_ready
        if ready is None:
            ready = self.on_trace_ready = exporting.export_chrome_tracing("./profiler_log/")
        ready(self)

    # ---- results -------------------------------------------------------------------------------

    def export(self, path: str = "", format: str = "json") -> None:
        """Writes the last recording: "json" for Perfetto, "pb" the same, compressed."""
        if format not in ("json", "pb"):
            raise value_error("export", 'format must be "json" or "pb"', repr(format))
        if not path:
            raise value_error("export", "a path is needed", repr(path))
        exporting.write(self._finished("export"), path, format == "pb")

    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: SummaryView | list[SummaryView] | None = None,
    ) -> None:
        """Prints tables of the last recording: by kind of event, layer, operation, kernel, and of memory."""
        if time_unit not in _UNITS:
            raise value_error("summary", f"time_unit must be one of {list(_UNITS)}", repr(time_unit))
        wanted = list(SummaryView) if views is None else [views] if isinstance(views, SummaryView) else list(views)
        print(Summary(self._finished("summary"), sorted_by, op_detail, thread_sep, time_unit).text(wanted))

    def _finished(self, where: str) -> Recording:
        if self.recording is None:
            raise runtime_error(where, "nothing was recorded", fix="start() the profiler with a schedule that records")
        return self.recording
