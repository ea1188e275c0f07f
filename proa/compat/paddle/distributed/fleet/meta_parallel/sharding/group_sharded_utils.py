"""`GroupShardedScaler`: a scaler that knows of overflows in all processes."""

from .......distributed.fleet.meta_optimizers.dygraph_optimizer.hybrid_parallel_gradscaler import (
    share_overflows as GroupShardedScaler,
)

__all__ = ["GroupShardedScaler"]
