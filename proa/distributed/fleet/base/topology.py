"""How a job's processes are arranged: a grid with one axis for each thing that is divided, and the groups along them."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ....core import job
from ....core.errors import value_error
from ...environment import ParallelMode
from ...group import Group, new_group

__all__ = ["CommunicateTopology", "HybridCommunicateGroup"]

_HYBRID_PARALLEL_GROUP: Any = None


class CommunicateTopology:
    """Axes with names and lengths, and the processes at their crossings. The last axis holds neighbours.

    Args:
        hybrid_group_names: the axes.
        dims: how many processes there are along each.

    Examples:
        >>> topology = paddle.distributed.fleet.CommunicateTopology(["data", "model"], [2, 4])
        >>> topology.get_comm_list("data")
        [[0, 4], [1, 5], [2, 6], [3, 7]]
    """

    def __init__(
        self,
        hybrid_group_names: Sequence[str] = ("data", "pipe", "sharding", "sep", "context", "model"),
        dims: Sequence[int] = (1, 1, 1, 1, 1, 1),
    ) -> None:
        self._parallel_names, self._dims = list(hybrid_group_names), list(dims)
        self.coordinate = collections.namedtuple("Coordinate", self._parallel_names)  # type: ignore[misc]
        self._coordinates = [self.coordinate(*place) for place in itertools.product(*map(range, self._dims))]

    def get_hybrid_group_names(self) -> list[str]:
        """The names of the axes.

        Examples:
            >>> paddle.distributed.fleet.CommunicateTopology(["data", "model"], [2, 4]).get_hybrid_group_names()
            ['data', 'model']
        """
        return self._parallel_names

    def get_dim(self, axis_name: str) -> int:
        """How many processes there are along an axis.

        Examples:
            >>> paddle.distributed.fleet.CommunicateTopology(["data", "model"], [2, 4]).get_dim("model")
            4
        """
        return self._dims[self._parallel_names.index(axis_name)]

    get_dim_size = get_dim

    def world_size(self) -> int:
        """How many processes there are.

        Examples:
            >>> paddle.distributed.fleet.CommunicateTopology(["data", "model"], [2, 4]).world_size()
            8
        """
        return len(self._coordinates)

    def get_rank(self, **args: int) -> int:
        """The process at a place that is given by all axes.

        Examples:
            >>> paddle.distributed.fleet.CommunicateTopology(["data", "model"], [2, 4]).get_rank(data=1, model=2)
            6
        """
        return self._coordinates.index(self.coordinate(**args))

    def get_coord(self, rank: int) -> Any:
        """The place of a process.

        Examples:
            >>> paddle.distributed.fleet.CommunicateTopology(["data", "model"], [2, 4]).get_coord(6)
            Coordinate(data=1, model=2)
        """
        return self._coordinates[rank]

    def get_axis_list(self, axis_name: str, index: int) -> list[int]:
        """The processes at one place of an axis.

        Examples:
            >>> paddle.distributed.fleet.CommunicateTopology(["data", "model"], [2, 4]).get_axis_list("data", 1)
            [4, 5, 6, 7]
        """
        return [rank for rank, place in enumerate(self._coordinates) if getattr(place, axis_name) == index]

    def get_comm_list(self, axis_name: str) -> list[list[int]]:
        """The processes that differ only in that axis, group by group.

        Examples:
            >>> paddle.distributed.fleet.CommunicateTopology(["data", "model"], [2, 2]).get_comm_list("data")
            [[0, 2], [1, 3]]
        """
        return self.get_fused_ranks([axis_name])

    def get_fused_ranks(self, fused_axis: Sequence[str]) -> list[list[int]]:
        """The processes that differ only in these axes, group by group.

        Examples:
            >>> topology = paddle.distributed.fleet.CommunicateTopology(["data", "pipe", "model"], [2, 2, 2])
            >>> topology.get_fused_ranks(["data", "model"])
            [[0, 1, 4, 5], [2, 3, 6, 7]]
        """
        fixed = [name for name in self._parallel_names if name not in fused_axis]
        groups: dict[tuple[int, ...], list[int]] = {}
        for rank, place in enumerate(self._coordinates):
            groups.setdefault(tuple(getattr(place, name) for name in fixed), []).append(rank)
        return list(groups.values())

    def get_rank_from_stage(self, global_rank: int, **kwargs: int) -> int:
        """The process that differs from another one in the given axes.

        Examples:
            >>> topology = paddle.distributed.fleet.CommunicateTopology(["pipe", "model"], [2, 4])
            >>> topology.get_rank_from_stage(3, pipe=1)
            7
        """
        return self.get_rank(**{**self.get_coord(global_rank)._asdict(), **kwargs})


# An axis, and what the names of methods call it.
_METHODS = {
    "data": "data_parallel", "model": "model_parallel", "sharding": "sharding_parallel", "sep": "sep_parallel",
    "pipe": "pipe_parallel", "context": "context_parallel", "expert": "expert_parallel",
    "moe_sharding": "moe_sharding_parallel",
}  # fmt: skip
# Groups over several axes: processes that hold the same parameters, those that hold parts of one model …
_FUSED = {"data_sep": ("data", "sep"), "same": ("data", "sep", "context"), "pipe_model": ("pipe", "model")}


class HybridCommunicateGroup:
    """This process's groups along each axis: `get_model_parallel_rank()`, `get_data_parallel_group()` …

    Args:
        topology: the axes; None: all processes divide the data.
        hybrid_configs: a dictionary whose "ep_degree" says among how many processes experts are divided.

    Examples:
        >>> groups = paddle.distributed.fleet.HybridCommunicateGroup()
        >>> groups.get_data_parallel_world_size(), groups.get_model_parallel_rank()
        (1, 0)
    """

    def __init__(self, topology: CommunicateTopology | None = None, hybrid_configs: Any = None) -> None:
        self._topo = topology or CommunicateTopology(dims=(job.size(), 1, 1, 1, 1, 1))
        self.global_rank, self.nranks = job.rank(), job.size()
        self._groups: dict[str, Group] = {}
        # Every process makes every group, in the same order.
        for axis in self._topo.get_hybrid_group_names():
            self._make(axis, self._topo.get_comm_list(axis))
        for name, axes in _FUSED.items():
            known = [axis for axis in axes if axis in self._topo.get_hybrid_group_names()]
            self._make(name, self._topo.get_fused_ranks(known))
        for axis in ("data", "sharding"):
            length = self._topo.get_dim(axis)
            self._make(f"check_{axis}", [self._topo.get_axis_list(axis, index) for index in range(length)])
        self._make_expert_groups(int((hybrid_configs or {}).get("ep_degree", 1)))
        self._p2p = self._make_neighbours()

    def _make(self, name: str, lists: Sequence[Sequence[int]]) -> None:
        for ranks in lists:
            group = new_group(ranks)
            if group.is_member():
                self._groups[name] = group

    def _make_expert_groups(self, degree: int) -> None:
        """Experts are divided among runs of `degree` processes of a stage; the runs hold the same experts."""
        names = self._topo.get_hybrid_group_names()
        stages = self._topo.get_fused_ranks([name for name in names if name != "pipe"])
        if len(stages[0]) % max(1, degree):
            raise value_error(
                "fleet.init", f"the {len(stages[0])} processes of a stage must divide into groups of experts",
                f"hybrid_configs['ep_degree']: {degree}",
            )  # fmt: skip
        degree = max(1, degree)
        runs = [stage[begin : begin + degree] for stage in stages for begin in range(0, len(stage), degree)]
        self._make("expert", runs)
        self._make("moe_sharding", [stage[begin::degree] for stage in stages for begin in range(degree)])

    def _make_neighbours(self) -> tuple[Group | None, ...]:
        """Pairs of neighbouring stages: to the next, to the previous, from the next, from the previous."""
        stages = self._topo.get_dim("pipe")
        if stages == 1:
            return None, None, None, None
        found: dict[tuple[str, bool], Group] = {}
        for line, (way, step) in itertools.product(self._topo.get_comm_list("pipe"), (("next", 1), ("prev", -1))):
            for position, rank in enumerate(line):
                group = new_group([rank, line[(position + step) % stages]])
                if rank == self.global_rank:
                    found[way, True] = group
                if line[(position + step) % stages] == self.global_rank:
                    found["prev" if way == "next" else "next", False] = group
        return found["next", True], found["prev", True], found["next", False], found["prev", False]

    def get_group(self, name: str) -> Group:
        """The group of this process along an axis, by the axis' name in the topology, or over several.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().get_group("data").ranks
            [0]
        """
        return self._groups[name]

    def topology(self) -> CommunicateTopology:
        """The arrangement of the processes.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().topology().world_size()
            1
        """
        return self._topo

    def get_global_rank(self) -> int:
        """The number of this process in the job.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().get_global_rank()
            0
        """
        return self.global_rank

    def get_parallel_mode(self) -> int:
        """What decides how a model is wrapped: the most demanding of the things that are divided.

        Returns:
            A number of `ParallelMode`.

        Examples:
            >>> mode = paddle.distributed.fleet.HybridCommunicateGroup().get_parallel_mode()
            >>> mode == paddle.distributed.ParallelMode.DATA_PARALLEL
            True
        """
        longer = [axis for axis in self._topo.get_hybrid_group_names() if self._topo.get_dim(axis) > 1]
        for axis, mode in (
            ("pipe", ParallelMode.PIPELINE_PARALLEL), ("model", ParallelMode.TENSOR_PARALLEL),
            ("sharding", ParallelMode.SHARDING_PARALLEL), ("sep", ParallelMode.SEGMENT_PARALLEL),
            ("context", ParallelMode.SEGMENT_PARALLEL),
        ):  # fmt: skip
            if axis in longer:
                return mode
        return ParallelMode.DATA_PARALLEL

    def get_stage_id(self) -> int:
        """The number of this process's pipeline stage.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().get_stage_id()
            0
        """
        return self._groups["pipe"].rank

    @property
    def is_first_stage(self) -> bool:
        """Whether this process has the first stage of the pipeline.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().is_first_stage
            True
        """
        return self.get_stage_id() == 0

    @property
    def is_last_stage(self) -> bool:
        """Whether this process has the last stage of the pipeline.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().is_last_stage
            True
        """
        return self.get_stage_id() == self._groups["pipe"].nranks - 1

    def get_rank_from_stage(self, stage_id: int, **kwargs: int) -> int:
        """The process of another stage that is at this one's place otherwise.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().get_rank_from_stage(0)
            0
        """
        return self._topo.get_rank_from_stage(self.global_rank, pipe=stage_id, **kwargs)

    def get_check_parallel_group(self, sharding: bool = False) -> Group:
        """The processes at this one's place of the data axis (or the sharding axis): they hold one model.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().get_check_parallel_group().ranks
            [0]
        """
        return self._groups["check_sharding" if sharding else "check_data"]

    def get_dp_sep_parallel_group(self) -> Group:
        """The processes that differ only in the axes `data` and `sep`.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().get_dp_sep_parallel_group().ranks
            [0]
        """
        return self._groups["data_sep"]

    def get_pp_mp_parallel_group(self) -> Group:
        """The processes that differ only in the axes `pipe` and `model`.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().get_pp_mp_parallel_group().ranks
            [0]
        """
        return self._groups["pipe_model"]

    def get_moe_sharding_parallel_world_size(self) -> int:
        """How many processes hold the same experts; 0 without an `ep_degree`, as programs ask for it.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().get_moe_sharding_parallel_world_size()
            0
        """
        return self._groups["moe_sharding"].nranks if self._groups["expert"].nranks > 1 else 0

    def get_p2p_groups(self) -> tuple[Group | None, ...]:
        """Groups of two for messages to the next and previous stage, and from them; None with one stage.

        Examples:
            >>> paddle.distributed.fleet.HybridCommunicateGroup().get_p2p_groups()
            (None, None, None, None)
        """
        return self._p2p

    def create_fuse_group(self, fused_strategy_list: Sequence[str], nccl_config: Any = None) -> tuple[Any, Any]:
        """The processes that differ only in these axes, and their group.

        Examples:
            >>> ranks, group = paddle.distributed.fleet.HybridCommunicateGroup().create_fuse_group(["data", "model"])
            >>> ranks, group.nranks
            ([0], 1)
        """
        lists = self._topo.get_fused_ranks(fused_strategy_list)
        groups = [new_group(ranks) for ranks in lists]
        own = next(number for number, group in enumerate(groups) if group.is_member())
        return lists[own], groups[own]


def _methods_of(axis: str) -> dict[str, Callable[[HybridCommunicateGroup], Any]]:
    return {
        "group": lambda self: self._groups[axis],
        "rank": lambda self: self._groups[axis].rank,
        "group_src_rank": lambda self: self._groups[axis].ranks[0],
        "world_size": lambda self: self._groups[axis].nranks,
    }


# What each of these gives: in words, then in a job of one process.
_GIVES = {
    "group": ("This process's group along the axis `{axis}`.", ".ranks", "[0]"),
    "rank": ("This process's number in its group along the axis `{axis}`.", "", "0"),
    "group_src_rank": (
        "The first process of this one's group along the axis `{axis}`, by its number in the job.",
        "",
        "0",
    ),
    "world_size": ("How many processes there are along the axis `{axis}`.", "", "1"),
}

for _axis, _method in _METHODS.items():
    for _what, _function in _methods_of(_axis).items():
        _function.__name__ = f"get_{_method}_{_what}"
        _summary, _part, _value = _GIVES[_what]
        _function.__doc__ = (
            f"{_summary.format(axis=_axis)}\n\n    Examples:\n"
            "        >>> groups = paddle.distributed.fleet.HybridCommunicateGroup()\n"
            f"        >>> groups.{_function.__name__}(){_part}\n        {_value}\n    "
        )
        if _function.__name__ not in vars(HybridCommunicateGroup):
            setattr(HybridCommunicateGroup, _function.__name__, _function)


def set_hybrid_communicate_group(group: HybridCommunicateGroup | None) -> None:
    """Makes these the groups that parallel layers ask for; `fleet.init` does it.

    Examples:
        >>> from proa.distributed.fleet.base import topology
        >>> topology.set_hybrid_communicate_group(None)
        >>> print(topology.get_hybrid_communicate_group())
        None
    """
    global _HYBRID_PARALLEL_GROUP
    _HYBRID_PARALLEL_GROUP = group


def get_hybrid_communicate_group() -> HybridCommunicateGroup | None:
    """What `fleet.init` made; None before.

    Examples:
        >>> from proa.distributed.fleet.base import topology
        >>> fleet = paddle.distributed.fleet.init(is_collective=True)
        >>> topology.get_hybrid_communicate_group().get_data_parallel_world_size()
        1
    """
    return _HYBRID_PARALLEL_GROUP
