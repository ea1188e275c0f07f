"""Groups of processes. There is one process, so a group holds it alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ..core.errors import value_error
from .environment import get_rank, require_one_process


class Group:
    """Some processes of the job, by number."""

    def __init__(
        self, rank_in_group: int, id: int, ranks: Sequence[int], pg: Any = None, name: str | None = None
    ) -> None:
        self._rank_in_group = rank_in_group
        self._id = id
        self._ranks = list(ranks)
        self._pg = pg
        self._name = name

    @property
    def rank(self) -> int:
        return self._rank_in_group

    @property
    def ranks(self) -> list[int]:
        return self._ranks

    @property
    def nranks(self) -> int:
        return len(self._ranks)

    @property
    def world_size(self) -> int:
        return len(self._ranks) if self._rank_in_group >= 0 else -1

    @property
    def id(self) -> int:
        return self._id

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def process_group(self) -> Any:
        return self._pg

    @property
    def backend(self) -> str:
        return "XLA"

    def is_member(self) -> bool:
        return self._rank_in_group >= 0

    def get_group_rank(self, rank: int) -> int:
        """The number in the group of a process of the job; -1 if it is not in it."""
        return self._ranks.index(rank) if rank in self._ranks else -1

    def get_global_rank(self, rank: int) -> int:
        """The number in the job of a process of the group."""
        return self._ranks[rank] if 0 <= rank < len(self._ranks) else -1

    def __repr__(self) -> str:
        ranks = ", ".join(map(str, self._ranks))
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {ranks}; name: {self.name}"


_groups: dict[int, Group] = {}
_numbers = itertools.count(1)


def global_group() -> Group:
    """The group of all processes."""
    if 0 not in _groups:
        _groups[0] = Group(get_rank(), 0, [get_rank()], name="_default_pg0")
    return _groups[0]


def new_group(
    ranks: Sequence[int] | None = None,
    backend: str | None = None,
    timeout: Any = None,
    nccl_comm_init_option: int = 0,
    nccl_config: Any = None,
) -> Group:
    """A group of the given processes (None: all)."""
    require_one_process("new_group")
    members = [0] if ranks is None else sorted(ranks)
    if any(rank != 0 for rank in members):
        raise value_error("new_group", "there is one process, number 0", f"ranks: {list(members)}", "give ranks=[0]")
    number = next(_numbers)
    _groups[number] = Group(0 if members else -1, number, members, name=f"_default_pg{number}")
    return _groups[number]


def get_group(id: int = 0) -> Group | None:
    """The group of that number, or None."""
    return global_group() if id == 0 else _groups.get(id)


def forget(group: Group | None) -> None:
    if group is None:
        _groups.clear()
    else:
        _groups.pop(group.id, None)


def get_backend(group: Group | None = None) -> str:
    """What carries the messages: XLA's own collectives."""
    return "XLA"
