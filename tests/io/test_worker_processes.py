"""Workers as processes of a script: their threads, and that they end with their parent, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest


def test_workers_use_one_thread():
    code = """
    import numpy as np, os
    import proa as paddle

    a = np.random.rand(600, 600)
    a @ a  # starts the pool of this process

    class Products(paddle.io.Dataset):
        def __getitem__(self, index):
            for _ in range(60):
                a @ a
            ticks = {}
            for thread in os.listdir("/proc/self/task"):
                with open(f"/proc/self/task/{thread}/stat") as file:
                    ticks[int(thread)] = sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
            own = ticks.pop(os.getpid())
            return own, sum(ticks.values())
        def __len__(self):
            return 1

    print(*[int(n) for batch in paddle.io.DataLoader(Products(), num_workers=1) for n in batch])
    """
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, env=environment
    )
    own, others = map(int, found.stdout.split())
    assert own > 0
    assert others <= own // 4  # starting its pool costs OpenBLAS a moment, even for one thread


def test_importing_starts_nothing():
    code = """
    import sys
    import proa

    print([name for name in sys.modules if name.startswith(("multiprocessing", "proa.io.workers", "PIL", "jax"))])
    """
    found = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


LOOP = """
import os, sys, time
import numpy as np
import proa as paddle

class Slow(paddle.io.Dataset):
    def __getitem__(self, index):
        time.sleep(0.02)
        return np.zeros(20_000), os.getpid()
    def __len__(self):
        return 10_000

loader = paddle.io.DataLoader(Slow(), num_workers=2, persistent_workers=True)
kept = []
for number, (data, pid) in enumerate(loader):
    kept.append(data)
    if number in (0, 1):
        print(pid.item(), flush=True)
    {at}
"""


def run_loop(at: str) -> tuple[subprocess.Popen, list[int]]:
    process = subprocess.Popen(
        [sys.executable, "-c", LOOP.replace("{at}", at)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
        # Tests that run in the background of a shell were told to ignore Ctrl-C, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stdout is not None
    return process, [int(process.stdout.readline()) for _ in range(2)]


def is_gone(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until_gone(pids: list[int], seconds: float = 15.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not all(is_gone(pid) for pid in pids):
        time.sleep(0.02)
    return all(is_gone(pid) for pid in pids)


@pytest.mark.parametrize("how", ["exit", "exception", "SIGINT to all", "SIGKILL", "SIGTERM"])
def test_workers_end_with_their_parent(how):
    at = {"exit": "if number == 5: sys.exit(0)", "exception": "if number == 5: raise ValueError"}.get(how, "pass")
    process, workers = run_loop(at)
    time.sleep(0.2)
    if how == "SIGINT to all":
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
    elif how.startswith("SIG"):
        os.kill(process.pid, getattr(signal, how))
    errors = process.communicate(timeout=60)[1]
    assert wait_until_gone(workers)
    if how == "SIGINT to all":
        assert errors.count("KeyboardInterrupt") == 1
        assert "Process DataLoader" not in errors
