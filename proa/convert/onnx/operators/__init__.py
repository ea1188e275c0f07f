"""The translators of ONNX's operators, grouped by area. Importing this registers them all."""

from __future__ import annotations

from . import (
    activation,
    attention,
    control,
    convolution,
    creation,
    elementwise,
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
    sequences,
    shape,
    signal,
)  # fmt: skip

__all__ = [
    "activation", "attention", "control", "convolution", "creation", "elementwise", "indexing", "linear", "losses",
    "normalization", "pooling", "quantization", "random", "recurrent", "reduction", "resizing", "sequences", "shape",
    "signal",
]  # fmt: skip
