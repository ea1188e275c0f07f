"""The training loops on a GPU: proa's plain eager code beside PyTorch eager and hand-written JAX.

Stand-alone: `python3 benchmarks/gpu.py --out DIR` with a Python that has PyTorch and JAX for the
GPU; nothing is installed, proa is taken from the repository around this file. Each framework is one
process that keeps its place on the GPU; rounds alternate between them, as in the CPU benchmarks.
The whole run ends within `--limit` seconds: what does not answer in time is reported as failed.

All three keep parameters in bfloat16 for the GPT. Adam's moments are float32 in proa (as in Paddle)
and in the JAX code; PyTorch keeps them in bfloat16, which is less memory traffic, in its favour.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.harness.machine import machine_facts
from benchmarks.harness.measure import attempt, awake, new_series, progress, rotated
from benchmarks.harness.processes import Contender, Worker
from benchmarks.harness.ratios import Bar, Series, judge, ratio, value_differences

# The processes share the GPU: JAX would take three quarters of its memory for itself.
XLA_SHARE = {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.3"}
BFLOAT16_TOLERANCE = 0.05
GPT = {
    "num_layers": 6,
    "width": 768,
    "num_heads": 12,
    "num_tokens": 512,
    "batch": 8,
    "vocabulary": 50304,
    "num_steps": 10,
    "dtype": "bfloat16",
}
# To see on any machine, without a GPU, that the script runs.
TINY_GPT = {
    "num_layers": 2,
    "width": 64,
    "num_heads": 2,
    "num_tokens": 32,
    "batch": 4,
    "vocabulary": 128,
    "num_steps": 5,
    "dtype": "bfloat16",
}


# As the users of mixed precision write it: float32 master weights, attention by the framework's own function.
GPT2 = {
    "model": "gpt",
    "num_layers": 12,
    "width": 768,
    "num_heads": 12,
    "num_tokens": 1024,
    "batch": 16,
    "vocabulary": 50304,
    "num_steps": 20,
    "fused_attention": True,
}
TINY_GPT2 = {**TINY_GPT, "model": "gpt", "fused_attention": True}
del TINY_GPT2["dtype"]
RESNET = {"model": "resnet50", "batch": 256, "extent": 224, "num_steps": 20}
TINY_RESNET = {"model": "resnet50", "batch": 2, "extent": 64, "num_steps": 2}

BARS = (
    Bar(1.0, ("torch", "torch-fused"), "≥ 1 × PyTorch eager (the faster row)"),
    Bar(0.9, ("jax",), "≥ 0.9 × hand-written JAX"),
)
COMPILED_BARS = (
    Bar(1.0, ("torch-compile", "torch-compile-bf16"), "≥ 1 × torch.compile (the faster row)"),
    Bar(0.97, ("jax",), "≥ 0.97 × hand-written JAX, cuDNN attention"),
)


@dataclass(frozen=True)
class Loop:
    """A training loop to measure, and who takes part in it."""

    name: str
    title: str
    workload: str
    options: dict[str, Any]
    contenders: tuple[str, ...]
    tolerance: float
    # The share of the time still left that this loop may take.
    share: float
    warm_seconds: float = 3.0
    bars: tuple[Bar, ...] = BARS

    @property
    def num_steps(self) -> int:
        return self.options["num_steps"]


def loops(tiny: bool) -> list[Loop]:
    three = ("proa", "torch", "jax")
    steps = {"num_steps": 20 if tiny else 200}
    return [
        Loop("mlp", "MLP + Adam, loss read at every step", "models.mlp", steps, three, 2e-2, 0.35),
        Loop(
            "mlp-unread",
            f"MLP + Adam, loss read every {steps['num_steps']} steps",
            "models.mlp",
            {**steps, "read_loss": False},
            three,
            2e-2,
            0.35,
        ),
        Loop(
            "gpt",
            "GPT, 6 layers, 768 wide, bfloat16" if not tiny else "tiny GPT, bfloat16",
            "models.transformer",
            TINY_GPT if tiny else GPT,
            ("proa", "torch", "torch-fused", "jax"),
            BFLOAT16_TOLERANCE,
            0.35,
        ),
        Loop(
            "gpt2",
            "GPT-2-small shape, bfloat16 O2, 1,024 tokens, batch 16" if not tiny else "tiny GPT, bfloat16 O2",
            "on_gpu.mixed_precision",
            TINY_GPT2 if tiny else GPT2,
            ("proa", "torch-compile", "torch-compile-bf16", "jax"),
            BFLOAT16_TOLERANCE,
            0.5,
            bars=COMPILED_BARS,
        ),
        Loop(
            "resnet50",
            "ResNet-50, bfloat16 O2, batch 256" if not tiny else "ResNet-50, bfloat16 O2, tiny pictures",
            "on_gpu.mixed_precision",
            TINY_RESNET if tiny else RESNET,
            ("proa", "torch-compile", "torch-compile-bf16"),
            BFLOAT16_TOLERANCE,
            1.0,
            bars=COMPILED_BARS[:1],
        ),
    ]


def all_contenders(device: str) -> dict[str, Contender]:
    """The frameworks in this interpreter, unless variables name others."""
    proa_python = os.environ.get("PROA_BENCH_PYTHON", sys.executable)
    torch_python = os.environ.get("PROA_BENCH_TORCH_PYTHON", sys.executable)
    module = os.environ.get("PROA_BENCH_MODULE", "proa")
    on_torch = {"device": "cuda" if device == "gpu" else device}
    fused = {**on_torch, "fused_attention": True}
    xla = XLA_SHARE
    jax_python = os.environ.get("PROA_BENCH_JAX_PYTHON", proa_python)
    contenders = [
        Contender("proa", "paddle", module, proa_python, 2, {"device": device}, xla),
        Contender("torch", "torch", "torch", torch_python, 2, on_torch),
        Contender("torch-fused", "torch", "torch", torch_python, 2, fused),
        Contender("torch-compile", "torch", "torch", torch_python, 2, on_torch),
        Contender("torch-compile-bf16", "torch", "torch", torch_python, 2, {**on_torch, "parameters": "bfloat16"}),
        Contender("jax", "jax", "jax", jax_python, 2, {}, xla),
    ]
    return {contender.name: contender for contender in contenders}


def measure_loop(loop: Loop, workers: dict[str, Worker], rounds: int, deadline: float) -> dict[str, Any]:
    """Load and warm all contenders side by side, then alternate their rounds."""
    progress(f"{loop.name}: {loop.title}")
    taking_part = {name: workers[name] for name in loop.contenders if name in workers}
    series = {name: new_series(worker.contender) for name, worker in taking_part.items()}

    def left() -> float:
        return max(1.0, deadline - time.monotonic())

    def load(name: str) -> None:
        answer = taking_part[name].receive(left())
        series[name].version = answer["version"]

    def warm(name: str) -> None:
        answer = taking_part[name].receive(left())
        series[name].first_run_seconds = answer["first_run_seconds"]
        series[name].first_value = answer["first_value"]
        taking_part[name].sleep()

    def one_round(name: str) -> None:
        with awake(taking_part[name]) as worker:
            answer = worker.ask("round", left(), repeats=1)
        series[name].seconds.append(answer["seconds"])

    for name, worker in taking_part.items():
        worker.wake()
        options = {**loop.options, **worker.contender.options}
        send = {"do": "load", "workload": loop.workload, "options": options}
        attempt(series[name], lambda worker=worker, send=send: worker.send(**send))
    loaded = [n for n in taking_part if not series[n].error and attempt(series[n], lambda n=n: load(n))]
    for name in loaded:
        taking_part[name].send("warm", runs=6, seconds=loop.warm_seconds)
    ready = [name for name in loaded if attempt(series[name], lambda name=name: warm(name))]
    for number in range(rounds):
        for name in rotated(ready, number):
            if series[name].error is None and time.monotonic() < deadline:
                attempt(series[name], lambda name=name: one_round(name))
    for name, one in series.items():
        if one.error is not None:
            # Its process may still be busy with the old command: it takes part in nothing more.
            workers.pop(name).close()
    return record_of(loop, list(series.values()))


def record_of(loop: Loop, series: list[Series]) -> dict[str, Any]:
    ours = next((one for one in series if one.name == "proa"), None)
    others = [one for one in series if one.name != "proa"]
    present = {one.name for one in others if one.usable}
    record: dict[str, Any] = {
        "benchmark": loop.name,
        "title": loop.title,
        "options": loop.options,
        "work": loop.num_steps,
        "contenders": [one.as_json() for one in series],
        "value_differences": value_differences(series, loop.tolerance),
        "ratios": [],
        "bars": [],
    }
    if ours is not None and ours.usable:
        record["ratios"] = [asdict(ratio(ours, other)) for other in others if other.usable]
        for bar in loop.bars:
            # Not every loop has every row.
            against = tuple(n for n in bar.against if n in present) or bar.against
            record["bars"].append(judge(ours, others, replace(bar, against=against)))
    return record


def print_record(record: dict[str, Any]) -> None:
    print(f"\n{record['title']}")
    for contender in record["contenders"]:
        if contender["error"]:
            print(f"  {contender['name']:12} failed: {contender['error'].strip()[-600:]}")
        elif contender["seconds"]:
            best = record["work"] / contender["min_seconds"]
            middle = record["work"] / contender["median_seconds"]
            print(
                f"  {contender['name']:12}{best:10,.1f} steps/s best {middle:10,.1f} median"
                f"   first run {contender['first_run_seconds']:.1f} s   {contender['version']}"
            )
    for bar in record["bars"]:
        met = {True: "met", False: "MISSED", None: "?"}[bar["met"]]
        reached = f"{bar.get('by_minimum', 0):.2f} by best, {bar.get('by_rounds', 0):.2f} by rounds"
        print(f"  {bar['text']:40} {reached}   {met} {bar.get('why', '')}")
    for difference in record["value_differences"]:
        print(f"  the work is not the same: {difference}")


def gpu_facts() -> list[str]:
    """Name, driver and memory as the driver's tool tells them; nothing without a GPU."""
    query = "--query-gpu=name,driver_version,memory.total"
    try:
        answer = subprocess.run(
            ["nvidia-smi", query, "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return answer.stdout.strip().splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for gpu.json")
    parser.add_argument("--only", default="", help="comma-separated loops: mlp, mlp-unread, gpt, gpt2, resnet50")
    parser.add_argument(
        "--frameworks",
        default="proa,torch,torch-fused,torch-compile,torch-compile-bf16,jax",
        help="default: %(default)s",
    )
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--limit", type=float, default=330.0, help="seconds for everything")
    parser.add_argument("--device", default="gpu", choices=("gpu", "cpu"))
    parser.add_argument("--tiny", action="store_true", help="small sizes: does it run at all?")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.limit
    wanted = [name for name in arguments.only.split(",") if name]
    chosen = [loop for loop in loops(arguments.tiny) if not wanted or loop.name in wanted]
    available = all_contenders(arguments.device)
    names = [name for name in arguments.frameworks.split(",") if name]
    unknown = [name for name in names if name not in available]
    if unknown or not chosen:
        parser.error(f"nothing to run for --frameworks {arguments.frameworks} --only {wanted}")
    facts = {**machine_facts(), "gpus": gpu_facts()}
    print(facts["gpus"] or f"no GPU: {facts['processor']}")
    records = []
    arguments.out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(available[name])) for name in names}
        for loop in chosen:
            left = end - time.monotonic()
            if left < 10:
                print(f"no time left for {loop.name}")
                break
            deadline = time.monotonic() + left * (1.0 if loop is chosen[-1] else loop.share)
            record = measure_loop(loop, workers, arguments.rounds, deadline)
            print_record(record)
            records.append(record)
            text = json.dumps({"machine": facts, "loops": records}, indent=1, ensure_ascii=False)
            (arguments.out / "gpu.json").write_text(text + "\n", encoding="utf-8")
    failed = any(contender["error"] for record in records for contender in record["contenders"])
    return 1 if failed or len(records) < len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
