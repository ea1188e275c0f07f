"""How long steps take: the text of `Profiler.step_info`."""

from __future__ import annotations

from time import perf_counter


class StepTimer:
    """Times steps, and counts samples where they are told."""

    def __init__(self) -> None:
        self._last: float | None = None
        self._forget()

    def _forget(self) -> None:
        self.steps = 0
        self.seconds = 0.0
        self.samples = 0

    def begin(self) -> None:
        self._last = perf_counter()
        self._forget()

    def step(self, num_samples: int | None) -> None:
        now = perf_counter()
        if self._last is not None:
            self.steps += 1
            self.seconds += now - self._last
            self.samples += num_samples or 0
        self._last = now

    def info(self, unit: str | None) -> str:
        """The mean of the steps since this was last asked; empty if there were none."""
        if not self.steps or self.seconds <= 0:
            return ""
        count, what = (self.samples, unit or "samples") if self.samples else (self.steps, "steps")
        text = f" batch_cost: {self.seconds / self.steps:.5f} s ips: {count / self.seconds:.3f} {what}/s"
        self._forget()
        return text
