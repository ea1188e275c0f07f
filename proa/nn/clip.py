"""Gradient clipping: `ClipGradByValue`, `ClipGradByNorm`, `ClipGradByGlobalNorm`.

An optimiser calls a clip with its (parameter, gradient) pairs before the update. All gradients are
clipped by one recorded operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval, make_aval
from ..core.dtype import FLOAT32
from ..core.errors import failed_check
from ..eager.declare import op
from ..eager.dispatch import record
from ..eager.moving import put_whole
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor
from ..ir.padding import rules
from ..ir.recording.mode import Mode
from ..ops.layout import devices_of_tensor

Pairs = list[tuple[Parameter, Tensor | None]]


def _infer_each(operation: Any, operands: Any, attributes: Any, place: Any) -> tuple[Aval, ...]:
    return tuple(kind for kind in operands if isinstance(kind, Aval))


def _infer_rest(operation: Any, operands: Any, attributes: Any, place: Any) -> tuple[Aval, ...]:
    return _infer_each(operation, operands, attributes, place)[1:]


def _wide(array: Any) -> Any:
    return array.astype(np.float32) if array.dtype.itemsize <= 2 else array


@op("x", variadic=True, outputs="list", infer=_infer_each, follow_scalars=False, padding=rules.untouched.each)
def clip_by_value(xp: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Each gradient between the first two operands."""
    low, high, *grads = arrays
    return tuple(xp.clip(g, low.astype(g.dtype), high.astype(g.dtype)) for g in grads)


@op("x", variadic=True, outputs="list", infer=_infer_each, follow_scalars=False, padding=rules.untouched.norms)
def clip_by_norm(xp: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Each gradient scaled down to a norm of at most the first operand."""
    limit, *grads = arrays
    clipped = []
    for g in grads:
        norm = xp.sqrt(xp.sum(xp.square(_wide(g))))
        bound = limit.astype(norm.dtype)
        scale = bound / xp.maximum(norm, bound)
        clipped.append((_wide(g) * scale).astype(g.dtype))
    return tuple(clipped)


@op("x", variadic=True, outputs="list", infer=_infer_each, follow_scalars=False, padding=rules.untouched.norms)
def clip_by_global_norm(xp: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """All gradients scaled down together to a norm of at most the first operand."""
    limit, *grads = arrays
    squares = [xp.sum(xp.square(_wide(g))) for g in grads]
    total = xp.sqrt(xp.sum(xp.stack([square.astype(np.float32) for square in squares])))
    bound = limit.astype(total.dtype)
    scale = bound / xp.maximum(total, bound)
    return tuple((_wide(g) * scale.astype(_wide(g).dtype)).astype(g.dtype) for g in grads)


def _infer_total(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    return make_aval((), FLOAT32, place)


@op(
    "x",
    variadic=True,
    infer=_infer_total,
    follow_scalars=False,
    padding=rules.refused("gradients on several meshes have sizes of their own"),
)
def sum_of_squares(xp: Any, arrays: Sequence[Any]) -> Any:
    """The square of the joint norm of some gradients."""
    return xp.sum(xp.stack([xp.sum(xp.square(_wide(g))).astype(np.float32) for g in arrays]))


@op(
    "x",
    variadic=True,
    outputs="list",
    infer=_infer_rest,
    follow_scalars=False,
    padding=rules.refused("gradients on several meshes have sizes of their own"),
)
def clip_by_total(xp: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Gradients scaled down so that a joint norm, whose square is the second operand, is at most the first one."""
    limit, total, *grads = arrays
    bound = limit.astype(total.dtype)
    scale = bound / xp.maximum(xp.sqrt(total), bound)
    return tuple((_wide(g) * scale.astype(_wide(g).dtype)).astype(g.dtype) for g in grads)


def _by_mesh(grads: list[Any]) -> list[tuple[Any, list[int]]]:
    """The positions of gradients, by the devices that they lie on: the stages of a pipeline have their own."""
    if not Mode.sharded:
        return [(None, list(range(len(grads))))]
    found: dict[Any, list[int]] = {}
    for position, grad in enumerate(grads):
        found.setdefault(devices_of_tensor(grad), []).append(position)
    return list(found.items())


class ClipGradBase:
    """Base: clips the gradients of parameters that allow it (`need_clip`).

    A subclass may define `_dygraph_clip(params_grads)`, as in Paddle.
    """

    _operation: Any
    _limits: tuple[float, ...]

    def __call__(self, params_grads: Pairs) -> Pairs:
        return self._dygraph_clip(params_grads)

    def _dygraph_clip(self, params_grads: Pairs) -> Pairs:
        chosen = [
            position
            for position, (parameter, grad) in enumerate(params_grads)
            if grad is not None and getattr(parameter, "need_clip", True)
        ]
        if not chosen:
            return params_grads
        grads = [params_grads[position][1] for position in chosen]
        clipped = self._clip(grads)
        result = list(params_grads)
        for position, grad in zip(chosen, clipped, strict=True):
            result[position] = (params_grads[position][0], grad)
        return result

    def _clip(self, grads: list[Any]) -> list[Any]:
        clipped: list[Any] = [None] * len(grads)
        for _, positions in _by_mesh(grads):
            made = record(self._operation.operation, [*self._limits, *(grads[i] for i in positions)], ())
            for position, grad in zip(positions, made, strict=True):
                clipped[position] = grad
        return clipped


class ClipGradByValue(ClipGradBase):
    """Cuts every element of every gradient to the range from `min` to `max`. An optimiser takes it as `grad_clip`.

    Args:
        max: the largest element.
        min: the smallest; `-max` if left out.

    Raises:
        ValueError: `max` is not positive and `min` is left out.

    Examples:
        >>> weight = paddle.create_parameter([2], "float32")
        >>> clip = paddle.nn.ClipGradByValue(1.0)
        >>> clip([(weight, paddle.to_tensor([3.0, -0.5]))])[0][1].tolist()
        [1.0, -0.5]
    """

    _operation = clip_by_value

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None and max <= 0:
            raise failed_check("ClipGradByValue", "max must be positive when min is left out", f"max: {max}")
        self.max, self.min = float(max), float(-max if min is None else min)
        self._limits = (self.min, self.max)

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min}, max={self.max}"


class ClipGradByNorm(ClipGradBase):
    """Scales each gradient whose norm is above `clip_norm` down to it, each on its own.

    Args:
        clip_norm: the largest norm of a gradient.

    Examples:
        >>> weight = paddle.create_parameter([2], "float32")
        >>> clip = paddle.nn.ClipGradByNorm(1.0)
        >>> print(clip([(weight, paddle.to_tensor([3.0, 4.0]))])[0][1].numpy().round(4))
        [0.6 0.8]
    """

    _operation = clip_by_norm

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = float(clip_norm)
        self._limits = (self.clip_norm,)

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm}"


class ClipGradByGlobalNorm(ClipGradBase):
    """Scales all gradients by one factor so that their joint norm is at most `clip_norm`.

    Args:
        clip_norm: the largest joint norm.
        group_name: accepted for compatibility.
        auto_skip_clip: accepted for compatibility.

    Examples:
        >>> model = paddle.nn.Linear(2, 1)
        >>> clip = paddle.nn.ClipGradByGlobalNorm(1.0)
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters(), grad_clip=clip)
        >>> clipped = clip([(weight, paddle.full_like(weight, 4.0)) for weight in model.parameters()])
        >>> round(sum((grad ** 2).sum().item() for _, grad in clipped), 4)
        1.0
    """

    _operation = clip_by_global_norm

    def __init__(self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False) -> None:
        self.clip_norm, self.group_name = float(clip_norm), group_name
        self._limits = (self.clip_norm,)

    def _clip(self, grads: list[Any]) -> list[Any]:
        groups = _by_mesh(grads)
        if len(groups) == 1:
            return super()._clip(grads)
        # Gradients stay where they are; one number of each mesh goes to the first one, and their sum back.
        home = next(devices for devices, _ in groups if devices is not None)
        squares = [record(sum_of_squares.operation, [grads[i] for i in positions], ()) for _, positions in groups]
        total = put_whole(squares[0], home)
        for square in squares[1:]:
            total = total + put_whole(square, home)
        clipped: list[Any] = [None] * len(grads)
        for devices, positions in groups:
            here = total if devices is None else put_whole(total, devices)
            made = record(clip_by_total.operation, [self.clip_norm, here, *(grads[i] for i in positions)], ())
            for position, grad in zip(positions, made, strict=True):
                clipped[position] = grad
        return clipped

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm}"
