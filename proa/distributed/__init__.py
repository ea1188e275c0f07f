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
    launching/       `spawn`, `launch`; rpc.py: functions called in another process
    checkpoint/      state dictionaries of a job; sharding.py: optimiser states, gradients and parameters divided
    placement.py     Shard, Replicate, Partial; mesh.py: ProcessMesh
    dtensor.py       tensors on a mesh (layouts.py, parts.py, local.py: where their parts lie)
    shard_*.py       layers, optimisers and loaders on a mesh
    parallelize.py   a model on a mesh by a dictionary (plans.py: what may be done to layers; pipeline.py: stages)
    dist_model.py    `to_static`; strategy.py: its settings
    parallel.py      DataParallel; gradients.py: many tensors exchanged in few pieces
    passes.py        changes of static programs by name
    ps/              tables of features on servers, for recommendation
    planner/         `auto_parallel`: how a model is best trained on many devices
    fleet/           fleet.init, strategies, divided models and optimisers, recompute; models/: mixtures of experts
"""

from __future__ import annotations

from . import auto_parallel, fleet, launch, rpc, sharding, stream
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
    gloo_barrier,
    gloo_init_parallel_env,
    gloo_release,
    init_parallel_env,
    is_available,
    is_initialized,
)
from .fleet.dataset import InMemoryDataset, QueueDataset
from .group import (
    create_nccl_config,
    get_backend,
    get_group,
    new_group,
    restart_process_group,
    shutdown_process_group,
)
from .launching import launch as launch_processes
from .launching import spawn
from .meshes.annotations import (
    DistAttr,
    enable_auto_dp,
    in_auto_parallel_align_mode,
    shard_op,
    split,
    to_distributed,
)
from .meshes.dtensor import (
    dtensor_from_fn,
    dtensor_from_local,
    dtensor_to_local,
    reshard,
    shard_tensor,
    unshard_dtensor,
)
from .meshes.mesh import ProcessMesh, get_mesh, set_mesh
from .meshes.placement import Partial, Placement, ReduceType, Replicate, Shard
from .meshes.shard_layers import LocalLayer, local_map, shard_layer
from .meshes.shard_loader import shard_dataloader
from .meshes.shard_optimizers import ShardingStage1, ShardingStage2, ShardingStage3, shard_optimizer, shard_scaler
from .parallel import DataParallel
from .parallelizing.context_plans import ContextParallel, ConvParallel, PrepareContextParallel
from .parallelizing.dist_model import DistModel, to_static
from .parallelizing.parallelize import parallelize
from .parallelizing.plans import (
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
from .parallelizing.strategy import Strategy
from .planner import load_plan
from .ps.config import CountFilterEntry, ProbabilityEntry, ShowClickEntry

# The package is loaded, and under its name stands the function, as in Paddle.
launch = launch_processes  # noqa: F811

__all__ = [
    "ColWiseParallel", "ContextParallel", "ConvParallel", "CountFilterEntry", "DataParallel", "DistAttr",
    "DistModel", "InMemoryDataset", "LocalLayer", "P2POp", "ParallelEnv", "ParallelMode", "Partial", "Placement",
    "PrepareContextParallel", "PrepareLayerInput", "PrepareLayerOutput", "ProbabilityEntry", "ProcessMesh",
    "QueueDataset", "ReduceOp", "ReduceType", "Replicate", "RowWiseParallel", "SequenceParallelBegin",
    "SequenceParallelDisable",
    "SequenceParallelEnable", "SequenceParallelEnd", "Shard", "ShardedStateDict", "ShardedWeight", "ShardingStage1",
    "ShardingStage2", "ShardingStage3", "ShowClickEntry", "SplitPoint", "Strategy", "all_gather",
    "all_gather_object", "all_reduce", "alltoall", "alltoall_single", "auto_parallel", "barrier",
    "batch_isend_irecv", "broadcast", "broadcast_object_list", "build_sharded_state_dict", "create_nccl_config",
    "destroy_process_group", "dtensor_from_fn", "dtensor_from_local", "dtensor_to_local", "enable_auto_dp", "fleet",
    "gather", "get_backend", "get_group", "get_mesh", "get_rank", "get_world_size", "gloo_barrier",
    "gloo_init_parallel_env", "gloo_release", "in_auto_parallel_align_mode", "init_parallel_env", "irecv",
    "is_available", "is_initialized", "isend", "launch", "load_merged_state_dict", "load_plan", "load_state_dict",
    "local_map", "new_group", "parallelize", "recv", "recv_object_list", "reduce", "reduce_scatter", "reshard",
    "restart_process_group", "rpc", "save_state_dict", "scatter", "scatter_object_list", "send", "send_object_list",
    "set_mesh", "shard_dataloader", "shard_layer", "shard_op", "shard_optimizer", "shard_scaler", "shard_tensor",
    "shard_weight", "sharding", "shutdown_process_group", "spawn", "split", "stream", "to_distributed", "to_static",
    "unshard_dtensor", "wait",
]  # fmt: skip
