"""Fleet: the object behind `paddle.distributed.fleet`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...core import job
from ...core.errors import value_error
from ..collective import all_gather_object, all_reduce
from ..environment import init_parallel_env
from ..group import barrier
from .base import topology
from .base.role_maker import PaddleCloudRoleMaker
from .base.strategy import DistributedStrategy
from .layers.mpu.random import model_parallel_random_seed
from .meta_optimizers import HybridParallelOptimizer
from .meta_optimizers.dygraph_optimizer.hybrid_parallel_gradscaler import share_overflows
from .model import divides_data_only, wrapped


class UtilBase:
    """`fleet.util`: small things between processes."""

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """The reduction ("sum", "max", "min") of the arrays or numbers of all processes, as an array."""
        if mode not in ("sum", "max", "min"):
            raise value_error("fleet.util.all_reduce", "mode must be 'sum', 'max' or 'min'", repr(mode))
        gathered = self.all_gather(np.asarray(input))
        return input if len(gathered) == 1 else getattr(np, mode)(np.stack(gathered), axis=0)

    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        gathered: list[Any] = []
        all_gather_object(gathered, input)
        return gathered

    def barrier(self, comm_world: str = "worker") -> None:
        """Waits for all processes."""
        barrier()

    def get_file_shard(self, files: list[str]) -> list[str]:
        """This process's share of some files: consecutive ones, the first processes one more where it does not divide."""
        share, more = divmod(len(files), job.size())
        begin = job.rank() * share + min(job.rank(), more)
        return files[begin : begin + share + (job.rank() < more)]

    def print_on_rank(self, message: str, rank_id: int) -> None:
        if rank_id == job.rank():
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
        """Joins the job, and arranges its processes as `strategy.hybrid_configs` says; otherwise they divide the data."""
        self._role_maker = role_maker or PaddleCloudRoleMaker(is_collective=is_collective)
        self._is_collective = is_collective or getattr(self._role_maker, "_is_collective", False)
        self._user_defined_strategy = strategy or DistributedStrategy()
        given = self._user_defined_strategy
        settings = given if isinstance(given, DistributedStrategy) else DistributedStrategy()
        degrees = settings.arrangement(job.size())
        init_parallel_env()
        axes = topology.CommunicateTopology(list(degrees), list(degrees.values()))
        self._hcg = topology.HybridCommunicateGroup(axes, settings.hybrid_configs)
        topology.set_hybrid_communicate_group(self._hcg)
        if degrees["model"] > 1:
            seed = settings.tensor_parallel_configs["tensor_init_seed"]
            model_parallel_random_seed(None if seed == -1 else seed)
        return self

    def get_hybrid_parallel_topology(self) -> Any:
        """The arrangement of the processes; made by `init`."""
        return self.get_hybrid_communicate_group().topology()

    def get_hybrid_communicate_group(self) -> Any:
        """The groups along each axis; made by `init`."""
        if self._hcg is None:
            raise RuntimeError("(fleet.get_hybrid_communicate_group) call fleet.init() first.")
        return self._hcg

    def is_first_worker(self) -> bool:
        return job.rank() == 0

    def worker_index(self) -> int:
        return job.rank()

    rank = worker_index

    def local_rank(self) -> int:
        return int(os.environ.get("PADDLE_RANK_IN_NODE") or 0)

    rank_in_node = local_rank

    def worker_num(self) -> int:
        return job.size()

    nranks = world_size = worker_num

    def node_num(self) -> int:
        return int(os.environ.get("PADDLE_NNODES") or 1)

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
        named = os.environ.get("PADDLE_TRAINER_ENDPOINTS") or os.environ.get("PADDLE_CURRENT_ENDPOINT")
        endpoints = (named or "127.0.0.1:6170").split(",")
        return ",".join(endpoints) if to_string else endpoints

    def server_endpoints(self, to_string: bool = False) -> Any:
        return "" if to_string else []

    def local_device_ids(self) -> list[int]:
        return [int(part) for part in (os.environ.get(job.DEVICES) or "0").split(",")]

    def world_device_ids(self) -> list[list[int]]:
        gathered: list[Any] = []
        all_gather_object(gathered, self.local_device_ids())
        return gathered

    @property
    def util(self) -> UtilBase:
        return self._util

    def barrier_worker(self) -> None:
        """Waits for all processes."""
        barrier()

    def init_worker(self, scopes: Any = None) -> None:
        """Workers of parameter servers: there are none."""

    def stop_worker(self) -> None:
        """Workers of parameter servers: there are none."""

    def all_reduce(self, input: Any, mode: str = "sum") -> Any:
        return self._util.all_reduce(input, mode)

    def distributed_model(self, model: Any) -> Any:
        """The model under the wrapper for what is divided; in a job of one process, the model."""
        return model if job.size() == 1 else wrapped(model, self._hcg, self._user_defined_strategy)

    def distributed_optimizer(self, optimizer: Any, strategy: Any = None) -> Any:
        """An optimiser that exchanges what is divided; where that is data alone, `distributed_model` does it already."""
        if strategy is not None:
            self._user_defined_strategy = strategy
        if self._hcg is None or divides_data_only(self._hcg, optimizer._parameter_list):
            return optimizer
        return HybridParallelOptimizer(optimizer, self._hcg, self._user_defined_strategy)

    def distributed_scaler(self, scaler: Any) -> Any:
        """The scaler, which knows of overflows in all processes."""
        return share_overflows(scaler)

    def minimize(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("(fleet.minimize) call minimize of the optimiser that fleet.distributed_optimizer() gave.")


fleet = Fleet()
__all__ = ["Fleet", "UtilBase", "all_reduce", "fleet"]
