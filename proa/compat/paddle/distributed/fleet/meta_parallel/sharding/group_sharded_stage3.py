"""`GroupShardedStage3`: what `group_sharded_parallel` gives as the model, at level "p_g_os"."""

from .......distributed.fleet.meta_parallel.sharding import GroupShardedStage3

__all__ = ["GroupShardedStage3"]
