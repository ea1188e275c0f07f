"""Optimisers that exchange gradients, norms and parameters with other processes around an ordinary one."""

from __future__ import annotations

from .dygraph_sharding_optimizer import DygraphShardingOptimizer, DygraphShardingOptimizerV2
from .hybrid_parallel_gradscaler import HybridParallelGradScaler
from .hybrid_parallel_optimizer import HybridParallelClipGrad, HybridParallelOptimizer

__all__ = [
    "DygraphShardingOptimizer", "DygraphShardingOptimizerV2", "HybridParallelClipGrad", "HybridParallelGradScaler",
    "HybridParallelOptimizer",
]  # fmt: skip
