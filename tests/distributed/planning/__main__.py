"""The planner beside measurement: plans of twelve small models on eight virtual devices are run and timed.

    python -m tests.distributed.planning                      # all models; goes on where an earlier run ended
    python -m tests.distributed.planning --models gpt moe     # some of them
    python -m tests.distributed.planning --report             # what has been measured so far, beside the planner of now
    python -m tests.distributed.planning --report --order     # with every plan: measured, expected
    python -m tests.distributed.planning --report --by processor   # by the processor's time instead of the clock's

All plans of a model are timed in one process, step by step in turn, so that a machine that does other work as well disturbs
them alike; of each the fastest step counts. Virtual devices share the cores, so the processor's time is their work, and is
disturbed less than the clock's. A plan that is far behind the best is not run again. Measurements are kept in
`build/planning/`, a line for each plan. A plan that hangs or kills the process is a failed plan, and the others are measured
by a new one. The planner knows the machine by `tools.calibrate_device` alone.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
from dataclasses import asdict
from typing import Any

from ..support.planning_models import MODELS

ROOT = pathlib.Path(__file__).parents[3]
FOLDER = ROOT / "build" / "planning"
DEVICES = 8
WITHIN = 1.10
SECONDS = 240  # in which a plan has to be compiled and run once, and all of them timed


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


def planned(name: str, device: pathlib.Path) -> Any:
    """What the planner says of a model, with the optimiser that it is measured with."""
    import proa as paddle
    from proa.distributed import auto_parallel

    make, batch, loss = MODELS[name]
    model = make()
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
    return auto_parallel(model, list(batch()), loss, optimizer, devices=DEVICES, device=device)


def _lines_of(name: str, wanted: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """The lines of a process that measures plans, and what it complained of if it ended before all of them."""
    environment = {
        **os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={DEVICES}",
        "PYTHONPATH": str(ROOT), "FLAGS_hot_threshold": "2",
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.distributed.support.planning_steps", name, json.dumps(wanted)]
    complaints = FOLDER / f"{name}.err"
    lines: list[dict[str, Any]] = []
    with complaints.open("w") as errors:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment, cwd=ROOT, start_new_session=True
        )
        assert child.stdout is not None
        try:
            while True:  # each line is a sign of life; without one for long enough the process is ended
                alarm = threading.Timer(SECONDS, os.killpg, (child.pid, signal.SIGKILL))
                alarm.start()
                line = child.stdout.readline()
                alarm.cancel()
                if not line:
                    break
                if line.startswith("{"):
                    lines.append(json.loads(line))
        finally:
            child.kill()
            child.wait()
    return lines, complaints.read_text()[-600:]


def measure(name: str, wanted: list[Any], kept: pathlib.Path) -> None:
    """Times plans of a model and writes a line for each into a file."""
    left = {str(choice): asdict(choice) for choice in wanted}
    while left:
        lines, complaint = _lines_of(name, list(left.values()))
        done = [line for line in lines if "plan" in line]
        if len(done) < len(left):  # the one that it was at has failed; what was timed with it is timed again
            begun = [line["begun"] for line in lines if "begun" in line]
            failed = begun[-1] if begun else next(iter(left))
            done = [line for line in done if "error" in line]
            done.append({"plan": failed, "error": complaint or f"nothing for {SECONDS} s"})
        with kept.open("a") as file:
            for line in done:
                left.pop(line["plan"], None)
                file.write(json.dumps(line) + "\n")


def run(names: list[str], device: pathlib.Path, by: str, only_report: bool, with_order: bool) -> int:
    from proa.distributed.planner.pieces import take_apart
    from proa.distributed.planner.tracing import trace

    FOLDER.mkdir(parents=True, exist_ok=True)
    good = 0
    for name in names:
        make, batch, loss = MODELS[name]
        x, y = batch()
        kept = FOLDER / f"{name}.jsonl"
        known = _known(kept)
        plan = planned(name, device)
        if not only_report:
            wanted = plans_of(take_apart(trace(make(), loss, None, [x, y])), len(x))
            if plan.choice not in wanted:
                wanted.append(plan.choice)  # what the planner wants is measured, whatever it is
            missing = [choice for choice in wanted if str(choice) not in known]
            measure(name, missing, kept)
            known = _known(kept)
        if known:
            good += _report(name, known, plan, by, with_order)
    print(f"{good} of {len(names)} models: the chosen plan is within {WITHIN - 1:.0%} of the best measured one")
    return 0


def _known(kept: pathlib.Path) -> dict[str, Any]:
    lines = map(json.loads, kept.read_text().splitlines()) if kept.exists() else ()
    return {line["plan"]: line for line in lines}


def _report(name: str, known: dict[str, Any], plan: Any, by: str, with_order: bool) -> bool:
    """Whether the planner's choice is near the best of the plans that were measured."""
    seconds = {key: line[by] for key, line in known.items() if by in line}
    if not seconds:
        print(f"{name:12} no plan ran")
        return False
    best = min(seconds, key=lambda key: seconds[key])
    chosen = plan.estimates[0]
    taken = seconds.get(str(chosen.choice))
    if taken is None:
        why = known.get(str(chosen.choice), {}).get("error", "not measured yet")
        print(f"{name:12} chosen {chosen.choice}: {why}")
        return False
    print(
        f"{name:12} {len(seconds)} of {len(known)} plans ran; chosen {chosen.choice}: {taken * 1e3:.2f} ms "
        f"(expected {chosen.total_seconds * 1e3:.2f}); best {best}: {seconds[best] * 1e3:.2f} ms; "
        f"x{taken / seconds[best]:.2f}",
        flush=True,
    )
    if with_order:
        estimates = {str(one.choice): one for one in plan.estimates}
        for key in sorted(seconds, key=lambda key: seconds[key]):
            parts = {part: round(value * 1e3, 2) for part, value in estimates[key].seconds.items()}
            expected = estimates[key].total_seconds
            print(f"    {seconds[key] * 1e3:8.2f} ms, expected {expected * 1e3:8.2f}  {key}  {parts}")
    return taken <= WITHIN * seconds[best]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.distributed.planning", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--models", nargs="*", default=None, choices=list(MODELS), help="which ones (default: all)")
    parser.add_argument("--device", type=pathlib.Path, default=FOLDER / "cpu8.toml", help="data sheet of this machine")
    parser.add_argument("--by", choices=("clock", "processor"), default="clock", help="which time counts (clock)")
    parser.add_argument("--report", action="store_true", help="measure nothing more")
    parser.add_argument("--order", action="store_true", help="show all plans, the fastest first")
    chosen = parser.parse_args(arguments)
    if not chosen.device.exists():
        chosen.device.parent.mkdir(parents=True, exist_ok=True)
        calibrate = ["-m", "tools.calibrate_device", "--virtual", str(DEVICES), "--output", str(chosen.device)]
        subprocess.run([sys.executable, *calibrate], check=True, cwd=ROOT, timeout=300)
    return run(chosen.models or list(MODELS), chosen.device, chosen.by, chosen.report, chosen.order)


if __name__ == "__main__":
    sys.exit(main())
