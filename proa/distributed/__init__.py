"""`paddle.distributed` in one process: rank 0 of 1.

Programs written for many devices call these functions unconditionally; here they do what they do in a job of one process:
a collective is the identity, a group holds one process, `fleet.init` has little to prepare. More processes are refused
(`environment.require_one_process`) until their gradients are exchanged.

    environment.py   rank, world size, `init_parallel_env`
    group.py         groups of processes
    collective.py    all_reduce, all_gather … (`stream.py`: the same with a choice of stream)
    launching.py     `spawn`, `launch`
    checkpoint.py    state dictionaries of a job; sharding.py: optimiser state that would be divided
    placement.py     Shard, Replicate, Partial; mesh.py: ProcessMesh
    dtensor.py       tensors on a mesh (layouts.py, parts.py, local.py: where their parts lie)
    shard_*.py       layers, optimisers and loaders on a mesh
    parallelize.py   a model on a mesh by a dictionary (plans.py: what may be done to layers; pipeline.py: stages)
    dist_model.py    `to_static`; strategy.py: its settings
    planner/         `auto_parallel`: how a model is best trained on many devices
    parallel.py      DataParallel
    fleet/           fleet.init, strategies, parallel layers, recompute
"""

from __future__ import annotations

from . import fleet, launch, sharding, stream
from .checkpoint import load_state_dict, save_state_dict
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
from .dist_model import DistModel, to_static
from .dtensor import (
    dtensor_from_fn,
    dtensor_from_local,
    dtensor_to_local,
    reshard,
    shard_tensor,
    unshard_dtensor,
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
from .mesh import ProcessMesh, get_mesh, set_mesh
from .parallel import DataParallel
from .parallelize import parallelize
from .placement import Partial, Placement, ReduceType, Replicate, Shard
from .planner import auto_parallel, load_plan
from .plans import (
    ColWiseParallel,
    PrepareLayerInput,
    PrepareLayerOutput,
    RowWiseParallel,
    SequenceParallelBegin,
    SequenceParallelDisable,
    SequenceParallelEnable,
    SequenceParallelEnd,
    SplitPoint,
)
from .shard_layers import LocalLayer, local_map, shard_layer
from .shard_loader import shard_dataloader
from .shard_optimizers import ShardingStage1, ShardingStage2, ShardingStage3, shard_optimizer, shard_scaler
from .strategy import Strategy

# The package is loaded, and under its name stands the function, as in Paddle.
launch = launch_processes  # noqa: F811

__all__ = [
    "ColWiseParallel", "DataParallel", "DistModel", "LocalLayer", "ParallelEnv", "ParallelMode", "Partial",
    "Placement", "PrepareLayerInput", "PrepareLayerOutput", "ProcessMesh", "ReduceOp", "ReduceType", "Replicate",
    "RowWiseParallel", "SequenceParallelBegin", "SequenceParallelDisable", "SequenceParallelEnable",
    "SequenceParallelEnd", "Shard", "ShardingStage1", "ShardingStage2", "ShardingStage3", "SplitPoint", "Strategy",
    "all_gather", "all_gather_object", "all_reduce", "alltoall", "alltoall_single", "auto_parallel", "barrier", "broadcast",
    "broadcast_object_list", "destroy_process_group", "dtensor_from_fn", "dtensor_from_local", "dtensor_to_local",
    "fleet", "gather", "get_backend", "get_group", "get_mesh", "get_rank", "get_world_size", "init_parallel_env",
    "irecv", "is_available", "is_initialized", "isend", "launch", "load_plan", "load_state_dict", "local_map", "new_group",
    "parallelize", "recv", "recv_object_list", "reduce", "reduce_scatter", "reshard", "save_state_dict", "scatter",
    "scatter_object_list", "send", "send_object_list", "set_mesh", "shard_dataloader", "shard_layer",
    "shard_optimizer", "shard_scaler", "shard_tensor", "sharding", "spawn", "stream", "to_static",
    "unshard_dtensor", "wait",
]  # fmt: skip
