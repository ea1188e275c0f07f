"""Sequence parallelism: activations divided along the sequence. One process keeps them whole."""

from __future__ import annotations

from typing import Any

from ..layers.mpu.mp_layers import ColumnParallelLinear, RowParallelLinear


def scatter(input: Any, group: Any = None, axis: int = 0) -> Any:
    """This process's part of the sequence."""
    return input


all_gather = reduce_scatter = scatter


class _Whole:
    """An exchange along the sequence, as PyLayers are called."""

    @staticmethod
    def apply(input: Any, axis: int = 0, group: Any = None) -> Any:
        return input


class ScatterOp(_Whole):
    """Each process takes its part."""


class GatherOp(_Whole):
    """Each process gets the whole."""


class AllGatherOp(_Whole):
    """Each process gets the whole; gradients are summed."""


class ReduceScatterOp(_Whole):
    """The sum, of which each process takes its part."""


class ColumnSequenceParallelLinear(ColumnParallelLinear):
    """A linear layer with divided outputs behind a divided sequence."""

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: Any = None,
        gather_output: bool = True, fuse_matmul_bias: bool = False, mp_group: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_features, out_features, weight_attr, has_bias, gather_output, fuse_matmul_bias, mp_group, name
        )


class RowSequenceParallelLinear(RowParallelLinear):
    """A linear layer with divided inputs before a divided sequence."""

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool = True,
        input_is_parallel: bool = False, fuse_matmul_bias: bool = False, mp_group: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_features, out_features, weight_attr, has_bias, input_is_parallel, fuse_matmul_bias, mp_group, name
        )


def mark_as_sequence_parallel_parameter(parameter: Any) -> None:
    """Notes that the parameter's gradient is to be summed over the group."""
    parameter.sequence_parallel = True


def is_sequence_parallel_parameter(parameter: Any) -> bool:
    return getattr(parameter, "sequence_parallel", False)


def register_sequence_parallel_allreduce_hooks(
    model: Any, accumulation_steps: int, fuse_sequence_parallel_allreduce: bool = False
) -> None:
    """Gradients of marked parameters need no sum in one process."""


def create_fused_allreduce_gradient_hooks(parameter_list: Any, accumulation_steps: int) -> list[Any]:
    return []
