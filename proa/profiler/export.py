"""Recordings as files: Chrome's trace format, which Perfetto (ui.perfetto.dev) and chrome://tracing open."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import socket
from collections.abc import Callable
from typing import Any

from ..core.errors import type_error, value_error
from ..ir.xla import started_jax
from .recording import Recording

_DEVICE_PID = 1 << 22  # processes of the accelerator's trace get numbers above those of the host


def chrome_events(recording: Recording) -> list[dict[str, Any]]:
    """The recording as events of the trace format; times in microseconds."""
    pid = os.getpid()
    numbers = {thread: number for number, thread in enumerate(recording.threads)}
    events: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": "host"}},
        *(
            {"name": "thread_name", "ph": "M", "pid": pid, "tid": numbers[thread], "args": {"name": name}}
            for thread, name in recording.threads.items()
        ),
    ]
    for event in sorted(recording.events, key=lambda event: (event.begin, -event.end)):
        events.append(
            {
                "name": event.name, "cat": event.kind.name, "ph": "X", "pid": pid, "tid": numbers[event.thread],
                "ts": (event.begin + recording.epoch) / 1000, "dur": event.duration / 1000, "args": event.args,
            }
        )  # fmt: skip
    for sample in recording.memory:
        amounts = {"resident bytes": sample.resident, "device bytes": sample.device}
        when = (sample.when + recording.epoch) / 1000
        events.append({"name": "memory", "cat": "Memory", "ph": "C", "pid": pid, "tid": 0, "ts": when, "args": amounts})
    return events + recording.device_events


def write(recording: Recording, path: str, compressed: bool = False) -> None:
    """Writes a recording; the file appears when it is whole."""
    content = {
        "displayTimeUnit": "ms",
        "schemaVersion": "1.0.0",
        "traceEvents": chrome_events(recording),
        "ExtraInfo": {"process": os.getpid(), "host": socket.gethostname()},
    }
    data = json.dumps(content).encode()
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "wb") as file:
        file.write(gzip.compress(data) if compressed else data)
    os.replace(temporary, path)


def _exporter(function: str, suffix: str, kind: str, dir_name: Any, worker_name: Any) -> Callable[[Any], None]:
    if not isinstance(dir_name, (str, os.PathLike)):
        raise type_error(function, "dir_name must be a folder's name", repr(dir_name))
    os.makedirs(dir_name, exist_ok=True)

    def export(profiler: Any) -> None:
        worker = worker_name or f"host_{socket.gethostname()}pid_{os.getpid()}"
        moment = datetime.datetime.now().strftime("%Y_%m_%d_%H_%M_%S_%f")
        profiler.export(os.path.join(dir_name, f"{worker}_time_{moment}.paddle_trace.{suffix}"), kind)

    return export


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[[Any], None]:
    """For `on_trace_ready`: writes each recording into a folder, as JSON that Perfetto opens.

    Args:
        dir_name: the folder.
        worker_name: what files begin with; the machine's and the process's name if left out.

    Returns:
        A function of a Profiler.

    Raises:
        TypeError: `dir_name` is no path.

    Examples:
        >>> import os
        >>> ready = paddle.profiler.export_chrome_tracing("log", worker_name="first")
        >>> with paddle.profiler.Profiler(on_trace_ready=ready):
        ...     _ = (paddle.ones([2]) + 1).numpy()
        >>> os.listdir("log")[0].startswith("first_time_")
        True
    """
    return _exporter("export_chrome_tracing", "json", "json", dir_name, worker_name)


def export_protobuf(dir_name: str, worker_name: str | None = None) -> Callable[[Any], None]:
    """For `on_trace_ready`: writes each recording into a folder, compactly; `load_profiler_result` reads it again.

    The content is the compressed JSON of `export_chrome_tracing`, which Perfetto opens too; not Paddle's own messages.

    Args:
        dir_name: the folder.
        worker_name: what files begin with; the machine's and the process's name if left out.

    Returns:
        A function of a Profiler.

    Raises:
        TypeError: `dir_name` is no path.

    Examples:
        >>> import os
        >>> with paddle.profiler.Profiler(on_trace_ready=paddle.profiler.export_protobuf("log")):
        ...     _ = (paddle.ones([2]) + 1).numpy()
        >>> os.listdir("log")[0].endswith(".pb")
        True
    """
    return _exporter("export_protobuf", "pb", "pb", dir_name, worker_name)


class ProfilerResult:
    """A recording read from a file."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content

    def get_data(self) -> dict[str, list[dict[str, Any]]]:
        """The events with a duration, by thread."""
        found: dict[str, list[dict[str, Any]]] = {}
        for event in self._content["traceEvents"]:
            if event.get("ph") == "X":
                found.setdefault(f"{event.get('pid')}/{event.get('tid')}", []).append(event)
        return found

    def get_extra_info(self) -> dict[str, Any]:
        """What else the file says about itself."""
        return dict(self._content.get("ExtraInfo", {}))

    def save(self, path: str, format: str = "json") -> None:
        """Writes the recording to another file."""
        data = json.dumps(self._content).encode()
        with open(path, "wb") as file:
            file.write(data if format == "json" else gzip.compress(data))


def load_profiler_result(filename: str) -> ProfilerResult:
    """Reads what `export_protobuf`, `export_chrome_tracing` or `Profiler.export` wrote.

    Args:
        filename: the file.

    Returns:
        A recording, with `get_data()` for its events, `get_extra_info()` and `save(path)`.

    Raises:
        ValueError: the file is no recording, or it is damaged.

    Examples:
        >>> with paddle.profiler.Profiler(on_trace_ready=lambda profiler: profiler.export("trace.pb", "pb")):
        ...     _ = (paddle.ones([2]) + 1).numpy()
        >>> sorted(paddle.profiler.load_profiler_result("trace.pb").get_extra_info())
        ['host', 'process']
    """
    with open(filename, "rb") as file:
        data = file.read()
    try:
        content = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        if not isinstance(content["traceEvents"], list):
            raise ValueError("it has no events")
    except (ValueError, KeyError, TypeError, OSError, EOFError, RecursionError) as error:
        raise value_error(
            "load_profiler_result",
            "the file is not a recording of this profiler, or it is damaged",
            f"{filename!r}: {error}",
        ) from error
    return ProfilerResult(content)


# ---- the accelerator's own trace -----------------------------------------------------------------


class DeviceTrace:
    """JAX's profiler around a recording; its events (kernels, transfers) are taken into the recording."""

    def __init__(self) -> None:
        import tempfile

        self._folder = tempfile.TemporaryDirectory(prefix="proa_trace_")
        self._profiler = started_jax().profiler
        self._profiler.start_trace(self._folder.name)

    def stop(self, recording: Recording) -> None:
        self._profiler.stop_trace()
        with self._folder:
            for folder, _, names in os.walk(self._folder.name):
                for name in names:
                    if name.endswith(".trace.json.gz"):
                        with gzip.open(os.path.join(folder, name)) as file:
                            merge_device_events(recording, json.load(file).get("traceEvents", []))


def merge_device_events(recording: Recording, events: list[dict[str, Any]]) -> None:
    """Takes the events of devices; those of the host's own threads are left out (they are recorded here already)."""
    names = {e["pid"]: e["args"].get("name", "") for e in events if e.get("name") == "process_name" and "pid" in e}
    devices = {pid for pid, name in names.items() if name.startswith("/device:")}
    begin = min((e["ts"] for e in events if e.get("ph") == "X" and "ts" in e), default=0.0)
    offset = (recording.begin + recording.epoch) / 1000 - begin
    for event in events:
        if event.get("pid") not in devices or event.get("ph") not in ("X", "M"):
            continue
        moved = {**event, "pid": _DEVICE_PID + event["pid"]}
        if event["ph"] == "X":
            moved.update(ts=event["ts"] + offset, dur=event.get("dur", 0.0), cat="Kernel")
            moved.setdefault("tid", 0)
        recording.device_events.append(moved)
