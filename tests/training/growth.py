"""Resident memory of loops whose results nobody reads, that raise, or whose shapes never stand still.

    python -m tests.training.growth --rounds 20000   # the three loops, a process each; exit code 1 if one grows

Flat means: after the first 2,000 rounds, never more than 5 % above the most of the thousand before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LOOPS = ("unread", "raising", "shapes")
ALLOWED = 1.05
EARLY = 2000


def resident_mib() -> float:
    """Memory of this process that is in use now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


def make_round(loop: str) -> Any:
    import numpy as np

    import proa as paddle
    from proa import nn

    random = np.random.default_rng(0)

    def unread() -> None:
        nn.Linear(512, 512)(paddle.ones([2, 512])).sum().backward()

    class Raising(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            self.inner(x)
            raise ValueError("as a user's code may")

    layer = Raising()

    def raising() -> None:
        try:
            layer(paddle.ones([2, 8]))
        except ValueError:
            return

    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = paddle.optimizer.SGD(0.01, parameters=net.parameters())

    def shapes() -> None:
        batch = random.normal(size=(int(random.integers(1, 2000)), 16)).astype("float32")
        (net(paddle.to_tensor(batch)) ** 2).mean().backward()
        optimizer.step()
        optimizer.clear_grad()

    return {"unread": unread, "raising": raising, "shapes": shapes}[loop]


def measure(loop: str, rounds: int) -> dict[str, float]:
    """The most memory in the later half of the first rounds, the most after them, and the seconds of both parts.

    At a single round it may be anything: what nobody reads is kept for some hundred rounds, then run and given up at once.
    """
    one_round = make_round(loop)
    started = time.perf_counter()
    early = most = 0.0
    for number in range(EARLY):
        one_round()
        if number >= EARLY // 2:
            early = max(early, resident_mib())
    middle = time.perf_counter()
    for _ in range(rounds - EARLY):
        one_round()
        most = max(most, resident_mib())
    return {"early": early, "most": most, "first": middle - started, "rest": time.perf_counter() - middle}


def run(loop: str, rounds: int) -> dict[str, float]:
    """`measure` in a process of its own, with the settings that users have."""
    import os

    environment = {k: v for k, v in os.environ.items() if k != "PROA_HOT_THRESHOLD"}
    command = [sys.executable, "-m", "tests.training.growth", "--worker", loop, str(rounds)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=3600, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description="memory of loops that nobody reads")
    parser.add_argument("--rounds", type=int, default=20000)
    parser.add_argument("--worker", nargs=2, metavar=("LOOP", "ROUNDS"))
    arguments = parser.parse_args()
    if arguments.worker:
        print(json.dumps(measure(arguments.worker[0], int(arguments.worker[1]))))
        return 0
    failed = False
    for loop in LOOPS:
        found = run(loop, arguments.rounds)
        ratio = found["most"] / found["early"]
        failed = failed or ratio > ALLOWED
        print(
            f"{loop}: {found['early']:.0f} MiB after {EARLY} rounds, at most {found['most']:.0f} MiB "
            f"afterwards ({ratio:.3f}); {found['first']:.1f} s and {found['rest']:.1f} s"
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
