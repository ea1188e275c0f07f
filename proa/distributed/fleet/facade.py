"""Fleet: the object behind `paddle.distributed.fleet`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import job
from ...core.errors import value_error
from ..collective import all_gather_object, all_reduce
from ..environment import init_parallel_env
from ..group import barrier
from .base import topology
from .base.role_maker import PaddleCloudRoleMaker, RoleMakerBase
from .base.strategy import DistributedStrategy
from .layers.mpu.random import model_parallel_random_seed
from .meta_optimizers import HybridParallelOptimizer
from .meta_optimizers.dygraph_optimizer.hybrid_parallel_gradscaler import share_overflows
from .model import divides_data_only, wrapped

if TYPE_CHECKING:
    from ...nn.layer import Layer
    from ...optimizer.optimizer import Optimizer


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
        self._servers: Any = None  # what a job with table servers does
        self._util = UtilBase()

    def init(
        self, role_maker: Any = None, is_collective: bool = False, strategy: Any = None, log_level: Any = "INFO"
    ) -> Fleet:
        """Joins the job, and arranges its processes as `strategy.hybrid_configs` says; otherwise they divide the data."""
        self._role_maker = role_maker or PaddleCloudRoleMaker(is_collective=is_collective)
        self._is_collective = is_collective or getattr(self._role_maker, "_is_collective", False)
        self._user_defined_strategy = strategy or DistributedStrategy()
        self._servers = None
        if not self._is_collective and self._role_maker._server_num():
            from .server_mode import ServerMode

            self._servers = ServerMode(self._role_maker, self._user_defined_strategy)
            return self
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

    def _role(self) -> Any:
        return self._role_maker if self._role_maker is not None else RoleMakerBase()

    def is_first_worker(self) -> bool:
        return self._role()._is_first_worker()

    def worker_index(self) -> int:
        return self._role()._worker_index()

    rank = worker_index

    def local_rank(self) -> int:
        return int(os.environ.get("PADDLE_RANK_IN_NODE") or 0)

    rank_in_node = local_rank

    def worker_num(self) -> int:
        return self._role()._worker_num()

    nranks = world_size = worker_num

    def node_num(self) -> int:
        return int(os.environ.get("PADDLE_NNODES") or 1)

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
        named = os.environ.get("PADDLE_TRAINER_ENDPOINTS") or os.environ.get("PADDLE_CURRENT_ENDPOINT")
        endpoints = (named or "127.0.0.1:6170").split(",")
        return ",".join(endpoints) if to_string else endpoints

    def server_endpoints(self, to_string: bool = False) -> Any:
        endpoints = self._role()._get_pserver_endpoints()
        return ",".join(endpoints) if to_string else endpoints

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
        """Waits for all workers."""
        if self._servers is not None:
            self._servers.barrier_worker()
        else:
            barrier()

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
        return self._util.all_reduce(input, mode)

    def distributed_model(self, model: Layer) -> Any:
        """The model under the wrapper for what is divided; in a job of one process, the model."""
        if self._servers is not None:  # each worker trains the model whole
            return model
        return model if job.size() == 1 else wrapped(model, self._hcg, self._user_defined_strategy)

    def distributed_optimizer(self, optimizer: Optimizer, strategy: Any = None) -> Any:
        """An optimiser that exchanges what is divided; where that is data alone, `distributed_model` does it already."""
        if self._servers is not None:
            return self._servers.distributed_optimizer(optimizer)  # whose steps happen there
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
