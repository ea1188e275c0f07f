"""What a version of a model has done so far: the protocol's statistics, and the server's metrics."""

from __future__ import annotations

import time
from typing import Any

from ..core.locks import new_lock


class Duration:
    """How often something happened, and how long it took altogether."""

    __slots__ = ("count", "ns")

    def __init__(self) -> None:
        self.count = self.ns = 0

    def add(self, seconds: float, count: int = 1) -> None:
        self.count += count
        self.ns += int(seconds * 1e9)

    def shown(self) -> dict[str, int]:
        return {"count": self.count, "ns": self.ns}


class Statistics:
    """Counts of one version; several threads add to them."""

    KINDS = ("success", "fail", "queue", "compute_input", "compute_infer", "compute_output")

    def __init__(self) -> None:
        self._lock = new_lock()
        self._durations = {kind: Duration() for kind in self.KINDS}
        self._batches: dict[int, Duration] = {}
        self._inferences = self._executions = self._last = 0

    def answered(self, seconds: float, good: bool) -> None:
        """A request was answered, so long after it came."""
        with self._lock:
            self._durations["success" if good else "fail"].add(seconds)
            if good:
                self._last = time.time_ns() // 1_000_000

    def executed(self, rows: int, most: int, waited: list[float], before: float, running: float, after: float) -> None:
        """One execution: its rows, how long each request had waited, and the seconds of its three parts.

        Requests of more rows than the largest batch count as one of those.
        """
        count = len(waited)
        with self._lock:
            self._inferences += rows
            self._executions += 1
            self._durations["queue"].add(sum(waited), count)
            for kind, seconds in (("compute_input", before), ("compute_infer", running), ("compute_output", after)):
                self._durations[kind].add(seconds * count, count)
            self._batches.setdefault(min(rows, most), Duration()).add(running)

    def shown(self, name: str, version: str) -> dict[str, Any]:
        with self._lock:
            return {
                "name": name, "version": version, "last_inference": self._last, "inference_count": self._inferences,
                "execution_count": self._executions,
                "inference_stats": {kind: duration.shown() for kind, duration in self._durations.items()},
                "batch_stats": [
                    {"batch_size": rows, "compute_infer": duration.shown()}
                    for rows, duration in sorted(self._batches.items())
                ],
            }  # fmt: skip
