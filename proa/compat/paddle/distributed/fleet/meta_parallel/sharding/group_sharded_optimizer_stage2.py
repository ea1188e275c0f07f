"""`GroupShardedOptimizerStage2`: what `group_sharded_parallel` gives as the optimiser."""

from .......distributed.fleet.meta_parallel.sharding import GroupShardedOptimizer as GroupShardedOptimizerStage2

__all__ = ["GroupShardedOptimizerStage2"]
