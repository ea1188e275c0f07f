"""How long saving a checkpoint holds up training, in the foreground and in the background:

    python -m benchmarks.checkpoint                     # 1 GB of parameters
    python -m benchmarks.checkpoint --megabytes 256 --rounds 5 --folder /somewhere
    python -m benchmarks.checkpoint --begin nothing     # as a program that is no job, and did not prepare either
    python -m benchmarks.checkpoint --begin prepare     # as a program that is no job, but called prepare_async_save()

For one process on a CPU. The first save is one in the background; then each round saves in the foreground, trains a few
steps, saves in the background and trains a step while the file is written. Training is blocked by the call
(`background_call_s`) and by the update of the next step, which waits until its parameters are copied (`update_waits_s`). The
first save also gets the memory that later ones copy into, unless it was got before: by itself in a job, which begins with
`init_parallel_env`. The step beside copying and writing is timed as well: it shares processor and memory with them. Bar:
call and waiting together take at most 15 % of a save in the foreground, in the first save too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import threading
import time
from typing import Any

WIDTH = 2048  # a weight is 16 MB
STEPS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--begin", choices=("job", "prepare", "nothing"), default="job", help="how the program begins")
    parser.add_argument("--folder", help="where to write; a temporary folder otherwise")
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(dir=arguments.folder)
    try:
        print(json.dumps(measure(arguments.megabytes, arguments.rounds, folder, arguments.begin), indent=2))
    finally:
        shutil.rmtree(folder)


def measure(megabytes: int, rounds: int, folder: str, beginning: str) -> dict[str, Any]:
    import proa as paddle
    import proa.distributed as dist
    from proa.distributed.checkpoint import staging
    from proa.framework.io import clear_async_save_task_queue

    if beginning == "job":
        dist.init_parallel_env()
    num_layers = max(1, megabytes // 16)
    layers = [paddle.nn.Linear(WIDTH, WIDTH, bias_attr=False) for _ in range(num_layers)]
    model = paddle.nn.LayerList(layers)
    optimizer = paddle.optimizer.SGD(learning_rate=1e-6, parameters=model.parameters())
    x = paddle.ones([4, WIDTH])

    def step() -> float:
        begin = time.perf_counter()
        hidden = x
        for layer in layers:
            hidden = paddle.tanh(layer(hidden))
        loss = hidden.mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        loss.item()
        return time.perf_counter() - begin

    def save(**options: Any) -> float:
        begin = time.perf_counter()
        dist.save_state_dict({"model": model.state_dict()}, folder, keep=2, **options)
        return time.perf_counter() - begin

    waits = [0.0]
    wait_for_copies = staging.Copying.wait

    def timed_wait(copying: Any) -> None:
        begin = time.perf_counter()
        wait_for_copies(copying)
        if threading.current_thread() is threading.main_thread():
            waits[-1] += time.perf_counter() - begin

    staging.Copying.wait = timed_wait  # type: ignore[method-assign]
    if beginning == "prepare":
        dist.checkpoint.prepare_async_save({"model": model.state_dict()})
    for _ in range(6):  # until it is compiled
        step()
    clear_async_save_task_queue()
    usual = statistics.median(step() for _ in range(STEPS))
    foreground, calls, beside, behind = [], [], [], []

    def save_beside_training() -> None:
        waits.append(0.0)
        begin = time.perf_counter()
        calls.append(save(async_save=True))
        waits[-1] = 0.0  # what the call has waited for is in its time
        beside.append(step())
        waits.append(0.0)
        clear_async_save_task_queue()
        waits.pop()
        behind.append(time.perf_counter() - begin)

    save_beside_training()
    for _ in range(rounds):
        foreground.append(save())
        for _ in range(STEPS):
            step()
        save_beside_training()
    blocked = [call + wait for call, wait in zip(calls, waits[1:], strict=True)]
    usual_save = statistics.median(foreground)
    files = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    return {
        "begin": beginning,
        "parameters_mb": num_layers * 16,
        "files_mb": round(files / 2 / 2**20),
        "step_s": round(usual, 3),
        "foreground_s": rounded(foreground),
        "background_call_s": rounded(calls),
        "update_waits_s": rounded(waits[1:]),
        "step_beside_writing_s": rounded(beside),
        "background_until_written_s": rounded(behind),
        "blocked_of_foreground": round(statistics.median(blocked) / usual_save, 3),
        "first_blocked_of_foreground": round(blocked[0] / usual_save, 3),
    }


def rounded(seconds: list[float]) -> list[float]:
    return [round(value, 3) for value in seconds]


if __name__ == "__main__":
    main()
