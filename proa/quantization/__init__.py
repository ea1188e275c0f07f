"""`paddle.quantization`: models in 8 bits, calibrated (PTQ) or trained with rounding (QAT).

    config.py       QuantConfig: which layers get which observers and quanters
    factory.py      a class and its arguments, made into an object for each layer; `@quanter`
    base.py         BaseQuanter, BaseObserver
    observers/      watch values and say how far a grid has to reach
    quanters/       round values while a model is trained
    quantize.py     QAT and PTQ: layers replaced, later converted
    whole.py        whole models in one call
    saved.py        Paddle's files in, quantised files out
    weight_only.py  linear layers with weights in 8 or 4 bits
    wrapper.py      a layer with an observer in front of it

Layers with rounded weights are in `nn/quant`. What a converted model computes is quantize_linear and dequantize_linear
around ordinary layers; the passes for inference turn that into products of bytes (`graph/passes/quantised.py`).
"""

from __future__ import annotations

from . import observers, quanters
from .base import BaseObserver, BaseQuanter
from .config import QuantConfig
from .factory import quanter
from .quantize import PTQ, QAT
from .saved import int8_saved_model
from .whole import int8_model, weight_only_model

__all__ = [
    "PTQ", "QAT", "BaseObserver", "BaseQuanter", "QuantConfig", "int8_model", "int8_saved_model", "observers", "quanter",
    "quanters", "weight_only_model",
]  # fmt: skip
