"""What OpenCV gives for the same files. Version 5 no longer reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Reference:
    """OpenCV's own reader and engine."""

    def __init__(self, prototxt: str, caffemodel: str, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        try:
            import cv2

            engine: Any = cv2.dnn  # version 5 has no such reader
            reader = engine.readNetFromCaffe
        except (ImportError, AttributeError) as error:
            raise ImportError(
                f"(convert) Caffe's models are compared with OpenCV 4 ({error}): pip install 'opencv-python-headless<5'. "
                "Without a comparison: proa.convert.from_caffe(prototxt, caffemodel)."
            ) from error
        self.net = reader(prototxt, caffemodel)
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.title = f"OpenCV {cv2.__version__}"

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        for name, array in zip(self.inputs, arrays, strict=True):
            self.net.setInput(array, name)
        return [np.array(one) for one in self.net.forward(self.outputs)]


__all__ = ["Reference"]
