"""The tables of `Profiler.summary`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .enums import SortedKeys, SummaryView, TracerEventType
from .recording import Event, Recording

_UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
_ORDERS: dict[SortedKeys, Callable[[list[int]], float]] = {
    SortedKeys.CPUTotal: sum, SortedKeys.GPUTotal: sum,
    SortedKeys.CPUAvg: lambda times: sum(times) / len(times), SortedKeys.GPUAvg: lambda times: sum(times) / len(times),
    SortedKeys.CPUMax: max, SortedKeys.GPUMax: max,
    SortedKeys.CPUMin: min, SortedKeys.GPUMin: min,
}  # fmt: skip
_TIMES = "Total / Avg / Max / Min / Ratio (%)"


class Summary:
    """Makes the tables of one recording."""

    def __init__(
        self, recording: Recording, sorted_by: SortedKeys, op_detail: bool, thread_sep: bool, unit: str
    ) -> None:
        self.recording = recording
        self.order = _ORDERS[sorted_by]
        self.op_detail = op_detail
        self.thread_sep = thread_sep
        self.unit = unit
        self.scale = _UNITS[unit]
        self.whole = max(1, recording.end - recording.begin)

    def text(self, views: Iterable[SummaryView]) -> str:
        """The wanted tables, those with something in them."""
        parts = [part for view in views for part in _TABLES.get(view, lambda _: [])(self) if part]
        return "\n\n".join(parts)

    # ---- tables --------------------------------------------------------------------------------

    def device(self) -> list[str]:
        recording = self.recording
        process, (busy, ticks) = recording.processor
        cores = os.cpu_count() or 1
        rows = [["CPU (process)", f"{100 * process / self.whole / cores:.2f}"]]
        if ticks:
            rows.append(["CPU (system)", f"{100 * busy / ticks:.2f}"])
        if recording.device_events:
            rows.append(["Accelerator", f"{100 * 1000 * _busy(recording.device_events) / self.whole:.2f}"])
        return [table("Device Summary", ["Device", "Utilisation (%)"], rows)]

    def overview(self) -> list[str]:
        rows = []
        for kind in TracerEventType:
            events = [event for event in self.recording.events if event.kind is kind]
            if events:
                time = _merged(events)
                rows.append([kind.name, str(len(events)), self.time(time), f"{100 * time / self.whole:.2f}"])
        note = "Times of one kind that overlap count once; kinds lie within each other, so that ratios add up to more."
        return [table(f"Overview Summary ({self.unit})", ["Event type", "Calls", "Host time", "Ratio (%)"], rows, note)]

    def model(self) -> list[str]:
        kinds = (TracerEventType.ProfileStep, TracerEventType.Forward, TracerEventType.Backward)
        rows = []
        for kind in (
            *kinds,
            TracerEventType.Optimization,
            TracerEventType.Compilation,
            TracerEventType.CompiledProgram,
        ):
            events = [e for e in self.recording.events if e.kind is kind]
            if kind is TracerEventType.Forward:  # a layer's time has that of the layers below it in it
                events = [e for e in events if "." not in e.name and "/" not in e.name]
            if events:
                rows.append([kind.name, str(len(events)), self.times([e.duration for e in events])])
        first = table(f"Model Summary ({self.unit})", ["Name", "Calls", f"Host {_TIMES}"], rows)
        return [first, self.layers()]

    def layers(self) -> str:
        recording = self.recording
        rows = []
        for path, events in self.grouped([e for e in recording.events if e.kind is TracerEventType.Forward]):
            rows.append([
                path, str(events[0].args.get("layer", "")), str(len(events)), self.times([e.duration for e in events]),
                str(recording.layer_operations[path]), self.time(recording.layer_nanoseconds[path]),
            ])  # fmt: skip
        head = ["Layer", "Class", "Calls", f"Host {_TIMES}", "Own operations", "Own op time"]
        note = (
            "Host time is that of the call, with the layers below it. Own op time is what the layer's own operations took "
            "where they ran one by one; inside compiled programs there is no such time (eager_mode('immediate') gives it)."
        )
        return table(f"Layer Summary ({self.unit})", head, rows, note)

    def operators(self) -> list[str]:
        recording = self.recording
        tables = []
        by_thread: dict[Any, list[Event]] = {}
        kinds = (TracerEventType.Operator, TracerEventType.CompiledProgram)
        for event in recording.events:
            if event.kind in kinds:
                by_thread.setdefault(event.thread if self.thread_sep else None, []).append(event)
        for thread, events in by_thread.items():
            rows = []
            for name, group in self.grouped(events):
                compiled = group[0].kind is TracerEventType.CompiledProgram
                flops = sum(e.args.get("flops", 0.0) for e in group)
                rows.append([
                    name, str(len(group)), self.times([e.duration for e in group]),
                    "-" if compiled else str(recording.compiled_operations[name]), f"{flops:.4g}" if flops else "-",
                ])  # fmt: skip
            shown = {row[0] for row in rows}
            if self.op_detail:
                rest = [(n, c) for n, c in recording.compiled_operations.most_common() if n not in shown]
                rows += [[name, "0", "-", str(count), "-"] for name, count in rest]
            title = f"Operator Summary ({self.unit})"
            if thread is not None:
                title += f", thread {recording.threads.get(thread, thread)}"
            tables.append(table(title, ["Name", "Calls", f"Host {_TIMES}", "Inside programs", "FLOPs"], rows))
        return tables

    def kernels(self) -> list[str]:
        groups: dict[str, list[int]] = {}
        for event in self.recording.device_events:
            if event["ph"] == "X":
                groups.setdefault(event["name"], []).append(int(1000 * event["dur"]))
        ordered = sorted(groups.items(), key=lambda item: -self.order(item[1]))
        rows = [[name[:80], str(len(times)), self.times(times)] for name, times in ordered]
        return [table(f"Kernel Summary ({self.unit})", ["Name", "Calls", f"Device {_TIMES}"], rows)] if rows else []

    def memory(self) -> list[str]:
        samples = self.recording.memory
        if not samples:
            return []
        rows = [
            [f"{(s.when - self.recording.begin) / 1e6:.3f}", f"{s.resident / 2**20:,.1f}", f"{s.device / 2**20:,.1f}"]
            for s in samples
        ]
        peak = f"Peaks: resident {max(s.resident for s in samples) / 2**20:,.1f} MiB, device "
        peak += f"{max(s.device for s in samples) / 2**20:,.1f} MiB."
        return [table("Memory Summary", ["After (ms)", "Resident (MiB)", "Device (MiB)"], rows, peak)]

    def user_defined(self) -> list[str]:
        kinds = (TracerEventType.PythonUserDefined, TracerEventType.UserDefined, TracerEventType.Dataloader)
        events = [e for e in self.recording.events if e.kind in kinds]
        rows = [
            [name, str(len(group)), self.times([e.duration for e in group])] for name, group in self.grouped(events)
        ]
        return [table(f"UserDefined Summary ({self.unit})", ["Name", "Calls", f"Host {_TIMES}"], rows)] if rows else []

    # ---- parts ---------------------------------------------------------------------------------

    def grouped(self, events: list[Event]) -> list[tuple[str, list[Event]]]:
        """Events by name, in the wanted order."""
        groups: dict[str, list[Event]] = {}
        for event in events:
            groups.setdefault(event.name, []).append(event)
        return sorted(groups.items(), key=lambda item: -self.order([e.duration for e in item[1]]))

    def time(self, nanoseconds: float) -> str:
        return f"{nanoseconds / self.scale:.2f}"

    def times(self, times: list[int]) -> str:
        total = sum(times)
        parts = [total, total / len(times), max(times), min(times)]
        return " / ".join([*(self.time(part) for part in parts), f"{100 * total / self.whole:.2f}"])


_TABLES: dict[SummaryView, Callable[[Summary], list[str]]] = {
    SummaryView.DeviceView: Summary.device,
    SummaryView.OverView: Summary.overview,
    SummaryView.ModelView: Summary.model,
    SummaryView.KernelView: Summary.kernels,
    SummaryView.OperatorView: Summary.operators,
    SummaryView.MemoryView: Summary.memory,
    SummaryView.UDFView: Summary.user_defined,
}


def _merged(events: list[Event]) -> int:
    """The time in which at least one of the events was going on."""
    total = reached = 0
    for event in sorted(events, key=lambda event: event.begin):
        total += max(0, event.end - max(event.begin, reached))
        reached = max(reached, event.end)
    return total


def _busy(events: list[dict[str, Any]]) -> float:
    """Microseconds in which at least one of the device's events was going on."""
    total = reached = 0.0
    for begin, end in sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X"):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    """A title, a head and rows in columns as wide as they need to be."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    line = "  ".join("-" * width for width in widths)
    body = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [head, *rows]
    ]
    text = [f" {title} ".center(len(line), "-"), body[0], line, *body[1:], line]
    return "\n".join([*text, note] if note else text)
