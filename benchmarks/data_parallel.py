"""What it costs two processes to train one model together, beside two processes that train one each.

    python -m benchmarks.data_parallel                 # 2 processes, a small GPT, 3 rounds
    python -m benchmarks.data_parallel --processes 4 --rounds 5

Both have one thread a process and train at the same time, so that the machine is as busy; the rounds alternate. Bar: a step
together takes at most 15 % longer. Where other programs want the cores, whoever waits for another process waits for its
turn, too, and only the processor time says something.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.workloads.models.char_gpt import batches, paddle_gpt

ROOT = Path(__file__).resolve().parent.parent
BAR = 0.15
_WARM = 8  # steps that are not counted: the program is compiled in them


def train(together: bool, steps: int, sizes: dict[str, int]) -> dict[str, Any]:
    """Trains in this process; gives the milliseconds of each step behind the first ones."""
    import proa as paddle

    if together:
        paddle.distributed.init_parallel_env()
    # Both compile their step in the steps that are not counted; left to itself, the longer program waits longer.
    paddle.set_flags({"FLAGS_hot_threshold": 2})
    paddle.seed(1)
    model = paddle_gpt(paddle, **sizes)
    count = sum(int(parameter.size) for parameter in model.parameters())
    if together:
        model = paddle.DataParallel(model)
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
    data = [(paddle.to_tensor(x), paddle.to_tensor(y)) for x, y in batches(**sizes)]
    times, work = [], []
    for step in range(steps + _WARM):
        begin, worked = time.perf_counter(), time.process_time()
        x, y = data[step % len(data)]
        loss = paddle.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        loss.item()
        times.append(1000 * (time.perf_counter() - begin))
        work.append(1000 * (time.process_time() - worked))
    return {"parameters": count, "times": times[_WARM:], "work": work[_WARM:]}


def run(processes: int, together: bool, steps: int, sizes: dict[str, int]) -> list[dict[str, Any]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        master = f"127.0.0.1:{probe.getsockname()[1]}"
    started = []
    for rank in range(processes):
        environment = {**os.environ, "PROA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
        if together:
            environment.update(PADDLE_TRAINER_ID=str(rank), PADDLE_TRAINERS_NUM=str(processes), PADDLE_MASTER=master)
        command = [sys.executable, "-m", "benchmarks.data_parallel", "--worker", "--steps", str(steps)]
        command += ["--sizes", json.dumps(sizes), *(["--together"] if together else [])]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment))
    try:
        return [json.loads(process.communicate(timeout=900)[0].strip().splitlines()[-1]) for process in started]
    finally:
        for process in started:
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--sizes", type=json.loads, default={}, help='of the GPT, as JSON: {"width": 256}')
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--together", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        print(json.dumps(train(chosen.together, chosen.steps, chosen.sizes)))
        return
    ratios, extra = [], []
    for number in range(chosen.rounds):
        medians, work = [], []
        for together in (False, True):
            reports = run(chosen.processes, together, chosen.steps, chosen.sizes)
            medians.append(statistics.median(time for report in reports for time in report["times"]))
            work.append(statistics.median(time for report in reports for time in report["work"]))
        ratios.append(medians[1] / medians[0])
        extra.append(work[1] / work[0])
        print(
            f"round {number}: {reports[0]['parameters']:,} parameters; apart {medians[0]:.1f} ms a step, together "
            f"{medians[1]:.1f} ms, {100 * (ratios[-1] - 1):+.1f} %; processor time {work[0]:.1f} and {work[1]:.1f} ms, "
            f"{100 * (extra[-1] - 1):+.1f} %", flush=True,
        )  # fmt: skip
    overhead = statistics.median(ratios) - 1
    print(f"overhead (median of {chosen.rounds} rounds): {100 * overhead:+.1f} %; bar {100 * BAR:.0f} %: ", end="")
    print("met" if overhead <= BAR else "missed")


if __name__ == "__main__":
    main()
