"""`fleet.meta_parallel`: models divided among processes. One process runs all of a model's parts.

wrappers.py            what `fleet.distributed_model` gives
parallel_layers/       models as lists of layers that are cut into stages
pipeline_parallel.py   running the stages: by schedules.py, with messages through mailbox.py
ring_attention.py      attention over sequences that are divided
sharding/              optimiser states, gradients and parameters divided
"""

from __future__ import annotations

from ..layers.mpu.mp_layers import ColumnParallelLinear, ParallelCrossEntropy, RowParallelLinear, VocabParallelEmbedding
from ..layers.mpu.random import RNGStatesTracker, get_rng_state_tracker, model_parallel_random_seed
from .parallel_layers.pp_layers import LayerDesc, LocalSharedLayerDesc, PipelineLayer, SharedLayerDesc
from .pipeline_parallel import (
    PipelineParallel,
    PipelineParallelWithInterleave,
    PipelineParallelWithInterleaveFthenB,
)
from .ring_attention import ring_flash_attention
from .wrappers import MetaParallelBase, SegmentParallel, ShardingParallel, TensorParallel

__all__ = [
    "ColumnParallelLinear", "LayerDesc", "LocalSharedLayerDesc", "MetaParallelBase", "ParallelCrossEntropy",
    "PipelineLayer", "PipelineParallel", "PipelineParallelWithInterleave", "PipelineParallelWithInterleaveFthenB",
    "RNGStatesTracker", "RowParallelLinear", "SegmentParallel", "SharedLayerDesc",
    "ShardingParallel", "TensorParallel", "VocabParallelEmbedding", "get_rng_state_tracker", "model_parallel_random_seed",
    "ring_flash_attention",
]  # fmt: skip
