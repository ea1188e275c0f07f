"""`paddle.distributed.split` over processes: a divided layer as a function, for static programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .....core.errors import value_error
from .....core.tracebacks import boundary
from .....ir.recorder import LOCAL
from .mp_layers import ColumnParallelLinear, RowParallelLinear, VocabParallelEmbedding, model_parallel_group


@boundary
def split_among_processes(
    x: Any, size: Sequence[int], operation: str, axis: int = 0, num_partitions: int = 1, gather_out: bool = True,
    weight_attr: Any = None, bias_attr: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Applies a new layer whose weight, of shape `size`, is divided among `num_partitions` processes.

    `operation`: "linear", with rows (`axis` 0) or columns (1) divided, or "embedding", with rows divided. Each call makes
    new parameters, so it is for static programs; elsewhere use the layers themselves.
    """
    if LOCAL.segment.owner is None:
        raise value_error(
            "paddle.distributed.split", "each call makes a new layer, which only a static program keeps", "eager code",
            "use fleet.meta_parallel's ColumnParallelLinear, RowParallelLinear or VocabParallelEmbedding",
        )  # fmt: skip
    group = model_parallel_group(None)
    if num_partitions != (1 if group is None else group.nranks):
        raise value_error(
            "paddle.distributed.split", "num_partitions must be the mp_degree of fleet.init",
            f"num_partitions: {num_partitions}, mp_degree: {1 if group is None else group.nranks}",
        )  # fmt: skip
    if operation == "embedding" and axis == 0:
        return VocabParallelEmbedding(*size, weight_attr=weight_attr, name=name)(x)
    if operation != "linear" or axis not in (0, 1):
        raise value_error(
            "paddle.distributed.split", "operation must be 'linear' with axis 0 or 1, or 'embedding' with axis 0",
            f"operation: {operation!r}, axis: {axis}",
        )  # fmt: skip
    has_bias = bias_attr is not False
    if axis == 0:
        return RowParallelLinear(*size, weight_attr=weight_attr, has_bias=has_bias, input_is_parallel=True, name=name)(
            x
        )
    made = ColumnParallelLinear(*size, weight_attr=weight_attr, has_bias=has_bias, gather_output=gather_out, name=name)
    return made(x)
