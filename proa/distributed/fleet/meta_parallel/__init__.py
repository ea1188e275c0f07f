"""`fleet.meta_parallel`: models divided among processes. One process runs all of a model's parts."""

from __future__ import annotations

from ..layers.mpu.mp_layers import ColumnParallelLinear, ParallelCrossEntropy, RowParallelLinear, VocabParallelEmbedding
from ..layers.mpu.random import RNGStatesTracker, get_rng_state_tracker, model_parallel_random_seed
from .parallel_layers.pp_layers import LayerDesc, LocalSharedLayerDesc, PipelineLayer, SharedLayerDesc
from .wrappers import PipelineParallel, SegmentParallel, ShardingParallel, TensorParallel

__all__ = [
    "ColumnParallelLinear", "LayerDesc", "LocalSharedLayerDesc", "ParallelCrossEntropy", "PipelineLayer",
    "PipelineParallel", "RNGStatesTracker", "RowParallelLinear", "SegmentParallel", "SharedLayerDesc",
    "ShardingParallel", "TensorParallel", "VocabParallelEmbedding", "get_rng_state_tracker", "model_parallel_random_seed",
]  # fmt: skip
