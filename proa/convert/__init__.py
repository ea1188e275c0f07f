"""Models from elsewhere: ONNX, PyTorch, Caffe; TensorFlow's by way of ONNX.

onnx/ torch/ caffe/  readers: each turns a model into plain data, and has one function for each operator
weights/             PyTorch's weights onto layers of ours
tensorflow.py        TensorFlow's models, written as ONNX by tf2onnx
layer.py             what reading gives: a Layer
conversion.py        a model as a file, which appears only if it agrees with the engine it came from
certificate.py       the record of that; samples.py: inputs to compare with
uncovered.py         operators without a translator, and where they are needed
api.py               `convert`: which reader a file needs
"""

from __future__ import annotations

from .api import convert
from .caffe import from_caffe
from .certificate import Certificate
from .conversion import NotEquivalent
from .layer import ConvertedLayer
from .onnx import from_onnx
from .torch import from_torch
from .uncovered import UncoveredOperators
from .weights import WeightReport, load_torch_weights, read_torch_weights

__all__ = [
    "Certificate", "ConvertedLayer", "NotEquivalent", "UncoveredOperators", "WeightReport", "convert", "from_caffe",
    "from_onnx", "from_torch", "load_torch_weights", "read_torch_weights",
]  # fmt: skip
