"""ReduceOnPlateau: a schedule that watches a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import failed_check, type_error
from ...eager.annotations import Number
from ...eager.tensor import Tensor
from .base import LRScheduler, need


class ReduceOnPlateau(LRScheduler):
    """Times `factor` when a number has not become better for more than `patience` steps.

    Args:
        learning_rate: the rate at the start.
        mode: 'min' where less is better, 'max' where more is.
        factor: the factor, below 1.
        patience: how many steps without improvement are let pass.
        threshold: by how much a number must be better.
        threshold_mode: 'rel' takes the threshold as a share of the best number, 'abs' as it is.
        cooldown: the steps after a reduction in which nothing is watched.
        min_lr: the lowest rate.
        epsilon: smaller changes of the rate are left out.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.ReduceOnPlateau(1.0, factor=0.5, patience=1)
        >>> rates = []
        >>> for loss in [3.0, 2.0, 2.0, 2.0, 2.0]:
        ...     schedule.step(loss)
        ...     rates.append(schedule())
        >>> rates
        [1.0, 1.0, 1.0, 0.5, 0.5]
    """

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        where = "ReduceOnPlateau"
        mode, threshold_mode = mode.lower(), threshold_mode.lower()
        need(mode in ("min", "max"), where, "mode must be 'min' or 'max'", mode)
        need(factor < 1, where, "factor must be below 1", factor)
        need(threshold_mode in ("rel", "abs"), where, "threshold_mode must be 'rel' or 'abs'", threshold_mode)
        known = isinstance(learning_rate, (float, int)) and not isinstance(learning_rate, bool)
        need(known, where, "the learning rate must be a number", learning_rate, type_error)
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr, self.epsilon, self.verbose = cooldown, min_lr, epsilon, verbose
        # The base class is not asked: its first step needs no metrics.
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch, self.best = 0, None
        self.cooldown_counter = self.num_bad_epochs = 0

    def state_keys(self) -> None:
        """Names the attributes that `state_dict` saves, as `self.keys`.

        Examples:
            >>> schedule = paddle.optimizer.lr.ReduceOnPlateau(1.0)
            >>> schedule.state_keys()
            >>> schedule.keys
            ['cooldown_counter', 'best', 'num_bad_epochs', 'last_epoch', 'last_lr']
        """
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(self, metrics: Number | np.ndarray, epoch: int | None = None) -> None:  # type: ignore[override]
        """Goes on by one (or to an epoch) and looks at the number.

        Args:
            metrics: a number, or a tensor with one.
            epoch: the epoch; the next one if left out.

        Raises:
            ValueError: the tensor has several numbers.
            TypeError: it is no number.

        Examples:
            >>> schedule = paddle.optimizer.lr.ReduceOnPlateau(1.0, patience=0, factor=0.1)
            >>> schedule.step(2.0)
            >>> schedule.step(paddle.to_tensor(3.0))
            >>> schedule()
            0.1
        """
        now = _single(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(now, self.best):
            self.best, self.num_bad_epochs = now, 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            rate = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - rate > self.epsilon:
                self.last_lr = rate
                if self.verbose:
                    print(f"Epoch {self.last_epoch}: ReduceOnPlateau set learning rate to {self.last_lr}.")

    def _is_better(self, now: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return now < best - margin if self.mode == "min" else now > best + margin


def _single(metrics: Any) -> float:
    where = "ReduceOnPlateau"
    if isinstance(metrics, (Tensor, np.ndarray)):
        values = np.asarray(metrics.numpy() if isinstance(metrics, Tensor) else metrics).ravel()
        if values.size != 1:
            raise failed_check(where, "metrics must hold one number", f"{values.size}", "take the mean first")
        return float(values[0])
    if isinstance(metrics, (int, float, np.number)):
        return float(metrics)
    raise type_error(where, "metrics must be a number or a tensor with one", type(metrics).__name__)
