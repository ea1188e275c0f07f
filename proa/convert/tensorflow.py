"""TensorFlow's models by way of ONNX: tf2onnx writes one, in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

from ..core.errors import runtime_error

# How tf2onnx is told what it gets.
_OPTIONS = {".pb": "--graphdef", ".tflite": "--tflite", ".h5": "--keras", ".keras": "--keras", "": "--saved-model"}
ENDINGS = frozenset(_OPTIONS) - {""}


def is_saved_model(path: str) -> bool:
    return os.path.isdir(path) and os.path.isfile(os.path.join(path, "saved_model.pb"))


def to_onnx(path: str, target: str) -> None:
    """Writes the model as ONNX to `target`; what tf2onnx says is in the error if it does not."""
    if importlib.util.find_spec("tf2onnx") is None or importlib.util.find_spec("tensorflow") is None:
        raise ImportError(
            "(convert) TensorFlow's models are converted by way of ONNX: pip install tf2onnx tensorflow, or write the "
            f"ONNX file elsewhere (python -m tf2onnx.convert {_OPTIONS[_ending(path)]} {path} --output model.onnx) "
            "and convert that."
        )
    command = [sys.executable, "-m", "tf2onnx.convert", _OPTIONS[_ending(path)], path, "--output", target]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not os.path.isfile(target):
        last = " ".join(done.stderr.strip().splitlines()[-3:])[:400]
        raise runtime_error("convert", "tf2onnx could not convert the model", last)


def _ending(path: str) -> str:
    return "" if os.path.isdir(path) else os.path.splitext(path)[1].lower()


__all__ = ["ENDINGS", "is_saved_model", "to_onnx"]
