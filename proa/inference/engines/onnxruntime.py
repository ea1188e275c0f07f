"""ONNX Runtime behind a predictor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..models import Model
from .base import Settings, Unavailable
from .foreign import ForeignEngine


class OnnxRuntimeEngine(ForeignEngine):
    """ONNX Runtime on the CPU, in float32. One session serves all threads."""

    name = "onnxruntime"
    package = "onnxruntime"

    def __init__(self, model: Model, settings: Settings) -> None:
        if settings.precision != "float32":
            raise Unavailable(f"it computes in float32 on a CPU; {settings.precision} was asked for")
        super().__init__(model, settings)

    def open(self, path: str, sizes_known: bool) -> Any:
        options = self.library.SessionOptions()
        options.intra_op_num_threads = self.settings.threads or 0
        options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors: they come as exceptions as well, warnings would go to stderr
        if not sizes_known:
            options.enable_mem_pattern = False  # which keeps a plan of the memory for every shape, for ever
        session = self.library.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return session, [given.name for given in session.get_inputs()]

    def call(self, session: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
        opened, names = session
        return opened.run(None, dict(zip(names, arrays, strict=True)))


__all__ = ["OnnxRuntimeEngine"]
