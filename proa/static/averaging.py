"""ExponentialMovingAverage: parameters averaged over the steps of training, put in their place for evaluation."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import runtime_error, type_error
from ..eager.modes import no_grad
from ..eager.tensor import Tensor
from ..ops.create.creation import assign
from . import mode
from .scope import set_values, values_of
from .variable import create_global_var

if TYPE_CHECKING:
    from .execution import Executor


class ExponentialMovingAverage:
    """`average = decay * average + (1 - decay) * parameter` after each step.

    `update()` adds that to the program; inside `apply(executor)` the parameters are the averages, divided by
    `1 - decay ** steps` because they began at zero. With `thres_steps` the decay is at most `(1 + t) / (10 + t)`.

    Args:
        decay: how much of the average stays.
        thres_steps: a variable that counts steps, or None.
        name: what the averages' names begin with.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     loss = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 1).mean()
        ...     updates = paddle.optimizer.SGD(0.1).minimize(loss)
        ...     average = paddle.static.ExponentialMovingAverage(0.9)
        ...     average.update()
        >>> executor = paddle.static.Executor()
        >>> executor.run(startup)
        []
        >>> losses = executor.run(main, feed={"x": np.ones((4, 2), "float32")}, fetch_list=[loss])
        >>> with average.apply(executor):
        ...     again = executor.run(main.clone(for_test=True), feed={"x": np.ones((4, 2), "float32")}, fetch_list=[loss])
        >>> bool(again[0] < losses[0])
        True
    """

    def __init__(self, decay: float = 0.999, thres_steps: Tensor | None = None, name: str | None = None) -> None:
        if isinstance(decay, bool) or not isinstance(decay, (int, float)):
            raise type_error("ExponentialMovingAverage", "decay must be a number", type(decay).__name__)
        program = mode.require_static("ExponentialMovingAverage")
        self._decay = float(decay)
        self._thres_steps = thres_steps
        self._name = name or ""
        self._parameters = [
            p for p in program.all_parameters() if not p.stop_gradient and getattr(p, "do_model_average", True)
        ]
        self._averages = [
            create_global_var(list(p._aval.shape), 0.0, p.dtype, True, name=f"{self._name}{p.name}.ema")
            for p in self._parameters
        ]
        self._steps = create_global_var([1], 0.0, "float32", True)
        self._last_decay = create_global_var([1], self._decay, "float32", True)
        self._kept: dict[Tensor, Any] = {}

    def update(self) -> None:
        """Adds the averaging to the program, behind what it does so far.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 1)
            ...     average = paddle.static.ExponentialMovingAverage(0.9)
            ...     before = main.num_ops()
            ...     average.update()
            >>> main.num_ops() > before
            True
        """
        decay: Any = self._decay
        if self._thres_steps is not None:
            steps: Any = self._thres_steps.astype("float32").reshape([1])
            decay = ((steps + 1) / (steps + 10)).clip(max=self._decay)
            assign(decay, self._last_decay)
        with no_grad():
            assign(self._steps + 1, self._steps)
            for parameter, average in zip(self._parameters, self._averages, strict=True):
                assign(average * decay + parameter * (1 - decay), average)

    @contextlib.contextmanager
    def apply(self, executor: Executor, need_restore: bool = True) -> Iterator[None]:
        """Inside, the parameters are the averages; afterwards what they were, unless `need_restore` is False.

        Args:
            executor: taken; it is not needed.
            need_restore: whether the parameters come back.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 1)
            ...     average = paddle.static.ExponentialMovingAverage(0.9)
            ...     average.update()
            >>> executor = paddle.static.Executor()
            >>> executor.run(startup)
            []
            >>> before = executor.run(main, feed={"x": np.ones((4, 2), "float32")}, fetch_list=[y])[0]
            >>> with average.apply(executor):  # after one step the average is the parameter
            ...     after = executor.run(main, feed={"x": np.ones((4, 2), "float32")}, fetch_list=[y])[0]
            >>> np.allclose(before, after)
            True
        """
        named = {str(n): t for n, t in enumerate([*self._averages, self._steps, self._last_decay])}
        *averages, steps, decay = (np.asarray(value) for value in values_of(named).values())
        self._kept = dict(
            zip(self._parameters, values_of({str(n): p for n, p in enumerate(self._parameters)}).values(), strict=True)
        )
        factor = 1.0 - float(decay[0]) ** float(steps[0])
        if factor:
            set_values({p: (a / factor).astype(a.dtype) for p, a in zip(self._parameters, averages, strict=True)})
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Executor) -> None:
        """Gives the parameters back what they were before `apply`.

        Raises:
            RuntimeError: `apply` was not called before.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 1)
            ...     average = paddle.static.ExponentialMovingAverage(0.9)
            >>> average.restore(paddle.static.Executor())
            Traceback (most recent call last):
                ...
            RuntimeError: (ExponentialMovingAverage.restore) apply() comes before restore().
        """
        if not self._kept:
            raise runtime_error("ExponentialMovingAverage.restore", "apply() comes before restore()")
        set_values(self._kept)
        self._kept = {}
