"""What ONNX Runtime gives for the same model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np


class Reference:
    """The engine beside which a converted ONNX model is put."""

    def __init__(self, source: Any) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise ImportError(
                f"(convert) ONNX Runtime cannot be imported ({error}), and without it nothing says whether the converted "
                "model is right: pip install 'proa[onnx]'."
            ) from error
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = max(1, min(4, os.cpu_count() or 1))
        model = os.fspath(source) if isinstance(source, (str, os.PathLike)) else source
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.names = [given.name for given in self.session.get_inputs()]
        self.title = f"ONNX Runtime {onnxruntime.__version__} (CPU)"

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        return list(self.session.run(None, dict(zip(self.names, arrays, strict=True))))


__all__ = ["Reference"]
