"""What LBFGS remembers of the curvature, and its arithmetic.

The last steps and the changes of the gradient along them are rows of two tables, the newest last; rows that are not
used yet are zeros and count for nothing. Tables grow by doubling, so that a whole run needs a handful of programs,
however long its history.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.dtype import FLOAT64
from ..eager.backward.engine import zeros_of
from ..eager.declare import op
from ..eager.tensor import Tensor, alias, tensor_from_data
from ..ir.padding import rules
from ..ops.basic import cast_to
from ..ops.shape.joining import concat, stack

# Below this, the curvature along a step is too small to be remembered.
_SMALLEST_CURVATURE = 1e-10
_FIRST_CAPACITY = 8


def numbers_of(*tensors: Tensor) -> list[float]:
    """The values of several one-element tensors, read at once."""
    return stack([cast_to(alias(tensor).reshape([]), FLOAT64) for tensor in tensors]).tolist()


def _infer_moved(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    return tuple(operands[2:])


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=_infer_moved,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def moved_along(xp: Any, arrays: Sequence[Any], count: int) -> Any:
    """All parameters moved by a step along a direction, which is one long row; scalar: the step."""
    step, direction, *values = arrays
    offset, results = 0, []
    for value in values:
        size = int(np.prod(value.shape))
        part = xp.reshape(direction[offset : offset + size], value.shape)
        results.append((value + step.astype(part.dtype) * part).astype(value.dtype))
        offset += size
    return tuple(results)


def _infer_direction(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0]


@op(
    "gradient changes steps weights",
    scalars="diagonal",
    infer=_infer_direction,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def newton_direction(xp: Any, gradient: Any, changes: Any, steps: Any, weights: Any, diagonal: Any) -> Any:
    """Minus the gradient times the remembered inverse curvature: Nocedal's two loops over the rows."""
    shares = [None] * len(weights)
    vector = -gradient
    for i in reversed(range(len(weights))):
        shares[i] = weights[i] * (steps[i] * vector).sum()
        vector = vector - shares[i] * changes[i]
    vector = vector * diagonal.astype(vector.dtype)
    for i in range(len(weights)):
        vector = vector + (shares[i] - weights[i] * (changes[i] * vector).sum()) * steps[i]
    return vector


def _newton_direction_in_loops(xp: Any, gradient: Any, changes: Any, steps: Any, weights: Any, diagonal: Any) -> Any:
    """The same with loops of XLA: the size of the program does not depend on the number of rows."""
    from jax import lax

    def back(vector: Any, row: Any) -> tuple[Any, Any]:
        change, step, weight = row
        share = weight * (step * vector).sum()
        return vector - share * change, share

    def forth(vector: Any, row: Any) -> tuple[Any, None]:
        change, step, weight, share = row
        return vector + (share - weight * (change * vector).sum()) * step, None

    vector, shares = lax.scan(back, -gradient, (changes, steps, weights), reverse=True)
    vector = vector * diagonal.astype(vector.dtype)
    return lax.scan(forth, vector, (changes, steps, weights, shares))[0]


newton_direction.operation.kernels["xla"] = _newton_direction_in_loops


class Memory:
    """The state of a run of LBFGS; attributes have the names of Paddle's state dictionary."""

    def __init__(self, history_size: int) -> None:
        self._history_size = history_size
        self.func_evals = self.n_iter = 0
        self.d: Any = None
        self.alpha: Any = None
        self.prev_flat_grad: Any = None
        self.prev_loss: Any = None
        self.H_diag = 1.0
        self._changes: Any = None
        self._steps: Any = None
        self._weights: list[float] = []

    def remember(self, gradient: Tensor) -> None:
        """Keeps the last step and the change of the gradient along it."""
        change, step = gradient - self.prev_flat_grad, self.d * self.alpha
        curvature, square = numbers_of((change * step).sum(), (change * change).sum())
        if curvature > _SMALLEST_CURVATURE:
            self._append(change, step)
            self._weights.append(1.0 / curvature)
            self._weights = self._weights[-self._history_size :]
            self.H_diag = curvature / square

    def _append(self, change: Tensor, step: Tensor) -> None:
        capacity = 0 if self._changes is None else self._changes.shape[0]
        if len(self._weights) == capacity < self._history_size:
            more = min(max(capacity, _FIRST_CAPACITY), self._history_size - capacity)
            empty = zeros_of(change._aval.with_shape((more, *change._aval.shape)))
            self._changes = empty if self._changes is None else concat([empty, self._changes])
            self._steps = empty if self._steps is None else concat([empty, self._steps])
        # The oldest row (or an empty one) makes room for the newest.
        self._changes = concat([self._changes[1:], change.unsqueeze(0)])  # type: ignore[index]
        self._steps = concat([self._steps[1:], step.unsqueeze(0)])  # type: ignore[index]

    def newton_direction(self, gradient: Tensor) -> Tensor:
        if not self._weights:
            return -gradient
        capacity = self._changes.shape[0]
        weights = np.zeros(capacity, gradient._aval.dtype)
        weights[capacity - len(self._weights) :] = self._weights
        table = tensor_from_data(weights)._to_place(gradient._aval.place)
        return newton_direction(gradient, self._changes, self._steps, table, self.H_diag)

    def state(self) -> dict[str, Any]:
        """As a dictionary with Paddle's names; empty before the first step."""
        if not self.func_evals:
            return {}
        names = ("func_evals", "n_iter", "d", "alpha", "H_diag", "prev_flat_grad", "prev_loss")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        count = len(self._weights)
        for name, table in (("old_yk", self._changes), ("old_sk", self._steps)):
            capacity = table.shape[0] if count else 0
            found[name] = [table[i].clone() for i in range(capacity - count, capacity)]
        found["ro"] = list(self._weights)
        return found

    def load(self, found: dict[str, Any]) -> None:
        """Takes back what `state` gave."""
        self.__init__(self._history_size)
        for name in ("func_evals", "n_iter", "alpha", "prev_loss"):
            setattr(self, name, found.get(name, getattr(self, name)))
        for name in ("d", "prev_flat_grad"):
            value = found.get(name)
            setattr(self, name, value if value is None or isinstance(value, Tensor) else tensor_from_data(value))
        self.H_diag = float(found.get("H_diag", 1.0))
        for change, step, weight in zip(
            found.get("old_yk", ()), found.get("old_sk", ()), found.get("ro", ()), strict=True
        ):
            rows = [row if isinstance(row, Tensor) else tensor_from_data(row) for row in (change, step)]
            self._append(*rows)
            self._weights.append(float(weight))
