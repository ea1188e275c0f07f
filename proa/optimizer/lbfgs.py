"""LBFGS: steps along Newton's direction, with the curvature remembered from the last few gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..core.errors import type_error, value_error
from ..eager.backward.engine import zeros_of
from ..eager.modes import enable_grad
from ..eager.tensor import Tensor, alias
from ..ir.recorder import recording_gradients
from ..ops.shape.joining import concat
from .arguments import number
from .curvature import Memory, moved_along
from .curvature import numbers_of as _numbers
from .line_search import Point, strong_wolfe
from .optimizer import Optimizer
from .updates import record_update

if TYPE_CHECKING:
    from ..nn.clip import ClipGradBase
    from .lr import LRScheduler
    from .regularizer import WeightDecay


class LBFGS(Optimizer):
    """Minimises a function of all parameters with a curvature remembered from the last few gradients.

    `step(closure)` takes a function that clears the gradients, computes the loss, calls `backward()` and gives the loss.
    Weight decay and gradient clipping are accepted and, as in Paddle, do nothing: they belong into the closure.

    Args:
        learning_rate: the length of an iteration, where none is searched.
        max_iter: the most iterations a step.
        max_eval: the most evaluations of the loss a step; 5 / 4 of `max_iter` if left out.
        tolerance_grad: ends where no element of the gradient is larger.
        tolerance_change: ends where loss and parameters change less.
        history_size: how many gradients are remembered.
        line_search_fn: "strong_wolfe" searches the length of each iteration.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        weight_decay: does nothing.
        grad_clip: does nothing.
        name: a label; it changes nothing.

    Raises:
        ValueError: a number is out of its range, or the line search is unknown.
        TypeError: a number of iterations is no int.

    Examples:
        >>> weight = paddle.to_tensor([5.0], stop_gradient=False)
        >>> optimizer = paddle.optimizer.LBFGS(line_search_fn="strong_wolfe", parameters=[weight])
        >>> def closure():
        ...     optimizer.clear_grad()
        ...     loss = ((weight - 3) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> optimizer.step(closure).item()
        4.0
        >>> print(weight.numpy().round(3))
        [3.]
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        for label, value, least in (("max_iter", max_iter, 0), ("history_size", history_size, 1)):
            if isinstance(value, bool) or not isinstance(value, int):
                raise type_error("LBFGS", f"{label} must be an int", f"{label}: {value}")
            if value < least:
                raise value_error("LBFGS", f"{label} must be at least {least}", f"{label}: {value}")
        if line_search_fn not in (None, "strong_wolfe"):
            raise value_error("LBFGS", "line_search_fn must be 'strong_wolfe' or None", repr(line_search_fn))
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self.max_iter, self.max_eval = max_iter, max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad = number("LBFGS", "tolerance_grad", tolerance_grad)
        self.tolerance_change = number("LBFGS", "tolerance_change", tolerance_change)
        self.history_size, self.line_search_fn = history_size, line_search_fn
        self._memory = Memory(history_size)

    # ---- stepping ------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Tensor]) -> Tensor:  # type: ignore[override]
        """Runs up to `max_iter` iterations.

        Args:
            closure: clears the gradients, computes the loss, calls `backward()` and gives the loss.

        Returns:
            The loss before the first iteration.

        Raises:
            TypeError: `closure` cannot be called, or gives no tensor.

        Examples:
            >>> weight = paddle.to_tensor([5.0], stop_gradient=False)
            >>> optimizer = paddle.optimizer.LBFGS(parameters=[weight])
            >>> def closure():
            ...     optimizer.clear_grad()
            ...     loss = (weight ** 2).sum()
            ...     loss.backward()
            ...     return loss
            >>> optimizer.step(closure).item()
            25.0
        """
        if not callable(closure):
            raise type_error("LBFGS", "step needs a function that computes the loss", type(closure).__name__)
        with recording_gradients(False):
            return self._minimise(closure)

    def _minimise(self, closure: Callable[[], Tensor]) -> Tensor:
        memory, rate = self._memory, self.get_lr()
        first_loss, gradient = self._evaluate(closure)
        loss, largest, total = _numbers(first_loss, gradient.abs().max(), gradient.abs().sum())
        evaluations, iterations = 1, 0
        memory.func_evals += 1
        while largest > self.tolerance_grad and iterations < self.max_iter:
            iterations += 1
            memory.n_iter += 1
            if memory.n_iter == 1:
                memory.d = -gradient
            else:
                memory.remember(gradient)
                memory.d = memory.newton_direction(gradient)
            direction, previous_loss = memory.d, loss
            memory.prev_flat_grad, memory.prev_loss = gradient, loss
            step = rate * min(1.0, 1.0 / total) if memory.n_iter == 1 else rate
            memory.alpha = step
            slope, length = _numbers((gradient * direction).sum(), direction.abs().max())
            if slope > -self.tolerance_change:
                break
            start = [alias(parameter) for parameter in self._members]
            used = 0
            if self.line_search_fn is not None:
                origin = Point(0.0, loss, (gradient, largest), slope)
                found, used = strong_wolfe(
                    lambda step, start=start, direction=direction: self._look(closure, start, direction, step),
                    origin, step, length, self.tolerance_change,
                )  # fmt: skip
                step, loss, (gradient, largest) = found.step, found.loss, found.gradient
                memory.alpha = step
                self._move(start, direction, step)
            elif iterations != self.max_iter:
                loss, (gradient, largest) = self._look(closure, start, direction, step)[1:3]
                used = 1
            else:
                # The gradient behind the last iteration is computed by the next step.
                self._move(start, direction, step)
            evaluations += used
            memory.func_evals += used
            change = abs(loss - previous_loss)
            if evaluations >= self.max_eval or min(length * abs(step), change) < self.tolerance_change:
                break
        return first_loss

    def _evaluate(self, closure: Callable[[], Tensor]) -> tuple[Tensor, Tensor]:
        """The loss, and all gradients in a row."""
        with enable_grad():
            loss = closure()
        if not isinstance(loss, Tensor):
            raise type_error("LBFGS", "the closure must give the loss as a Tensor", type(loss).__name__)
        parts = []
        for parameter in self._members:
            grad = parameter.grad
            parts.append((zeros_of(parameter._aval) if grad is None else alias(grad)).reshape([-1]))
        return loss, concat(parts) if len(parts) > 1 else parts[0]

    def _look(self, closure: Callable[[], Tensor], start: list[Tensor], direction: Tensor, step: float) -> Point:
        """The function `step` times the direction away; its gradient comes with its largest element."""
        self._move(start, direction, step)
        loss, gradient = self._evaluate(closure)
        value, slope, largest = _numbers(loss, (gradient * direction).sum(), gradient.abs().max())
        return Point(step, value, (gradient, largest), slope)

    def _move(self, start: list[Tensor], direction: Tensor, step: float) -> None:
        tensors, parameters = [direction, *start], self._members
        record_update(moved_along.operation, [step], tensors, (len(start),), parameters)

    def minimize(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Iterable[Tensor | dict[str, Any]] | None = None,
        no_grad_set: Iterable[Tensor | str] | None = None,
    ) -> Any:
        """Not there: the loss must be computed several times a step, so `step(closure)` is to be called.

        Raises:
            NotImplementedError: always.

        Examples:
            >>> optimizer = paddle.optimizer.LBFGS(parameters=[paddle.to_tensor([1.0], stop_gradient=False)])
            >>> optimizer.minimize(paddle.to_tensor(1.0))
            Traceback (most recent call last):
                ...
            NotImplementedError: (LBFGS) the loss must be computed several times a step; call step(closure).
        """
        raise NotImplementedError("(LBFGS) the loss must be computed several times a step; call step(closure).")

    # ---- state ---------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything that is remembered, under the key "state".

        Examples:
            >>> optimizer = paddle.optimizer.LBFGS(parameters=[paddle.to_tensor([1.0], stop_gradient=False)])
            >>> list(optimizer.state_dict())
            ['state']
        """
        return {"state": self._memory.state()}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what another one remembered.

        Args:
            state_dict: what `state_dict` gave.

        Raises:
            ValueError: the key "state" is missing.

        Examples:
            >>> optimizer = paddle.optimizer.LBFGS(parameters=[paddle.to_tensor([1.0], stop_gradient=False)])
            >>> optimizer.set_state_dict(optimizer.state_dict())
            >>> optimizer.set_state_dict({})
            Traceback (most recent call last):
                ...
            ValueError: (LBFGS) the dictionary has no key 'state'; received [].
        """
        if "state" not in state_dict:
            raise value_error("LBFGS", "the dictionary has no key 'state'", f"{list(state_dict)}")
        self._memory.load(state_dict["state"])

    load_state_dict = set_state_dict
    set_dict = set_state_dict
