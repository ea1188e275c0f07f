"""The line that tells how far a loop is, and how it is written to terminals, notebooks and files."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any

import numpy as np

_BAR = 30  # cells of the bar


def format_value(value: Any) -> str:
    """A logged value: numbers with four digits behind the point, tiny ones in scientific notation."""
    if isinstance(value, list):
        return " ".join(format_value(entry) for entry in value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (float, np.floating)):
        return f"{value:.4f}" if not abs(value) <= 1e-3 else f"{value:.4e}"
    return str(value)


def format_duration(seconds: float) -> str:
    """Seconds, minutes and hours: `29s`, `3:58`, `1:02:05`."""
    whole = int(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
    return f"{whole // 60}:{whole % 60:02d}" if whole >= 60 else f"{whole}s"


def format_step_time(seconds: float) -> str:
    """The time of one step: `2s/step`, `12ms/step`, `340us/step`."""
    if seconds >= 1:
        return f"{seconds:.0f}s/step"
    return f"{seconds * 1e3:.0f}ms/step" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us/step"


class ProgressBar:
    """One line about a loop of `total` steps (None: unknown).

    `style` is "bar" (one line, rewritten) or "lines" (a line each time). A bar is drawn only where a line can be
    rewritten, in a terminal or a notebook; in a file or a pipe it is lines too, without control characters.
    """

    def __init__(self, total: int | None, style: str = "bar", stream: Any = None) -> None:
        self._total = total
        self._stream = sys.stdout if stream is None else stream
        self._rewrites = style == "bar" and can_rewrite(self._stream)
        self._start = time.perf_counter()
        self._drawn = 0  # width of the line that stands there
        self._open = False  # whether that line still waits for its end
        self._last = 0

    @property
    def last_step(self) -> int:
        """The step that was last told about."""
        return self._last

    def show(self, step: int, values: dict[str, Any], finished: bool = False) -> None:
        """Tells that `step` steps are done, with the values to be named."""
        self._last = step
        elapsed = time.perf_counter() - self._start
        pace = elapsed / max(step, 1)
        parts = [self._position(step)]
        parts += [f"{name}: {format_value(value)}" for name, value in values.items()]
        if self._rewrites and self._total and not finished:
            parts.append(f"ETA: {format_duration(pace * max(self._total - step, 0))}")
        parts.append(format_step_time(pace))
        self._write(" - ".join(parts), finished)

    def close(self) -> None:
        """Ends a line that was left open."""
        if self._open:
            self._stream.write("\n")
            self._stream.flush()
            self._open = False

    def _position(self, step: int) -> str:
        if not self._total:
            return f"step {step:3d}"
        place = f"step {step:{len(str(self._total))}d}/{self._total}"
        if not self._rewrites:
            return place
        filled = int(_BAR * min(step, self._total) / self._total)
        head = "=" * _BAR if step >= self._total else ("=" * (filled - 1) + ">") if filled else ""
        return f"{place} [{head.ljust(_BAR, '.')}]"

    def _write(self, line: str, finished: bool) -> None:
        if not self._rewrites:
            self._stream.write(line + "\n")
        else:
            # A line that wraps cannot be rewritten: the terminal's last column stays free.
            line = line[: max(shutil.get_terminal_size((160, 24)).columns - 1, 20)]
            self._stream.write("\r" + line.ljust(self._drawn) + ("\n" if finished else ""))
            self._drawn, self._open = (0, False) if finished else (len(line), True)
        self._stream.flush()


def can_rewrite(stream: Any) -> bool:
    """Whether a line written to the stream can be replaced: in terminals that understand it, and in notebooks."""
    import os

    if type(stream).__module__.startswith(("ipykernel", "google.colab")):
        return True
    isatty = getattr(stream, "isatty", None)
    return bool(isatty and isatty()) and os.environ.get("TERM") != "dumb"
