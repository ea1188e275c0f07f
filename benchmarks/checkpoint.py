"""How long saving a checkpoint holds up training, in the foreground and in the background:

    python -m benchmarks.checkpoint                     # 1 GB of parameters
    python -m benchmarks.checkpoint --megabytes 256 --rounds 5 --folder /somewhere
    python -m benchmarks.checkpoint --begin nothing     # as a program that is no job, and did not prepare either
    python -m benchmarks.checkpoint --begin prepare     # as a program that is no job, but called prepare_async_save()

For one process on a CPU. Each round trains a few steps, saves in the foreground, trains, saves in the background and goes on
training until the file is there. Training waits for the call (`background_call_s`; the first one also gets the memory that
the later ones copy into, unless it was got before: by itself in a job, which begins with `init_parallel_env`). Steps beside
the writing are timed as well: they share processor and memory with it. Bar: the longest call takes at most 15 % of a save in
the foreground.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
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

    if beginning == "prepare":
        dist.checkpoint.prepare_async_save({"model": model.state_dict()})
    for _ in range(6):  # until it is compiled
        step()
    clear_async_save_task_queue()
    usual = statistics.median(step() for _ in range(STEPS))
    foreground, blocked, beside, behind = [], [], [], []
    for _ in range(rounds):
        foreground.append(save())
        for _ in range(STEPS):
            step()
        begin = time.perf_counter()
        blocked.append(save(async_save=True))
        beside.append(step())
        clear_async_save_task_queue()
        behind.append(time.perf_counter() - begin)
    files = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    return {
        "begin": beginning,
        "parameters_mb": num_layers * 16,
        "files_mb": round(files / 2 / 2**20),
        "step_s": round(usual, 3),
        "foreground_s": rounded(foreground),
        "background_call_s": rounded(blocked),
        "step_beside_writing_s": rounded(beside),
        "background_until_written_s": rounded(behind),
        "call_of_foreground": round(statistics.median(blocked) / statistics.median(foreground), 3),
        "first_call_of_foreground": round(blocked[0] / statistics.median(foreground), 3),
    }


def rounded(seconds: list[float]) -> list[float]:
    return [round(value, 3) for value in seconds]


if __name__ == "__main__":
    main()
