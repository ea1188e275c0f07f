"""`paddle.distributed.fleet`: preparing a job, and what its models are made of.

facade.py          Fleet: `fleet.init`, `distributed_model`, ranks; model.py: which wrapper a model gets
base/              strategies, roles, topologies, what processes keep alike
layers/mpu/        layers whose weights are divided, and their random states
meta_parallel/     models that are divided: wrappers, pipelines, sharding, ring attention
meta_optimizers/   optimisers that exchange gradients, norms and parameters
utils/             sequence parallelism, mixed precision, loggers
recompute.py       less memory for more arithmetic
"""

from __future__ import annotations

from typing import Any

from . import meta_optimizers, meta_parallel, recompute, utils
from .base.role_maker import PaddleCloudRoleMaker, Role, UserDefinedRoleMaker
from .base.strategy import DistributedStrategy
from .base.topology import CommunicateTopology, HybridCommunicateGroup
from .facade import Fleet, UtilBase, fleet

# Every method of the one Fleet is a function here.
for _name in dir(fleet):
    if not _name.startswith("_") and callable(getattr(fleet, _name)):
        globals()[_name] = getattr(fleet, _name)
util: Any = fleet.util

__all__ = [
    "CommunicateTopology", "DistributedStrategy", "Fleet", "HybridCommunicateGroup", "PaddleCloudRoleMaker", "Role",
    "UserDefinedRoleMaker", "UtilBase", "fleet", "meta_optimizers", "meta_parallel", "recompute", "util", "utils",
]  # fmt: skip
