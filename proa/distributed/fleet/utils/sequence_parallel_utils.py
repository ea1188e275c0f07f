"""Sequence parallelism: between the layers with divided weights, activations are divided along the sequence.

Activations are `[sequence, batch, features]`, each process of the model-parallel group having a piece of the sequence. A
group of one keeps them whole. Parameters that each process uses for its own piece (norms, biases behind a sum) get only that
piece's gradient: they are marked, and hooks sum their gradients over the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.errors import value_error
from ....eager.backward.engine import after_backward
from ....nn import functional as F
from ...gradients import average
from ...group import Group
from ..base.topology import get_hybrid_communicate_group
from ..layers.mpu.mp_layers import ColumnParallelLinear, RowParallelLinear, model_parallel_group
from ..layers.mpu.sequence_ops import (
    AllGatherOp,
    GatherOp,
    ReduceScatterOp,
    ScatterOp,
    all_gather,
    reduce_scatter,
    scatter,
)

__all__ = [
    "AllGatherOp", "ColumnSequenceParallelLinear", "GatherOp", "ReduceScatterOp", "RowSequenceParallelLinear", "ScatterOp",
    "all_gather", "create_fused_allreduce_gradient_hooks", "is_sequence_parallel_parameter",
    "mark_as_sequence_parallel_parameter", "reduce_scatter", "register_sequence_parallel_allreduce_hooks", "scatter",
]  # fmt: skip


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
