"""What a transform maps from and to: a constraint, and how many dimensions make one event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import value_error
from . import constraint
from .functions import paddle


class Variable:
    """A kind of random variable."""

    def __init__(
        self, is_discrete: bool = False, event_rank: int = 0, constraint: constraint.Constraint | None = None
    ) -> None:
        self._is_discrete = is_discrete
        self._event_rank = event_rank
        self._constraint = constraint

    @property
    def is_discrete(self) -> bool:
        return self._is_discrete

    @property
    def event_rank(self) -> int:
        return self._event_rank

    def constraint(self, value: Any) -> Any:
        """Where a value is allowed, one boolean for each event."""
        if self._constraint is None:
            raise NotImplementedError("(Variable) this variable has no constraint.")
        return self._constraint(value)


class Real(Variable):
    """Real numbers; `event_rank` dimensions of them are one event."""

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraint.real)


class Positive(Variable):
    """Numbers that are not negative."""

    def __init__(self, event_rank: int = 0) -> None:
        super().__init__(False, event_rank, constraint.positive)


class Independent(Variable):
    """A variable with further dimensions counted to the event."""

    def __init__(self, base: Variable, reinterpreted_batch_rank: int) -> None:
        super().__init__(base.is_discrete, base.event_rank + reinterpreted_batch_rank)
        self._base = base
        self._reinterpreted_batch_rank = reinterpreted_batch_rank

    def constraint(self, value: Any) -> Any:
        allowed = self._base.constraint(value)
        rank = self._reinterpreted_batch_rank
        if allowed.ndim < rank:
            raise value_error(
                "Independent", f"the value must have at least {self.event_rank} dimensions", f"{value.ndim}"
            )
        return paddle.all(allowed, axis=list(range(-rank, 0)))


class Stack(Variable):
    """Several variables side by side along an axis."""

    def __init__(self, vars: Sequence[Variable], axis: int = 0) -> None:
        self._vars = list(vars)
        self._axis = axis
        super().__init__(any(v.is_discrete for v in self._vars), max(v.event_rank for v in self._vars))

    def constraint(self, value: Any) -> Any:
        if not -value.ndim <= self._axis < value.ndim or value.shape[self._axis] != len(self._vars):
            raise value_error(
                "Stack",
                f"the value must have {len(self._vars)} entries along axis {self._axis}",
                f"{list(value.shape)}",
            )
        parts = paddle.unbind(value, self._axis)
        return paddle.stack([v.constraint(part) for v, part in zip(self._vars, parts)], self._axis)


real = Real()
positive = Positive()
