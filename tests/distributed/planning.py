"""The planner beside measurement: every plan of twelve small models on eight virtual devices is run and timed.

    python -m tests.distributed.planning                      # all models; goes on where an earlier run ended
    python -m tests.distributed.planning --models gpt moe     # some of them
    python -m tests.distributed.planning --report             # what has been measured so far
    python -m tests.distributed.planning --report --by processor   # by the processor's time instead of the clock's

Measurements are kept in `build/planning/`, a line for each plan. On a machine that does other work at the same time the
clock says little; the processor's time of a step is disturbed less, but leaves out what devices wait for each other. A plan
is timed in a process of its own with a time limit, so that one that hangs or dies is a failed plan and no more. The planner
knows the machine by `tools.calibrate_device` alone.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "build" / "planning"
DEVICES = 8
WITHIN = 1.10
SECONDS = 240  # that one plan may take


def _models() -> dict[str, tuple[Callable[[], Any], Callable[[], tuple[Any, Any]], Any]]:
    """Models by name: how each is made, a batch for it, and its loss."""
    from .support.planning_models import MODELS

    return MODELS


def plans_of(pieces: Any, batch: int) -> list[Any]:
    """The plans that are measured: all meshes and stages; sequences and a pipeline of two with one stage each."""
    from proa.distributed.planner.searching import choices

    found = []
    for choice in choices(pieces, DEVICES, batch, DEVICES, {"recompute": False}):
        micro_batches = min(1 if choice.pipeline == 1 else 2 * choice.pipeline, batch // choice.data)
        if choice.stage == 2 or choice.pipeline > 2 or choice.micro_batches != micro_batches:
            continue
        is_variation = choice.sequence or choice.pipeline == 2
        if is_variation and (choice.stage != min(1, choice.data - 1) or (choice.pipeline == 2 and choice.model > 1)):
            continue
        found.append(choice)
    return found


def measure(name: str, choice: dict[str, Any]) -> dict[str, float]:
    """Seconds of a training step under a plan, by the clock and by the processor: each the mean of the three fastest."""
    import numpy as np

    import proa as paddle
    from proa import distributed as dist
    from proa.distributed.planner.costs import Choice
    from proa.distributed.planner.pieces import take_apart
    from proa.distributed.planner.plan import Plan
    from proa.distributed.planner.searching import cuts_for
    from proa.distributed.planner.tracing import trace

    make, batch, loss = _models()[name]
    paddle.seed(0)
    model, (x, y) = make(), batch()
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
    pieces = take_apart(trace(model, loss, optimizer, [x, y]))
    plan = Plan("cpu", 1e9, len(x), Choice(**choice), cuts_for(pieces, choice["model"]), pieces.prefix)
    model, optimizer = plan.apply(model, optimizer)
    step = dist.to_static(model, None, loss, optimizer, strategy=plan.strategy())
    inputs, labels = paddle.to_tensor(x), paddle.to_tensor(y)
    times = []
    begin = time.perf_counter()
    for number in range(200):
        before, busy = time.perf_counter(), time.process_time()
        value = float(step(inputs, labels))
        assert np.isfinite(value), f"the loss is {value}"
        if number >= 6:
            times.append((time.perf_counter() - before, time.process_time() - busy))
        if len(times) >= 12 and time.perf_counter() - begin > 10:
            break
    clock, processor = (sum(sorted(column)[:3]) / 3 for column in zip(*times, strict=True))
    return {"clock": clock, "processor": processor}


def _child(name: str, choice: Any) -> dict[str, Any]:
    environment = {
        **os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={DEVICES}",
        "PYTHONPATH": str(ROOT), "FLAGS_hot_threshold": "2",
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.distributed.planning", "--measure", name, json.dumps(asdict(choice))]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return {"error": f"more than {SECONDS} s"}
    found = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(found[-1]) if found and not done.returncode else {"error": done.stderr[-600:]}


def run(names: list[str], device: pathlib.Path, by: str, only_report: bool) -> int:
    from proa.distributed.planner.pieces import take_apart
    from proa.distributed.planner.tracing import trace

    FOLDER.mkdir(parents=True, exist_ok=True)
    good = 0
    for name in names:
        make, batch, loss = _models()[name]
        x, y = batch()
        model = make()
        pieces = take_apart(trace(model, loss, None, [x, y]))
        kept = FOLDER / f"{name}.jsonl"
        known = {line["plan"]: line for line in map(json.loads, kept.read_text().splitlines())} if kept.exists() else {}
        for choice in [] if only_report else plans_of(pieces, len(x)):
            if str(choice) not in known:
                known[str(choice)] = {"plan": str(choice), **_child(name, choice)}
                with kept.open("a") as file:
                    file.write(json.dumps(known[str(choice)]) + "\n")
        if known:
            good += _report(name, known, device, by, (make, batch, loss))
    print(f"{good} of {len(names)} models: the chosen plan is within {WITHIN - 1:.0%} of the best measured one")
    return 0


def _report(name: str, known: dict[str, Any], device: pathlib.Path, by: str, parts: Any) -> bool:
    """Whether the planner's first choice among the measured plans is near the best of them."""
    import proa as paddle
    from proa.distributed import auto_parallel

    make, batch, loss = parts
    model = make()
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
    plan = auto_parallel(model, list(batch()), loss, optimizer, devices=DEVICES, device=device)
    seconds = {key: line[by] for key, line in known.items() if by in line}
    chosen = next((e for e in plan.estimates[: plan.fitting] if str(e.choice) in known), None)
    if chosen is None or not seconds:
        print(f"{name:12} nothing measured")
        return False
    best = min(seconds, key=lambda key: seconds[key])
    taken = seconds.get(str(chosen.choice), float("inf"))
    ratio = taken / seconds[best]
    print(
        f"{name:12} {len(seconds)} of {len(known)} plans ran; chosen {chosen.choice}: {taken * 1e3:.2f} ms "
        f"(expected {chosen.total_seconds * 1e3:.2f}); best {best}: {seconds[best] * 1e3:.2f} ms; x{ratio:.2f}"
    )
    return ratio <= WITHIN


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.distributed.planning", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--models", nargs="*", default=None, help="which ones (default: all)")
    parser.add_argument("--device", type=pathlib.Path, default=FOLDER / "cpu8.toml", help="data sheet of this machine")
    parser.add_argument("--by", choices=("clock", "processor"), default="clock", help="which time counts (clock)")
    parser.add_argument("--report", action="store_true", help="measure nothing more")
    parser.add_argument("--measure", nargs=2, metavar=("MODEL", "CHOICE"), help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.measure:
        name, choice = chosen.measure
        print(json.dumps(measure(name, json.loads(choice))))
        return 0
    if not chosen.device.exists():
        chosen.device.parent.mkdir(parents=True, exist_ok=True)
        calibrate = ["-m", "tools.calibrate_device", "--virtual", str(DEVICES), "--output", str(chosen.device)]
        subprocess.run([sys.executable, *calibrate], check=True, cwd=ROOT, timeout=300)
    return run(chosen.models or list(_models()), chosen.device, chosen.by, chosen.report)


if __name__ == "__main__":
    sys.exit(main())
