"""`paddle.distributed`: many processes, many devices.

Programs written for many processes call these functions unconditionally; in a job of one process a collective is the
identity, a group holds one process, and nothing is cut or run. How processes meet is in `core/job.py`.

    environment.py   rank, world size, `init_parallel_env`
    group.py         groups of processes
    collective.py    all_reduce, all_gather … (`stream.py`: the same with a choice of stream; `messages.py`: send, recv;
                     `objects.py`: Python objects), made of
    operations.py    differentiable operations on each process's own tensors, which use
    movements.py     what each exchange does to arrays, on
    exchange.py      lines of processes: compiled programs, their order, time limits; store.py: few words between processes
    launching.py     `spawn`, `launch`
    checkpoint.py    state dictionaries of a job; sharding.py: optimiser states, gradients and parameters divided
    placement.py     meshes and placements of one process
    parallel.py      DataParallel
    fleet/           fleet.init, strategies, divided models and optimisers, recompute; models/: mixtures of experts
"""

from __future__ import annotations

from . import fleet, launch, sharding, stream
from .checkpoint import load_state_dict, save_state_dict
from .collective import (
    P2POp,
    ReduceOp,
    all_gather,
    all_gather_object,
    all_reduce,
    alltoall,
    alltoall_single,
    barrier,
    batch_isend_irecv,
    broadcast,
    broadcast_object_list,
    gather,
    irecv,
    isend,
    recv,
    recv_object_list,
    reduce,
    reduce_scatter,
    scatter,
    scatter_object_list,
    send,
    send_object_list,
    wait,
)
from .environment import (
    ParallelEnv,
    ParallelMode,
    destroy_process_group,
    get_rank,
    get_world_size,
    init_parallel_env,
    is_available,
    is_initialized,
)
from .fleet.layers.mpu.split import split
from .group import get_backend, get_group, new_group
from .launching import launch as launch_processes
from .launching import spawn
from .parallel import DataParallel
from .placement import (
    Partial,
    Placement,
    ProcessMesh,
    ReduceType,
    Replicate,
    Shard,
    dtensor_from_fn,
    get_mesh,
    reshard,
    set_mesh,
    shard_dataloader,
    shard_layer,
    shard_optimizer,
    shard_scaler,
    shard_tensor,
    unshard_dtensor,
)

# The package is loaded, and under its name stands the function, as in Paddle.
launch = launch_processes  # noqa: F811

__all__ = [
    "DataParallel", "P2POp", "ParallelEnv", "ParallelMode", "Partial", "Placement", "ProcessMesh", "ReduceOp",
    "ReduceType", "Replicate", "Shard", "all_gather", "all_gather_object", "all_reduce", "alltoall",
    "alltoall_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list", "destroy_process_group",
    "dtensor_from_fn", "fleet", "gather", "get_backend", "get_group", "get_mesh", "get_rank", "get_world_size",
    "init_parallel_env", "irecv", "is_available", "is_initialized", "isend", "launch", "load_state_dict", "new_group",
    "recv", "recv_object_list", "reduce", "reduce_scatter", "reshard", "save_state_dict", "scatter",
    "scatter_object_list", "send", "send_object_list", "set_mesh", "shard_dataloader", "shard_layer",
    "shard_optimizer", "shard_scaler", "shard_tensor", "sharding", "spawn", "split", "stream", "unshard_dtensor", "wait",
]  # fmt: skip
