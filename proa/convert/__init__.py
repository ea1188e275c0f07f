"""Models from elsewhere: ONNX, PyTorch.

onnx/            ONNX files
layer.py         what a conversion gives: a Layer
uncovered.py     operators without a translator, and where they are needed
"""

from __future__ import annotations

from .api import convert
from .certificate import Certificate
from .conversion import NotEquivalent
from .layer import ConvertedLayer
from .onnx import from_onnx
from .torch import from_torch
from .uncovered import UncoveredOperators

__all__ = ["Certificate", "ConvertedLayer", "NotEquivalent", "UncoveredOperators", "convert", "from_onnx", "from_torch"]
