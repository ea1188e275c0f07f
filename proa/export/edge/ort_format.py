"""ONNX Runtime's own format: the optimised graph, which small builds of the runtime read without protobuf."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import runtime_error

WHERE = "export edge"


def needed_runtime() -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError(f"({WHERE}) the package onnxruntime is needed: pip install onnxruntime.") from error
    return onnxruntime


def write_ort(source: Path, target: Path) -> None:
    """Converts. Only optimisations that hold on every processor are made: layouts are the device's own affair."""
    onnxruntime = needed_runtime()
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(target)
    options.log_severity_level = 3
    options.add_session_config_entry("session.save_model_format", "ORT")
    try:
        onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime raises classes of its own
        problem = str(error).splitlines()[0][:300]
        raise runtime_error(WHERE, f"ONNX Runtime cannot take the model ({problem})", source.name) from None
    if not target.is_file() or not target.stat().st_size:
        raise runtime_error(WHERE, "ONNX Runtime wrote no model", source.name)


def run_ort(path: Path, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The results of a file, in their order."""
    onnxruntime = needed_runtime()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return [np.asarray(result) for result in session.run(None, inputs)]
