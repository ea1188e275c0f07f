"""Every model of `paddle.vision.models` exported to ONNX, dynamic in its batch, and run by ONNX Runtime.

    python -m tests.onnx.models [--only resnet18,vgg16] [--opset 17]

Each model is exported by `paddle.onnx.export`, which compares it with proa before a file appears; the file is then run here
again, at two batch sizes, beside the layer itself. A model is good if all results lie within 1e-4 of the largest number of
the layer's result, whatever size that has: models that nobody trained may give very small ones.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import sys
import tempfile
import time
from typing import Any

import numpy as np
import onnxruntime

import proa as paddle
from proa.onnx.verifying import difference
from proa.static import InputSpec

TOLERANCE = 1e-4
_SIZES = {"alexnet": 224, "googlenet": 224, "inception_v3": 139, "LeNet": 28}


def builders() -> dict[str, Any]:
    """The functions that make models, and LeNet, which is a class only."""
    found = {
        name: value
        for name, value in vars(paddle.vision.models).items()
        if inspect.isfunction(value) and name in paddle.vision.models.__all__
    }
    return found | {"LeNet": paddle.vision.models.LeNet}


def relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference beside the largest number of ours."""
    largest = float(np.abs(ours).max())
    assert 1e-30 < largest < 1e30, f"results of {largest} say nothing"
    return difference(ours / largest, theirs / largest)


def tried(name: str, build: Any, folder: str, opset: int) -> tuple[float, float, int, float]:
    """Largest error of the certificate and of the runs here, nodes, seconds of the export."""
    paddle.seed(2024)
    layer = build()
    extent = _SIZES.get(name, 64)
    channels = 1 if name == "LeNet" else 3
    path = os.path.join(folder, name)
    random, worst = np.random.default_rng(1), 0.0
    started = time.perf_counter()
    paddle.onnx.export(layer, path, [InputSpec([None, channels, extent, extent], "float32", "x")], opset_version=opset)
    seconds = time.perf_counter() - started
    with open(f"{path}.onnx.certificate.json") as file:
        certificate = json.load(file)
    session = onnxruntime.InferenceSession(f"{path}.onnx", providers=["CPUExecutionProvider"])
    layer.eval()
    for batch in (1, 4):
        x = random.standard_normal((batch, channels, extent, extent)).astype("float32")
        with paddle.no_grad():
            ours = layer(paddle.to_tensor(x))
        ours = list(ours) if isinstance(ours, (list, tuple)) else [ours]
        theirs = session.run(None, {"x": x})
        worst = max(worst, *(relative(a.numpy(), b) for a, b in zip(ours, theirs, strict=True)))
    os.unlink(f"{path}.onnx")
    return certificate["largest_error"], worst, sum(certificate["operators"].values()), seconds


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", help="names of models, separated by commas")
    parser.add_argument("--opset", type=int, default=17)
    chosen = parser.parse_args(arguments)
    wanted = [part for part in chosen.only.split(",") if part]
    good = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, build in builders().items():
            if wanted and name not in wanted:
                continue
            count += 1
            try:
                recorded, worst, nodes, seconds = tried(name, build, folder, chosen.opset)
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
                continue
            verdict = "good" if max(recorded, worst) <= TOLERANCE else "BAD"
            good += verdict == "good"
            print(
                f"{name}: {verdict}, error {recorded:.1e} and {worst:.1e}, {nodes} nodes, {seconds:.1f} s", flush=True
            )
    print(f"{good} of {count} models are good")
    return 0 if good == count else 1


if __name__ == "__main__":
    sys.exit(main())
