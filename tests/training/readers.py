"""One thread trains while three others look: parameters, `state_dict()`, forward passes in both modes.

    python -m tests.training.readers --steps 5000       # everything, prints a table; exit code 1 if anything failed
    python -m tests.training.readers --worker read 200  # one training, as the command starts it; prints JSON

Readers that only read must not change a bit of the trainer's losses: each training is a process of its own, so both begin
cold. Forward passes in training mode move the running statistics of a batch norm, so there only errors count.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("alone", "read", "evaluate", "train")


def readers_of(kind: str, net: Any, inputs: Any) -> list[Callable[[], None]]:
    """What the other threads do again and again."""
    import numpy as np

    import proa as paddle

    def parameters() -> None:
        for parameter in net.parameters():
            assert np.isfinite(parameter.numpy()).all()

    def state() -> None:
        for value in net.state_dict().values():
            assert np.isfinite(value.numpy()).all()

    def forward() -> None:
        with paddle.no_grad():
            assert np.isfinite(net(paddle.to_tensor(inputs)).numpy()).all()

    if kind == "alone":
        return []
    return [parameters, state, state] if kind == "read" else [parameters, state, forward]


def train(kind: str, steps: int) -> dict[str, Any]:
    """Trains with readers beside it; the losses, how often somebody looked, and what went wrong."""
    import numpy as np

    import proa as paddle
    from proa import nn

    sys.setswitchinterval(1e-4)
    paddle.seed(7)
    # A layer whose mode changes what it does belongs to the kind whose readers run in that mode.
    middle = nn.BatchNorm1D(32) if kind == "train" else nn.LayerNorm(32)
    net = nn.Sequential(nn.Linear(8, 32), middle, nn.ReLU(), nn.Linear(32, 1))
    if kind == "evaluate":
        net.eval()
    optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    random = np.random.default_rng(0)
    inputs = random.normal(size=(64, 8)).astype("float32")
    targets = inputs.sum(1, keepdims=True)
    errors: list[str] = []
    looks = [0]
    finished = threading.Event()

    def again_and_again(look: Callable[[], None]) -> None:
        try:
            while not finished.is_set():
                look()
                looks[0] += 1
        except BaseException:
            errors.append(traceback.format_exc())

    threads = [threading.Thread(target=again_and_again, args=(look,)) for look in readers_of(kind, net, inputs[:16])]
    for thread in threads:
        thread.start()
    losses: list[float] = []
    try:
        for _ in range(steps):
            loss = ((net(paddle.to_tensor(inputs)) - paddle.to_tensor(targets)) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
    except BaseException:
        errors.append("trainer: " + traceback.format_exc())
    finished.set()
    for thread in threads:
        thread.join()
    return {"losses": losses, "errors": errors, "looks": looks[0]}


def run(kind: str, steps: int) -> dict[str, Any]:
    """`train` in a process of its own."""
    command = [sys.executable, "-m", "tests.training.readers", "--worker", kind, str(steps)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600)
    if done.returncode:
        return {"losses": [], "errors": [done.stderr[-2000:]], "looks": 0}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description="readers beside a trainer")
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--worker", nargs=2, metavar=("KIND", "STEPS"))
    arguments = parser.parse_args()
    if arguments.worker:
        print(json.dumps(train(arguments.worker[0], int(arguments.worker[1]))))
        return 0
    failed = False
    # Two processes compute the same bits with the same kernels. Native ones are made once for a machine, in the background,
    # and a program that is compiled before they are there keeps XLA's: they are waited for, as FLAGS_cpu_deterministic does.
    from proa.kernels.cpu import library

    if why := library.why_not():
        print(f"without native kernels: {why}")
    alone = run("alone", arguments.steps)["losses"]
    for kind in KINDS[1:]:
        result = run(kind, arguments.steps)
        differing = sum(a != b for a, b in zip(alone, result["losses"], strict=False)) if kind == "read" else None
        failed = failed or bool(result["errors"]) or bool(differing) or len(result["losses"]) != arguments.steps
        print(
            f"{kind}: {len(result['losses'])} steps, {result['looks']} looks, {len(result['errors'])} errors"
            + ("" if differing is None else f", {differing} losses differ from those of an undisturbed run")
        )
        for error in result["errors"]:
            print(error)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
