"""`python -m benchmarks.sharing`: processor time of training steps when two processes share the cores.

Two processes train the padded encoder at once, each with all threads, then each with one. What waits must not burn the core
that the other process needs: together they should cost hardly more processor time than with one thread each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

from benchmarks.harness.processes import ROOT


def work(steps: int) -> None:
    """One process: warm up, then print the processor time of `steps` training steps."""
    import proa as paddle
    from benchmarks import workloads

    loop = workloads.build("models.encoder", "paddle", paddle, {"num_steps": 4})
    for _ in range(4):
        loop.run()
    began, clock = time.process_time(), time.perf_counter()
    for _ in range(max(1, steps // 4)):
        loop.run()
    print(json.dumps({"processor": time.process_time() - began, "wall": time.perf_counter() - clock}))


def together(steps: int, threads: int, processes: int) -> tuple[float, float]:
    """Processor time and longest wall time of some processes at once."""
    environment = {**os.environ, "PROA_NUM_THREADS": str(threads), "PROA_HOT_THRESHOLD": "3"}
    if threads:
        environment |= {"PROA_NATIVE_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "benchmarks.sharing", "--work", "--steps", str(steps)]
    running = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    answers = [json.loads(process.communicate()[0].splitlines()[-1]) for process in running]
    return sum(answer["processor"] for answer in answers), max(answer["wall"] for answer in answers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40, help="training steps of each process (default: 40)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which the best counts (default: 3)")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.steps)
        return
    one: list[tuple[float, float]] = []
    all_threads: list[tuple[float, float]] = []
    for _ in range(arguments.rounds):
        one.append(together(arguments.steps, 1, 2))
        all_threads.append(together(arguments.steps, 0, 2))
    lone, shared = min(one), min(all_threads)
    print(f"two processes, one thread each:    {lone[0]:6.2f} s of processor time, {lone[1]:6.2f} s")
    print(f"two processes, all threads each:   {shared[0]:6.2f} s of processor time, {shared[1]:6.2f} s")
    print(f"ratio of processor time: {shared[0] / lone[0]:.2f} (bar: at most 1.3)")


if __name__ == "__main__":
    main()
