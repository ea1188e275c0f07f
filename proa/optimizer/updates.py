"""The updates themselves: one recorded operation changes all parameters of a bucket.

Operands are some dynamic scalars, then columns of `count` tensors each: parameters, gradients, one
column for each kind of state, and float32 master weights where parameters are of a half type.
Results are the new parameters, states and master weights, in the same order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..eager.declare import op
from ..eager.dispatch import record
from ..eager.tensor import Tensor, new_results
from ..eager.views import is_shared, replace_value
from ..ir.capture import operand_of
from ..ir.live import LiveNumber
from ..ir.operation import Operation
from ..ir.padding import rules
from ..ir.recorder import LOCAL, STATE, WrongPlace, after_record
from ..kernels.cpu.updates import native_adam, native_momentum, native_sgd
from ..kernels.gpu.cold import updates as cold


def record_update(
    operation: Operation,
    scalars: Sequence[Any],
    tensors: Sequence[Tensor],
    attributes: tuple[Any, ...],
    targets: Sequence[Tensor],
) -> None:
    """Records an update and lets `targets` take its results, in order.

    The same as `record` and `replace_value` for each result, without a tensor made for each of
    them: a step is on the hot path of every training loop. Histories and versions are not touched.
    """
    segment = LOCAL.segment
    try:
        indices = [t._index for t in tensors]  # before the segments, see the invariants in ir/recording/segment.py
        segment.note_inputs(tensors, indices)
    except WrongPlace:
        results = record(operation, [*scalars, *tensors], attributes)
        for target, result in zip(targets, results, strict=True):
            replace_value(target, result)
        return
    if segment.captures:
        scalars = [operand_of(s) if isinstance(s, LiveNumber) else s for s in scalars]
    count = len(scalars)
    kinds = itertools.chain((float,) * count, (tensor._aval for tensor in tensors))  # asked for the first time only
    attributes, keys = operation.identify(*attributes)
    node = segment.record(operation, [*(float,) * count, *indices], kinds, attributes, keys, scalars)
    if segment.captures:
        for target in targets:
            segment.remember(target)  # type: ignore[attr-defined]
    index = node.index
    append = segment.refs.append
    shown: list[tuple[Tensor, Tensor]] = []
    with STATE:
        for target in targets:
            if (target._view is not None or target._views) and is_shared(target):
                shown.append((target, new_results(segment, (target._aval,), index)[0]))
            else:
                if target._value is not None or target._segment is not segment:
                    append(target)
                target._value = None
                target._segment = segment
                target._index = index
            index += 1
    if node.hook:
        after_record(segment, node)
    # Whoever shares memory with a target sees the change, too. That is recorded, and may be run, so it comes last.
    for target, result in shown:
        replace_value(target, result)


# ---- kernels -------------------------------------------------------------------------------------


def infer_update(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> tuple[Aval, ...]:
    avals = [kind for kind in operands if isinstance(kind, Aval)]
    count = attributes[0]
    params, grads = avals[:count], avals[count : 2 * count]
    for param, grad in zip(params, grads, strict=True):
        if param.shape != grad.shape:
            raise operation.error(
                ValueError,
                f"a gradient has the shape {list(grad.shape)}, its parameter {list(param.shape)}",
                [param, grad],
            )
    return (*params, *avals[2 * count :])


def _as(array: Any, dtype: Any) -> Any:
    """The array in a type; itself where it has it, for NumPy would copy it."""
    return array if array.dtype == dtype else array.astype(dtype)


def _wide(array: Any) -> Any:
    return array.astype(np.float32) if array.dtype.itemsize <= 2 else array


def each(
    arrays: Sequence[Any], num_scalars: int, count: int, has_masters: bool, rule: Callable[..., Any]
) -> tuple[Any, ...]:
    """Runs `rule(value, gradient, *states)` on every parameter, in float32 at least."""
    tensors = arrays[num_scalars:]
    columns = [tensors[i : i + count] for i in range(0, len(tensors), count)]
    params, grads, *states = columns
    masters = states.pop() if has_masters else params
    results: list[list[Any]] = [[] for _ in range(1 + len(states) + has_masters)]
    for position in range(count):
        value = _wide(masters[position])
        grad = _as(grads[position], value.dtype)
        old = [column[position] for column in states]
        new_value, *new = rule(value, grad, *[_as(state, value.dtype) for state in old])
        results[0].append(_as(new_value, params[position].dtype))
        for column, state, before in zip(results[1:], new, old, strict=False):
            column.append(_as(state, before.dtype))
        if has_masters:
            results[-1].append(new_value)
    return tuple(result for column in results for result in column)


def with_decay(xp: Any, grad: Any, value: Any, decay: Any, kind: str) -> Any:
    """The gradient with the term of a weight decay that is part of the loss."""
    if kind == "l2":
        return grad + decay.astype(value.dtype) * value
    if kind == "l1":
        return grad + decay.astype(value.dtype) * xp.sign(value)
    return grad


def _rows_of_zeros(xp: Any, grad: Any) -> Any:
    """Which rows (of the first axis) are zero throughout, in a form that broadcasts with `grad`."""
    return ~xp.any(grad != 0, axis=tuple(range(1, grad.ndim)), keepdims=True)


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def sgd_update(xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool) -> Any:
    """`w -= rate * g`; scalars: rate, decay."""
    rate, decay = arrays[:2]

    def rule(value: Any, grad: Any) -> tuple[Any]:
        grad = with_decay(xp, grad, value, decay, decay_kind)
        return (value - rate.astype(value.dtype) * grad,)

    return each(arrays, 2, count, has_masters, rule)


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def momentum_update(
    xp: Any, arrays: Sequence[Any], count: int, decay_kind: str, has_masters: bool, nesterov: bool
) -> Any:
    """`v = m v + g; w -= rate * v` (or `rate * (g + m v)`); scalars: rate, decay, m, scale of g."""
    rate, decay, momentum, rescale = arrays[:4]

    def rule(value: Any, grad: Any, velocity: Any) -> tuple[Any, Any]:
        kept, step = momentum.astype(value.dtype), rate.astype(value.dtype)
        grad = with_decay(xp, grad * rescale.astype(value.dtype), value, decay, decay_kind)
        velocity = kept * velocity + grad
        direction = grad + kept * velocity if nesterov else velocity
        return value - step * direction, velocity

    return each(arrays, 4, count, has_masters, rule)


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=infer_update,
    follow_scalars=False,
    padding=rules.refused("a parameter or its gradient has a padded axis"),
)
def adam_update(
    xp: Any,
    arrays: Sequence[Any],
    count: int,
    decay_kind: str,
    has_masters: bool,
    amsgrad: bool,
    lazy: bool = False,
) -> Any:
    """Adam; scalars: rate, epsilon, decay, beta1, beta2. The last array counts the steps before this one.

    A decay of the kind "decoupled" shrinks the weights by its size times the rate first (AdamW). Steps are counted here,
    not on the host, so that the scalars stay the same while the learning rate does. A `lazy` update leaves the rows
    without a gradient as they are, states and all.
    """
    rate, epsilon, decay, beta1, beta2 = arrays[:5]
    steps = arrays[-1] + 1
    correction = xp.sqrt(1 - beta2**steps)
    if decay_kind == "decoupled":
        decay = rate * decay
    rate, epsilon = rate * correction / (1 - beta1**steps), epsilon * correction
    factors: dict[Any, list[Any]] = {}  # by the dtype of parameters: once for all of them

    def rule(value: Any, grad: Any, first: Any, second: Any, *largest: Any) -> tuple[Any, ...]:
        kind = value.dtype
        before, untouched = (value, first, second, *largest), _rows_of_zeros(xp, grad) if lazy else None
        if decay_kind == "decoupled":
            value = value * (1 - decay).astype(kind)
        else:
            grad = with_decay(xp, grad, value, decay, decay_kind)
        if kind not in factors:
            factors[kind] = [n.astype(kind) for n in (beta1, 1 - beta1, beta2, 1 - beta2, epsilon, rate)]
        keep1, take1, keep2, take2, least, speed = factors[kind]
        first = keep1 * first + take1 * grad
        second = keep2 * second + take2 * grad * grad
        largest = (xp.maximum(largest[0], second),) if amsgrad else ()
        root = xp.sqrt(largest[0] if amsgrad else second) + least
        after = (value - speed * (first / root), first, second, *largest)
        if untouched is None:
            return after
        return tuple(xp.where(untouched, old, new) for old, new in zip(before, after, strict=True))

    return (*each(arrays[:-1], 5, count, has_masters, rule), steps)


for _update, _native in ((sgd_update, native_sgd), (momentum_update, native_momentum), (adam_update, native_adam)):
    _update.operation.kernels["cpu"] = _native(_update.operation.kernel)
for _update, _cold in ((sgd_update, cold.sgd), (momentum_update, cold.momentum), (adam_update, cold.adam)):
    _update.operation.kernels["cupy"] = _cold(_update.operation.kernel)
