"""Fleet: the object behind `paddle.distributed.fleet`, for a job of one process."""

from __future__ import annotations

import os
from typing import Any

from ..collective import all_gather_object, all_reduce
from ..environment import init_parallel_env, require_one_process
from .base import topology
from .base.role_maker import PaddleCloudRoleMaker
from .base.strategy import DistributedStrategy


class UtilBase:
    """`fleet.util`: small things between processes."""

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        return input

    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        gathered: list[Any] = []
        all_gather_object(gathered, input)
        return gathered

    def barrier(self, comm_world: str = "worker") -> None:
        """Nobody to wait for."""

    def get_file_shard(self, files: list[str]) -> list[str]:
        return files

    def print_on_rank(self, message: str, rank_id: int) -> None:
        if rank_id == 0:
            print(message)


class Fleet:
    """Prepares a job and answers for it."""

    def __init__(self) -> None:
        self._role_maker: Any = None
        self._user_defined_strategy: Any = None
        self._hcg: Any = None
        self._is_collective = False
        self._util = UtilBase()

    def init(
        self, role_maker: Any = None, is_collective: bool = False, strategy: Any = None, log_level: Any = "INFO"
    ) -> Fleet:
        """Joins the job. Degrees of parallelism above one are refused."""
        require_one_process("fleet.init")
        self._role_maker = role_maker or PaddleCloudRoleMaker(is_collective=is_collective)
        self._is_collective = is_collective or getattr(self._role_maker, "_is_collective", False)
        self._user_defined_strategy = strategy or DistributedStrategy()
        if isinstance(self._user_defined_strategy, DistributedStrategy):
            self._user_defined_strategy.check_one_process()
        init_parallel_env()
        self._hcg = topology.HybridCommunicateGroup()
        topology.set_hybrid_communicate_group(self._hcg)
        return self

    def get_hybrid_communicate_group(self) -> Any:
        """The groups along each axis; made by `init`."""
        if self._hcg is None:
            raise RuntimeError("(fleet.get_hybrid_communicate_group) call fleet.init() first.")
        return self._hcg

    def is_first_worker(self) -> bool:
        return True

    def worker_index(self) -> int:
        return 0

    rank = local_rank = rank_in_node = worker_index

    def worker_num(self) -> int:
        return 1

    nranks = node_num = world_size = worker_num

    def is_worker(self) -> bool:
        return True

    def is_server(self) -> bool:
        return False

    is_coordinator = is_server

    def server_num(self) -> int:
        return 0

    def server_index(self) -> int:
        return -1

    def worker_endpoints(self, to_string: bool = False) -> Any:
        endpoints = [os.environ.get("PADDLE_CURRENT_ENDPOINT") or "127.0.0.1:6170"]
        return ",".join(endpoints) if to_string else endpoints

    def server_endpoints(self, to_string: bool = False) -> Any:
        return "" if to_string else []

    def local_device_ids(self) -> list[int]:
        return [0]

    def world_device_ids(self) -> list[list[int]]:
        return [[0]]

    @property
    def util(self) -> UtilBase:
        return self._util

    def barrier_worker(self) -> None:
        """Nobody to wait for."""

    def init_worker(self, scopes: Any = None) -> None:
        """Workers of parameter servers: there are none."""

    stop_worker = barrier_worker

    def all_reduce(self, input: Any, mode: str = "sum") -> Any:
        return input

    def distributed_model(self, model: Any) -> Any:
        """The model: one process trains it whole."""
        require_one_process("fleet.distributed_model")
        return model

    def distributed_optimizer(self, optimizer: Any, strategy: Any = None) -> Any:
        """The optimiser: one process sees all gradients."""
        require_one_process("fleet.distributed_optimizer")
        if strategy is not None:
            self._user_defined_strategy = strategy
        return optimizer

    def distributed_scaler(self, scaler: Any) -> Any:
        """The scaler: one process sees all gradients."""
        return scaler

    def minimize(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("(fleet.minimize) call minimize of the optimiser that fleet.distributed_optimizer() gave.")


fleet = Fleet()
__all__ = ["Fleet", "UtilBase", "all_reduce", "fleet"]
