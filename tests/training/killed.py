"""Training that is killed with -9 again and again, and must end with the bit-identical loss curve.

    python -m tests.training.killed --times 20            # kills 20 times, compares, prints the verdict
    python -m tests.training.killed --worker FOLDER       # one (re)started training, as the test starts it

The training writes one checkpoint file every few steps: model, optimiser with its schedule, random state, position in the
data, the losses so far. The file is replaced as a whole (`paddle.save`), so a kill at any moment leaves a good one.

Bit-identical means that every step runs the same machine code before and after a restart: `FLAGS_cpu_deterministic`. Without
it a restarted process would run its first steps op by op, with the same values but for rounding.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEPS = 60
EVERY = 4  # steps between checkpoints
BATCH = 8
SAMPLES = 40


def worker(folder: Path, steps: int, pause: float) -> None:
    """Trains from the last checkpoint (or the beginning) to the end; writes `curve.txt` there."""
    import numpy as np

    import proa as paddle

    paddle.set_flags({"FLAGS_cpu_deterministic": True})
    paddle.seed(11)
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1D(16), nn.GELU(), nn.Dropout(0.3), nn.Linear(16, 3))
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.05, T_max=steps)
    optimizer = paddle.optimizer.AdamW(schedule, parameters=net.parameters(), weight_decay=0.01)
    generator = np.random.default_rng(5)
    features = generator.standard_normal((SAMPLES, 6)).astype("float32")
    labels = generator.integers(0, 3, SAMPLES)

    position, losses = 0, []
    path = folder / "checkpoint.pd"
    if path.exists():
        state = paddle.load(path)
        net.set_state_dict(state["model"])
        optimizer.set_state_dict(state["optimizer"])
        paddle.set_rng_state([tuple(state["random"])])
        position, losses = state["position"], state["losses"]
    print(f"from step {position}", flush=True)
    with open(folder / "starts.txt", "a") as starts:
        starts.write(f"{position}\n")

    rounds = SAMPLES // BATCH
    while position < steps:
        epoch, batch = divmod(position, rounds)
        order = np.random.default_rng(epoch).permutation(SAMPLES)[batch * BATCH : (batch + 1) * BATCH]
        logits = net(paddle.to_tensor(features[order]))
        loss = nn.functional.cross_entropy(logits, paddle.to_tensor(labels[order]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss).hex())
        schedule.step()
        position += 1
        if position % EVERY == 0 or position == steps:
            content = {
                "model": net.state_dict(),
                "optimizer": optimizer.state_dict(),
                "random": list(paddle.get_rng_state()[0]),
                "position": position,
                "losses": losses,
            }
            paddle.save(content, path)
            print(f"at step {position}", flush=True)
        if pause:
            time.sleep(pause)
    (folder / "curve.txt").write_text("\n".join(losses))


def start(folder: Path, steps: int, pause: float) -> subprocess.Popen[str]:
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.training.killed", "--worker", str(folder)]
    command += ["--steps", str(steps), "--pause", str(pause)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def uninterrupted(folder: Path, steps: int = STEPS) -> list[str]:
    """The loss curve (hexadecimal floats) of a training that nothing disturbs."""
    process = start(folder, steps, 0)
    process.communicate(timeout=300)
    assert process.returncode == 0
    return (folder / "curve.txt").read_text().split()


def interrupted(folder: Path, times: int, chance: random.Random, steps: int = STEPS) -> tuple[list[str], int]:
    """The curve of a training that is killed `times` times at random moments; and how often it really was."""
    kills = 0
    while not (folder / "curve.txt").exists():
        if kills == times:
            process = start(folder, steps, 0)
            process.communicate(timeout=300)
            assert process.returncode == 0
            break
        process = start(folder, steps, 0.01)
        assert process.stdout is not None
        # At a random moment of a random stretch: while it starts, in the middle of a step, while a file is written.
        for _ in range(chance.randint(1, 3)):
            process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.06))
        process.kill()
        process.wait()
        process.stdout.close()
        kills += process.returncode == -9
    return (folder / "curve.txt").read_text().split(), kills


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", type=Path)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.steps = options.steps or 12 * max(5, options.times)
    if options.worker is not None:
        worker(options.worker, options.steps, options.pause)
        return 0
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        expected = uninterrupted(Path(folder) / "whole", options.steps)
        found, kills = interrupted(Path(folder) / "killed", options.times, random.Random(options.seed), options.steps)
        starts = (Path(folder) / "killed" / "starts.txt").read_text().split()
    different = sum(one != two for one, two in zip(found, expected, strict=True))
    print(f"{len(found)} steps, killed {kills} times: {different} losses differ in any bit")
    print(f"started from the steps {', '.join(starts)}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
