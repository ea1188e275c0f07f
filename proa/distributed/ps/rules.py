"""How a feature's numbers follow its gradient: the optimiser of a table, row by row.

A row is the feature's weights and then the states of the rule. Every row has its own states: a feature that is seen once a
month is not slowed down by what others have gathered, and Adam's correction counts the feature's own steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import value_error


@dataclass(frozen=True)
class Sgd:
    """weights -= rate * gradient"""

    def start(self, width: int) -> np.ndarray:
        return np.zeros(0, np.float32)

    def update(self, rows: np.ndarray, grads: np.ndarray, rate: float) -> None:
        rows[:, : grads.shape[1]] -= np.float32(rate) * grads


@dataclass(frozen=True)
class Adagrad:
    """Steps divided by the root of all squares so far."""

    epsilon: float = 1e-6
    initial: float = 0.0

    def start(self, width: int) -> np.ndarray:
        return np.full(width, self.initial, np.float32)

    def update(self, rows: np.ndarray, grads: np.ndarray, rate: float) -> None:
        width = grads.shape[1]
        moments = rows[:, width : 2 * width]
        moments += grads * grads
        rows[:, :width] -= np.float32(rate) * grads / (np.sqrt(moments) + np.float32(self.epsilon))


@dataclass(frozen=True)
class Adam:
    """Paddle's Adam; a row counts its own steps."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def start(self, width: int) -> np.ndarray:
        return np.zeros(2 * width + 1, np.float32)

    def update(self, rows: np.ndarray, grads: np.ndarray, rate: float) -> None:
        width = grads.shape[1]
        first, second = rows[:, width : 2 * width], rows[:, 2 * width : 3 * width]
        steps = rows[:, 3 * width : 3 * width + 1]
        steps += 1
        first += np.float32(1 - self.beta1) * (grads - first)
        second += np.float32(1 - self.beta2) * (grads * grads - second)
        # In double precision: 1 - 0.999 has few digits in single.
        exponents = steps.astype(np.float64)
        root = np.sqrt(1 - self.beta2**exponents)
        step = (rate * root / (1 - self.beta1**exponents)).astype(np.float32)
        rows[:, :width] -= step * first / (np.sqrt(second) + (self.epsilon * root).astype(np.float32))


RULES: dict[str, Any] = {"sgd": Sgd, "adagrad": Adagrad, "adam": Adam}


def make_rule(name: str, **settings: float) -> Any:
    """The rule of a name: sgd, adagrad or adam."""
    if name not in RULES:
        raise value_error("SparseTable", f"the rule of a table is one of {sorted(RULES)}", repr(name))
    return RULES[name](**settings)
