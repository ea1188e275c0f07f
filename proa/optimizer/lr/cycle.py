"""Schedules that go up and down: OneCycleLR, CyclicLR, CosineAnnealingWarmRestarts; and LinearLR."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core.errors import type_error, value_error
from .base import LRScheduler, need


def _need_number(where: str, name: str, value: Any) -> None:
    known = isinstance(value, (float, int)) and not isinstance(value, bool)
    need(known, where, f"{name} must be a float or an int", value, type_error)


def _need_whole(where: str, name: str, value: Any) -> None:
    need(isinstance(value, int) and not isinstance(value, bool), where, f"{name} must be an int", value, type_error)
    need(value > 0, where, f"{name} must be positive", value)


class OneCycleLR(LRScheduler):
    """Up from `max_learning_rate / divide_factor` to the maximum, then down to `end_learning_rate`, in `total_steps`.

    Args:
        max_learning_rate: the highest rate.
        total_steps: the steps of the whole.
        divide_factor: by how much the first rate is lower.
        end_learning_rate: the last rate.
        phase_pct: the share of the way up.
        anneal_strategy: 'cos' or 'linear'.
        three_phase: the way down first mirrors the way up.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.OneCycleLR(
        ...     1.0, total_steps=6, divide_factor=4.0, end_learning_rate=0.0, phase_pct=0.5, anneal_strategy="linear"
        ... )
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(schedule(), 4))
        ...     schedule.step()
        >>> rates
        [0.25, 0.625, 1.0, 0.6667, 0.3333, 0.0]
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        where = "OneCycleLR"
        _need_number(where, "max_learning_rate", max_learning_rate)
        need(max_learning_rate >= 0, where, "max_learning_rate cannot be negative", max_learning_rate)
        _need_number(where, "end_learning_rate", end_learning_rate)
        need(end_learning_rate >= 0, where, "end_learning_rate cannot be negative", end_learning_rate)
        _need_whole(where, "total_steps", total_steps)
        need(isinstance(phase_pct, float), where, "phase_pct must be a float", phase_pct, type_error)
        need(0 <= phase_pct <= 1, where, "phase_pct must be from 0 to 1", phase_pct)
        _need_number(where, "divide_factor", divide_factor)
        need(divide_factor != 0, where, "divide_factor cannot be 0", divide_factor)
        need(anneal_strategy in ("cos", "linear"), where, "anneal_strategy must be 'cos' or 'linear'", anneal_strategy)
        if three_phase:
            need(phase_pct < 0.5, where, "phase_pct must be below 0.5 with three_phase", phase_pct)
        first = max_learning_rate / float(divide_factor)
        top = phase_pct * total_steps - 1
        # (step at which a phase ends, learning rate there), the beginning included
        self._corners = [(0.0, first), (top, float(max_learning_rate))]
        if three_phase:
            self._corners.append((2 * phase_pct * total_steps - 2, first))
        self._corners.append((total_steps - 1.0, float(end_learning_rate)))
        self.total_steps, self._cosine = total_steps, anneal_strategy == "cos"
        super().__init__(first, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present step.

        Raises:
            ValueError: the schedule has fewer steps.

        Examples:
            >>> paddle.optimizer.lr.OneCycleLR(1.0, total_steps=6, divide_factor=4.0).get_lr()
            0.25
        """
        step = self.last_epoch
        if step > self.total_steps:
            raise value_error("OneCycleLR", f"the schedule has {self.total_steps} steps", f"step {step}")
        corners = self._corners
        phase = next((i for i in range(1, len(corners) - 1) if step <= corners[i][0]), len(corners) - 1)
        (start, from_rate), (end, to_rate) = corners[phase - 1 : phase + 1]
        share = (step - start) / (end - start) if end != start else 1.0
        if self._cosine:
            share = (1 - math.cos(math.pi * share)) / 2
        return from_rate + (to_rate - from_rate) * share


class CyclicLR(LRScheduler):
    """Up to `max_learning_rate` in `step_size_up` steps, down in `step_size_down`, again and again.

    Args:
        base_learning_rate: the lowest rate.
        max_learning_rate: the highest rate.
        step_size_up: the steps of the way up.
        step_size_down: those of the way down; as many if left out.
        mode: 'triangular' keeps the height of the cycles, 'triangular2' halves it each time, 'exp_range' shrinks it with
            every step.
        exp_gamma: the factor of 'exp_range'.
        scale_fn: the height as a function of the cycle's number, in the place of `mode`.
        scale_mode: 'iterations' gives that function the step's number instead.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.CyclicLR(0.0, 1.0, step_size_up=2, mode="triangular2")
        >>> rates = []
        >>> for _ in range(8):
        ...     rates.append(schedule())
        ...     schedule.step()
        >>> rates
        [0.0, 0.5, 1.0, 0.5, 0.0, 0.25, 0.5, 0.25]
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        where = "CyclicLR"
        _need_number(where, "base_learning_rate", base_learning_rate)
        _need_number(where, "max_learning_rate", max_learning_rate)
        need(max_learning_rate >= 0, where, "max_learning_rate cannot be negative", max_learning_rate)
        _need_whole(where, "step_size_up", step_size_up)
        down = step_size_up if step_size_down is None else step_size_down
        _need_whole(where, "step_size_down", down)
        known = mode in ("triangular", "triangular2", "exp_range") or scale_fn is not None
        need(known, where, "mode must be 'triangular', 'triangular2' or 'exp_range'", mode)
        need(
            scale_fn is None or callable(scale_fn),
            where,
            "scale_fn must be a function of a number",
            scale_fn,
            type_error,
        )
        need(scale_mode in ("cycle", "iterations"), where, "scale_mode must be 'cycle' or 'iterations'", scale_mode)
        need(isinstance(exp_gamma, float), where, "exp_gamma must be a float", exp_gamma, type_error)
        self.cycle_size = step_size_up + down
        self.step_up_pct = step_size_up / self.cycle_size
        self.max_lr, self.amplitude = float(max_learning_rate), max_learning_rate - base_learning_rate
        self.mode, self.gamma, self.scale_fn = mode, exp_gamma, scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        super().__init__(base_learning_rate, last_epoch, verbose)

    def _height(self, cycle: int) -> float:
        place = cycle if self.scale_mode == "cycle" else self.last_epoch
        if self.scale_fn is not None:
            return self.scale_fn(place)
        if self.mode == "triangular2":
            return 0.5 ** (place - 1)
        return self.gamma**place if self.mode == "exp_range" else 1.0

    def get_lr(self) -> float:
        """The rate of the present step.

        Examples:
            >>> paddle.optimizer.lr.CyclicLR(0.0, 1.0, step_size_up=4, last_epoch=0).get_lr()
            0.25
        """
        cycle = 1 + self.last_epoch // self.cycle_size
        share = 1 + self.last_epoch / self.cycle_size - cycle
        rising = share <= self.step_up_pct
        scale = share / self.step_up_pct if rising else (1 - share) / (1 - self.step_up_pct)
        return self.base_lr + self.amplitude * scale * self._height(cycle)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down to `eta_min` along a cosine in `T_0` epochs, then again from the top, each time `T_mult` times as long.

    Args:
        learning_rate: the rate at the top.
        T_0: the epochs of the first way down.
        T_mult: by how much each further one is longer.
        eta_min: the rate at the bottom.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.CosineAnnealingWarmRestarts(1.0, T_0=2, T_mult=2)
        >>> rates = []
        >>> for _ in range(7):
        ...     rates.append(round(schedule(), 4))
        ...     schedule.step()
        >>> rates
        [1.0, 0.5, 1.0, 0.8536, 0.5, 0.1464, 1.0]
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        where = "CosineAnnealingWarmRestarts"
        need(isinstance(T_0, int) and T_0 > 0, where, "T_0 must be a positive int", T_0)
        need(isinstance(T_mult, int) and T_mult >= 1, where, "T_mult must be an int of at least 1", T_mult)
        _need_number(where, "eta_min", eta_min)
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        self.T_i, self.T_cur = T_0, last_epoch
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present epoch.

        Examples:
            >>> paddle.optimizer.lr.CosineAnnealingWarmRestarts(1.0, T_0=2).get_lr()
            1.0
        """
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return self.eta_min + (self.base_lr - self.eta_min) * share

    def step(self, epoch: float | None = None) -> None:
        """Goes on by one, or to an epoch, which may be a fraction.

        Args:
            epoch: the epoch; the next one if left out.

        Examples:
            >>> schedule = paddle.optimizer.lr.CosineAnnealingWarmRestarts(1.0, T_0=2)
            >>> schedule.step(0.5)
            >>> round(schedule(), 4)
            0.8536
        """
        where = type(self).__name__
        if epoch is None:
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
            self.last_epoch += 1
        else:
            need(epoch >= 0, where, "the epoch cannot be negative", epoch)
            self._go_to(epoch)
            self.last_epoch = math.floor(epoch)
        self.last_lr = float(self.get_lr())
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {where} set learning rate to {self.last_lr}.")

    def _go_to(self, epoch: float) -> None:
        """Finds the period an epoch lies in."""
        start, self.T_i = 0, self.T_0
        if self.T_mult == 1:
            start = epoch // self.T_0 * self.T_0
        else:
            while epoch >= start + self.T_i:
                start += self.T_i
                self.T_i *= self.T_mult
        self.T_cur = epoch - start

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from where a saved schedule was, in its period.

        Args:
            state_dict: what `state_dict` gave.

        Examples:
            >>> schedule = paddle.optimizer.lr.CosineAnnealingWarmRestarts(1.0, T_0=2)
            >>> schedule.set_state_dict({"last_epoch": 3, "last_lr": 0.5})
            >>> schedule.step()
            >>> schedule()
            1.0
        """
        super().set_state_dict(state_dict)
        # Paddle's state says nothing about the period, and goes on in the wrong place; whole epochs tell it.
        self._go_to(max(self.last_epoch, 0))

    set_dict = set_state_dict


class LinearLR(LRScheduler):
    """The factor of the learning rate goes from `start_factor` to `end_factor` in `total_steps`.

    Each rate is computed from the one before, so `step(epoch)` is meant for going on from there.

    Args:
        learning_rate: the rate that the factors multiply.
        total_steps: how many steps it takes.
        start_factor: the first factor, above 0 and at most 1.
        end_factor: the last factor, from 0 to 1.
        last_epoch: the epoch to go on from; -1 starts afresh.
        verbose: prints the rate at every step.

    Examples:
        >>> schedule = paddle.optimizer.lr.LinearLR(1.0, total_steps=4, start_factor=0.5)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(schedule(), 4))
        ...     schedule.step()
        >>> rates
        [0.5, 0.625, 0.75, 0.875, 1.0, 1.0]
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        where = "LinearLR"
        need(0 < start_factor <= 1, where, "start_factor must be above 0 and at most 1", start_factor)
        need(0 <= end_factor <= 1, where, "end_factor must be from 0 to 1", end_factor)
        need(total_steps > 0, where, "total_steps must be positive", total_steps)
        self.start_factor, self.end_factor, self.total_steps = start_factor, end_factor, total_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of the present step.

        Examples:
            >>> paddle.optimizer.lr.LinearLR(1.0, total_steps=4, start_factor=0.5).get_lr()
            0.5
        """
        if self.last_epoch == 0:
            return self.base_lr * self.start_factor
        if self.last_epoch > self.total_steps:
            return self.last_lr
        rise = self.end_factor - self.start_factor
        before = self.total_steps * self.start_factor + (self.last_epoch - 1) * rise
        return self.last_lr * (1 + rise / before)
