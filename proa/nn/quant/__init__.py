"""`paddle.nn.quant`: layers that imitate quantised arithmetic in training, and linear layers with quantised weights.

format.py             grids that are fixed; layers that are converted
qat/                  Linear and Conv2D with a quanter or observer for input and weight (`paddle.quantization` makes them)
stub.py               a place for an observer
functional_layers.py  functions as layers
quant_layers.py       the older layers of quantisation-aware training
weights.py            weights in 8 or 4 bits
"""

from __future__ import annotations

from . import format, functional_layers, qat, quant_layers
from .stub import Stub
from .weights import llm_int8_linear, weight_dequantize, weight_only_linear, weight_quantize

__all__ = [
    "Stub", "format", "functional_layers", "llm_int8_linear", "qat", "quant_layers", "weight_dequantize",
    "weight_only_linear", "weight_quantize",
]  # fmt: skip
