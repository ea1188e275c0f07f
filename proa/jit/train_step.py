"""`train_step`: forward, backward and update as one program.

Eager code compiles itself already; a step that reads its loss late may be cut in two, though, and what follows
`clear_grad` is a segment of its own. Here the whole function is one segment: it is run when the function returns.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.errors import type_error
from ..core.tracebacks import boundary
from ..ir.program import Program
from ..ir.recorder import LOCAL, flush_current, one_segment


class TrainStep:
    """A training step that runs as one program. The first call is the warm-up: it makes the optimiser's state.

    Args:
        function: the step.

    Raises:
        TypeError: it cannot be called.

    Examples:
        >>> step = paddle.jit.TrainStep(lambda x: (x * 2).sum())
        >>> [float(step(paddle.ones([3]))) for _ in range(2)]
        [6.0, 6.0]
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise type_error("train_step", "a function is needed", type(function).__name__)
        self._function = function
        self._program: Program | None = None
        self._is_warm = False
        functools.update_wrapper(self, function, updated=())

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._is_warm:
            # Not compiled: what makes the optimiser's state is another program than all later steps.
            result = self._function(*args, **kwargs)
            flush_current()
            self._is_warm = True
            return result
        with one_segment():
            result = self._function(*args, **kwargs)
            segment = LOCAL.segment
            node = segment.node
            flush_current()
        self._note(node)
        return result

    def _note(self, node: Any) -> None:
        """Keeps the longest program that this call has run (a value read inside the step cuts it)."""
        entries = node.entries
        if entries:
            self._program = list(entries.values())[-1].program

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    @property
    def program(self) -> Program:
        """The Program of the last call.

        Raises:
            RuntimeError: the step was called less than twice.

        Examples:
            >>> step = paddle.jit.TrainStep(lambda x: (x * 2).sum())
            >>> results = [step(paddle.ones([3])) for _ in range(2)]
            >>> len(step.program.instructions)
            2
        """
        if self._program is None:
            raise RuntimeError(
                "(train_step) there is no program yet: the first call makes the optimiser's state, the second one compiles."
            )
        return self._program


def train_step(function: Callable[..., Any] | None = None) -> Any:
    """Makes a function (forward, backward, optimiser) one program; it returns what the function returns.

    Args:
        function: the step; None: a decorator is given.

    Returns:
        A `TrainStep`.

    Examples:
        >>> model = paddle.nn.Linear(2, 1)
        >>> sgd = paddle.optimizer.SGD(0.1, parameters=model.parameters())
        >>> @paddle.jit.train_step
        ... def step(x, y):
        ...     loss = ((model(x) - y) ** 2).mean()
        ...     loss.backward()
        ...     sgd.step()
        ...     sgd.clear_grad()
        ...     return loss
        >>> losses = [float(step(paddle.ones([4, 2]), paddle.ones([4, 1]))) for _ in range(5)]
        >>> losses[-1] < losses[0]
        True
    """
    return train_step if function is None else TrainStep(function)
