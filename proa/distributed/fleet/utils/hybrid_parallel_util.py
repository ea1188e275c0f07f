"""Exchanges of gradients and parameters between the processes of a job."""

from __future__ import annotations

from typing import Any

from ...gradients import average_gradients
from ...group import Group, resolve
from ..base.synchronising import begin_alike


def fused_allreduce_gradients(parameter_list: Any, hcg: Any = None) -> None:
    """Gradients become means over the processes that train the same parameters."""
    group = None if hcg is None else hcg.get_group("same")
    fused_allreduce_gradients_with_group(parameter_list, group)


def fused_allreduce_gradients_with_group(
    parameter_list: Any, group: Group | None, bucket_size: int = 128 * 1024 * 1024, scale: float | None = None
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


def _group(where: str, hcg: Any, axis: str) -> Group:
    return resolve(where, None if hcg is None else hcg.get_group(axis))  # type: ignore[return-value]


def broadcast_dp_parameters(model: Any, hcg: Any = None, fuse_params: bool = True) -> None:
    """Processes that divide the data begin with the same parameters."""
    begin_alike(model, _group("broadcast_dp_parameters", hcg, "same"))


def broadcast_sharding_parameters(model: Any, hcg: Any = None, fuse_params: bool = True) -> None:
    """Processes that divide optimiser states begin with the same parameters."""
    begin_alike(model, _group("broadcast_sharding_parameters", hcg, "sharding"))


def broadcast_sep_parameters(model: Any, hcg: Any = None, fuse_params: bool = True) -> None:
    """Processes that divide sequences begin with the same parameters."""
    begin_alike(model, _group("broadcast_sep_parameters", hcg, "sep"))


def broadcast_mp_parameters(model: Any, hcg: Any = None, fuse_params: bool = True) -> None:
    """Processes that divide weights begin with the same ones of those that are not divided."""
    begin_alike(model, _group("broadcast_mp_parameters", hcg, "model"), also_divided=False)


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
