"""Which process of a job this is: so far always process 0 of 1.

Launchers tell by environment variables. More than one process is refused where that would give wrong numbers
(`require_one_process`), never silently trained side by side.
"""

from __future__ import annotations

import os
from typing import Any

# Variables that Paddle's launcher sets.
_DEVICES, _RINGS = "FLAGS_selected_gpus", "FLAGS_nccl_nrings"


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
        self._rank = int(os.environ.get("PADDLE_TRAINER_ID") or 0)
        self._world_size = int(os.environ.get("PADDLE_TRAINERS_NUM") or 1)
        self._device_type = os.environ.get("PADDLE_XCCL_BACKEND") or ""
        self._trainer_endpoints = (os.environ.get("PADDLE_TRAINER_ENDPOINTS") or "").split(",")
        self._current_endpoint = os.environ.get("PADDLE_CURRENT_ENDPOINT") or ""
        self._device_id = int((os.environ.get(_DEVICES) or "0").split(",")[0])
        self._nrings = int(os.environ.get(_RINGS) or 1)
        self._pg_timeout = int(os.environ.get("PADDLE_PG_TIMEOUT") or 1_800_000)

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


def require_one_process(where: str) -> None:
    """Raises where several processes would each compute something of their own."""
    count = int(os.environ.get("PADDLE_TRAINERS_NUM") or 1)
    if count > 1:
        raise NotImplementedError(
            f"({where}) work of several processes is not exchanged yet; PADDLE_TRAINERS_NUM is {count}. Run one process; "
            "a batch sharded over its devices is summed."
        )


_state = {"initialized": False}


def init_parallel_env() -> Any:
    """Joins the processes of the job; there is one, so that only a group of it is made."""
    from .group import global_group

    require_one_process("init_parallel_env")
    _state["initialized"] = True
    return global_group()


def is_initialized() -> bool:
    """Whether `init_parallel_env` (or `fleet.init`) was called."""
    return _state["initialized"]


def is_available() -> bool:
    """Whether this package can work with several processes at all; the functions are there, for one."""
    return True


def destroy_process_group(group: Any = None) -> None:
    """Forgets a group, or all of them."""
    from .group import forget

    forget(group)
    if group is None:
        _state["initialized"] = False


def get_rank(group: Any = None) -> int:
    """The number of this process, in a group or the job."""
    return int(os.environ.get("PADDLE_TRAINER_ID") or 0) if group is None else group.rank


def get_world_size(group: Any = None) -> int:
    """How many processes there are, in a group or the job."""
    return int(os.environ.get("PADDLE_TRAINERS_NUM") or 1) if group is None else group.world_size
