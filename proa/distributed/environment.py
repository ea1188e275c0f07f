"""Which process of a job this is, and joining it (`core/job.py` says how processes meet)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..core import job
from ..core.tracebacks import boundary
from ..ir import xla
from .checkpoint.staging import expect_saves

if TYPE_CHECKING:
    from .group import Group

_RINGS = "FLAGS_nccl_nrings"


class ParallelMode:
    """How work is divided among processes.

    Examples:
        >>> paddle.distributed.ParallelMode.PIPELINE_PARALLEL
        2
    """

    DATA_PARALLEL = 0
    TENSOR_PARALLEL = 1
    PIPELINE_PARALLEL = 2
    SHARDING_PARALLEL = 3
    SEGMENT_PARALLEL = 4


class ParallelEnv:
    """What the launcher said about this process: its number, the number of processes, addresses and devices.

    Examples:
        >>> env = paddle.distributed.ParallelEnv()
        >>> env.rank, env.world_size
        (0, 1)
    """

    def __init__(self) -> None:
        self._rank = job.rank()
        self._world_size = job.size()
        self._device_type = os.environ.get("PADDLE_XCCL_BACKEND") or ""
        self._trainer_endpoints = (os.environ.get(job.ENDPOINTS) or "").split(",")
        self._current_endpoint = os.environ.get("PADDLE_CURRENT_ENDPOINT") or ""
        self._device_id = int((os.environ.get(job.DEVICES) or "0").split(",")[0])
        self._nrings = int(os.environ.get(_RINGS) or 1)
        self._pg_timeout = job.milliseconds_to_wait()

    @property
    def rank(self) -> int:
        """The number of this process.

        Examples:
            >>> paddle.distributed.ParallelEnv().rank
            0
        """
        return self._rank

    @property
    def world_size(self) -> int:
        """How many processes there are.

        Examples:
            >>> paddle.distributed.ParallelEnv().world_size
            1
        """
        return self._world_size

    @property
    def device_id(self) -> int:
        """The number of this process's device.

        Examples:
            >>> paddle.distributed.ParallelEnv().device_id
            0
        """
        return self._device_id

    @property
    def device_type(self) -> str:
        """The kind of device that the launcher named; empty if none.

        Examples:
            >>> paddle.distributed.ParallelEnv().device_type
            ''
        """
        return self._device_type

    @property
    def current_endpoint(self) -> str:
        """The address of this process; empty without a launcher.

        Examples:
            >>> paddle.distributed.ParallelEnv().current_endpoint
            ''
        """
        return self._current_endpoint

    @property
    def trainer_endpoints(self) -> list[str]:
        """The addresses of all processes.

        Examples:
            >>> paddle.distributed.ParallelEnv().trainer_endpoints
            ['']
        """
        return self._trainer_endpoints

    @property
    def nrings(self) -> int:
        """How many rings NCCL was asked for; remembered only.

        Examples:
            >>> paddle.distributed.ParallelEnv().nrings
            1
        """
        return self._nrings

    @property
    def pg_timeout(self) -> int:
        """How long a collective may take, in milliseconds.

        Examples:
            >>> paddle.distributed.ParallelEnv().pg_timeout
            1800000
        """
        return self._pg_timeout

    local_rank = rank
    nranks = world_size
    dev_id = device_id


_state = {"initialized": False}


@boundary
def init_parallel_env(nccl_config: Any = None) -> Any:
    """Meets the other processes of the job. In a job of one there is nobody to meet.

    To be called at the start of the program: processes must meet before devices are used.

    Args:
        nccl_config: taken; XLA sets its communicators up.

    Returns:
        The group of all processes.

    Raises:
        RuntimeError: devices are in use already.

    Examples:
        >>> paddle.distributed.init_parallel_env().ranks
        [0]
    """
    from .group import forget, global_group

    if job.is_described() and not _state["initialized"]:
        xla.join()
        forget(None)
    _state["initialized"] = True
    expect_saves()
    return global_group()


def is_initialized() -> bool:
    """Whether `init_parallel_env` (or `fleet.init`) was called.

    Examples:
        >>> group = paddle.distributed.init_parallel_env()
        >>> paddle.distributed.is_initialized()
        True
    """
    return _state["initialized"]


def is_available() -> bool:
    """Whether this package can work with several processes at all.

    Examples:
        >>> paddle.distributed.is_available()
        True
    """
    return True


def destroy_process_group(group: Group | None = None) -> None:
    """Forgets a group, or all of them.

    Examples:
        >>> group = paddle.distributed.init_parallel_env()
        >>> paddle.distributed.destroy_process_group()
        >>> paddle.distributed.is_initialized()
        False
    """
    from .group import forget

    forget(group)
    if group is None:
        _state["initialized"] = False


def get_rank(group: Group | None = None) -> int:
    """The number of this process, in a group or the job.

    Examples:
        >>> paddle.distributed.get_rank()
        0
    """
    return job.rank() if group is None else group.rank


def get_world_size(group: Group | None = None) -> int:
    """How many processes there are, in a group or the job.

    Examples:
        >>> paddle.distributed.get_world_size()
        1
    """
    return job.size() if group is None else group.world_size


@boundary
def gloo_init_parallel_env(rank_id: int, rank_num: int, server_endpoint: str) -> None:
    """As `init_parallel_env`, for process `rank_id` of `rank_num`, which meet at `server_endpoint`.

    Args:
        rank_id: the number of this process.
        rank_num: how many there are.
        server_endpoint: where they meet, as "host:port".

    Examples:
        >>> paddle.distributed.gloo_init_parallel_env(0, 2, "10.0.0.1:6170")  # doctest: +SKIP
        >>> paddle.distributed.get_rank()
        0
    """
    os.environ.update({job.RANK: str(rank_id), job.SIZE: str(rank_num), job.MASTER: server_endpoint})
    init_parallel_env()


def gloo_barrier() -> None:
    """Waits for all processes.

    Examples:
        >>> print(paddle.distributed.gloo_barrier())
        None
    """
    from .group import barrier

    barrier()


def gloo_release() -> None:
    """Nothing is held that the end of the process does not release.

    Examples:
        >>> print(paddle.distributed.gloo_release())
        None
    """
