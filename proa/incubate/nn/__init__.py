"""`paddle.incubate.nn`: layers that Paddle computes with kernels fused by hand; here XLA fuses the compositions."""

from __future__ import annotations

from . import functional, memory_efficient_attention
from .layers import (
    FusedBiasDropoutResidualLayerNorm,
    FusedDropoutAdd,
    FusedFeedForward,
    FusedLinear,
    FusedMultiHeadAttention,
    FusedTransformerEncoderLayer,
)

__all__ = [
    "FusedBiasDropoutResidualLayerNorm", "FusedDropoutAdd", "FusedFeedForward", "FusedLinear", "FusedMultiHeadAttention",
    "FusedTransformerEncoderLayer", "functional", "memory_efficient_attention",
]  # fmt: skip
