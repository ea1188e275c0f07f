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
    """`fleet.util`: small things between processes.

    Examples:
        >>> paddle.distributed.fleet.UtilBase().get_file_shard(["a", "b"])
        ['a', 'b']
    """

    def __init__(self) -> None:
        self._servers: Any = None  # what a job with table servers does

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """The reduction ("sum", "max", "min") of the arrays or numbers of all processes, as an array.

        Raises:
            ValueError: `mode` is another one.

        Examples:
            >>> paddle.distributed.fleet.UtilBase().all_reduce(3, "max")
            3
        """
        if mode not in ("sum", "max", "min"):
            raise value_error("fleet.util.all_reduce", "mode must be 'sum', 'max' or 'min'", repr(mode))
        gathered = self.all_gather(np.asarray(input))
        return input if len(gathered) == 1 else getattr(np, mode)(np.stack(gathered), axis=0)

    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        """The objects of all processes, as a list.

        Examples:
            >>> paddle.distributed.fleet.UtilBase().all_gather(3)
            [3]
        """
        if self._servers is not None:
            return self._servers.gather(input)
        gathered: list[Any] = []
        all_gather_object(gathered, input)
        return gathered

    def barrier(self, comm_world: str = "worker") -> None:
        """Waits for all processes.

        Examples:
            >>> print(paddle.distributed.fleet.UtilBase().barrier())
            None
        """
        if self._servers is not None:
            self._servers.barrier_worker()
        else:
            barrier()

    def get_file_shard(self, files: list[str]) -> list[str]:
        """This process's share of some files: consecutive ones, the first processes one more where it does not divide.

        Examples:
            >>> paddle.distributed.fleet.UtilBase().get_file_shard(["part-0", "part-1"])
            ['part-0', 'part-1']
        """
        mine, count = (job.rank(), job.size()) if self._servers is None else self._servers.place()
        share, more = divmod(len(files), count)
        begin = mine * share + min(mine, more)
        return files[begin : begin + share + (mine < more)]

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Prints a message in one process only.

        Examples:
            >>> paddle.distributed.fleet.UtilBase().print_on_rank("hello", 0)
            hello
            >>> paddle.distributed.fleet.UtilBase().print_on_rank("hello", 1)
        """
        if rank_id == job.rank():
            print(message)


class Fleet:
    """Prepares a job and answers for it. `paddle.distributed.fleet` has the methods of one such object.

    Examples:
        >>> fleet = paddle.distributed.fleet.Fleet().init(is_collective=True)
        >>> fleet.worker_index(), fleet.worker_num()
        (0, 1)
    """

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
        """Joins the job, and arranges its processes as `strategy.hybrid_configs` says; otherwise they divide the data.

        Args:
            role_maker: what this process is for; None: as the launcher says.
            is_collective: whether the job has no table servers.
            strategy: a `DistributedStrategy`.
            log_level: taken; it changes nothing.

        Returns:
            The object itself.

        Raises:
            ValueError: the degrees do not multiply to the number of processes.

        Examples:
            >>> strategy = paddle.distributed.fleet.DistributedStrategy()
            >>> strategy.hybrid_configs = {"mp_degree": 2}
            >>> paddle.distributed.fleet.Fleet().init(is_collective=True, strategy=strategy)
            Traceback (most recent call last):
                f"(fleet.{where}) this job has no table servers; fleet.init() was not called, or found no "
            ValueError: (fleet.init) there is one process, so that nothing can be divided; ...
        """
        self._role_maker = role_maker or PaddleCloudRoleMaker(is_collective=is_collective)
        self._is_collective = is_collective or getattr(self._role_maker, "_is_collective", False)
        self._user_defined_strategy = strategy or DistributedStrategy()
        self._servers = self._util._servers = None
        if not self._is_collective and self._role_maker._server_num():
            from .server_mode import ServerMode

            self._servers = self._util._servers = ServerMode(self._role_maker, self._user_defined_strategy)
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
        """The arrangement of the processes; made by `init`.

        Examples:
            >>> fleet = paddle.distributed.fleet.Fleet().init(is_collective=True)
            >>> fleet.get_hybrid_parallel_topology().world_size()
            1
        """
        return self.get_hybrid_communicate_group().topology()

    def get_hybrid_communicate_group(self) -> Any:
        """The groups along each axis; made by `init`.

        Examples:
            >>> fleet = paddle.distributed.fleet.Fleet().init(is_collective=True)
            >>> fleet.get_hybrid_communicate_group().get_model_parallel_world_size()
            1
        """
        if self._hcg is None:
            raise RuntimeError("(fleet.get_hybrid_communicate_group) call fleet.init() first.")
        return self._hcg

    def _role(self) -> Any:
        return self._role_maker if self._role_maker is not None else RoleMakerBase()

    def is_first_worker(self) -> bool:
        """Whether this process is worker 0.

        Examples:
            >>> paddle.distributed.fleet.Fleet().init(is_collective=True).is_first_worker()
            True
        """
        return self._role()._is_first_worker()

    def worker_index(self) -> int:
        """The number of this worker.

        Examples:
            >>> paddle.distributed.fleet.Fleet().init(is_collective=True).worker_index()
            0
        """
        return self._role()._worker_index()

    rank = worker_index

    def local_rank(self) -> int:
        """The number of this process on its machine.

        Examples:
            >>> paddle.distributed.fleet.Fleet().local_rank()
            0
        """
        return int(os.environ.get("PADDLE_RANK_IN_NODE") or 0)

    rank_in_node = local_rank

    def worker_num(self) -> int:
        """How many workers there are.

        Examples:
            >>> paddle.distributed.fleet.Fleet().init(is_collective=True).worker_num()
            1
        """
        return self._role()._worker_num()

    nranks = world_size = worker_num

    def node_num(self) -> int:
        """How many machines there are.

        Examples:
            >>> paddle.distributed.fleet.Fleet().node_num()
            1
        """
        return int(os.environ.get("PADDLE_NNODES") or 1)

    def is_worker(self) -> bool:
        """Whether this process trains.

        Examples:
            >>> paddle.distributed.fleet.Fleet().is_worker()
            True
        """
        return self._role()._is_worker()

    def is_server(self) -> bool:
        """Whether this process serves tables.

        Examples:
            >>> paddle.distributed.fleet.Fleet().is_server()
            False
        """
        return self._role()._is_server()

    def is_coordinator(self) -> bool:
        """Whether this process coordinates others: never.

        Examples:
            >>> paddle.distributed.fleet.Fleet().is_coordinator()
            False
        """
        return False

    def server_num(self) -> int:
        """How many table servers there are.

        Examples:
            >>> paddle.distributed.fleet.Fleet().server_num()
            0
        """
        return self._role()._server_num()

    def server_index(self) -> int:
        """The number of this table server; -1 for a worker.

        Examples:
            >>> paddle.distributed.fleet.Fleet().server_index()
            -1
        """
        return self._role()._server_index()

    def worker_endpoints(self, to_string: bool = False) -> Any:
        """The addresses of the workers, as a list or as one string.

        Examples:
            >>> paddle.distributed.fleet.Fleet().worker_endpoints()
            ['127.0.0.1:6170']
        """
        named = os.environ.get("PADDLE_TRAINER_ENDPOINTS") or os.environ.get("PADDLE_CURRENT_ENDPOINT")
        endpoints = (named or "127.0.0.1:6170").split(",")
        return ",".join(endpoints) if to_string else endpoints

    def server_endpoints(self, to_string: bool = False) -> Any:
        """The addresses of the table servers, as a list or as one string.

        Examples:
            >>> paddle.distributed.fleet.Fleet().server_endpoints()
            []
        """
        endpoints = self._role()._get_pserver_endpoints()
        return ",".join(endpoints) if to_string else endpoints

    def local_device_ids(self) -> list[int]:
        """The numbers of this process's devices.

        Examples:
            >>> paddle.distributed.fleet.Fleet().local_device_ids()
            [0]
        """
        return [int(part) for part in (os.environ.get(job.DEVICES) or "0").split(",")]

    def world_device_ids(self) -> list[list[int]]:
        """The numbers of the devices of each process.

        Examples:
            >>> paddle.distributed.fleet.Fleet().world_device_ids()
            [[0]]
        """
        gathered: list[Any] = []
        all_gather_object(gathered, self.local_device_ids())
        return gathered

    @property
    def util(self) -> UtilBase:
        """Small things between processes: a `UtilBase`.

        Examples:
            >>> paddle.distributed.fleet.Fleet().util.get_file_shard(["part-0"])
            ['part-0']
        """
        return self._util

    def barrier_worker(self) -> None:
        """Waits for all workers.

        Examples:
            >>> print(paddle.distributed.fleet.Fleet().barrier_worker())
            None
        """
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
        """Prepares a table server; `dirname` is where it keeps its tables, and finds those of a job before.

        Raises:
            RuntimeError: the job has no table servers.

        Examples:
            >>> paddle.distributed.fleet.Fleet().init_server()
            Traceback (most recent call last):
                f"(fleet.{where}) this job has no table servers; fleet.init() was not called, or found no "
            RuntimeError: (fleet.init_server) this job has no table servers; ...
        """
        self._server_mode("init_server").init_server(args[0] if args else kwargs.get("dirname"))

    def run_server(self) -> None:
        """Serves tables until all workers have ended.

        Raises:
            RuntimeError: the job has no table servers.

        Examples:
            >>> paddle.distributed.fleet.Fleet().run_server()
            Traceback (most recent call last):
                f"(fleet.{where}) this job has no table servers; fleet.init() was not called, or found no "
            RuntimeError: (fleet.run_server) this job has no table servers; ...
        """
        self._server_mode("run_server").run_server()

    def init_worker(self, scopes: Any = None) -> None:
        """Joins the table servers, if there are some.

        Examples:
            >>> print(paddle.distributed.fleet.Fleet().init_worker())
            None
        """
        if self._servers is not None:
            self._servers.init_worker()

    def stop_worker(self) -> None:
        """Ends this worker's use of the table servers, if there are some.

        Examples:
            >>> print(paddle.distributed.fleet.Fleet().stop_worker())
            None
        """
        if self._servers is not None:
            self._servers.stop_worker()

    def save_persistables(self, executor: Any, dirname: str, main_program: Any = None, mode: int = 0) -> None:
        """Writes all tables of the servers into a folder, as safetensors of features and weights; called by one worker.

        Args:
            executor: taken; it is not needed.
            dirname: the folder.
            main_program: taken; it is not needed.
            mode: taken; all is written.

        Raises:
            RuntimeError: the job has no table servers.

        Examples:
            >>> paddle.distributed.fleet.Fleet().save_persistables(None, "tables")
            Traceback (most recent call last):
                f"(fleet.{where}) this job has no table servers; fleet.init() was not called, or found no "
            RuntimeError: (fleet.save_persistables) this job has no table servers; ...
        """
        self._server_mode("save_persistables").save_tables(dirname)

    def shrink(self, threshold: int | None = None) -> int:
        """A new day (or day `threshold`) for the tables: what is too old or too rare is forgotten; gives what is left.

        Raises:
            RuntimeError: the job has no table servers.

        Examples:
            >>> paddle.distributed.fleet.Fleet().shrink()
            Traceback (most recent call last):
                f"(fleet.{where}) this job has no table servers; fleet.init() was not called, or found no "
            RuntimeError: (fleet.shrink) this job has no table servers; ...
        """
        return self._server_mode("shrink").shrink(threshold)

    def all_reduce(self, input: Any, mode: str = "sum") -> Any:
        """As `util.all_reduce`.

        Examples:
            >>> paddle.distributed.fleet.Fleet().all_reduce(3)
            3
        """
        return self._util.all_reduce(input, mode)

    def distributed_model(self, model: Layer) -> Any:
        """The model under the wrapper for what is divided; in a job of one process, the model.

        Examples:
            >>> fleet = paddle.distributed.fleet.Fleet().init(is_collective=True)
            >>> model = paddle.nn.Linear(2, 2)
            >>> fleet.distributed_model(model) is model
            True
        """
        if self._servers is not None:  # each worker trains the model whole
            return model
        return model if job.size() == 1 else wrapped(model, self._hcg, self._user_defined_strategy)

    def distributed_optimizer(self, optimizer: Optimizer, strategy: Any = None) -> Any:
        """An optimiser that exchanges what is divided; where that is data alone, `distributed_model` does it already.

        Args:
            optimizer: the optimiser of this process.
            strategy: a `DistributedStrategy`, instead of the one `init` got.

        Examples:
            >>> fleet = paddle.distributed.fleet.Fleet().init(is_collective=True)
            >>> optimizer = paddle.optimizer.SGD(0.1, parameters=paddle.nn.Linear(2, 2).parameters())
            >>> fleet.distributed_optimizer(optimizer) is optimizer
            True
        """
        if self._servers is not None:
            return self._servers.distributed_optimizer(optimizer, strategy)  # whose steps happen there
        if strategy is not None:
            self._user_defined_strategy = strategy
        if self._hcg is None or divides_data_only(self._hcg, optimizer._members):
            return optimizer
        return HybridParallelOptimizer(optimizer, self._hcg, self._user_defined_strategy)

    def distributed_scaler(self, scaler: Any) -> Any:
        """The scaler, which knows of overflows in all processes.

        Examples:
            >>> scaler = paddle.amp.GradScaler()
            >>> paddle.distributed.fleet.Fleet().distributed_scaler(scaler) is scaler
            True
        """
        return share_overflows(scaler)

    def minimize(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """RuntimeError: the optimiser of `distributed_optimizer` has this method.

        Examples:
            >>> paddle.distributed.fleet.Fleet().minimize(None)
            Traceback (most recent call last):
                f"(fleet.{where}) this job has no table servers; fleet.init() was not called, or found no "
            RuntimeError: (fleet.minimize) call minimize of the optimiser that fleet.distributed_optimizer() gave.
        """
        raise RuntimeError("(fleet.minimize) call minimize of the optimiser that fleet.distributed_optimizer() gave.")


fleet = Fleet()
__all__ = ["Fleet", "UtilBase", "all_reduce", "fleet"]
