"""Which wrapper a model gets, from how the processes of a job are arranged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.errors import type_error
from ..environment import ParallelMode
from ..parallel import DataParallel
from .base.synchronising import is_of_expert
from .meta_parallel import (
    PipelineLayer,
    PipelineParallel,
    PipelineParallelWithInterleave,
    SegmentParallel,
    ShardingParallel,
    TensorParallel,
)

_WRAPPERS = {
    ParallelMode.TENSOR_PARALLEL: TensorParallel,
    ParallelMode.SHARDING_PARALLEL: ShardingParallel,
    ParallelMode.SEGMENT_PARALLEL: SegmentParallel,
}


def divides_data_only(hcg: Any, parameters: Iterable[Any]) -> bool:
    """Whether nothing but data is divided: neither the model, nor its experts, nor the optimiser's states."""
    mode, degree = hcg.get_parallel_mode(), hcg.get_group("expert").nranks
    return mode == ParallelMode.DATA_PARALLEL and degree == 1 and not any(map(is_of_expert, parameters))


def wrapped(model: Any, hcg: Any, strategy: Any) -> Any:
    """The model under its wrapper."""
    mode = hcg.get_parallel_mode()
    if divides_data_only(hcg, model.parameters()):
        return DataParallel(
            model, comm_buffer_size=getattr(strategy, "fuse_grad_size_in_MB", 32),
            find_unused_parameters=bool(getattr(strategy, "find_unused_parameters", False)),
        )  # fmt: skip
    if mode != ParallelMode.PIPELINE_PARALLEL:
        return _WRAPPERS.get(mode, TensorParallel)(model, hcg, strategy)
    if not isinstance(model, PipelineLayer):
        raise type_error(
            "fleet.distributed_model", "with a pp_degree above 1 a model must be a PipelineLayer", type(model).__name__
        )
    kind = PipelineParallelWithInterleave if model.get_num_virtual_stages() > 1 else PipelineParallel
    return kind(model, hcg, strategy)
