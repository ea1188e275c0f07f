"""What processes that hold the same parameters keep alike: where they begin, and the gradients they use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....ir.recorder import recording_gradients
from ....nn.layer import Layer
from ...gradients import average, average_gradients, broadcast_from, require_equal
from ...group import Group


def is_of_expert(parameter: Any) -> bool:
    """Whether a parameter belongs to an expert, which the processes of its `expert_group` do not share."""
    return getattr(parameter, "no_sync", False)


def begin_alike(model: Layer, group: Group, also_divided: bool = True, experts: bool = False) -> None:
    """Gives parameters and buffers (or those of experts) the values of the group's first process; weights that are
    divided only among processes that have the same part (`also_divided`)."""
    if group.nranks == 1:
        return
    named = [
        (name, tensor)
        for name, tensor in (*model.named_parameters(), *model.named_buffers())
        if is_of_expert(tensor) is experts and (also_divided or not tensor.is_distributed)
    ]
    require_equal("fleet.distributed_model", named, group)
    broadcast_from([tensor for _, tensor in named], group, 0)


def begin_together(model: Layer, hcg: Any) -> None:
    """The same, along all axes of a job."""
    begin_alike(model, hcg.get_group("model"), also_divided=False)
    begin_alike(model, hcg.get_group("sharding"))
    begin_alike(model, hcg.get_group("same"))
    if hcg.get_group("expert").nranks > 1 and any(map(is_of_expert, model.parameters())):
        begin_alike(model, hcg.get_group("moe_sharding"), experts=True)


def average_over_data(parameters: Sequence[Any], hcg: Any, find_unused: bool = False) -> None:
    """Gives parameters the mean of the gradients that were computed from different data.

    An expert gets gradients from the tokens of all processes of its group: these are a sum already, which is divided by
    the number of processes that have data of their own. With `find_unused` a parameter may be without gradient in some
    processes.
    """
    experts = [parameter for parameter in parameters if is_of_expert(parameter)]
    others = [parameter for parameter in parameters if not is_of_expert(parameter)]
    same, holders = hcg.get_group("same"), hcg.get_group("moe_sharding")
    with recording_gradients(False):
        sources = same.nranks * hcg.get_group("sharding").nranks
        for parameter in experts:
            parameter._grad = parameter._grad * (1.0 / sources)
        if experts and hcg.get_group("expert").nranks > 1 and holders.nranks > 1:
            average([parameter._grad for parameter in experts], holders, reduction="sum")
        if others and same.nranks > 1 and find_unused:
            average_gradients(others, same)
        elif others and same.nranks > 1:
            average([parameter._grad for parameter in others], same)
