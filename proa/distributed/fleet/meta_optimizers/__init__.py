"""`fleet.meta_optimizers`: optimisers of models that are divided among processes."""

from __future__ import annotations

from . import dygraph_optimizer
from .dygraph_optimizer import DygraphShardingOptimizer, HybridParallelOptimizer

__all__ = ["DygraphShardingOptimizer", "HybridParallelOptimizer", "dygraph_optimizer"]
