"""The folder: a model, what it must give, runners, and how to build them for the device."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import runtime_error, value_error
from ...eager.tensor import tensor_from_data
from ...inference import create_predictor
from ..folders import new_folder
from ..models import config_of, ports, write_model
from .ort_format import WHERE, needed_runtime, run_ort, write_ort
from .vectors import TOLERANCE, difference, made_up, write_vectors

ASSETS = Path(__file__).parent / "assets"
TARGETS = ("arm64-android", "arm64-linux", "x86-64")


def model_name(target: str) -> str:
    """ONNX Runtime's own format for arm64. On x86-64 the ONNX file itself: what makes it fast there (blocked layouts)
    depends on the processor, is decided when a file is loaded, and is not done to files in the other format."""
    return "model.onnx" if target == "x86-64" else "model.ort"


def export_package(
    model: str, target_folder: str | os.PathLike[str], target: str, shapes: Sequence[Sequence[int]] | None = None
) -> dict[str, Any]:
    """Makes the folder, and says what was checked. `shapes` are those of the inputs to check with; free sizes are 1."""
    if target not in TARGETS:
        raise value_error(WHERE, f"the targets are {', '.join(TARGETS)}", repr(target))
    runtime = needed_runtime().__version__
    with tempfile.TemporaryDirectory(prefix="proa-edge-") as made, new_folder(WHERE, target_folder) as folder:
        onnx_file = Path(made) / "model.onnx"
        write_model(WHERE, model, onnx_file)
        inputs, outputs = ports(WHERE, onnx_file)
        feeds = made_up(WHERE, inputs, shapes)
        right = _right_results(model, onnx_file, feeds)
        written = folder / model_name(target)
        if written.suffix == ".onnx":
            shutil.copyfile(onnx_file, written)
        else:
            write_ort(onnx_file, written)
        gap = max(map(difference, run_ort(written, feeds), right), default=0.0)
        if gap > TOLERANCE:
            raise runtime_error(WHERE, "the converted model gives other numbers", f"a relative difference of {gap:.1e}")
        write_vectors(folder, feeds, {port.name: array for port, array in zip(outputs, right, strict=True)})
        for name in ("run.py", "run.cpp"):
            shutil.copyfile(ASSETS / name, folder / name)
        report = {"target": target, "runtime": runtime, "model": written.name, "bytes": written.stat().st_size}
        report["error"] = gap
        text = (ASSETS / "README.md").read_text(encoding="utf-8") + (ASSETS / f"{target}.md").read_text(
            encoding="utf-8"
        )
        for key, value in report.items():
            text = text.replace(f"<{key}>", f"{value:.1e}" if isinstance(value, float) else str(value))
        (folder / "README.md").write_text(text, encoding="utf-8")
    return report


def _right_results(model: str, onnx_file: Path, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """What the model gives here, by its own engine; of a file that is ONNX already, what ONNX Runtime says."""
    if model.endswith(".onnx"):
        return run_ort(onnx_file, feeds)
    results = create_predictor(config_of(model)).run([tensor_from_data(array) for array in feeds.values()])
    return [np.asarray(result.numpy()) for result in results]
