"""Exchanges along the sequence (axis 0 unless said otherwise) among the processes of a group, with gradients.

Without a group it is the model-parallel one of `fleet.init`; in a group of one nothing is done.
"""

from __future__ import annotations

from typing import Any

from .....autograd.py_layer import PyLayer
from .....core.errors import value_error
from .....eager.tensor import Tensor
from .....ops.shape.joining import concat, split
from ....group import Group
from ....transport.operations import all_gather_op, reduce_scatter_op
from .mp_layers import model_parallel_group


def scatter(input: Tensor, group: Group | None = None, axis: int = 0) -> Tensor:
    """This process's piece of the sequence."""
    found = model_parallel_group(group)
    if found is None:
        return input
    if input.shape[axis] % found.nranks:
        raise value_error(
            "ScatterOp", f"the sequence must divide into {found.nranks} equal pieces, one for each process",
            f"input: {input._aval}, axis {axis}", "pad the sequence",
        )  # fmt: skip
    return split(input, found.nranks, axis=axis)[found.rank]


def all_gather(input: Tensor, group: Group | None = None, axis: int = 0) -> Tensor:
    """The whole sequence."""
    found = model_parallel_group(group)
    if found is None:
        return input
    whole = all_gather_op(input, tuple(found.ranks))
    return whole if axis == 0 else concat(split(whole, found.nranks, axis=0), axis=axis)


def reduce_scatter(input: Tensor, group: Group | None = None, axis: int = 0) -> Tensor:
    """This process's piece of the sum over the group."""
    found = model_parallel_group(group)
    if found is None:
        return input
    pieces = input if axis == 0 else concat(split(input, found.nranks, axis=axis), axis=0)
    return reduce_scatter_op(pieces, tuple(found.ranks), "sum")


class _Exchange(PyLayer):
    """An exchange along the sequence, whose gradient is another one."""

    there: Any
    back: Any

    @classmethod
    def apply(cls, input: Tensor, axis: int = 0, group: Group | None = None) -> Tensor:
        return input if model_parallel_group(group) is None else super().apply(input, axis, group, cls)

    @staticmethod
    def forward(ctx: Any, input: Tensor, axis: int, group: Group | None, kind: Any) -> Tensor:
        ctx.axis, ctx.group, ctx.kind = axis, group, kind
        return kind.there(input, group, axis)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return ctx.kind.back(gradient, ctx.group, ctx.axis)


class ScatterOp(_Exchange):
    """Each process takes its piece of what all have; gradients are gathered."""

    there, back = staticmethod(scatter), staticmethod(all_gather)


class GatherOp(_Exchange):
    """Each process gets the whole, and all do the same with it: each takes its piece of the gradient."""

    there, back = staticmethod(all_gather), staticmethod(scatter)


class AllGatherOp(_Exchange):
    """Each process gets the whole, and does something else with it: gradients are summed."""

    there, back = staticmethod(all_gather), staticmethod(reduce_scatter)


class ReduceScatterOp(_Exchange):
    """Each process takes its piece of the sum; gradients are gathered."""

    there, back = staticmethod(reduce_scatter), staticmethod(all_gather)
