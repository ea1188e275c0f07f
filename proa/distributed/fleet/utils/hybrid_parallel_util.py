"""Exchanges of gradients and parameters between the processes of a job."""

from __future__ import annotations

from typing import Any

from ...gradients import average_gradients
from ...group import resolve
from ...parallel import sync_params_buffers


def _data_group(hcg: Any) -> Any:
    """The processes that train the same parameters on different data."""
    return None if hcg is None else hcg.get_data_parallel_group()


def fused_allreduce_gradients(parameter_list: Any, hcg: Any = None) -> None:
    """Gradients become means over the processes that train the same parameters."""
    fused_allreduce_gradients_with_group(parameter_list, _data_group(hcg))


def fused_allreduce_gradients_with_group(
    parameter_list: Any, group: Any, bucket_size: int = 128 * 1024 * 1024, scale: float | None = None
) -> None:
    """As above, over a group; with `scale`, gradients become sums divided by it."""
    found = resolve("fused_allreduce_gradients", group)
    if found is None or found.nranks == 1:
        return
    parameters = [parameter for parameter in parameter_list if not parameter.stop_gradient]
    average_gradients(parameters, found, bucket_size / 2**20)
    if scale is not None and scale != found.nranks:
        for parameter in parameters:
            if parameter.grad is not None:
                parameter.grad = parameter.grad * (found.nranks / scale)


def broadcast_dp_parameters(model: Any, hcg: Any = None, fuse_params: bool = True) -> None:
    """All processes begin with the same parameters."""
    found = resolve("broadcast_dp_parameters", _data_group(hcg))
    if found is not None:
        sync_params_buffers(model, found, found.ranks[0], is_model_parallel=True)


broadcast_mp_parameters = broadcast_sharding_parameters = broadcast_sep_parameters = broadcast_dp_parameters


def obtain_optimizer_parameters_list(optimizer: Any) -> list[Any]:
    """The parameters of an optimiser, groups flattened."""
    parameters = optimizer._parameter_list or []
    if parameters and isinstance(parameters[0], dict):
        return [parameter for group in parameters for parameter in group["params"]]
    return list(parameters)


def unwrap_optimizer(optimizer: Any, optimizer_instances: Any = ()) -> Any:
    """The innermost optimiser of wrappers."""
    while isinstance(optimizer, optimizer_instances):
        optimizer = optimizer._inner_opt
    return optimizer
