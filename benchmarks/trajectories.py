"""`python -m benchmarks.trajectories`: does training with proa follow the same path as with PaddlePaddle?

The same weights and the same 200 batches of real digits (scikit-learn's) go to both, each in a process of its own; the
losses of all steps are compared, for each optimiser. Ends with status 1 where they differ by more than 1e-4.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.environments import PEERS, EnvironmentMissing, peer_python
from benchmarks.harness.processes import ROOT
from benchmarks.workloads.trajectories import OPTIMIZERS, starting_values

TOLERANCE = 1e-4
SEED = 2026


def write_input(path: Path, num_steps: int, batch: int) -> None:
    """Batches and starting weights, both drawn by NumPy from a fixed seed."""
    from sklearn.datasets import load_digits

    import proa

    pixels, digits = load_digits(return_X_y=True)
    generator = np.random.default_rng(SEED)
    chosen = np.stack([generator.permutation(len(pixels))[:batch] for _ in range(num_steps)])
    images = (np.asarray(pixels, "float32") / 16).reshape(-1, 1, 8, 8)[chosen]
    labels = np.asarray(digits, "int64")[chosen]
    weights: dict[str, Any] = starting_values(proa, SEED)
    np.savez(path, images=images, labels=labels, **weights)


def run(python: str, module: str, source: Path, target: Path) -> dict[str, np.ndarray]:
    """The curves of one framework."""
    command = [python, "-m", "benchmarks.workloads.trajectories", module, str(source), str(target)]
    answer = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "OMP_WAIT_POLICY": "passive"}, capture_output=True, text=True, check=False
    )
    if answer.returncode:
        raise SystemExit(f"{module} failed:\n{answer.stderr.strip()[-3000:]}")
    with np.load(target) as file:
        return {name: file[name] for name in file.files}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trajectories", description=__doc__)
    parser.add_argument("--steps", type=int, default=200, help="training steps (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=64, help="pictures in a batch (default: %(default)s)")
    parser.add_argument("--save", type=Path, help="keep both frameworks' curves in this .npz file")
    arguments = parser.parse_args()
    if arguments.steps < 1 or arguments.batch < 1:
        parser.error(f"--steps and --batch have to be at least 1; received {arguments.steps}, {arguments.batch}")
    try:
        paddle_python = peer_python(PEERS["paddle"])
    except EnvironmentMissing as error:
        raise SystemExit(str(error)) from None
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "input.npz"
        write_input(source, arguments.steps, arguments.batch)
        ours = run(sys.executable, "proa", source, Path(folder) / "proa.npz")
        theirs = run(paddle_python, "paddle", source, Path(folder) / "paddle.npz")
    if arguments.save:
        both: dict[str, Any] = {f"proa {name}": ours[name] for name in ours} | {
            f"paddle {name}": theirs[name] for name in theirs
        }
        np.savez(arguments.save, **both)
    print(
        f"{arguments.steps} steps, batch {arguments.batch}, float32; the bar: no loss differs by more than {TOLERANCE:g}"
    )
    print(f"{'optimiser':12}{'first loss':>12}{'last loss':>12}{'largest difference':>20}{'at step':>9}  met")
    met = True
    for name in OPTIMIZERS:
        difference = np.abs(ours[name] - theirs[name])
        # Written so that NaN does not pass.
        good = bool(difference.max() <= TOLERANCE)
        met = met and good
        print(
            f"{name:12}{ours[name][0]:12.6f}{ours[name][-1]:12.6f}{difference.max():20.2e}{difference.argmax():9d}"
            f"  {'yes' if good else 'NO'}"
        )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
