"""What `python -m benchmarks.inference` measures by default: saved models, proa's engines beside everybody else's.

Contenders: proa with `engine="auto"`, proa's own engine alone, Paddle Inference with oneDNN, ONNX Runtime and OpenVINO by
hand (the ONNX files are proa's, for the very shape). Bars: auto at least 0.98 × the fastest of the others, the own engine
at least 0.8 ×. Where ONNX Runtime or OpenVINO is the engine that auto takes, the first bar says what a predictor costs.
"""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.harness.environments import EnvironmentMissing, peer_contender, subject_contender
from benchmarks.harness.measure import measure, progress
from benchmarks.harness.processes import ROOT, Contender
from benchmarks.harness.ratios import Bar
from benchmarks.harness.registry import MILLISECONDS, Benchmark
from benchmarks.workloads.engines import MODELS, OCR

PRECISIONS = ("float32", "bfloat16")
OTHERS = ("paddle", "onnxruntime", "openvino")
BEST, OWN = 0.98, 0.8
REPEATS = {"mobilenet": 4, "ocr-rec": 4, "ocr-det": 2}


def contenders(names: list[str]) -> tuple[Contender, list[Contender]]:
    """proa with auto, and all others; who is missing is named and left out."""
    subject = subject_contender()
    others = [replace(subject, name="proa-xla", options={"engine": "xla"})]
    for name in names:
        try:
            if name == "paddle":
                others.append(peer_contender(name, subject))
            else:
                others.append(Contender(name, name, name, subject.python))
        except EnvironmentMissing as error:
            progress(f"{name} is left out: {error}")
    return replace(subject, options={"engine": "auto"}), others


def measure_engines(
    models: list[str], batches: list[int], precisions: list[str], peers: list[str], rounds: int, tiny: bool, keep: Any
) -> bool:
    """Measures every row, prints it and hands its record to `keep`; whether all bars are met."""
    subject, others = contenders(peers)
    met = True
    with tempfile.TemporaryDirectory() as files:
        for model in models:
            folder = Path(files) / model
            for batch in batches:
                command = [subject.python, "-m", "benchmarks.workloads.engines", str(folder), model, str(batch)]
                subprocess.run([*command, "--tiny"] if tiny else command, cwd=ROOT, check=True)
                for precision in precisions:
                    row = _row(model, batch, precision, str(folder), tiny)
                    able = [one for one in others if precision == "float32" or one.name != "onnxruntime"]
                    record = measure(row, subject, able, rounds)
                    record["own"] = _own(record)
                    keep(record)
                    print(show(record), flush=True)
                    for difference in record["value_differences"]:
                        print(f"  {difference}")
                        met = False
                    met = met and record["bar"].get("met") is not False and (record["own"] or 1.0) >= OWN
    return met


def _row(model: str, batch: int, precision: str, folder: str, tiny: bool) -> Benchmark:
    names = OTHERS if precision == "float32" else ("paddle", "openvino")
    return Benchmark(
        name=f"{model}-{batch}-{precision}-engines",
        title=f"{model}, batch {batch}, {precision}",
        mode="hot",
        unit=MILLISECONDS,
        workload="engines",
        options={"folder": folder, "batch": batch, "precision": precision},
        repeats=1 if tiny else REPEATS.get(model, 1) if batch == 1 else 1,
        warm_seconds=0.0 if tiny else 0.5,
        warm_runs=1 if tiny else 4,
        bar=Bar(BEST, names, f"≥ {BEST} × the fastest"),
    )


def _seconds(record: dict[str, Any], name: str) -> list[float]:
    return next((one["seconds"] for one in record["contenders"] if one["name"] == name), [])


def _own(record: dict[str, Any]) -> float | None:
    """The own engine's speed over the fastest of the others, by best rounds."""
    ours = _seconds(record, "proa-xla")
    theirs = [min(seconds) for name in OTHERS if (seconds := _seconds(record, name))]
    return min(theirs) / min(ours) if ours and theirs else None


def show(record: dict[str, Any]) -> str:
    """Lines: best and median milliseconds and the most memory of each contender, then both ratios."""
    lines = [record["title"]]
    for one in record["contenders"]:
        if one["seconds"]:
            best, middle = 1e3 * min(one["seconds"]), 1e3 * median(one["seconds"])
            peak = f"{one['peak_bytes'] / 2**20:6.0f} MiB" if one["peak_bytes"] else ""
            lines.append(f"  {one['label']:12} {best:9.2f} ms (median {middle:9.2f})  {peak}")
        else:
            lines.append(f"  {one['label']:12} failed: {(one['error'] or '').splitlines()[0][:110]}")
    bar = record["bar"]
    best = f"{bar['by_minimum']:.2f} × (by rounds {bar['by_rounds']:.2f})" if "by_minimum" in bar else "-"
    own = f"{record['own']:.2f} ×" if record["own"] is not None else "-"
    return "\n".join([*lines, f"  auto {best} the fastest of the others; own engine {own}"])


__all__ = ["MODELS", "OCR", "OTHERS", "PRECISIONS", "measure_engines", "show"]
