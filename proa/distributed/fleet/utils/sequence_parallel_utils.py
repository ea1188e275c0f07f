"""Sequence parallelism: between the layers with divided weights, activations are divided along the sequence.

Activations are `[sequence, batch, features]`, each process of the model-parallel group having a piece of the sequence. A
group of one keeps them whole. Parameters that each process uses for its own piece (norms, biases behind a sum) get only that
piece's gradient: they are marked, and hooks sum their gradients over the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....autograd.py_layer import PyLayer
from ....core.errors import value_error
from ....eager.engine import after_backward
from ....eager.tensor import Tensor
from ....nn import functional as F
from ....ops.shape.joining import concat, split
from ...gradients import average
from ...group import Group
from ...operations import all_gather_op, reduce_scatter_op
from ..base.topology import get_hybrid_communicate_group
from ..layers.mpu.mp_layers import ColumnParallelLinear, RowParallelLinear, model_parallel_group


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


class ColumnSequenceParallelLinear(ColumnParallelLinear):
    """A linear layer with divided outputs behind a divided sequence."""

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: Any = None,
        gather_output: bool = True, fuse_matmul_bias: bool = False, mp_group: Group | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_features, out_features, weight_attr, has_bias, gather_output, fuse_matmul_bias, mp_group, name
        )
        if gather_output and self.is_mp:
            raise value_error(
                "ColumnSequenceParallelLinear",
                "outputs stay divided",
                "gather_output: True",
                "give gather_output=False",
            )

    def forward(self, x: Any) -> Any:
        return F.linear(AllGatherOp.apply(x, group=self.model_parallel_group), self.weight, self.bias)


class RowSequenceParallelLinear(RowParallelLinear):
    """A linear layer with divided inputs before a divided sequence."""

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool = True,
        input_is_parallel: bool = False, fuse_matmul_bias: bool = False, mp_group: Group | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_features, out_features, weight_attr, has_bias, input_is_parallel, fuse_matmul_bias, mp_group, name
        )
        if not input_is_parallel and self.is_mp:
            raise value_error(
                "RowSequenceParallelLinear", "inputs come divided", "input_is_parallel: False",
                "give input_is_parallel=True",
            )  # fmt: skip

    def forward(self, x: Any) -> Any:
        total = ReduceScatterOp.apply(F.linear(x, self.weight), group=self.model_parallel_group)
        return total if self.bias is None else total + self.bias


def mark_as_sequence_parallel_parameter(parameter: Any) -> None:
    """Notes that the parameter's gradient is to be summed over the group."""
    parameter.sequence_parallel = True


def is_sequence_parallel_parameter(parameter: Any) -> bool:
    return getattr(parameter, "sequence_parallel", False)


class _Summing:
    """Sums gradients of parameters over the model-parallel group, once in `accumulation_steps` backward passes."""

    def __init__(self, parameters: Sequence[Any], group: Group, accumulation_steps: int) -> None:
        self.parameters, self.group, self.every = parameters, group, max(1, accumulation_steps)
        self.passes = 0
        for parameter in parameters:
            parameter._register_backward_hook(self._arrived)

    def _arrived(self) -> None:
        after_backward(self, self._sum)

    def _sum(self) -> None:
        self.passes += 1
        if self.passes % self.every == 0:
            average([each._grad for each in self.parameters if each._grad is not None], self.group, reduction="sum")


def _sum_after_backward(parameters: Sequence[Any], accumulation_steps: int) -> list[Any]:
    groups = get_hybrid_communicate_group()
    group = None if groups is None else model_parallel_group(groups.get_group("model"))
    trained = [each for each in parameters if not each.stop_gradient]
    return [_Summing(trained, group, accumulation_steps)] if group is not None and trained else []


def register_sequence_parallel_allreduce_hooks(
    model: Any, accumulation_steps: int, fuse_sequence_parallel_allreduce: bool = False
) -> None:
    """Has the gradients of marked parameters summed over the group after each `accumulation_steps`-th backward pass."""
    _sum_after_backward(
        [each for each in model.parameters() if is_sequence_parallel_parameter(each)], accumulation_steps
    )


def create_fused_allreduce_gradient_hooks(parameter_list: Any, accumulation_steps: int) -> list[Any]:
    """The same for given parameters."""
    return _sum_after_backward(list(parameter_list), accumulation_steps)
