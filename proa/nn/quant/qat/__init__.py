"""Layers whose input and weight are rounded: in training by quanters, in calibration watched by observers."""

from __future__ import annotations

from .conv import QuantedConv2D
from .linear import QuantedLinear

__all__ = ["QuantedConv2D", "QuantedLinear"]
