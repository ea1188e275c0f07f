"""`paddle.nn.quant`: layers that imitate quantised arithmetic in training, and linear layers with quantised weights."""

from __future__ import annotations

from . import quant_layers
from .stub import Stub
from .weights import llm_int8_linear, weight_dequantize, weight_only_linear, weight_quantize

__all__ = [
    "Stub", "llm_int8_linear", "quant_layers", "weight_dequantize", "weight_only_linear", "weight_quantize",
]  # fmt: skip
