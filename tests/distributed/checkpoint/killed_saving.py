"""Kills a process at random moments while it saves checkpoints, and reads what it left. Run by hand:

    python -m tests.distributed.checkpoint.killed_saving            # 20 kills
    python -m tests.distributed.checkpoint.killed_saving --kills 100 --seed 3

The process saves over and over, by turns in the foreground and in the background, keeping the last two, now and then
writing over one number. Every checkpoint holds tensors that are functions of its step, so a mixture of two would be seen.
After each kill all checkpoints that are there must load, the last one must not be older than the last one that the process
had said was finished, and the next process goes on in the same folder.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

NUM_TENSORS, ELEMENTS = 12, 400_000  # 19 MB


def state(step: int) -> dict[str, Any]:
    import proa as paddle

    tensors = {f"w{n}": paddle.to_tensor(np.full(ELEMENTS, step * 100 + n, "float32")) for n in range(NUM_TENSORS)}
    return {"model": tensors, "step": step}


def save_for_ever(folder: str, first: int) -> None:
    import proa.distributed as dist
    from proa.framework.io import clear_async_save_task_queue

    for step in range(first, first + 10_000):
        options = {"unique_id": 10**6} if step % 5 == 0 else {}
        dist.save_state_dict(state(step), folder, async_save=step % 2 == 0, keep=2, **options)
        if step % 2 == 0:
            clear_async_save_task_queue()
        print(step, flush=True)  # acknowledged


def steps_in(folder: str) -> list[int]:
    """The step of each checkpoint in the folder, all of which are read whole."""
    import proa.distributed as dist

    found = []
    numbers = sorted(int(name.split(".")[0]) for name in os.listdir(folder) if name.endswith(".metadata"))
    for number in numbers:
        read = state(0)
        dist.load_state_dict(read, folder, unique_id=number)
        for n, tensor in enumerate(read["model"].values()):
            values = np.unique(tensor.numpy())
            assert values.tolist() == [read["step"] * 100 + n], f"checkpoint {number}: {values} in w{n}"
        found.append(read["step"])
    return found


def kill_once(folder: str, first: int, wait: float) -> int | None:
    """Lets a process save for a while after its first checkpoint, kills it, and gives the last step it acknowledged."""
    command = [
        sys.executable,
        "-m",
        "tests.distributed.checkpoint.killed_saving",
        "--save",
        folder,
        "--first",
        str(first),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
        assert process.wait(60) == -signal.SIGKILL, process.stderr.read()
    finally:
        process.kill()
        process.wait()
    acknowledged = [int(word) for word in (line + rest).split("\n")[:-1]]
    return acknowledged[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save")
    parser.add_argument("--first", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.save:
        save_for_ever(arguments.save, arguments.first)
        return
    choose = random.Random(arguments.seed)
    remains = 0
    with tempfile.TemporaryDirectory() as folder:
        first = 1
        for kill in range(arguments.kills):
            acknowledged = kill_once(folder, first, choose.uniform(0, 0.6))
            steps = steps_in(folder)
            newest = max(steps)
            assert acknowledged is not None
            assert newest in (acknowledged, acknowledged + 1), (steps, acknowledged)
            unfinished = [name for name in os.listdir(folder) if name.endswith(".tmp")]
            remains += bool(unfinished)
            print(
                f"kill {kill + 1}: acknowledged step {acknowledged}, readable {steps}, unfinished files {len(unfinished)}"
            )
            first = newest + 1
    print(f"{arguments.kills} kills, {remains} of them within a file; every checkpoint was readable")


if __name__ == "__main__":
    main()
