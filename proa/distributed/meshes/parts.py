"""Partial tensors. XLA has partial values inside its programs only, so here the parts are a tensor of their own: one more
dimension in front for each axis of the mesh that is partial, cut over that axis. Each device has its part, no more.

The partial tensor itself is the reduction of its parts, an ordinary tensor that any operation takes. It is an operation like
any other: gradients reach the parts through it, and XLA decides whether an all-reduce or a reduce-scatter does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...eager.tensor import Tensor
from ...ops.basic import cast_to, full_of, sum
from ...ops.layout import constrain
from ...ops.math.reduction import all as all_of
from ...ops.math.reduction import any as any_of
from ...ops.math.reduction import max, mean, min, prod
from ...ops.shape.joining import concat
from ...ops.shape.manipulation import unsqueeze
from .layouts import attributes_of, partial_axes
from .mesh import ProcessMesh
from .placement import Partial, Placement, ReduceType, Replicate, Shard

_REDUCTIONS: dict[ReduceType, Any] = {
    ReduceType.kRedSum: sum, ReduceType.kRedMax: max, ReduceType.kRedMin: min, ReduceType.kRedProd: prod,
    ReduceType.kRedAvg: mean, ReduceType.kRedAny: any_of, ReduceType.kRedAll: all_of,
}  # fmt: skip
# What the other parts hold beside a whole one, so that the reduction gives it back; elsewhere each part is the whole.
_NEUTRAL = {ReduceType.kRedSum: 0, ReduceType.kRedProd: 1}


def placements_of_parts(placements: Sequence[Placement]) -> tuple[Placement, ...]:
    """Where the parts lie: each partial axis cuts the dimension that stands for it."""
    front = {axis: number for number, (axis, _) in enumerate(partial_axes(placements))}
    return tuple(
        Shard(front[axis]) if axis in front else Shard(one.dim + len(front)) if isinstance(one, Shard) else Replicate()
        for axis, one in enumerate(placements)
    )


def laid_out(parts: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> Tensor:
    return constrain(parts, attributes_of(parts._aval.shape, mesh, placements_of_parts(placements)))


def reduced(parts: Tensor, placements: Sequence[Placement]) -> Tensor:
    """The whole that parts stand for."""
    dtype = parts._aval.dtype
    for _, placement in partial_axes(placements):
        parts = _REDUCTIONS[placement.reduce_type()](parts, 0)
    return parts if parts._aval.dtype == dtype else cast_to(parts, dtype)  # a sum of small integers is an int64


def divided(x: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> Tensor:
    """Parts whose reduction is exactly `x`."""
    for axis, placement in reversed(partial_axes(placements)):
        x = _beside_neutral(x, mesh.shape[axis], placement)
    return x


def _beside_neutral(x: Tensor, count: int, placement: Partial) -> Tensor:
    part = unsqueeze(x, 0)
    neutral = _NEUTRAL.get(placement.reduce_type())
    if count == 1:
        return part
    if neutral is None:
        return concat([part] * count, 0)
    return concat([part, full_of(neutral, (count - 1, *x._aval.shape), x._aval.dtype)], 0)
