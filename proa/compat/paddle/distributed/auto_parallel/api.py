"""Inner names of `paddle.distributed.auto_parallel.api`."""

from typing import Any

from .....distributed.meshes.annotations import enable_auto_dp, in_auto_parallel_align_mode
from .....distributed.meshes.dtensor import dtensor_from_local, dtensor_to_local
from .....distributed.meshes.shard_loader import ShardDataloader
from .....distributed.meshes.shard_optimizers import ShardOptimizer as _ShardOptimizer
from .....distributed.meshes.submeshes import moe_global_mesh_tensor, moe_sub_mesh_tensors, split_mesh


def is_dist_tensor(tensor: Any) -> bool:
    """Whether a value is a tensor that lies on a mesh."""
    return hasattr(tensor, "is_dist") and tensor.is_dist()


__all__ = [
    "ShardDataloader", "_ShardOptimizer", "dtensor_from_local", "dtensor_to_local", "enable_auto_dp",
    "in_auto_parallel_align_mode", "is_dist_tensor", "moe_global_mesh_tensor", "moe_sub_mesh_tensors", "split_mesh",
]  # fmt: skip
