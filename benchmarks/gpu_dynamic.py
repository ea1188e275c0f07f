"""`python3 benchmarks/gpu_dynamic.py --out DIR`: code on a GPU whose sizes move, beside PyTorch; a large loop beside JAX.

Stand-alone like `gpu.py`: with a Python that has PyTorch, JAX, CuPy and cuDNN's front end (`nvidia-cudnn-frontend`, which
may lie on PYTHONPATH) for the GPU; nothing is installed. Every run is a
fresh process with an empty cache of programs (compiling is part of what is measured); CuPy's kernels, which do not depend
on sizes, are kept between runs as on any machine that has run before. The rows are in `workloads/on_gpu/dynamic.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "benchmarks" / "workloads" / "on_gpu" / "dynamic.py"


@dataclass(frozen=True)
class Bar:
    """What a row is to reach: `figure(ours, theirs)` at most `limit`."""

    text: str
    limit: float
    figure: Callable[[dict[str, Any], dict[str, Any]], float]


def over(key: str) -> Callable[[dict[str, Any], dict[str, Any]], float]:
    return lambda ours, theirs: ours[key] / theirs[key]


def own(key: str) -> Callable[[dict[str, Any], dict[str, Any]], float]:
    return lambda ours, theirs: ours[key]


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    peer: str
    steps: int
    bars: tuple[Bar, ...]


ROWS = (
    Row("block", "29 operations at 40 new lengths", "torch", 0, (Bar("median ≤ 2 × PyTorch", 2.0, over("median_ms")),)),
    Row(
        "chain", "a chain of 100 additions", "torch", 0,
        (
            Bar("cold ≤ 4 × PyTorch an operation", 4.0, over("cold_us")),
            Bar("hot ≤ 1 × PyTorch an operation", 1.0, over("hot_us")),
        ),
    ),
    Row(
        "resnet", "ResNet-50, batch 64, a random size of pictures at each step", "torch", 1000,
        (Bar("total ≤ 1.5 × PyTorch eager", 1.5, over("total_s")),),
    ),
    Row(
        "gpt", "GPT, 6 layers, 512 wide, batch 16, float32, random lengths", "torch", 400,
        (
            Bar("median of the last three quarters ≤ 1 × PyTorch eager", 1.0, over("median_ms")),
            Bar("all steps within 75 s", 75.0, own("total_s")),
            Bar("at most 8 programs", 8.0, own("programs")),
            Bar("no step over 12 s", 12.0, own("longest_step_s")),
        ),
    ),
    Row(
        "llama", "Llama of 1.1 B parameters, bfloat16, AdamW, 8 × 2,048 tokens", "jax", 120,
        (
            Bar("peak ≤ 1.1 × JAX by hand", 1.1, over("peak_gib")),
            Bar("time a token ≤ JAX by hand / 0.98", 1 / 0.98, lambda a, b: b["tokens_per_s"] / a["tokens_per_s"]),
        ),
    ),
)  # fmt: skip


def run(module: str, row: Row, steps: int, device: str, limit: float) -> dict[str, Any]:
    """The figures of one process, or why there are none."""
    with tempfile.TemporaryDirectory() as cache:
        places = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PROA_CACHE_DIR": cache, "PYTHONPATH": os.pathsep.join(places)}
        command = [sys.executable, str(SCRIPT), module, row.name, "--steps", str(steps), "--device", device]
        started = time.monotonic()
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=max(limit, 1.0))
        except subprocess.TimeoutExpired:
            return {"error": f"not done within {limit:.0f} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]}
    return {**json.loads(done.stdout.strip().splitlines()[-1]), "process_s": time.monotonic() - started}


def judge(row: Row, ours: dict[str, Any], theirs: dict[str, Any]) -> list[dict[str, Any]]:
    if "error" in ours or "error" in theirs:
        return []
    reached = [(bar, bar.figure(ours, theirs)) for bar in row.bars]
    return [{"bar": b.text, "reached": value, "limit": b.limit, "met": value <= b.limit} for b, value in reached]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for gpu_dynamic.json")
    parser.add_argument("--only", default="", help="rows, separated by commas: " + ", ".join(r.name for r in ROWS))
    parser.add_argument("--steps", type=int, default=0, help="steps of the training rows instead of their own number")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for everything")
    parser.add_argument("--device", default="gpu", choices=("gpu", "cpu"), help="cpu: tiny sizes, does it run at all?")
    arguments = parser.parse_args()
    wanted = [name for name in arguments.only.split(",") if name] or [row.name for row in ROWS]
    unknown = sorted(set(wanted) - {row.name for row in ROWS})
    if unknown:
        parser.error(f"there is no row {', '.join(unknown)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + arguments.limit
    records = []
    for row in ROWS:
        if row.name not in wanted:
            continue
        steps = arguments.steps or row.steps
        print(f"\n{row.title} ({steps} steps)" if steps else f"\n{row.title}", flush=True)
        found = {}
        for module in (row.peer, "proa"):
            found[module] = run(module, row, steps, arguments.device, end - time.monotonic())
            figures = {k: round(v, 3) if isinstance(v, float) else v for k, v in found[module].items()}
            print(f"  {module:6s} {figures}", flush=True)
        bars = judge(row, found["proa"], found[row.peer])
        for bar in bars:
            print(f"  {bar['bar']}: {bar['reached']:.2f} {'met' if bar['met'] else 'MISSED'}", flush=True)
        records.append({"row": row.name, "title": row.title, "steps": steps, "figures": found, "bars": bars})
        text = json.dumps(records, indent=1, ensure_ascii=False)
        (arguments.out / "gpu_dynamic.json").write_text(text + "\n", encoding="utf-8")
    return 1 if any("error" in figures for record in records for figures in record["figures"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
