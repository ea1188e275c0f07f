"""Groups of processes: who takes part in a collective."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from typing import Any

from ..core import job
from ..core.errors import runtime_error, value_error, warn
from .transport import store
from .transport.exchange import line_of


class Group:
    """Some processes of the job, by number. `new_group` makes one.

    Examples:
        >>> group = paddle.distributed.new_group([0])
        >>> group.ranks, group.rank
        ([0], 0)
    """

    def __init__(
        self, rank_in_group: int, id: int, ranks: Sequence[int], pg: Any = None, name: str | None = None,
        milliseconds: int | None = None,
    ) -> None:  # fmt: skip
        self._rank_in_group = rank_in_group
        self._id = id
        self._ranks = list(ranks)
        self._pg = pg
        self._name = name
        self._milliseconds = milliseconds
        self._counter = itertools.count()

    @property
    def rank(self) -> int:
        """This process's number in the group; -1 if it is not in it.

        Examples:
            >>> paddle.distributed.new_group([0]).rank
            0
        """
        return self._rank_in_group

    @property
    def ranks(self) -> list[int]:
        """The processes of the group, by their numbers in the job.

        Examples:
            >>> paddle.distributed.new_group([0]).ranks
            [0]
        """
        return self._ranks

    @property
    def nranks(self) -> int:
        """How many processes the group has.

        Examples:
            >>> paddle.distributed.new_group([0]).nranks
            1
        """
        return len(self._ranks)

    @property
    def world_size(self) -> int:
        """How many processes the group has; -1 where this process is not in it.

        Examples:
            >>> paddle.distributed.new_group([0]).world_size
            1
        """
        return len(self._ranks) if self._rank_in_group >= 0 else -1

    @property
    def id(self) -> int:
        """The number of the group; 0 is the one of all processes.

        Examples:
            >>> paddle.distributed.get_group(0).id
            0
        """
        return self._id

    @property
    def name(self) -> str | None:
        """What the group is called.

        Examples:
            >>> paddle.distributed.get_group(0).name
            '_default_pg0'
        """
        return self._name

    @property
    def process_group(self) -> Any:
        """None: XLA has no object for a group.

        Examples:
            >>> print(paddle.distributed.new_group([0]).process_group)
            None
        """
        return self._pg

    @property
    def backend(self) -> str:
        """What carries the group's messages.

        Examples:
            >>> paddle.distributed.new_group([0]).backend
            'XLA'
        """
        return "XLA"

    @property
    def milliseconds(self) -> int:
        """How long its collectives may take.

        Examples:
            >>> paddle.distributed.new_group([0], timeout=60).milliseconds
            60000
        """
        return job.milliseconds_to_wait() if self._milliseconds is None else self._milliseconds

    def is_member(self) -> bool:
        """Whether this process is in the group.

        Examples:
            >>> paddle.distributed.new_group([0]).is_member()
            True
        """
        return self._rank_in_group >= 0

    def get_group_rank(self, rank: int) -> int:
        """The number in the group of a process of the job; -1 if it is not in it.

        Examples:
            >>> group = paddle.distributed.new_group([0])
            >>> group.get_group_rank(0), group.get_group_rank(5)
            (0, -1)
        """
        return self._ranks.index(rank) if rank in self._ranks else -1

    def get_global_rank(self, rank: int) -> int:
        """The number in the job of a process of the group.

        Examples:
            >>> paddle.distributed.new_group([0]).get_global_rank(0)
            0
        """
        return self._ranks[rank] if 0 <= rank < len(self._ranks) else -1

    def next_name(self, kind: str) -> str:
        """A name for one call among the members, the same in each of them: they make the same calls.

        Examples:
            >>> group = paddle.distributed.new_group([0])
            >>> group.next_name("barrier") == group.next_name("barrier")
            False
        """
        return f"group/{self._id}/{kind}/{next(self._counter)}"

    def __repr__(self) -> str:
        ranks = ", ".join(map(str, self._ranks))
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: {ranks}; name: {self.name}"


_groups: dict[int, Group] = {}
_numbers = itertools.count(1)


def global_group() -> Group:
    """The group of all processes."""
    if 0 not in _groups:
        _groups[0] = Group(job.rank(), 0, range(job.size()), name="_default_pg0")
    return _groups[0]


def resolve(where: str, group: Group | None) -> Group | None:
    """The group that is meant; None, with a warning, where this process is not in it.

    Examples:
        >>> paddle.distributed.sharding.resolve("example", None).ranks
        [0]
    """
    if group is None:
        found = global_group()
        if found.nranks > 1 and not job.is_joined():
            raise runtime_error(
                where, f"this process has not met the {found.nranks - 1} others of the job",
                fix="call paddle.distributed.init_parallel_env() (or fleet.init) first",
            )  # fmt: skip
        return found
    if not isinstance(group, Group):
        raise value_error(where, "group must be a Group or None", type(group).__name__, "make one with new_group()")
    if not group.is_member():
        warn(f"({where}) process {job.rank()} is not in group {group.name}: nothing is done.")
        return None
    return group


def position(where: str, group: Group, rank: int, name: str) -> int:
    """The place in a group of a process of the job."""
    found = group.get_group_rank(rank)
    if found < 0:
        raise value_error(where, f"{name} must be one of the group's processes {group.ranks}", f"{name}: {rank}")
    return found


def new_group(
    ranks: Sequence[int] | None = None,
    backend: str | None = None,
    timeout: datetime.timedelta | float | None = None,
    nccl_comm_init_option: int = 0,
    nccl_config: Any = None,
) -> Group:
    """A group of some processes. Every process of the job makes every group, in the same order.

    Args:
        ranks: the numbers of the processes; None: all.
        backend: taken; XLA's own collectives carry the messages.
        timeout: how long a collective of the group may take (a timedelta, or seconds); half an hour, or
            `PADDLE_PG_TIMEOUT` milliseconds, unless given.
        nccl_comm_init_option: taken; it changes nothing.
        nccl_config: taken; it changes nothing.

    Returns:
        A `Group`.

    Raises:
        ValueError: `ranks` has a process that is not there, or one twice.

    Examples:
        >>> paddle.distributed.new_group([0]).ranks
        [0]
        >>> paddle.distributed.new_group([0, 1])
        Traceback (most recent call last):
            raise runtime_error(
        ValueError: (new_group) ranks must be different ones of process 0; received ranks: [0, 1].
    """
    members = list(range(job.size())) if ranks is None else sorted(ranks)
    strange = [rank for rank in members if not 0 <= rank < job.size()]
    if strange or len(set(members)) != len(members):
        known = f"process {0}" if job.size() == 1 else f"processes 0 to {job.size() - 1}"
        raise value_error("new_group", f"ranks must be different ones of {known}", f"ranks: {list(ranks or [])}")
    number = next(_numbers)
    own = members.index(job.rank()) if job.rank() in members else -1
    group = _groups[number] = Group(own, number, members, None, f"_default_pg{number}", _milliseconds(timeout))
    if own >= 0 and timeout is not None:
        line_of(members).milliseconds = group.milliseconds
    return group


def _milliseconds(timeout: Any) -> int | None:
    if timeout is None:
        return None
    seconds = timeout.total_seconds() if isinstance(timeout, datetime.timedelta) else float(timeout)
    if seconds <= 0:
        raise value_error("new_group", "timeout must be longer than nothing", f"timeout: {timeout!r}")
    return int(1000 * seconds)


def get_group(id: int = 0) -> Group | None:
    """The group of that number, or None.

    Examples:
        >>> paddle.distributed.get_group().ranks
        [0]
        >>> print(paddle.distributed.get_group(1000000))
        None
    """
    return global_group() if id == 0 else _groups.get(id)


def forget(group: Group | None) -> None:
    """Drops a group, or all of them."""
    if group is None:
        _groups.clear()
    else:
        _groups.pop(group.id, None)


def get_backend(group: Group | None = None) -> str:
    """What carries the messages: XLA's own collectives.

    Examples:
        >>> paddle.distributed.get_backend()
        'XLA'
    """
    return "XLA"


def barrier(group: Group | None = None) -> None:
    """Waits until all processes of the group are here; TimeoutError names those who are not.

    Examples:
        >>> print(paddle.distributed.barrier())
        None
    """
    found = resolve("barrier", group)
    if found is not None and found.nranks > 1:
        store.meet("barrier", found.next_name("barrier"), found.ranks, found.milliseconds)


def shutdown_process_group(group: Group | None = None) -> None:
    """Lets go of the programs of a group; they are made again when it is used.

    Examples:
        >>> print(paddle.distributed.shutdown_process_group())
        None
    """
    found = resolve("shutdown_process_group", group)
    if found is not None and found.nranks > 1:
        line_of(found.ranks).forget_programs()


def restart_process_group(group: Group | None = None) -> None:
    """Has a group's communicator ready again, which it is.

    Examples:
        >>> print(paddle.distributed.restart_process_group())
        None
    """
    resolve("restart_process_group", group)


def create_nccl_config(nccl_config: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """The settings, as `new_group` takes them. XLA configures NCCL by itself: they change nothing.

    Examples:
        >>> paddle.distributed.create_nccl_config({"ll_buffsize": 1})
        {'ll_buffsize': 1}
    """
    return None if nccl_config is None else dict(nccl_config)
