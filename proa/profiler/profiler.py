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
    """Records what happens in chosen steps: your events, layers, operations, compilations, compiled programs.

    Nothing is paid for while no step is being recorded; while one is, compiled programs on a CPU are waited for, so that an
    event is as long as the work.

    Args:
        targets: `ProfilerTarget`s; anything but CPU adds the accelerator's own trace.
        scheduler: a pair (first step, behind the last), a function of the step that gives a `ProfilerState`
            (`make_scheduler`), or None for all steps.
        on_trace_ready: called with the profiler when a recording is whole; writes it to `./profiler_log/` if left out.
        record_shapes: notes the shapes of operands.
        profile_memory: notes the memory in use.
        timer_only: records nothing and only times steps (`step_info`).
        emit_nvtx: accepted for compatibility.
        custom_device_types: accepted for compatibility.
        with_flops: notes the operations that compiled programs count.

    Raises:
        TypeError: `targets` or `scheduler` are of another type.

    Examples:
        >>> from proa.profiler import Profiler, export_chrome_tracing
        >>> with Profiler(scheduler=(1, 3), on_trace_ready=export_chrome_tracing("log")) as profiler:
        ...     for _ in range(4):
        ...         _ = (paddle.ones([2, 2]) @ paddle.ones([2, 2])).numpy()
        ...         profiler.step()
        >>> sorted({event.name for event in profiler.recording.events if event.name.startswith("ProfileStep")})
        ['ProfileStep#1', 'ProfileStep#2']
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
        """Begins with the first step.

        Examples:
            >>> profiler = paddle.profiler.Profiler(on_trace_ready=lambda profiler: None)
            >>> profiler.start()
            >>> profiler.current_state.name
            'RECORD'
            >>> profiler.stop()
        """
        self._timer.begin()
        self.step_num = 0
        if self.timer_only:
            return
        self.current_state = self.scheduler(0)
        if self.current_state in _RECORDING:
            self._start_recording()
        self._step_begin = perf_counter_ns()

    def step(self, num_samples: int | None = None) -> None:
        """The step is over; the next one begins.

        Args:
            num_samples: how many samples the step had, for `step_info`.

        Examples:
            >>> profiler = paddle.profiler.Profiler(timer_only=True)
            >>> profiler.start()
            >>> profiler.step(num_samples=32)
            >>> profiler.step_num
            1
            >>> profiler.stop()
        """
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
        """Ends profiling; what was being recorded is handed over.

        Examples:
            >>> profiler = paddle.profiler.Profiler(on_trace_ready=lambda profiler: print("a recording"))
            >>> profiler.start()
            >>> profiler.stop()
            a recording
        """
        if self.timer_only or self.current_state is ProfilerState.CLOSED:
            return
        if self.current_state in _RECORDING:
            self._end_step()
            self._hand_over()
        self.current_state = ProfilerState.CLOSED

    def step_info(self, unit: str | None = None) -> str:
        """Mean time of a step and samples (or steps) a second, since this was last asked.

        Args:
            unit: what the samples are called.

        Examples:
            >>> profiler = paddle.profiler.Profiler(timer_only=True)
            >>> profiler.start()
            >>> profiler.step(num_samples=32)
            >>> "images" in profiler.step_info("images")
            True
            >>> profiler.stop()
        """
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
        """Writes the last recording to a file.

        Args:
            path: the file.
            format: "json" for Perfetto, "pb" for the same, compressed.

        Raises:
            ValueError: the format is unknown, or there is no path.
            RuntimeError: nothing was recorded.

        Examples:
            >>> with paddle.profiler.Profiler(on_trace_ready=lambda profiler: profiler.export("trace.json")):
            ...     _ = (paddle.ones([2]) + 1).numpy()
            >>> len(paddle.profiler.load_profiler_result("trace.json").get_data()) > 0
            True
        """
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
        """Prints tables of the last recording: by kind of event, layer, operation, kernel, and of memory.

        Args:
            sorted_by: by what rows are ordered.
            op_detail: adds a row for operations that ran inside compiled programs only.
            thread_sep: tables for each thread.
            time_unit: 's', 'ms', 'us' or 'ns'.
            views: the tables wanted; all of them if left out.

        Raises:
            ValueError: the unit is unknown.
            RuntimeError: nothing was recorded.

        Examples:
            >>> import contextlib, io
            >>> with paddle.profiler.Profiler(on_trace_ready=lambda profiler: None) as profiler:
            ...     _ = (paddle.ones([2]) + 1).numpy()
            >>> printed = io.StringIO()
            >>> with contextlib.redirect_stdout(printed):
            ...     profiler.summary(views=paddle.profiler.SummaryView.OperatorView)
            >>> "Operator" in printed.getvalue()
            True
        """
        if time_unit not in _UNITS:
            raise value_error("summary", f"time_unit must be one of {list(_UNITS)}", repr(time_unit))
        wanted = list(SummaryView) if views is None else [views] if isinstance(views, SummaryView) else list(views)
        print(Summary(self._finished("summary"), sorted_by, op_detail, thread_sep, time_unit).text(wanted))

    def _finished(self, where: str) -> Recording:
        if self.recording is None:
            raise runtime_error(where, "nothing was recorded", fix="start() the profiler with a schedule that records")
        return self.recording
