"""The learning rate as a function of the step alone, so that a training that is continued needs no state for it."""

from __future__ import annotations

import math

from .settings import Schedule


def factor_at(schedule: Schedule, steps: int, step: int) -> float:
    """By what the learning rate is multiplied in step `step` (from 0 on) of `steps`."""
    if step < schedule.warmup:
        return (step + 1) / (schedule.warmup + 1)
    if schedule.kind == "constant":
        return 1.0
    begin = steps - schedule.decay if schedule.kind == "stable" else schedule.warmup
    done = min(max((step - begin) / max(steps - begin, 1), 0.0), 1.0)
    left = (1 + math.cos(math.pi * done)) / 2 if schedule.kind == "cosine" else 1 - done
    return schedule.floor + (1 - schedule.floor) * left
