"""Models saved here, loaded and run by the real package: a table of what agrees.

    python -m tests.formats.paddle.written [--paddle PYTHON] [--only resnet18,lstm] [--formats json] [--json FILE]

All of paddle.vision.models and ten recurrent and attention models, in both formats of Paddle. A line passes when the real
package loads the files and its results are within 1e-4 of ours (relative to the largest result). The command fails
below 95 %.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import proa as paddle
from proa.graph.structure import flatten
from proa.static import InputSpec

from .sequence_models import SEQUENCE_MODELS

_BAR = 0.95
_TOLERANCE = 1e-4
_SIDES = {"alexnet": 224, "googlenet": 224, "inception_v3": 96}  # where 64 pixels are too few

# What the other process does: loads the path on each line of its input and answers with one line of JSON.
_OTHER_SIDE = r"""
import json, sys
import numpy as np
import paddle

np.seterr(all="ignore")
for line in sys.stdin:
    prefix, data, older = json.loads(line)
    try:
        arrays = np.load(data)
        inputs = [arrays[f"input_{i}"] for i in range(sum(n.startswith("input_") for n in arrays.files))]
        expected = [arrays[f"output_{i}"] for i in range(sum(n.startswith("output_") for n in arrays.files))]
        if older:
            config = paddle.inference.Config(prefix + ".pdmodel", prefix + ".pdiparams")
            config.disable_glog_info()
            predictor = paddle.inference.create_predictor(config)
            for name, array in zip(predictor.get_input_names(), inputs):
                predictor.get_input_handle(name).copy_from_cpu(array)
            predictor.run()
            results = [predictor.get_output_handle(n).copy_to_cpu() for n in predictor.get_output_names()]
        else:
            layer = paddle.jit.load(prefix)
            with paddle.no_grad():
                results = layer(*[paddle.to_tensor(array) for array in inputs])
            results = [r.numpy() for r in ([results] if isinstance(results, paddle.Tensor) else results)]
        worst = 0.0 if len(results) == len(expected) else float("inf")
        for a, b in zip(results, expected):
            if a.shape != b.shape:
                worst = float("inf")
            elif a.size:
                wide = "complex128" if a.dtype.kind == "c" or b.dtype.kind == "c" else "float64"
                a, b = a.astype(wide), b.astype(wide)
                same = (a == b) | ((a != a) & (b != b))
                size = max(1.0, float(np.abs(np.where(np.isfinite(b), b, 0)).max()))
                worst = max(worst, float(np.where(same, 0, np.abs(a - b)).max() / size))
        answer = {"worst": worst if worst == worst else float("inf")}
    except Exception as error:
        text = str(error)
        at = text.find("Error Message Summary")
        answer = {"error": f"{type(error).__name__}: {text[at + 60 : at + 360] if at >= 0 else text[-300:]}"}
    print("ANSWER " + json.dumps(answer), flush=True)
"""


class OtherSide:
    """The process with the real package."""

    def __init__(self, python: str) -> None:
        self.process = subprocess.Popen(
            [python, "-c", _OTHER_SIDE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, prefix: Path, data: Path, older: bool) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([str(prefix), str(data), older]) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("ANSWER "):
                return json.loads(line[7:])
        return {"error": f"the other process ended ({self.process.wait()})"}

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def models() -> Iterator[tuple[str, Callable[[], Any], list[InputSpec], list[np.ndarray]]]:
    """Name, layer, specs and inputs of every model."""
    zoo = paddle.vision.models
    names = sorted(name for name in zoo.__all__ if name[0].islower())
    for name in ["LeNet", *names]:
        channels, side = (1, 28) if name == "LeNet" else (3, _SIDES.get(name, 64))
        array = np.random.default_rng(0).standard_normal((2, channels, side, side)).astype("float32")
        yield name, getattr(zoo, name), [InputSpec([None, channels, side, side], "float32", "image")], [array]
    for name, (make, specs, arrays) in SEQUENCE_MODELS.items():
        yield name, make, specs, arrays


def check(
    name: str, make: Callable[[], Any], specs: list[InputSpec], arrays: list[np.ndarray], formats: list[str],
    other: OtherSide,
) -> list[tuple[str, str, str, float]]:  # fmt: skip
    """A row for each format: name, format, verdict, seconds."""
    folder = Path(tempfile.mkdtemp(prefix="written_"))
    rows: list[tuple[str, str, str, float]] = []
    try:
        paddle.seed(1)
        layer = make()
        layer.eval()
        results: list[Any] = []
        with paddle.no_grad():
            flatten(layer(*[paddle.to_tensor(array) for array in arrays]), results)
        data = folder / "data.npz"
        outputs = {f"output_{i}": tensor.numpy() for i, tensor in enumerate(results)}
        np.savez(data, **{f"input_{i}": array for i, array in enumerate(arrays)}, **outputs)
        for kind in formats:
            started = time.perf_counter()
            prefix = folder / kind / "model"
            try:
                paddle.jit.save(layer, str(prefix), specs, format=kind)
                answer = other.ask(prefix, data, kind == "pdmodel")
            except Exception as error:
                answer = {"error": f"not written: {type(error).__name__}: {str(error)[:300]}"}
            rows.append((name, kind, _verdict(answer), time.perf_counter() - started))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return rows


def _verdict(answer: dict[str, Any]) -> str:
    if "error" in answer:
        return answer["error"].replace("\n", " ")
    return "good" if answer["worst"] <= _TOLERANCE else f"differs by {answer['worst']:.2g}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--paddle", default=os.environ.get("PROA_PARITY_PADDLE_PYTHON"), help="Paddle's interpreter (else one is made)"
    )
    parser.add_argument("--only", default="", help="names (or parts of them), separated by commas")
    parser.add_argument("--formats", default="json,pdmodel")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table there")
    chosen = parser.parse_args(arguments)
    wanted = [part for part in chosen.only.split(",") if part]
    python = chosen.paddle
    if python is None:
        from tests.parity.environment import paddle_python

        python = paddle_python()
    other = OtherSide(python)
    rows: list[tuple[str, str, str, float]] = []
    for name, make, specs, arrays in models():
        if not wanted or any(part in name for part in wanted):
            try:
                found = check(name, make, specs, arrays, chosen.formats.split(","), other)
            except Exception as error:
                found = [(name, "-", f"does not run here: {type(error).__name__}: {str(error)[:200]}", 0.0)]
            for row in found:
                print(f"{row[0]:24} {row[1]:8} {row[3]:6.1f} s  {row[2]}", flush=True)
                rows.append(row)
    other.close()
    good = sum(row[2] == "good" for row in rows)
    print(
        f"{good} of {len(rows)} ({good / max(1, len(rows)):.1%}) load in the real package and agree within {_TOLERANCE}"
    )
    if chosen.json:
        table = [dict(zip(("name", "format", "verdict", "seconds"), row, strict=True)) for row in rows]
        text = json.dumps({"good": good, "total": len(rows), "rows": table}, indent=1)
        chosen.json.write_text(text, encoding="utf-8")
    return 0 if rows and good >= _BAR * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
