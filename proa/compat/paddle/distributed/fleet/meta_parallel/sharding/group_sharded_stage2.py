"""`GroupShardedStage2`: what `group_sharded_parallel` gives as the model, below level "p_g_os"."""

from .......distributed.fleet.meta_parallel.sharding import GroupShardedStage2

__all__ = ["GroupShardedStage2"]
