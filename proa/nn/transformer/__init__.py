"""Transformer layers: attention (`attention.py`), encoder and decoder (`layers.py`)."""

from __future__ import annotations

from .attention import MultiHeadAttention
from .layers import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)

__all__ = [
    "MultiHeadAttention", "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip
