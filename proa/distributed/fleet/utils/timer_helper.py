"""Named timers of a training step."""

from __future__ import annotations

import time
from typing import Any


class _Timer:
    def __init__(self, name: str) -> None:
        self.name, self.elapsed_, self.started_, self._start = name, 0.0, False, 0.0

    def start(self) -> None:
        self.started_, self._start = True, time.perf_counter()

    def stop(self) -> None:
        self.elapsed_ += time.perf_counter() - self._start
        self.started_ = False

    def reset(self) -> None:
        self.elapsed_, self.started_ = 0.0, False

    def elapsed(self, reset: bool = True) -> float:
        running = self.started_
        if running:
            self.stop()
        total = self.elapsed_
        if reset:
            self.reset()
        if running:
            self.start()
        return total


class Timers:
    """Timers by name: `timers("forward").start()`."""

    def __init__(self) -> None:
        self.timers: dict[str, _Timer] = {}

    def __call__(self, name: str, use_event: bool = False) -> _Timer:
        return self.timers.setdefault(name, _Timer(name))

    def log(self, names: list[str], normalizer: float = 1.0, reset: bool = True) -> None:
        from .log_util import logger

        shown = [f"{name}: {self.timers[name].elapsed(reset) * 1000 / normalizer:.2f}" for name in names]
        logger.info("time (ms) | " + " | ".join(shown))

    def info(self, names: list[str], normalizer: float = 1.0, reset: bool = True) -> dict[str, float]:
        return {name: self.timers[name].elapsed(reset) * 1000 / normalizer for name in names}


_state: dict[str, Any] = {"timers": None}


def is_timer_initialized() -> bool:
    return _state["timers"] is not None


def set_timers() -> None:
    """Makes the timers that `get_timers` gives."""
    _state["timers"] = Timers()


def get_timers() -> Timers:
    if _state["timers"] is None:
        raise RuntimeError("(get_timers) call set_timers() first.")
    return _state["timers"]
