"""Updates of the optimisers that give every element a step of its own; see `updates.py` for the form of operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..eager.declare import op
from ..ir.padding import rules
from .updates import each, infer_update, with_decay

# How fast NAdam lets its momentum grow, from the paper; Paddle has it fixed, too.
_MOMENTUM_GROWTH = 0.96


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def adagrad_update(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool) -> Any:
    """`s += g²; w -= rate * g / (sqrt(s) + epsilon)`; scalars: rate, decay, epsilon."""
    rate, decay, epsilon = arrays[:3]

    def rule(value: Any, grad: Any, squares: Any) -> tuple[Any, Any]:
        kind = value.dtype
        grad = with_decay(xp, grad, value, decay, decay_kind)
        squares = squares + grad * grad
        return value - rate.astype(kind) * grad / (xp.sqrt(squares) + epsilon.astype(kind)), squares

    return each(arrays, 3, count, has_masters, rule)


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def adadelta_update(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool) -> Any:
    """Steps in the ratio of running roots of squares: of steps to gradients; scalars: rate, decay, epsilon, rho."""
    rate, decay, epsilon, rho = arrays[:4]

    def rule(value: Any, grad: Any, squares: Any, steps: Any) -> tuple[Any, Any, Any]:
        kind = value.dtype
        kept, fresh, small = rho.astype(kind), (1 - rho).astype(kind), epsilon.astype(kind)
        grad = with_decay(xp, grad, value, decay, decay_kind)
        squares = kept * squares + fresh * grad * grad
        step = xp.sqrt((steps + small) / (squares + small)) * grad
        return value - rate.astype(kind) * step, squares, kept * steps + fresh * step * step

    return each(arrays, 4, count, has_masters, rule)


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def rmsprop_update(
    xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool, centered: bool
) -> Any:
    """Gradients over their running root mean square (or deviation), with momentum.

    Scalars: rate, decay, epsilon, rho, momentum.
    """
    rate, decay, epsilon, rho, momentum = arrays[:5]

    def rule(value: Any, grad: Any, velocity: Any, squares: Any, mean: Any) -> tuple[Any, Any, Any, Any]:
        kind = value.dtype
        kept, fresh = rho.astype(kind), (1 - rho).astype(kind)
        grad = with_decay(xp, grad, value, decay, decay_kind)
        squares = kept * squares + fresh * grad * grad
        spread = squares
        if centered:
            mean = kept * mean + fresh * grad
            spread = squares - mean * mean
        velocity = momentum.astype(kind) * velocity + rate.astype(kind) * grad / xp.sqrt(spread + epsilon.astype(kind))
        return value - velocity, velocity, squares, mean

    return each(arrays, 5, count, has_masters, rule)


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def adamax_update(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool) -> Any:
    """Adam with the largest gradient in place of the root mean square.

    Scalars: rate, epsilon, decay, beta1, beta2. The last array counts the steps before this one.
    """
    rate, epsilon, decay, beta1, beta2 = arrays[:5]
    steps = arrays[-1] + 1
    rate = rate / (1 - beta1**steps)

    def rule(value: Any, grad: Any, mean: Any, largest: Any) -> tuple[Any, Any, Any]:
        kind = value.dtype
        grad = with_decay(xp, grad, value, decay, decay_kind)
        mean = beta1.astype(kind) * mean + (1 - beta1).astype(kind) * grad
        # Paddle's place for epsilon: beside the old maximum, so that it adds up a little from step to step.
        largest = xp.maximum(xp.abs(grad), beta2.astype(kind) * largest + epsilon.astype(kind))
        return value - rate.astype(kind) * (mean / largest), mean, largest

    return (*each(arrays[:-1], 5, count, has_masters, rule), steps)


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def nadam_update(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool) -> Any:
    """Adam with Nesterov's momentum, which grows; scalars: rate, epsilon, decay, beta1, beta2, momentum_decay.

    The last two arrays: the steps before this one, and the product of their momenta.
    """
    rate, epsilon, decay, beta1, beta2, momentum_decay = arrays[:6]
    steps = arrays[-2] + 1
    momentum = nadam_momentum(steps, beta1, momentum_decay)
    next_momentum = nadam_momentum(steps + 1, beta1, momentum_decay)
    product = arrays[-1] * momentum
    mean_rate = rate * next_momentum / (1 - product * next_momentum)
    grad_rate = rate * (1 - momentum) / (1 - product)
    correction = 1 - beta2**steps

    def rule(value: Any, grad: Any, mean: Any, squares: Any) -> tuple[Any, Any, Any]:
        kind = value.dtype
        grad = with_decay(xp, grad, value, decay, decay_kind)
        mean = beta1.astype(kind) * mean + (1 - beta1).astype(kind) * grad
        squares = beta2.astype(kind) * squares + (1 - beta2).astype(kind) * grad * grad
        root = xp.sqrt(squares / correction.astype(kind)) + epsilon.astype(kind)
        return value - (mean_rate.astype(kind) * mean + grad_rate.astype(kind) * grad) / root, mean, squares

    return (*each(arrays[:-2], 6, count, has_masters, rule), steps, product)


def nadam_momentum(step: Any, beta1: Any, momentum_decay: Any) -> Any:
    """NAdam's momentum at a step, counted from 1."""
    return beta1 * (1 - 0.5 * _MOMENTUM_GROWTH ** (step * momentum_decay))


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def radam_update(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool) -> Any:
    """Adam that divides by the root mean square only once its variance can be estimated.

    Scalars: rate, epsilon, decay, beta1, beta2. The last array counts the steps before this one.
    """
    rate, epsilon, decay, beta1, beta2 = arrays[:5]
    steps = arrays[-1] + 1
    power = beta2**steps
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * steps * power / (1 - power)
    certain = length > 5
    # The root of a negative number must not appear where the branch is not taken.
    safe = xp.where(certain, length, 6.0)
    trust = xp.sqrt((safe - 4) * (safe - 2) * longest / ((longest - 4) * (longest - 2) * safe)) * xp.sqrt(1 - power)
    rate = rate / (1 - beta1**steps)

    def rule(value: Any, grad: Any, mean: Any, squares: Any) -> tuple[Any, Any, Any]:
        kind = value.dtype
        grad = with_decay(xp, grad, value, decay, decay_kind)
        mean = beta1.astype(kind) * mean + (1 - beta1).astype(kind) * grad
        squares = beta2.astype(kind) * squares + (1 - beta2).astype(kind) * grad * grad
        scale = xp.where(certain, trust.astype(kind) / (xp.sqrt(squares) + epsilon.astype(kind)), xp.ones((), kind))
        return value - rate.astype(kind) * mean * scale, mean, squares

    return (*each(arrays[:-1], 5, count, has_masters, rule), steps)


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def lamb_update(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool, adapts: bool) -> Any:
    """Adam's direction plus weight decay, in steps as long as `rate` times the parameter.

    Scalars: rate, epsilon, decay of a regularizer, beta1, beta2, Lamb's own decay. The last array counts steps.
    """
    rate, epsilon, decay, beta1, beta2, own_decay = arrays[:6]
    steps = arrays[-1] + 1
    mean_correction, square_correction = 1 - beta1**steps, 1 - beta2**steps

    def rule(value: Any, grad: Any, mean: Any, squares: Any) -> tuple[Any, Any, Any]:
        kind = value.dtype
        grad = with_decay(xp, grad, value, decay, decay_kind)
        mean = beta1.astype(kind) * mean + (1 - beta1).astype(kind) * grad
        squares = beta2.astype(kind) * squares + (1 - beta2).astype(kind) * grad * grad
        root = xp.sqrt(squares / square_correction.astype(kind)) + epsilon.astype(kind)
        step = mean / mean_correction.astype(kind) / root + own_decay.astype(kind) * value
        if adapts:
            size, length = xp.sqrt(xp.sum(value * value)), xp.sqrt(xp.sum(step * step))
            one = xp.ones((), kind)
            step = step * xp.where((size > 0) & (length > 0), size / xp.where(length > 0, length, one), one)
        return value - rate.astype(kind) * step, mean, squares

    return (*each(arrays[:-1], 6, count, has_masters, rule), steps)


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def rprop_update(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool) -> Any:
    """Steps by the sign of the gradient; an element's step grows while its sign stays and shrinks when it turns.

    Scalars: decay, smallest and largest step, shrinking and growing factor.
    """
    decay, smallest, largest, shrink, grow = arrays[:5]

    def rule(value: Any, grad: Any, before: Any, length: Any) -> tuple[Any, Any, Any]:
        kind = value.dtype
        grad = with_decay(xp, grad, value, decay, decay_kind)
        turned = grad * before
        one, zero = xp.ones((), kind), xp.zeros((), kind)
        factor = xp.where(turned > 0, grow.astype(kind), xp.where(turned < 0, shrink.astype(kind), one))
        grad = xp.where(turned < 0, zero, grad)
        length = xp.clip(length * factor, smallest.astype(kind), largest.astype(kind))
        return value - xp.sign(grad) * length, grad, length

    return each(arrays, 5, count, has_masters, rule)


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def asgd_update(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool, batch_num: int) -> Any:
    """Steps along the mean of the last gradients, one for each batch; scalars: rate, decay.

    The sum of the gradients is kept beside them. The last array counts the steps before this one.
    """
    rate, decay = arrays[:2]
    steps = arrays[-1]
    row = (steps % batch_num).astype(np.int64)
    rate = rate / xp.minimum(steps + 1, np.float64(batch_num))

    def rule(value: Any, grad: Any, total: Any, rows: Any) -> tuple[Any, Any, Any]:
        grad = with_decay(xp, grad, value, decay, decay_kind)
        total = total - rows[row] + grad
        return value - rate.astype(value.dtype) * total, total, _with_row(rows, row, grad)

    return (*each(arrays[:-1], 2, count, has_masters, rule), steps + 1)


def _with_row(rows: Any, row: Any, value: Any) -> Any:
    """A table with one row exchanged."""
    if isinstance(rows, np.ndarray):
        rows = rows.copy()
        rows[row] = value
        return rows
    return rows.at[row].set(value)
