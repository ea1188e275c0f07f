"""`paddle.onnx`: models as ONNX files, written by the package paddle2onnx as in Paddle."""

from __future__ import annotations

import importlib
from typing import Any

from ..core.errors import value_error
from ..eager.declare import public


@public(module="onnx")
def export(layer: Any, path: str, input_spec: Any = None, opset_version: int = 9, **configs: Any) -> None:
    """Writes `path.onnx`. Needs the package paddle2onnx, which reads this package under Paddle's name (`proa run`)."""
    if not path or path.endswith(("/", "\\")):
        raise value_error("onnx.export", "path must name a file, without its suffix", repr(path))
    try:
        converter = importlib.import_module("paddle2onnx")
    except ImportError as error:
        raise ImportError(
            f"(onnx.export) the package paddle2onnx cannot be imported: {error}. Run pip install paddle2onnx, and start the "
            "program with `proa run`; or keep the model with paddle.jit.save, whose files paddle2onnx converts too."
        ) from error
    converter.dygraph2onnx(layer, f"{path}.onnx", input_spec=input_spec, opset_version=opset_version, **configs)
