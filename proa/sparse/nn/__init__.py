"""`paddle.sparse.nn`: layers for sparse tensors. They hold parameters and call `functional`."""

from __future__ import annotations

from . import functional
from .layers import (
    BatchNorm,
    Conv2D,
    Conv3D,
    LeakyReLU,
    MaxPool3D,
    ReLU,
    ReLU6,
    Softmax,
    SubmConv2D,
    SubmConv3D,
    SyncBatchNorm,
)

__all__ = [
    "BatchNorm", "Conv2D", "Conv3D", "LeakyReLU", "MaxPool3D", "ReLU", "ReLU6", "Softmax", "SubmConv2D", "SubmConv3D",
    "SyncBatchNorm", "functional",
]  # fmt: skip
