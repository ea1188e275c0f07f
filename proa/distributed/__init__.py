"""`paddle.distributed` in one process: rank 0 of 1.

Programs written for many devices call these functions unconditionally; here they do what they do in a job of one process:
a collective is the identity, a group holds one process, `fleet.init` has little to prepare. More processes are refused
(`environment.require_one_process`) until their gradients are exchanged.

    environment.py   rank, world size, `init_parallel_env`
    group.py         groups of processes
    collective.py    all_reduce, all_gather … (`stream.py`: the same with a choice of stream)
    launching.py     `spawn`, `launch`
    checkpoint/      state dictionaries of a job; sharding.py: optimiser state that would be divided
    placement.py     meshes and placements of one process
    parallel.py      DataParallel
    ps/              tables of features on servers, for recommendation
    fleet/           fleet.init, strategies, parallel layers, recompute
"""

from __future__ import annotations

from . import fleet, launch, sharding, stream
from .checkpoint import (
    ShardedStateDict,
    ShardedWeight,
    build_sharded_state_dict,
    load_merged_state_dict,
    load_state_dict,
    save_state_dict,
    shard_weight,
)
from .collective import (
    ReduceOp,
    all_gather,
    all_gather_object,
    all_reduce,
    alltoall,
    alltoall_single,
    barrier,
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
from .ps.config import CountFilterEntry, ProbabilityEntry, ShowClickEntry

# The package is loaded, and under its name stands the function, as in Paddle.
launch = launch_processes  # noqa: F811

__all__ = [
    "CountFilterEntry", "DataParallel", "ParallelEnv", "ParallelMode", "Partial", "Placement", "ProbabilityEntry",
    "ProcessMesh", "ReduceOp", "ReduceType", "Replicate", "Shard", "ShardedStateDict", "ShardedWeight",
    "ShowClickEntry", "all_gather", "all_gather_object", "all_reduce", "alltoall", "alltoall_single", "barrier",
    "broadcast", "broadcast_object_list", "build_sharded_state_dict", "destroy_process_group", "dtensor_from_fn",
    "fleet", "gather", "get_backend", "get_group", "get_mesh", "get_rank", "get_world_size", "init_parallel_env",
    "irecv", "is_available", "is_initialized", "isend", "launch", "load_merged_state_dict", "load_state_dict",
    "new_group", "recv", "recv_object_list", "reduce", "reduce_scatter", "reshard", "save_state_dict", "scatter",
    "scatter_object_list", "send", "send_object_list", "set_mesh", "shard_dataloader", "shard_layer", "shard_optimizer",
    "shard_scaler", "shard_tensor", "shard_weight", "sharding", "spawn", "stream", "unshard_dtensor", "wait",
]  # fmt: skip
