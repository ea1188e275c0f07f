"""`paddle.onnx`: models as ONNX files.

builder.py, sizes.py, kernels.py   the vocabulary: nodes, unknown sizes, types that runtimes compute in
registry.py, translators/          one function for each primitive, or the reason why there is none
translation.py, protos.py          the walk over a Program; the ModelProto
sources.py, conversion.py          what can be exported; `model_of`
exporting.py                       `export`: files, written whole or not at all
verifying.py, certificate.py       the comparison with ONNX Runtime, and its record
"""

from __future__ import annotations

from .conversion import model_of
from .exporting import export, write_onnx

__all__ = ["export", "model_of", "write_onnx"]
