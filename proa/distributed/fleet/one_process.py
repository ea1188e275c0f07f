"""Fleet: the object behind `paddle.distributed.fleet`, for a job of one process."""

from __future__ import annotations

import os
from typing import Any

from ..collective import all_gather_object, all_reduce
from ..environment import init_parallel_env, require_one_process
from .base import topology
from .base.role_maker import PaddleCloudRoleMaker, RoleMakerBase
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
        self._servers: Any = None  # what a job with table servers does
        self._util = UtilBase()

    def init(
        self, role_maker: Any = None, is_collective: bool = False, strategy: Any = None, log_level: Any = "INFO"
    ) -> Fleet:
        """Joins the job. Degrees of parallelism above one are refused."""
        self._role_maker = role_maker or PaddleCloudRoleMaker(is_collective=is_collective)
        self._is_collective = is_collective or getattr(self._role_maker, "_is_collective", False)
        self._user_defined_strategy = strategy or DistributedStrategy()
        if not self._is_collective and self._role_maker._server_num():
            from .server_mode import ServerMode

            self._servers = ServerMode(self._role_maker, self._user_defined_strategy)
            return self
        self._servers = None
        require_one_process("fleet.init")
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

    def _role(self) -> Any:
        return self._role_maker if self._role_maker is not None else RoleMakerBase()

    def is_first_worker(self) -> bool:
        return self._role()._is_first_worker()

    def worker_index(self) -> int:
        return self._role()._worker_index()

    rank = local_rank = rank_in_node = worker_index

    def worker_num(self) -> int:
        return self._role()._worker_num()

    nranks = node_num = world_size = worker_num

    def is_worker(self) -> bool:
        return self._role()._is_worker()

    def is_server(self) -> bool:
        return self._role()._is_server()

    def is_coordinator(self) -> bool:
        return False

    def server_num(self) -> int:
        return self._role()._server_num()

    def server_index(self) -> int:
        return self._role()._server_index()

    def worker_endpoints(self, to_string: bool = False) -> Any:
        endpoints = [os.environ.get("PADDLE_CURRENT_ENDPOINT") or "127.0.0.1:6170"]
        return ",".join(endpoints) if to_string else endpoints

    def server_endpoints(self, to_string: bool = False) -> Any:
        endpoints = self._role()._get_pserver_endpoints()
        return ",".join(endpoints) if to_string else endpoints

    def local_device_ids(self) -> list[int]:
        return [0]

    def world_device_ids(self) -> list[list[int]]:
        return [[0]]

    @property
    def util(self) -> UtilBase:
        return self._util

    def barrier_worker(self) -> None:
        """Waits for all workers."""
        if self._servers is not None:
            self._servers.barrier_worker()

    def _server_mode(self, where: str) -> Any:
        if self._servers is None:
            raise RuntimeError(
                f"(fleet.{where}) this job has no table servers; fleet.init() was not called, or found no "
                "PADDLE_PSERVERS_IP_PORT_LIST."
            )
        return self._servers

    def init_server(self, *args: Any, **kwargs: Any) -> None:
        """Prepares a table server; `dirname` is where it keeps its tables, and finds those of a job before."""
        self._server_mode("init_server").init_server(args[0] if args else kwargs.get("dirname"))

    def run_server(self) -> None:
        """Serves tables until all workers have ended."""
        self._server_mode("run_server").run_server()

    def init_worker(self, scopes: Any = None) -> None:
        """Joins the table servers, if there are some."""
        if self._servers is not None:
            self._servers.init_worker()

    def stop_worker(self) -> None:
        """Ends this worker's use of the table servers, if there are some."""
        if self._servers is not None:
            self._servers.stop_worker()

    def save_persistables(self, executor: Any, dirname: str, main_program: Any = None, mode: int = 0) -> None:
        """Writes all tables of the servers into a folder, as safetensors of features and weights; called by one worker."""
        self._server_mode("save_persistables").save_tables(dirname)

    def shrink(self, threshold: int | None = None) -> int:
        """A new day (or day `threshold`) for the tables: what is too old or too rare is forgotten; gives what is left."""
        return self._server_mode("shrink").shrink(threshold)

    def all_reduce(self, input: Any, mode: str = "sum") -> Any:
        return input

    def distributed_model(self, model: Any) -> Any:
        """The model: one process trains it whole, and so does each worker of table servers."""
        if self._servers is not None:
            return model
        require_one_process("fleet.distributed_model")
        return model

    def distributed_optimizer(self, optimizer: Any, strategy: Any = None) -> Any:
        """The optimiser: one process sees all gradients; with table servers, one whose steps happen there."""
        if self._servers is not None:
            return self._servers.distributed_optimizer(optimizer)
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
