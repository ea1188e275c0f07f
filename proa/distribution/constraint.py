"""Constraints: which values something may have, as tensors of booleans."""

from __future__ import annotations

from typing import Any

from .functions import paddle


class Constraint:
    """Called with a tensor, says where it is allowed."""

    def __call__(self, value: Any) -> Any:
        raise NotImplementedError("(Constraint) a subclass says what it allows, in __call__.")


class Real(Constraint):
    """Every number that is not NaN."""

    def __call__(self, value: Any) -> Any:
        return value == value


class Range(Constraint):
    """From `lower` to `upper`, both included."""

    def __init__(self, lower: Any, upper: Any) -> None:
        self._lower = lower
        self._upper = upper

    def __call__(self, value: Any) -> Any:
        return paddle.logical_and(self._lower <= value, value <= self._upper)


class Positive(Constraint):
    """Not negative (0 is allowed)."""

    def __call__(self, value: Any) -> Any:
        return value >= 0.0


class Simplex(Constraint):
    """Not negative, with the sum 1 over the last dimension."""

    def __call__(self, value: Any) -> Any:
        total_is_one = paddle.abs(value.sum(-1) - 1.0) < 1e-6
        return paddle.logical_and(paddle.all(value >= 0.0, axis=-1), total_is_one)


real = Real()
positive = Positive()
simplex = Simplex()
