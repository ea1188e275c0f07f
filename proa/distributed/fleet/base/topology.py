"""How a job's processes are arranged: they divide the data, and every other axis has length one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ....core import job
from ...environment import ParallelMode
from ...group import Group, global_group, new_group

_HYBRID_PARALLEL_GROUP: Any = None


class CommunicateTopology:
    """Axes with names and lengths, and the processes at their crossings."""

    def __init__(
        self,
        hybrid_group_names: Sequence[str] = ("data", "pipe", "sharding", "sep", "model"),
        dims: Sequence[int] = (1, 1, 1, 1, 1),
    ) -> None:
        self._parallel_names, self._dims = list(hybrid_group_names), list(dims)
        self._coordinates = list(itertools.product(*(range(length) for length in self._dims)))

    def get_hybrid_group_names(self) -> list[str]:
        return self._parallel_names

    def get_dim(self, axis_name: str) -> int:
        return self._dims[self._parallel_names.index(axis_name)]

    get_dim_size = get_dim

    def world_size(self) -> int:
        return len(self._coordinates)

    def get_rank(self, **position: int) -> int:
        return self._coordinates.index(tuple(position[name] for name in self._parallel_names))

    def get_coord(self, rank: int) -> tuple[int, ...]:
        return self._coordinates[rank]

    def get_axis_list(self, axis_name: str, index: int) -> list[int]:
        axis = self._parallel_names.index(axis_name)
        return [rank for rank, place in enumerate(self._coordinates) if place[axis] == index]

    def get_comm_list(self, axis_name: str) -> list[list[int]]:
        """The processes that differ only in that axis, group by group."""
        axis = self._parallel_names.index(axis_name)
        groups: dict[tuple[int, ...], list[int]] = {}
        for rank, place in enumerate(self._coordinates):
            groups.setdefault(place[:axis] + place[axis + 1 :], []).append(rank)
        return list(groups.values())


# Axis, and what Paddle calls it in the names of methods.
_AXES = ("data_parallel", "model_parallel", "sharding_parallel", "sep_parallel", "pipe_parallel", "context_parallel")
# Groups that hold all processes as long as only data is divided.
_OVER_ALL = ("data_parallel", "check", "data_sep")


class HybridCommunicateGroup:
    """This process's groups along each axis: `get_model_parallel_rank()`, `get_data_parallel_group()` …"""

    def __init__(self, topology: CommunicateTopology | None = None) -> None:
        self._topo = topology or CommunicateTopology(dims=(job.size(), 1, 1, 1, 1))
        self.global_rank, self.nranks = job.rank(), job.size()
        self._groups: dict[str, Group] = {}

    def _group(self, axis: str) -> Group:
        if axis in _OVER_ALL:
            return global_group()
        if axis not in self._groups:
            self._groups[axis] = new_group([job.rank()])
        return self._groups[axis]

    def topology(self) -> CommunicateTopology:
        return self._topo

    def get_global_rank(self) -> int:
        return self.global_rank

    def get_parallel_mode(self) -> int:
        return ParallelMode.DATA_PARALLEL

    def get_stage_id(self) -> int:
        return 0

    is_first_stage = is_last_stage = True

    def get_rank_from_stage(self, stage_id: int, **kwargs: Any) -> int:
        return 0

    def get_check_parallel_group(self, sharding: bool = False) -> Group:
        return self._group("check")

    def get_dp_sep_parallel_group(self) -> Group:
        return self._group("data_sep")

    def get_pp_mp_parallel_group(self) -> Group:
        return self._group("pipe_model")

    def get_p2p_groups(self) -> tuple[None, None, None, None]:
        return None, None, None, None

    def get_expert_parallel_world_size(self) -> int:
        return 1

    def get_moe_sharding_parallel_world_size(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        for axis in _AXES:
            if name == f"get_{axis}_group":
                return lambda *_: self._group(axis)
            if name == f"get_{axis}_rank":
                return lambda *_: self._group(axis).rank
            if name == f"get_{axis}_group_src_rank":
                return lambda *_: self._group(axis).ranks[0]
            if name == f"get_{axis}_world_size":
                return lambda *_: self._group(axis).nranks
        raise AttributeError(f"'HybridCommunicateGroup' object has no attribute {name!r}")


def set_hybrid_communicate_group(group: HybridCommunicateGroup | None) -> None:
    global _HYBRID_PARALLEL_GROUP
    _HYBRID_PARALLEL_GROUP = group


def get_hybrid_communicate_group() -> HybridCommunicateGroup | None:
    """What `fleet.init` made; None before."""
    return _HYBRID_PARALLEL_GROUP
