"""ModelAverage: the mean of the parameters over the last steps."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import value_error
from ...eager.declare import op
from ...eager.tensor import Tensor, alias
from ...eager.views import replace_value
from ...ir.padding import rules
from ...ir.recorder import recording_gradients
from ...ops.basic import cast_to
from ..arguments import at_least_zero
from ..groups import ParameterState
from ..optimizer import Optimizer
from ..updates import record_update

# A sum of more numbers than this is set aside, so that small ones are not lost beside it. Paddle's number.
_LONGEST_SUM = 16384


def _infer(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    return tuple(operands[2 + attributes[0] :])


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=_infer,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def average_update(xp: Any, arrays: Sequence[Any], count: int) -> Any:
    """Adds parameters to the newest of three sums; scalars (0 or 1): set that sum aside, start a new window."""
    aside, fresh = arrays[0] > 0, arrays[1] > 0
    columns = [arrays[2 + i * count : 2 + (i + 1) * count] for i in range(4)]
    results: list[list[Any]] = [[], [], []]
    for value, newest, older, oldest in zip(*columns, strict=True):
        zero = xp.zeros((), newest.dtype)
        newest = newest + value.astype(newest.dtype)
        older, newest = xp.where(aside, older + newest, older), xp.where(aside, zero, newest)
        oldest = xp.where(fresh, newest + older, oldest)
        for column, new in zip(results, (newest, older, oldest), strict=True):
            column.append(new if new is oldest else xp.where(fresh, zero, new))
    return tuple(new for column in results for new in column)


class ModelAverage(Optimizer):
    """Sums parameters up after every training step; `apply()` puts their mean in their place.

    The window over which the mean is taken is `average_window_rate` times the number of steps, within the two bounds.

    Args:
        average_window_rate: the window as a share of the steps.
        parameters: the parameters.
        min_average_window: at least how many steps.
        max_average_window: at most how many.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.Linear(1, 1)
        >>> average = paddle.incubate.optimizer.ModelAverage(1.0, layer.parameters(), 2, 10)
        >>> for value in (1.0, 3.0):
        ...     layer.bias.set_value([value])
        ...     average.step()
        >>> with average.apply():
        ...     layer.bias.item()
        2.0
        >>> layer.bias.item()
        3.0
    """

    _accumulator_names = ("sum_1", "sum_2", "sum_3", "restore")

    def __init__(
        self,
        average_window_rate: float,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        name: str | None = None,
    ) -> None:
        self.average_window = at_least_zero("ModelAverage", "average_window_rate", average_window_rate)
        for label, value in (("min_average_window", min_average_window), ("max_average_window", max_average_window)):
            if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                raise value_error("ModelAverage", f"{label} must be a positive int", f"{label}: {value}")
        super().__init__(0.0, parameters, None, None, name)
        self.min_average_window, self.max_average_window = min_average_window, max_average_window
        self._num_accumulates = self._old_num_accumulates = self._num_updates = 0

    def _averaged(self) -> list[Any]:
        return [p for p in self._members if not p.stop_gradient and getattr(p, "do_model_average", True)]

    def step(self) -> None:
        """Adds the parameters as they are now.

        Examples:
            >>> layer = paddle.nn.Linear(1, 1)
            >>> average = paddle.incubate.optimizer.ModelAverage(1.0, layer.parameters(), 2, 10)
            >>> average.step()
            >>> with average.apply():
            ...     layer.bias.item()
            0.0
        """
        self._num_updates += 1
        self._num_accumulates += 1
        window = min(self.max_average_window, int(self._num_updates * self.average_window))
        aside = self._num_updates % _LONGEST_SUM == 0
        fresh = self._num_accumulates >= self.min_average_window and self._num_accumulates >= window
        members = self._averaged()
        states = [self._state(parameter) for parameter in members]
        sums = [state.accumulators[name] for name in self._accumulator_names[:3] for state in states]
        with recording_gradients(False):
            if members:
                scalars = [float(aside), float(fresh)]
                record_update(average_update.operation, scalars, [*members, *sums], (len(members),), sums)
        if fresh:
            self._old_num_accumulates, self._num_accumulates = self._num_accumulates, 0

    def minimize(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        no_grad_set: Iterable[Tensor | str] | None = None,
    ) -> None:
        """The same as `step()`.

        Args:
            loss: accepted and ignored.
            startup_program, parameters, no_grad_set: accepted and ignored.

        Examples:
            >>> layer = paddle.nn.Linear(1, 1)
            >>> average = paddle.incubate.optimizer.ModelAverage(1.0, layer.parameters(), 2, 10)
            >>> average.minimize(layer(paddle.ones([1, 1])))
            >>> with average.apply():
            ...     layer.bias.item()
            0.0
        """
        self.step()

    @contextlib.contextmanager
    def apply(self, executor: Any = None, need_restore: bool = True) -> Iterator[None]:
        """In a `with` block: parameters are their means, and afterwards what they were.

        Args:
            executor: accepted and ignored.
            need_restore: whether parameters become what they were.

        Examples:
            >>> layer = paddle.nn.Linear(1, 1)
            >>> average = paddle.incubate.optimizer.ModelAverage(1.0, layer.parameters(), 2, 10)
            >>> average.step()
            >>> with average.apply():
            ...     layer.bias.item()
            0.0
        """
        count = self._num_accumulates + self._old_num_accumulates
        with recording_gradients(False):
            for parameter in self._averaged() if count else ():
                kept = self._state(parameter).accumulators
                total = kept["sum_1"] + kept["sum_2"] + kept["sum_3"]
                replace_value(kept["restore"], cast_to(alias(parameter), kept["restore"]._aval.dtype))
                replace_value(parameter, cast_to(total / count, parameter._aval.dtype))
        try:
            yield
        finally:
            if need_restore and count:
                self.restore()

    def restore(self, executor: Any = None) -> None:
        """Makes parameters what they were before `apply()`.

        Args:
            executor: accepted and ignored.

        Examples:
            >>> layer = paddle.nn.Linear(1, 1)
            >>> average = paddle.incubate.optimizer.ModelAverage(1.0, layer.parameters(), 2, 10)
            >>> average.step()
            >>> layer.bias.set_value([7.0])
            >>> with average.apply(need_restore=False):
            ...     layer.bias.item()
            0.0
            >>> average.restore()
            >>> layer.bias.item()
            7.0
        """
        with recording_gradients(False):
            for parameter in self._averaged():
                state = self._states.get(id(parameter))
                if state is not None:
                    saved = alias(state.accumulators["restore"])
                    replace_value(parameter, cast_to(saved, parameter._aval.dtype))

    def _scalar_state(self, state: ParameterState) -> dict[str, Any]:
        names = ("num_accumulates", "old_num_accumulates", "num_updates")
        return {name: np.array([getattr(self, f"_{name}")], np.int64) for name in names}

    def _load_scalar_state(self, state: ParameterState, found: dict[str, float]) -> None:
        for name, value in found.items():
            setattr(self, f"_{name}", int(value))
