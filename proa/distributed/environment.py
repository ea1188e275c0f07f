"""Which process of a job this is, and joining it (`core/job.py` says how processes meet)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..core import job
from ..core.tracebacks import boundary

if TYPE_CHECKING:
    from .group import Group

_RINGS = "FLAGS_nccl_nrings"


class ParallelMode:
    """How work is divided among processes."""

    DATA_PARALLEL = 0
    TENSOR_PARALLEL = 1
    PIPELINE_PARALLEL = 2
    SHARDING_PARALLEL = 3
    SEGMENT_PARALLEL = 4


class ParallelEnv:
    """What the launcher said about this process."""

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
        return self._rank

    @property
    def world_size(self) -> int:
        return self._world_size

    @property
    def device_id(self) -> int:
        return self._device_id

    @property
    def device_type(self) -> str:
        return self._device_type

    @property
    def current_endpoint(self) -> str:
        return self._current_endpoint

    @property
    def trainer_endpoints(self) -> list[str]:
        return self._trainer_endpoints

    @property
    def nrings(self) -> int:
        return self._nrings

    @property
    def pg_timeout(self) -> int:
        return self._pg_timeout

    local_rank = rank
    nranks = world_size
    dev_id = device_id


_state = {"initialized": False}


@boundary
def init_parallel_env(nccl_config: Any = None) -> Any:
    """Meets the other processes of the job and gives the group of all of them. In a job of one there is nobody to meet.

    To be called at the start of the program: processes must meet before devices are used (RuntimeError afterwards).
    `nccl_config` is taken and changes nothing: XLA sets its communicators up.
    """
    from .group import forget, global_group

    if job.is_described() and not _state["initialized"]:
        job.join()
        forget(None)
    _state["initialized"] = True
    return global_group()


def is_initialized() -> bool:
    """Whether `init_parallel_env` (or `fleet.init`) was called."""
    return _state["initialized"]


def is_available() -> bool:
    """Whether this package can work with several processes at all."""
    return True


def destroy_process_group(group: Group | None = None) -> None:
    """Forgets a group, or all of them."""
    from .group import forget

    forget(group)
    if group is None:
        _state["initialized"] = False


def get_rank(group: Group | None = None) -> int:
    """The number of this process, in a group or the job."""
    return job.rank() if group is None else group.rank


def get_world_size(group: Group | None = None) -> int:
    """How many processes there are, in a group or the job."""
    return job.size() if group is None else group.world_size


@boundary
def gloo_init_parallel_env(rank_id: int, rank_num: int, server_endpoint: str) -> None:
    """As `init_parallel_env`, for process `rank_id` of `rank_num`, which meet at `server_endpoint`."""
    os.environ.update({job.RANK: str(rank_id), job.SIZE: str(rank_num), job.MASTER: server_endpoint})
    init_parallel_env()


def gloo_barrier() -> None:
    """Waits for all processes."""
    from .group import barrier

    barrier()


def gloo_release() -> None:
    """Nothing is held that the end of the process does not release."""
