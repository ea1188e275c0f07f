"""Gradient clipping: `ClipGradByValue`, `ClipGradByNorm`, `ClipGradByGlobalNorm`.

An optimiser calls a clip with its (parameter, gradient) pairs before the update. All gradients are
clipped by one recorded operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.errors import value_error
from ..eager.declare import op
from ..eager.dispatch import record
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor

Pairs = list[tuple[Parameter, Tensor | None]]


def _infer_each(operation: Any, operands: Any, attributes: Any, place: Any) -> tuple[Aval, ...]:
    return tuple(kind for kind in operands if isinstance(kind, Aval))


def _wide(array: Any) -> Any:
    return array.astype(np.float32) if array.dtype.itemsize <= 2 else array


@op("x", variadic=True, outputs="list", infer=_infer_each, follow_scalars=False)
def clip_by_value(xp: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Each gradient between the first two operands."""
    low, high, *grads = arrays
    return tuple(xp.clip(g, low.astype(g.dtype), high.astype(g.dtype)) for g in grads)


@op("x", variadic=True, outputs="list", infer=_infer_each, follow_scalars=False)
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


@op("x", variadic=True, outputs="list", infer=_infer_each, follow_scalars=False)
def clip_by_global_norm(xp: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """All gradients scaled down together to a norm of at most the first operand."""
    limit, *grads = arrays
    squares = [xp.sum(xp.square(_wide(g))) for g in grads]
    total = xp.sqrt(xp.sum(xp.stack([square.astype(np.float32) for square in squares])))
    bound = limit.astype(total.dtype)
    scale = bound / xp.maximum(total, bound)
    return tuple((_wide(g) * scale.astype(_wide(g).dtype)).astype(g.dtype) for g in grads)


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
        clipped = record(self._operation.operation, [*self._limits, *grads], ())
        result = list(params_grads)
        for position, grad in zip(chosen, clipped, strict=True):
            result[position] = (params_grads[position][0], grad)
        return result


class ClipGradByValue(ClipGradBase):
    """Cuts every element to [min, max]; `min` is -max if left out."""

    _operation = clip_by_value

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None and max <= 0:
            raise value_error("ClipGradByValue", "max must be positive when min is left out", f"max: {max}")
        self.max, self.min = float(max), float(-max if min is None else min)
        self._limits = (self.min, self.max)

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min}, max={self.max}"


class ClipGradByNorm(ClipGradBase):
    """Scales each gradient whose norm is above `clip_norm` down to it."""

    _operation = clip_by_norm

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = float(clip_norm)
        self._limits = (self.clip_norm,)

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm}"


class ClipGradByGlobalNorm(ClipGradBase):
    """Scales all gradients by one factor so that their joint norm is at most `clip_norm`."""

    _operation = clip_by_global_norm

    def __init__(self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False) -> None:
        self.clip_norm, self.group_name = float(clip_norm), group_name
        self._limits = (self.clip_norm,)

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm}"
