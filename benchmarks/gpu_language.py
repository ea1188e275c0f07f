"""A language model shaped like Llama 2 7B on a GPU beside its bars: `python -m benchmarks.gpu_language ROW`.

ROW is one of

    decode         tokens of one answer behind 2,048, bfloat16; bar: 82 % of the bandwidth of a copy
    int4           the same with weights of 4 bits; bar: 2.5 × bfloat16's tokens a second
    requests       64 requests at once, prompts of 100 to 2,000 tokens; bar: 3 × batches in PyTorch with torch.compile
    requests-256   256 of them
    bits           200 prompts by the training code and by the engine; bar: the same bits

Each row runs both sides, one process after the other, and ends within `--limit` seconds (480). `PROA_BENCH_TORCH_PYTHON`
names the Python that has PyTorch, where this one has not. `--tiny` tries the row without a GPU. The status is 0 where the
bar is met, 1 where it is missed, 2 where something could not be measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LANGUAGE = ROOT / "benchmarks" / "workloads" / "on_gpu" / "language.py"
Figures = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Row:
    """What is measured: figures of which processes, what they come to, and the bar."""

    ours: tuple[str, ...]
    peers: tuple[str, ...]
    bar: float
    text: str
    reached: Callable[[Figures], float]


def _beside_torch(ours: str, peers: tuple[str, ...]) -> Callable[[Figures], float]:
    """Against the size of batches that suits PyTorch best."""
    return lambda found: found[ours]["tokens_per_s"] / max(found[peer]["tokens_per_s"] for peer in peers)


_FEW, _MANY = ("requests-torch", "requests-torch-32"), ("requests-256-torch", "requests-256-torch-32")
ROWS = {
    "decode": Row(
        ("bandwidth", "decode"), (), 0.82, "of the bandwidth of a copy",
        lambda found: found["decode"]["terabytes_per_s"] / found["bandwidth"]["terabytes_per_s"],
    ),
    "int4": Row(
        ("decode", "decode-int4"), (), 2.5, "× bfloat16's tokens a second",
        lambda found: found["decode-int4"]["tokens_per_s"] / found["decode"]["tokens_per_s"],
    ),
    "requests": Row(("requests",), _FEW, 3.0, "× PyTorch's tokens a second", _beside_torch("requests", _FEW)),
    "requests-256": Row(
        ("requests-256",), _MANY, 3.0, "× PyTorch's tokens a second", _beside_torch("requests-256", _MANY)
    ),
}  # fmt: skip


def figures_of(python: str, rows: tuple[str, ...], tiny: bool, deadline: float) -> Figures:
    """What a process of these rows prints; those that it printed before it failed or time was over, too."""
    command = [python, str(LANGUAGE), *rows, *(["--tiny"] if tiny else [])]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            out, _ = process.communicate(timeout=max(1.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            print(f"no time left: {' '.join(rows)}", flush=True)
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    for line in lines:
        print(json.dumps(line), flush=True)
    return {line["row"]: line for line in lines}


def measure(name: str, tiny: bool, limit: float) -> int:
    row, deadline = ROWS[name], time.monotonic() + limit
    found = figures_of(sys.executable, row.ours, tiny, deadline)
    for peer in row.peers:  # a process each: one that fails or is slow takes no other along
        found |= figures_of(os.environ.get("PROA_BENCH_TORCH_PYTHON", sys.executable), (peer,), tiny, deadline)
    try:
        reached = row.reached(found)
    except KeyError as missing:
        print(f"{name}: could not be measured, {missing} is missing")
        return 2
    met = reached >= row.bar
    sizes = " (tiny sizes: the figure means nothing)" if tiny else ""
    print(f"{name}: {reached:.2f} {row.text}; bar {row.bar:g}: {'met' if met else 'MISSED'}{sizes}")
    return 0 if met else 1


def bits(tiny: bool, limit: float) -> int:
    command = [sys.executable, "-m", "tests.llm.engine.bitwise", "--device", "cpu" if tiny else "gpu"]
    try:
        status = subprocess.run([*command, *(["--prompts", "2"] if tiny else [])], cwd=ROOT, timeout=limit).returncode
    except subprocess.TimeoutExpired:
        print("bits: could not be measured within the time")
        return 2
    print(f"bits: bar equal bit by bit: {'MISSED' if status else 'met'}")
    return 1 if status else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_language", description=__doc__.split("\n\n")[0])
    parser.add_argument("row", metavar="ROW", choices=[*ROWS, "bits"], help=", ".join([*ROWS, "bits"]))
    parser.add_argument("--limit", type=float, default=480.0, help="seconds for everything")
    parser.add_argument("--tiny", action="store_true", help="small sizes on a CPU: does it run at all?")
    given = parser.parse_args()
    return bits(given.tiny, given.limit) if given.row == "bits" else measure(given.row, given.tiny, given.limit)


if __name__ == "__main__":
    sys.exit(main())
