"""LookAhead: slow parameters that follow the fast ones of another optimiser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.aval import Aval
from ...core.errors import type_error, value_error
from ...eager.declare import op
from ...eager.tensor import alias
from ...eager.views import replace_value
from ...ir.padding import rules
from ...ir.recorder import LOCAL, recording_gradients
from ...ops.basic import cast_to
from ..arguments import number
from ..lr import LRScheduler
from ..optimizer import Optimizer
from ..updates import record_update

_COUNT = "LookAhead_steps"


def _infer(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    return tuple(operands[1:])


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=_infer,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def look_ahead_update(xp: Any, arrays: Sequence[Any], count: int) -> Any:
    """Slow parameters go a share of the way to the fast ones, which then start there; scalar: the share."""
    share, tensors = arrays[0], arrays[1:]
    fast, slow = tensors[:count], tensors[count:]
    moved = [s + share.astype(s.dtype) * (f.astype(s.dtype) - s) for f, s in zip(fast, slow, strict=True)]
    return (*[m.astype(f.dtype) for m, f in zip(moved, fast, strict=True)], *moved)


class LookAhead(Optimizer):
    """Every `k` steps of an optimiser, slow parameters go part of the way to where it has come.

    The parameters take the slow values over. The slow ones begin where the first step ends, as in Paddle.

    Args:
        inner_optimizer: the optimiser.
        alpha: which part of the way, from 0 to 1.
        k: after how many steps.
        name: a label; it changes nothing.

    Examples:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> inner = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> optimizer = paddle.incubate.optimizer.LookAhead(inner, alpha=0.5, k=2)
        >>> for _ in range(2):
        ...     layer(paddle.ones([1, 2])).sum().backward()
        ...     optimizer.step()
        ...     optimizer.clear_grad()
        >>> optimizer.get_lr()
        0.1
    """

    _accumulator_names = ("slow",)

    def __init__(self, inner_optimizer: Optimizer, alpha: float = 0.5, k: int = 5, name: str | None = None) -> None:
        if inner_optimizer is None:
            raise value_error("LookAhead", "an optimiser must be given", "None")
        if not isinstance(inner_optimizer, Optimizer):
            raise type_error("LookAhead", "inner_optimizer must be an Optimizer", type(inner_optimizer).__name__)
        if not 0 <= number("LookAhead", "alpha", alpha) <= 1:
            raise value_error("LookAhead", "alpha must be from 0 to 1", f"alpha: {alpha}")
        if isinstance(k, bool) or not isinstance(k, int) or k <= 0:
            raise value_error("LookAhead", "k must be a positive int", f"k: {k}")
        super().__init__(float(alpha), inner_optimizer._members, None, None, name)
        self.inner_optimizer, self.alpha, self.k = inner_optimizer, float(alpha), k
        self._steps = 0

    def get_lr(self) -> float:
        """The learning rate of the inner optimiser.

        Examples:
            >>> inner = paddle.optimizer.SGD(0.1, parameters=paddle.nn.Linear(2, 1).parameters())
            >>> paddle.incubate.optimizer.LookAhead(inner).get_lr()
            0.1
        """
        return self.inner_optimizer.get_lr()

    def set_lr(self, value: float) -> None:
        """Sets the learning rate of the inner optimiser.

        Args:
            value: the rate.

        Examples:
            >>> inner = paddle.optimizer.SGD(0.1, parameters=paddle.nn.Linear(2, 1).parameters())
            >>> optimizer = paddle.incubate.optimizer.LookAhead(inner)
            >>> optimizer.set_lr(0.5)
            >>> optimizer.get_lr()
            0.5
        """
        self.inner_optimizer.set_lr(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Gives the inner optimiser a scheduler of the learning rate.

        Args:
            scheduler: the scheduler.

        Examples:
            >>> inner = paddle.optimizer.SGD(0.1, parameters=paddle.nn.Linear(2, 1).parameters())
            >>> optimizer = paddle.incubate.optimizer.LookAhead(inner)
            >>> optimizer.set_lr_scheduler(paddle.optimizer.lr.StepDecay(0.25, step_size=10))
            >>> optimizer.get_lr()
            0.25
        """
        self.inner_optimizer.set_lr_scheduler(scheduler)

    def step(self) -> None:
        """A step of the inner optimiser, and every `k` times one of the slow parameters.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> inner = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
            >>> optimizer = paddle.incubate.optimizer.LookAhead(inner)
            >>> layer(paddle.ones([1, 2])).sum().backward()
            >>> before = layer.bias.item()
            >>> optimizer.step()
            >>> round(layer.bias.item() - before, 4)
            -0.1
        """
        self.inner_optimizer.step()
        self._steps += 1
        with recording_gradients(False):
            fast = [parameter for parameter in self._members if not parameter.stop_gradient]
            if self._steps == 1:
                for parameter in fast:
                    slow = self._state(parameter).accumulators["slow"]
                    replace_value(slow, cast_to(alias(parameter), slow._aval.dtype))
            if self._steps % self.k == 0 and fast:
                states = [self._state(parameter) for parameter in fast]
                tensors = [*fast, *[state.accumulators["slow"] for state in states]]
                record_update(look_ahead_update.operation, [self.alpha], tensors, (len(fast),), tensors)
                self._refresh_masters(fast)
        LOCAL.segment.stepped = True

    def _refresh_masters(self, fast: list[Any]) -> None:
        """The inner optimiser's float32 copies of half parameters start at the slow values, too."""
        for parameter in fast:
            inner = self.inner_optimizer._states.get(id(parameter))
            if inner is not None and inner.master is not None:
                replace_value(inner.master, alias(self._state(parameter).accumulators["slow"]))

    def state_dict(self) -> dict[str, Any]:
        """The slow parameters and the number of steps; the inner optimiser is saved by itself.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> inner = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
            >>> optimizer = paddle.incubate.optimizer.LookAhead(inner)
            >>> layer(paddle.ones([1, 2])).sum().backward()
            >>> optimizer.step()
            >>> len(optimizer.state_dict()) > 0
            True
        """
        found = super().state_dict()
        if self._steps:
            found[_COUNT] = self._steps
        return found

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what `state_dict` gave.

        Args:
            state_dict: the state.

        Examples:
            >>> layer = paddle.nn.Linear(2, 1)
            >>> inner = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
            >>> optimizer = paddle.incubate.optimizer.LookAhead(inner)
            >>> optimizer.set_state_dict(optimizer.state_dict())
            >>> optimizer.get_lr()
            0.1
        """
        rest = {key: value for key, value in state_dict.items() if key != _COUNT}
        super().set_state_dict(rest)
        # A dictionary from Paddle does not tell; what matters most is that the slow values are not made anew.
        self._steps = int(state_dict.get(_COUNT, self.k if rest else 0))

    load_state_dict = set_state_dict
    set_dict = set_state_dict
