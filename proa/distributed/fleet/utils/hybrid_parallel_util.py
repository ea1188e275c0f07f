"""Exchanges of gradients and parameters between processes: with one, there is nothing to exchange."""

from __future__ import annotations

from typing import Any

from ...environment import require_one_process


def fused_allreduce_gradients(parameter_list: Any, hcg: Any = None) -> None:
    """Gradients become means over the processes."""
    require_one_process("fused_allreduce_gradients")


def fused_allreduce_gradients_with_group(
    parameter_list: Any, group: Any, bucket_size: Any = None, scale: Any = None
) -> None:
    """As above, over a group."""
    require_one_process("fused_allreduce_gradients_with_group")


def broadcast_dp_parameters(model: Any, hcg: Any = None, *args: Any, **kwargs: Any) -> None:
    """All processes begin with the same parameters."""
    require_one_process("broadcast_dp_parameters")


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
