"""A long training run whose batch size keeps changing: does memory, or the program count, creep?"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from benchmarks.workloads.common import SEED
from benchmarks.workloads.models.mlp import LEARNING_RATE, SIZES, paddle_mlp

BATCH_SIZES = (8, 12, 16, 24, 32, 40, 48, 64)
READ_EVERY = 10


def resident_bytes() -> int:
    """This process's resident memory now (not its peak)."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def count_programs(paddle: Any) -> int | None:
    """How many programs proa has compiled; None for a framework that does not compile itself."""
    explain = getattr(paddle.jit, "explain", None)
    return None if explain is None else int(explain().num_programs)


class PaddleChangingBatches:
    """`num_steps` steps of the perceptron; each draws one of eight batch sizes at random."""

    def __init__(self, paddle: Any, num_steps: int = 100) -> None:
        self.paddle = paddle
        self.generator = np.random.default_rng(SEED)
        self.model = paddle_mlp(paddle)
        self.optimizer = paddle.optimizer.Adam(learning_rate=LEARNING_RATE, parameters=self.model.parameters())
        self.num_steps = num_steps

    def run(self) -> float:
        paddle, generator = self.paddle, self.generator
        value = 0.0
        for step in range(self.num_steps):
            # New arrays at every step, as from a data loader: a framework that keeps one by
            # mistake is caught.
            batch = int(generator.choice(BATCH_SIZES))
            x = paddle.to_tensor(generator.standard_normal((batch, SIZES[0]), dtype=np.float32))
            y = paddle.to_tensor(generator.integers(0, SIZES[-1], batch))
            loss = paddle.nn.functional.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
            if step % READ_EVERY == READ_EVERY - 1:
                value = loss.item()
        return value

    def samples(self) -> dict[str, Any]:
        return {"resident_bytes": resident_bytes(), "num_programs": count_programs(self.paddle)}


FAMILIES = {"paddle": PaddleChangingBatches}
