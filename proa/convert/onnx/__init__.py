"""ONNX models in: file -> Model -> Layer.

    schema.py, tensors.py   the format's messages and numbers
    reading.py              a file as a Model: names resolved, functions written out
    registry.py             `@reads("Conv")`: which function translates which operator
    operators/              the translators, grouped by area
    translation.py          goes through a model and calls them; sizes.py: shapes that are computed
    loading.py              `from_onnx`

To add an operator, write a function with `@reads` in its area; it calls our public functions as a user would.
"""

from __future__ import annotations

from .loading import from_onnx
from .reading import read_onnx
from .registry import READERS, reads

__all__ = ["READERS", "from_onnx", "read_onnx", "reads"]
