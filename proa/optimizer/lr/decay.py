"""Schedules that go down: by steps, powers, a cosine, or the user's own function; and LinearWarmup in front of one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import type_error
from .base import LRScheduler, need


class StepDecay(LRScheduler):
    """Times `gamma` every `step_size` epochs.

    Args:
        learning_rate: the rate at the start.
        step_size: how many epochs a rate holds.
        gamma: the factor, below 1.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.StepDecay(1.0, step_size=2, gamma=0.5)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(schedule())
        ...     schedule.step()
        >>> rates
        [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self,
        learning_rate: float,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need(
            isinstance(step_size, int),
            "StepDecay",
            "step_size must be an int",
            step_size,
            type_error,
        )
        need(step_size > 0, "StepDecay", "step_size must be positive", step_size)
        need(gamma < 1.0, "StepDecay", "gamma should be below 1", gamma)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present epoch.

        Examples:
            >>> paddle.optimizer.lr.StepDecay(1.0, step_size=2, gamma=0.5, last_epoch=3).get_lr()
            0.25
        """
        return self.base_lr * self.gamma ** (self.last_epoch // self.step_size)


class MultiStepDecay(LRScheduler):
    """Times `gamma` at each of the given epochs.

    Args:
        learning_rate: the rate at the start.
        milestones: the epochs, rising.
        gamma: the factor, below 1.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.MultiStepDecay(1.0, milestones=[1, 3], gamma=0.5)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(schedule())
        ...     schedule.step()
        >>> rates
        [1.0, 0.5, 0.5, 0.25, 0.25]
    """

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        where = "MultiStepDecay"
        need(
            isinstance(milestones, (list, tuple)),
            where,
            "milestones must be a list",
            milestones,
            type_error,
        )
        rising = all(a < b for a, b in itertools.pairwise(milestones))
        need(rising, where, "milestones must increase", milestones)
        need(gamma < 1.0, where, "gamma should be below 1", gamma)
        self.milestones, self.gamma = milestones, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present epoch.

        Examples:
            >>> paddle.optimizer.lr.MultiStepDecay(1.0, [1, 3], gamma=0.5, last_epoch=0).get_lr()
            0.5
        """
        passed = sum(self.last_epoch >= milestone for milestone in self.milestones)
        return self.base_lr * self.gamma**passed


class ExponentialDecay(LRScheduler):
    """Times `gamma` every epoch.

    Args:
        learning_rate: the rate at the start.
        gamma: the factor, between 0 and 1.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.ExponentialDecay(1.0, gamma=0.5)
        >>> schedule.step()
        >>> schedule.step()
        >>> schedule()
        0.25
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        need(0.0 < gamma < 1.0, "ExponentialDecay", "gamma must be between 0 and 1", gamma)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present epoch.

        Examples:
            >>> paddle.optimizer.lr.ExponentialDecay(1.0, gamma=0.5, last_epoch=2).get_lr()
            0.125
        """
        return self.base_lr * self.gamma**self.last_epoch


class NaturalExpDecay(LRScheduler):
    """Times exp(-gamma) every epoch.

    Args:
        learning_rate: the rate at the start.
        gamma: the exponent, positive.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.NaturalExpDecay(1.0, gamma=0.5)
        >>> schedule.step()
        >>> round(schedule(), 4)
        0.6065
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        need(gamma > 0.0, "NaturalExpDecay", "gamma must be positive", gamma)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present epoch.

        Examples:
            >>> round(paddle.optimizer.lr.NaturalExpDecay(1.0, gamma=0.5, last_epoch=1).get_lr(), 4)
            0.3679
        """
        return self.base_lr * math.exp(-self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """Divided by `1 + gamma * epoch`.

    Args:
        learning_rate: the rate at the start.
        gamma: how fast it falls.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.InverseTimeDecay(1.0, gamma=1.0)
        >>> schedule.step()
        >>> schedule()
        0.5
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present epoch.

        Examples:
            >>> paddle.optimizer.lr.InverseTimeDecay(1.0, gamma=1.0, last_epoch=2).get_lr()
            0.25
        """
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """Down to `end_lr` in `decay_steps` along a power.

    Args:
        learning_rate: the rate at the start.
        decay_steps: how many steps it takes.
        end_lr: the rate at the end.
        power: the power; 1 is a straight line.
        cycle: starts over behind the end, each time longer.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.PolynomialDecay(1.0, decay_steps=4, end_lr=0.0)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(schedule())
        ...     schedule.step()
        >>> rates
        [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        where = "PolynomialDecay"
        need(isinstance(decay_steps, int), where, "decay_steps must be an int", decay_steps)
        need(decay_steps > 0, where, "decay_steps must be positive", decay_steps)
        need(power > 0.0, where, "power must be positive", power)
        self.decay_steps, self.end_lr, self.power, self.cycle = decay_steps, end_lr, power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present epoch.

        Examples:
            >>> paddle.optimizer.lr.PolynomialDecay(1.0, decay_steps=4, end_lr=0.0, power=2.0, last_epoch=1).get_lr()
            0.25
        """
        steps, epoch = self.decay_steps, self.last_epoch
        if self.cycle:
            steps *= max(math.ceil(epoch / steps), 1)
        share = 1 - min(epoch, steps) / steps
        return (self.base_lr - self.end_lr) * share**self.power + self.end_lr


class PiecewiseDecay(LRScheduler):
    """`values[i]` up to `boundaries[i]`, the last value after that.

    Args:
        boundaries: the epochs at which the rate changes, rising.
        values: the rates, one more than boundaries.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.PiecewiseDecay(boundaries=[2, 3], values=[1.0, 0.5, 0.1])
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(schedule())
        ...     schedule.step()
        >>> rates
        [1.0, 1.0, 0.5, 0.1, 0.1]
    """

    def __init__(
        self,
        boundaries: Sequence[int],
        values: Sequence[float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        where = "PiecewiseDecay"
        need(len(boundaries) > 0, where, "boundaries cannot be empty", boundaries)
        fits = len(values) == len(boundaries) + 1
        need(fits, where, "one more value than boundaries is needed", (boundaries, values))
        self.boundaries, self.values = boundaries, values
        super().__init__(values[0], last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present epoch.

        Examples:
            >>> paddle.optimizer.lr.PiecewiseDecay([2], [1.0, 0.5], last_epoch=1).get_lr()
            0.5
        """
        for boundary, value in zip(self.boundaries, self.values, strict=False):
            if self.last_epoch < boundary:
                return value
        return self.values[-1]


class CosineAnnealingDecay(LRScheduler):
    """From the learning rate to `eta_min` in `T_max` epochs along a cosine, and back again.

    Args:
        learning_rate: the rate at the start.
        T_max: the epochs of the way down.
        eta_min: the rate at the bottom.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.CosineAnnealingDecay(1.0, T_max=4)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(schedule(), 4))
        ...     schedule.step()
        >>> rates
        [1.0, 0.8536, 0.5, 0.1464, 0.0]
    """

    def __init__(
        self,
        learning_rate: float,
        T_max: int,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        where = "CosineAnnealingDecay"
        need(isinstance(T_max, int), where, "T_max must be an int", T_max, type_error)
        need(T_max > 0, where, "T_max must be positive", T_max)
        need(isinstance(eta_min, (int, float)), where, "eta_min must be a number", eta_min, type_error)
        self.T_max, self.eta_min = T_max, float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present epoch.

        Examples:
            >>> round(paddle.optimizer.lr.CosineAnnealingDecay(1.0, T_max=2, last_epoch=0).get_lr(), 4)
            0.5
        """
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return self.eta_min + (self.base_lr - self.eta_min) * share


class NoamDecay(LRScheduler):
    """The Transformer's schedule: up for `warmup_steps`, then down with the root of the step.

    Args:
        d_model: the size of the model's features; the rate is divided by its root.
        warmup_steps: the steps of the way up.
        learning_rate: the factor of everything.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.NoamDecay(d_model=4, warmup_steps=4)
        >>> rates = []
        >>> for _ in range(7):
        ...     rates.append(round(schedule(), 4))
        ...     schedule.step()
        >>> rates
        [0.0, 0.0625, 0.125, 0.1875, 0.25, 0.2236, 0.2041]
    """

    def __init__(
        self,
        d_model: int,
        warmup_steps: int,
        learning_rate: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need(d_model > 0, "NoamDecay", "d_model must be positive", d_model)
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present step.

        Examples:
            >>> paddle.optimizer.lr.NoamDecay(d_model=4, warmup_steps=4, last_epoch=3).get_lr()
            0.25
        """
        falling = 1.0 if self.last_epoch == 0 else self.last_epoch**-0.5
        rising = self.warmup_steps**-1.5 * self.last_epoch
        return self.base_lr * self.d_model**-0.5 * min(falling, rising)


class LinearWarmup(LRScheduler):
    """From `start_lr` to `end_lr` in `warmup_steps`, then a fixed rate or another schedule.

    Args:
        learning_rate: the rate afterwards: a number, or a schedule that starts then.
        warmup_steps: the steps of the way up.
        start_lr: the rate at the start.
        end_lr: the rate at the end of the way up.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.LinearWarmup(0.5, warmup_steps=4, start_lr=0.0, end_lr=1.0)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(schedule())
        ...     schedule.step()
        >>> rates
        [0.0, 0.25, 0.5, 0.75, 0.5, 0.5]
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        where = "LinearWarmup"
        need(
            isinstance(warmup_steps, int),
            where,
            "warmup_steps must be an int",
            warmup_steps,
            type_error,
        )
        need(warmup_steps > 0, where, "warmup_steps must be positive", warmup_steps)
        need(end_lr > start_lr, where, f"end_lr must be above start_lr {start_lr}", end_lr)
        known = isinstance(learning_rate, (float, int, LRScheduler))
        need(known, where, "learning_rate must be a number or a schedule", learning_rate, type_error)
        self.learning_rate = learning_rate
        self.warmup_steps, self.start_lr, self.end_lr = warmup_steps, start_lr, end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present step.

        Examples:
            >>> paddle.optimizer.lr.LinearWarmup(0.5, 4, start_lr=0.0, end_lr=1.0, last_epoch=1).get_lr()
            0.5
        """
        if self.last_epoch < self.warmup_steps:
            share = float(self.last_epoch) / self.warmup_steps
            return (self.end_lr - self.start_lr) * share + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return self.learning_rate

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule is, and where the one behind it is.

        Examples:
            >>> after = paddle.optimizer.lr.ExponentialDecay(1.0, gamma=0.5)
            >>> sorted(paddle.optimizer.lr.LinearWarmup(after, 4, 0.0, 1.0).state_dict())
            ['LinearWarmup_LR', 'last_epoch', 'last_lr']
        """
        found = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            found["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return found

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from where a saved schedule was.

        Args:
            state_dict: what `state_dict` gave.

        Examples:
            >>> schedule = paddle.optimizer.lr.LinearWarmup(0.5, 4, start_lr=0.0, end_lr=1.0)
            >>> schedule.set_state_dict({"last_epoch": 3, "last_lr": 0.75})
            >>> schedule()
            0.75
        """
        super().set_state_dict(state_dict)
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.set_state_dict(state_dict["LinearWarmup_LR"])

    set_dict = set_state_dict


class LambdaDecay(LRScheduler):
    """Times a function of the epoch.

    Args:
        learning_rate: the rate at the start.
        lr_lambda: the function.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.LambdaDecay(1.0, lambda epoch: 0.5 ** epoch)
        >>> schedule.step()
        >>> schedule()
        0.5
    """

    def __init__(
        self,
        learning_rate: float,
        lr_lambda: Callable[[int], float],
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        need(callable(lr_lambda), "LambdaDecay", "lr_lambda must be callable", lr_lambda, type_error)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present epoch.

        Examples:
            >>> paddle.optimizer.lr.LambdaDecay(2.0, lambda epoch: 1 / (epoch + 1), last_epoch=0).get_lr()
            1.0
        """
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LambdaDecay):
    """Times `lr_lambda(1) * … * lr_lambda(epoch)`: each epoch multiplies the rate of the one before.

    Args:
        learning_rate: the rate at the start.
        lr_lambda: the function that gives an epoch's factor.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.MultiplicativeDecay(1.0, lambda epoch: 0.5)
        >>> schedule.step()
        >>> schedule.step()
        >>> schedule()
        0.25
    """

    def get_lr(self) -> float:
        """The rate of the present epoch.

        Examples:
            >>> paddle.optimizer.lr.MultiplicativeDecay(1.0, lambda epoch: 0.5, last_epoch=2).get_lr()
            0.125
        """
        return self.base_lr * math.prod(self.lr_lambda(epoch) for epoch in range(1, self.last_epoch + 1))
