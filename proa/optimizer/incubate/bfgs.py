"""`incubate.optimizer.functional`: BFGS and L-BFGS for a function of one vector.

The vectors are short next to what the function costs, so the algebra runs on the host, in float64; only the
function and its gradient are computed with tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtype import to_numpy_dtype
from ...core.errors import type_error, value_error
from ...eager.backward.hooks import grad
from ...eager.declare import public
from ...eager.modes import enable_grad
from ...eager.tensor import Tensor, tensor_from_data
from ..line_search import Point, strong_wolfe

_SMALLEST_CURVATURE = 1e-10


class _Problem:
    """The function, how often it was called, and the direction of the next step."""

    def __init__(self, where: str, objective: Callable[[Tensor], Tensor], start: Tensor, dtype: Any) -> None:
        if not isinstance(start, Tensor):
            raise value_error(where, "initial_position must be a Tensor", type(start).__name__)
        if dtype not in ("float32", "float64"):
            raise value_error(where, "dtype must be 'float32' or 'float64'", str(dtype))
        if not callable(objective):
            raise type_error(where, "objective_func must be a function of a Tensor", type(objective).__name__)
        if start._aval.ndim != 1:
            raise value_error(where, "initial_position must have one dimension", f"initial_position: {start._aval}")
        self.where, self.objective, self.calls = where, objective, 0
        self.dtype, self.place = to_numpy_dtype(dtype), start._aval.place

    def at(self, position: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient."""
        self.calls += 1
        x = self.tensor(position)
        x.stop_gradient = False
        with enable_grad():
            value = self.objective(x)
        if not isinstance(value, Tensor) or value._aval.size != 1:
            raise value_error(self.where, "objective_func must give a Tensor with one element", f"{value}")
        (gradient,) = grad([value], [x], allow_unused=True)
        slope = np.zeros(position.shape) if gradient is None else gradient.numpy().astype(np.float64)
        return float(value.item()), slope

    def tensor(self, value: Any) -> Tensor:
        return tensor_from_data(np.asarray(value, self.dtype))._to_place(self.place)


def _minimise(
    problem: _Problem,
    start: Tensor,
    curvature: _Dense | _Limited,
    line_search_fn: str,
    max_iters: int,
    tolerance_grad: float,
    tolerance_change: float,
    max_line_search_iters: int,
    initial_step_length: float,
) -> tuple[Tensor, ...]:
    """Steps along `curvature.direction`; gives what both functions return."""
    if line_search_fn != "strong_wolfe":
        raise NotImplementedError(
            f"({problem.where}) line_search_fn must be 'strong_wolfe'; received {line_search_fn!r}."
        )
    # In the precision of the function: a step that is lost there is no step.
    position = np.array(start.numpy(), problem.dtype).astype(np.float64)
    value, gradient = problem.at(position)
    converged = bool(np.abs(gradient).max(initial=0.0) < tolerance_grad)
    for _ in range(max_iters):
        if converged:
            break
        direction = curvature.direction(gradient)
        slope = float(gradient @ direction)
        if not slope < 0:
            break

        def look(step: float, position: np.ndarray = position, direction: np.ndarray = direction) -> Point:
            loss, found = problem.at(position + step * direction)
            return Point(step, loss, found, float(found @ direction))

        length = float(np.abs(direction).max(initial=0.0))
        origin = Point(0.0, value, gradient, slope)
        found, _ = strong_wolfe(
            look, origin, initial_step_length, length, tolerance_change, max_line_search_iters
        )  # fmt: skip
        if found.step == 0 or not np.isfinite(found.loss):
            break
        moved = (position + found.step * direction).astype(problem.dtype).astype(np.float64)
        step, change = moved - position, found.gradient - gradient
        curvature.remember(step, change)
        position, value, gradient = moved, found.loss, found.gradient
        converged = bool(
            np.abs(gradient).max(initial=0.0) < tolerance_grad or np.abs(step).max(initial=0.0) < tolerance_change
        )
    calls = tensor_from_data(np.array([problem.calls], np.int64))
    state = [problem.tensor(number) for number in (position, value, gradient)]
    return (tensor_from_data(np.array([converged])), calls, *state)


class _Dense:
    """BFGS' estimate of the inverse of the second derivatives."""

    def __init__(self, estimate: np.ndarray) -> None:
        self.estimate = estimate

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        return -self.estimate @ gradient

    def remember(self, step: np.ndarray, change: np.ndarray) -> None:
        curvature = float(step @ change)
        if curvature > _SMALLEST_CURVATURE * float(change @ change):
            moved = self.estimate @ change
            outer = np.outer(step, moved)
            self.estimate = (
                self.estimate
                + (1 + float(change @ moved) / curvature) * np.outer(step, step) / curvature
                - (outer + outer.T) / curvature
            )


class _Limited:
    """The same from the last few steps and changes, never written out."""

    def __init__(self, estimate: np.ndarray, history_size: int, is_given: bool) -> None:
        self.estimate, self.history_size, self.is_given = estimate, history_size, is_given
        self.pairs: list[tuple[np.ndarray, np.ndarray]] = []

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        vector, shares = -gradient, []
        for step, change in reversed(self.pairs):
            shares.append(float(step @ vector) / float(step @ change))
            vector = vector - shares[-1] * change
        if self.pairs and not self.is_given:
            step, change = self.pairs[-1]
            vector = vector * (float(step @ change) / float(change @ change))
        else:
            vector = self.estimate @ vector
        for (step, change), share in zip(self.pairs, reversed(shares), strict=True):
            vector = vector + (share - float(change @ vector) / float(step @ change)) * step
        return vector

    def remember(self, step: np.ndarray, change: np.ndarray) -> None:
        if float(step @ change) > _SMALLEST_CURVATURE * float(change @ change):
            self.pairs = [*self.pairs, (step, change)][-self.history_size :]


def _first_estimate(where: str, given: Any, size: int) -> np.ndarray:
    """The identity, or a symmetric positive definite matrix that the user gave."""
    if given is None:
        return np.eye(size)
    estimate = np.asarray(given.numpy() if isinstance(given, Tensor) else given, np.float64)
    if estimate.shape != (size, size):
        received = f"initial_inverse_hessian_estimate: {list(estimate.shape)}"
        raise value_error(where, f"initial_inverse_hessian_estimate must have the shape [{size}, {size}]", received)
    if not np.allclose(estimate, estimate.T) or np.linalg.eigvalsh(estimate).min(initial=1.0) <= 0:
        raise value_error(
            where, "initial_inverse_hessian_estimate must be symmetric and positive definite", f"{estimate.tolist()}"
        )
    return estimate


@public(module="incubate.optimizer.functional")
def minimize_bfgs(
    objective_func: Callable[[Tensor], Tensor],
    initial_position: Tensor,
    max_iters: int = 50,
    tolerance_grad: float = 1e-7,
    tolerance_change: float = 1e-9,
    initial_inverse_hessian_estimate: Tensor | None = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Minimises a differentiable function of one vector by BFGS.

    Args:
        objective_func: the function; its result is one number.
        initial_position: where the search begins.
        max_iters: at most how many steps.
        tolerance_grad: the search ends where the gradient is smaller.
        tolerance_change: or where a step changes less.
        initial_inverse_hessian_estimate: a symmetric positive definite matrix; None for the identity.
        line_search_fn: 'strong_wolfe'.
        max_line_search_iters: at most how many steps of a line search.
        initial_step_length: the first step of a line search.
        dtype: 'float32' or 'float64'.
        name: a label; it changes nothing.

    Returns:
        Whether it converged, the number of calls, the position, value and gradient there, and the estimate of the
        inverse of the second derivatives.

    Examples:
        >>> converged, calls, position, *_ = paddle.incubate.optimizer.functional.minimize_bfgs(
        ...     lambda x: ((x - 3.0) ** 2).sum(), paddle.to_tensor([0.0, 1.0])
        ... )
        >>> converged.item()
        True
        >>> print(position.numpy().round(3))
        [3. 3.]
    """
    problem = _Problem("minimize_bfgs", objective_func, initial_position, dtype)
    size = initial_position._aval.size
    curvature = _Dense(_first_estimate("minimize_bfgs", initial_inverse_hessian_estimate, size))
    found = _minimise(
        problem, initial_position, curvature, line_search_fn, max_iters, tolerance_grad, tolerance_change,
        max_line_search_iters, initial_step_length,
    )  # fmt: skip
    return (*found, problem.tensor(curvature.estimate))


@public(module="incubate.optimizer.functional")
def minimize_lbfgs(
    objective_func: Callable[[Tensor], Tensor],
    initial_position: Tensor,
    history_size: int = 100,
    max_iters: int = 50,
    tolerance_grad: float = 1e-8,
    tolerance_change: float = 1e-8,
    initial_inverse_hessian_estimate: Tensor | None = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Minimises a differentiable function of one vector by L-BFGS.

    Args:
        objective_func: the function; its result is one number.
        initial_position: where the search begins.
        history_size: how many steps are remembered.
        max_iters: at most how many steps.
        tolerance_grad: the search ends where the gradient is smaller.
        tolerance_change: or where a step changes less.
        initial_inverse_hessian_estimate: a symmetric positive definite matrix; None for the identity.
        line_search_fn: 'strong_wolfe'.
        max_line_search_iters: at most how many steps of a line search.
        initial_step_length: the first step of a line search.
        dtype: 'float32' or 'float64'.
        name: a label; it changes nothing.

    Returns:
        Whether it converged, the number of calls, and the position, value and gradient there.

    Examples:
        >>> converged, calls, position, *_ = paddle.incubate.optimizer.functional.minimize_lbfgs(
        ...     lambda x: ((x - 3.0) ** 2).sum(), paddle.to_tensor([0.0, 1.0])
        ... )
        >>> print(position.numpy().round(3))
        [3. 3.]
    """
    problem = _Problem("minimize_lbfgs", objective_func, initial_position, dtype)
    if history_size < 1:
        raise value_error("minimize_lbfgs", "history_size must be at least 1", f"history_size: {history_size}")
    given = initial_inverse_hessian_estimate
    estimate = _first_estimate("minimize_lbfgs", given, initial_position._aval.size)
    curvature = _Limited(estimate, history_size, given is not None)
    return _minimise(
        problem, initial_position, curvature, line_search_fn, max_iters, tolerance_grad, tolerance_change,
        max_line_search_iters, initial_step_length,
    )  # fmt: skip
