"""The translators of Paddle's operations, grouped by area. Importing this registers them all."""

from __future__ import annotations

from . import (
    activation,
    control,
    convolution,
    creation,
    decomposition,
    detection,
    elementwise,
    embedding,
    fused,
    graphs,
    indexing,
    linear,
    losses,
    normalization,
    pooling,
    quantization,
    random,
    recurrent,
    reduction,
    resizing,
    shape,
    sorting,
    spectral,
    updating,
)  # fmt: skip

__all__ = [
    "activation", "control", "convolution", "creation", "decomposition", "detection", "elementwise", "embedding", "fused",
    "graphs", "indexing", "linear", "losses", "normalization", "pooling", "quantization", "random", "recurrent",
    "reduction", "resizing", "shape", "sorting", "spectral", "updating",
]  # fmt: skip
