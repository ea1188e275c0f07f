"""A saved model as a function of one array, safe to call from many threads."""

from __future__ import annotations

import os

import numpy as np

from ..core.errors import value_error
from ..eager.tensor import tensor_from_data
from ..inference import Config, create_predictor


class Network:
    """One input, one result. `engine` is the predictor's ("xla", "onnxruntime", "openvino", "auto"); None: its default."""

    def __init__(self, path: str, kind: str, engine: str | None = None) -> None:
        self.path, self.kind = path, kind
        prefix, ending = os.path.splitext(path)
        config = Config(path, prefix + ".pdiparams") if ending in (".pdmodel", ".json") else Config(path)
        if engine is not None:
            config.set_engine(engine)
        self._predictor = create_predictor(config)
        names = self._predictor.get_input_names(), self._predictor.get_output_names()
        if len(names[0]) != 1 or not names[1]:
            raise value_error("ocr", f"the {kind} must have one input", f"{path} with {len(names[0])} inputs")

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        # Handles would belong to one thread; tensors given and returned belong to the call.
        results = self._predictor.run([tensor_from_data(batch)])
        return results[0].numpy()
