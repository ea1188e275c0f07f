"""Older names of `paddle.quantization`: which quantizers there are."""

from ...layout import resolve

_ACTIVATIONS = ("AbsmaxQuantizer", "HistQuantizer", "KLQuantizer")
SUPPORT_ACT_QUANTIZERS = [resolve(f"quantization.imperative.ptq_quantizer.{name}") for name in _ACTIVATIONS]
SUPPORT_WT_QUANTIZERS = [
    resolve(f"quantization.imperative.ptq_quantizer.{name}")
    for name in ("AbsmaxQuantizer", "PerChannelAbsmaxQuantizer")
]
