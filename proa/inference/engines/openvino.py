"""OpenVINO behind a predictor."""

from __future__ import annotations

import queue
from typing import Any

import numpy as np

from ..models import Model
from .base import Settings
from .foreign import ForeignEngine

_PRECISIONS = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}
_REQUESTS = 4  # runs at the same time: each has memory of its own for what lies between the layers
_SHAPES_KEPT = 64  # kernels that OpenVINO keeps for shapes it has seen; by itself, 5,000


class _Session:
    """A compiled model and its requests, each of which serves one thread at a time."""

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled
        ports = compiled.outputs
        # Where sizes are known, results are written into new arrays at once, and nobody has to copy them.
        self.shapes = [
            (tuple(port.shape), port.element_type.to_dtype()) for port in ports if port.partial_shape.is_static
        ]
        self.is_static = len(self.shapes) == len(ports)
        self.idle: queue.LifoQueue[Any] = queue.LifoQueue()
        for _ in range(_REQUESTS):
            self.idle.put(None)  # made when it is needed


class OpenVinoEngine(ForeignEngine):
    """OpenVINO on the CPU, in the precision that is asked for."""

    name = "openvino"
    package = "openvino"

    def __init__(self, model: Model, settings: Settings) -> None:
        super().__init__(model, settings)
        self.core = self.library.Core()

    def open(self, path: str, sizes_known: bool) -> _Session:
        options: dict[str, Any] = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": _PRECISIONS[self.settings.precision],
        }
        if self.settings.threads:
            options["INFERENCE_NUM_THREADS"] = self.settings.threads
        if not sizes_known:
            options["CPU_RUNTIME_CACHE_CAPACITY"] = _SHAPES_KEPT
        return _Session(self.core.compile_model(self.core.read_model(path), "CPU", options))

    def call(self, session: _Session, arrays: list[np.ndarray]) -> list[np.ndarray]:
        request = session.idle.get()
        try:
            if request is None:
                request = session.compiled.create_infer_request()
            for number, array in enumerate(arrays):
                request.set_input_tensor(number, self._shared(array))
            if not session.is_static:
                found = request.infer(share_outputs=True)
                return [np.array(found[port]) for port in session.compiled.outputs]
            results = [np.empty(*kind) for kind in session.shapes]
            for number, result in enumerate(results):
                request.set_output_tensor(number, self._shared(result))
            request.infer(share_outputs=True)
            return results
        finally:
            session.idle.put(request)

    def _shared(self, array: np.ndarray) -> Any:
        """An array as OpenVINO sees it, without a copy. `infer` would do that as well, but looks at the model's inputs
        at every call, which takes 20 to 50 microseconds."""
        return self.library.Tensor(array if array.flags.writeable else array.copy(), shared_memory=True)


__all__ = ["OpenVinoEngine"]
