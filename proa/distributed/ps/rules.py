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

    def num_states(self, width: int) -> int:
        return 0

    def start(self, width: int) -> np.ndarray:
        return np.zeros(0, np.float32)

    def update(self, rows: np.ndarray, grads: np.ndarray, rate: float) -> None:
        rows[:, : grads.shape[1]] -= np.float32(rate) * grads


@dataclass(frozen=True)
class Adagrad:
    """Steps divided by the root of all squares so far."""

    epsilon: float = 1e-6
    initial: float = 0.0

    def num_states(self, width: int) -> int:
        return width

    def start(self, width: int) -> np.ndarray:
        return np.full(width, self.initial, np.float32)

    def update(self, rows: np.ndarray, grads: np.ndarray, rate: float) -> None:
        width = grads.shape[1]
        moments = rows[:, width : 2 * width]
        moments += grads * grads
        rows[:, :width] -= np.float32(rate) * grads / (np.sqrt(moments) + np.float32(self.epsilon))


@dataclass(frozen=True)
class Adam:
    """Paddle's Adam, with the powers of both betas in the row."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def num_states(self, width: int) -> int:
        return 2 * width + 2

    def start(self, width: int) -> np.ndarray:
        return np.concatenate([np.zeros(2 * width, np.float32), np.ones(2, np.float32)])

    def update(self, rows: np.ndarray, grads: np.ndarray, rate: float) -> None:
        width = grads.shape[1]
        one = np.float32(1)
        beta1, beta2 = np.float32(self.beta1), np.float32(self.beta2)
        first, second = rows[:, width : 2 * width], rows[:, 2 * width : 3 * width]
        powers = rows[:, 3 * width : 3 * width + 2]
        powers *= np.array([beta1, beta2])
        first += (one - beta1) * (grads - first)
        second += (one - beta2) * (grads * grads - second)
        root = np.sqrt(one - powers[:, 1:])
        step = np.float32(rate) * root / (one - powers[:, :1])
        rows[:, :width] -= step * first / (np.sqrt(second) + np.float32(self.epsilon) * root)


RULES: dict[str, Any] = {"sgd": Sgd, "adagrad": Adagrad, "adam": Adam}


def make_rule(name: str, **settings: float) -> Any:
    """The rule of a name: sgd, adagrad or adam."""
    if name not in RULES:
        raise value_error("SparseTable", f"the rule of a table is one of {sorted(RULES)}", repr(name))
    return RULES[name](**settings)
