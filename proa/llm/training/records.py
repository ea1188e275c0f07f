"""What a training tells: a line in the terminal, `metrics.jsonl`, and curves for TensorBoard.

Losses are tensors until somebody needs the numbers, every `log_every` steps: in between nobody waits for the device.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from ...core.errors import message
from ...framework.writing import replacing
from ...hapi.progress import ProgressBar, can_rewrite


class Records:
    """Takes what happened at each step; `folder` None keeps it in memory only."""

    def __init__(self, folder: str | None, total: int, tensorboard: bool = False, stream: Any = None) -> None:
        self.history: list[dict[str, float]] = []
        self._file: Any = None
        self._path = None if folder is None else os.path.join(folder, "metrics.jsonl")
        self._writer = _summary_writer(folder) if tensorboard and folder is not None else None
        stream = sys.stdout if stream is None else stream
        # Whoever pipes the output reads metrics.jsonl; a bar is for eyes.
        self._bar = ProgressBar(total, stream=stream) if can_rewrite(stream) else None
        self._waiting: list[tuple[int, Any, float, int]] = []
        self._since = time.perf_counter()
        self._shown: dict[str, float] = {}

    def resume(self, step: int) -> None:
        """Drops what was written by steps that are done again: those behind `step`."""
        self._since = time.perf_counter()
        if self._path is None:
            return
        if os.path.exists(self._path):
            with open(self._path, encoding="utf-8") as file:
                lines = [line for line in file if (found := _parsed(line)) is not None and found.get("step", 0) <= step]
            with replacing(os.path.realpath(self._path)) as file:
                file.write("".join(lines).encode())
            self.history = [found for line in lines if (found := _parsed(line)) is not None]
        self._file = open(self._path, "a", encoding="utf-8")  # noqa: SIM115 (open as long as the training)

    def step(self, step: int, loss: Any, rate: float, num_tokens: int) -> None:
        self._waiting.append((step, loss, rate, num_tokens))

    def flush(self) -> None:
        """Reads the losses that are waiting, and tells."""
        if not self._waiting:
            return
        values = [float(loss.numpy()) for _, loss, _, _ in self._waiting]
        now = time.perf_counter()
        pace = sum(entry[3] for entry in self._waiting) / max(now - self._since, 1e-9)
        self._since = now
        for (step, _, rate, _), value in zip(self._waiting, values, strict=True):
            self.write({"step": step, "loss": value, "learning_rate": rate})
        last = self._waiting[-1][0]
        self._waiting = []
        self._curve("tokens_per_second", pace, last)
        self._shown |= {"loss": values[-1], "tokens/s": round(pace), "rate": rate}
        if self._bar is not None:
            self._bar.show(last, self._shown)

    def evaluated(self, step: int, loss: float) -> None:
        self.flush()
        self.write({"step": step, "evaluation_loss": loss})
        self._shown["evaluation"] = loss
        self._since = time.perf_counter()

    def write(self, entry: dict[str, float]) -> None:
        self.history.append(entry)
        if self._file is not None:
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()
        for name, value in entry.items():
            if name != "step":
                self._curve(name, value, int(entry["step"]))

    def _curve(self, name: str, value: float, step: int) -> None:
        if self._writer is not None:
            self._writer.add_scalar(f"train/{name}", value, step)

    def close(self) -> None:
        self.flush()
        if self._bar is not None:
            self._bar.close()
        for writer in (self._writer, self._file):
            if writer is not None:
                writer.close()
        self._writer = self._file = None


def _parsed(line: str) -> dict[str, float] | None:
    """A line of metrics; None for one that a killed process did not finish."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _summary_writer(folder: str) -> Any:
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        raise ImportError(
            message(
                "proa train", "curves for TensorBoard need a package", "tensorboard: true", "pip install tensorboardX"
            )
        ) from None
    return SummaryWriter(os.path.join(folder, "tensorboard"))
