"""`paddle.distributed.fleet`: preparing a job, and what its models are made of.

facade.py          Fleet: `fleet.init`, `distributed_model`, ranks; model.py: which wrapper a model gets
base/              strategies, roles, topologies, what processes keep alike
layers/mpu/        layers whose weights are divided, and their random states
meta_parallel/     models that are divided: wrappers, pipelines, sharding, ring attention
meta_optimizers/   optimisers that exchange gradients, norms and parameters
dataset/           files of slots for `Executor.train_from_dataset`; data_generator.py: what writes them
utils/             sequence parallelism, mixed precision, loggers
recompute.py       less memory for more arithmetic
"""

from __future__ import annotations

from typing import Any

from . import base as base
from . import meta_optimizers, meta_parallel, recompute, utils
from .base.role_maker import PaddleCloudRoleMaker, Role, UserDefinedRoleMaker
from .base.strategy import DistributedStrategy
from .base.topology import CommunicateTopology, HybridCommunicateGroup
from .data_generator import MultiSlotDataGenerator, MultiSlotStringDataGenerator
from .dataset import BoxPSDataset, DatasetBase, FileInstantDataset, InMemoryDataset, QueueDataset
from .facade import Fleet, UtilBase, fleet

# The methods of the one Fleet are functions here.
all_reduce = fleet.all_reduce
barrier_worker = fleet.barrier_worker
distributed_model = fleet.distributed_model
distributed_optimizer = fleet.distributed_optimizer
distributed_scaler = fleet.distributed_scaler
get_hybrid_communicate_group = fleet.get_hybrid_communicate_group
get_hybrid_parallel_topology = fleet.get_hybrid_parallel_topology
init = fleet.init
init_server = fleet.init_server
init_worker = fleet.init_worker
is_coordinator = fleet.is_coordinator
is_first_worker = fleet.is_first_worker
is_server = fleet.is_server
is_worker = fleet.is_worker
local_device_ids = fleet.local_device_ids
local_rank = fleet.local_rank
minimize = fleet.minimize
node_num = fleet.node_num
nranks = fleet.nranks
rank = fleet.rank
rank_in_node = fleet.rank_in_node
run_server = fleet.run_server
save_persistables = fleet.save_persistables
server_endpoints = fleet.server_endpoints
server_index = fleet.server_index
server_num = fleet.server_num
shrink = fleet.shrink
stop_worker = fleet.stop_worker
worker_endpoints = fleet.worker_endpoints
worker_index = fleet.worker_index
worker_num = fleet.worker_num
world_device_ids = fleet.world_device_ids
world_size = fleet.world_size
util: Any = fleet.util

__all__ = [
    "BoxPSDataset", "CommunicateTopology", "DatasetBase", "DistributedStrategy", "FileInstantDataset", "Fleet",
    "HybridCommunicateGroup", "InMemoryDataset", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator",
    "PaddleCloudRoleMaker", "QueueDataset", "Role", "UserDefinedRoleMaker", "UtilBase", "fleet", "meta_optimizers",
    "meta_parallel", "recompute", "util", "utils",
]  # fmt: skip
