"""Programs that are run in a process of their own: what they print, how they end, and that they end at all."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

ROOT = str(pathlib.Path(__file__).resolve().parents[2])

# A small model, trained by plain NumPy too: the reference of everything that forked processes compute.
TRAINING = """
import multiprocessing, os, signal, sys, threading, time
import numpy as np
import proa as paddle
from proa import nn

INPUTS = np.random.default_rng(0).normal(size=(32, 6)).astype("float32")
TARGETS = np.sin(INPUTS.sum(axis=1, keepdims=True))


def make_model():
    paddle.seed(7)
    return nn.Linear(6, 1)


def train(model, steps):
    optimizer = paddle.optimizer.SGD(learning_rate=0.05, parameters=model.parameters())
    losses = []
    for _ in range(steps):
        loss = ((model(paddle.to_tensor(INPUTS)) - paddle.to_tensor(TARGETS)) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    return losses


def expected(weight, bias, steps):
    losses = []
    for _ in range(steps):
        error = INPUTS @ weight + bias - TARGETS
        losses.append(float((error**2).mean()))
        gradient = 2 * error / error.size
        weight = weight - 0.05 * (INPUTS.T @ gradient)
        bias = bias - 0.05 * gradient.sum(axis=0)
    return losses


def is_trained(model, steps=12):
    weight, bias = model.weight.numpy(), model.bias.numpy()
    return bool(np.allclose(train(model, steps), expected(weight, bias, steps), rtol=1e-4))


def compiles():
    from proa.ir.report import STATISTICS
    return STATISTICS.compiles


def wait(pid, seconds=30):
    '''The exit code of a child; 99 for one that does not end.'''
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return 99


def in_child(function):
    '''Forks; the exit code is 0 where the function gives True in the child.'''
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if function() else 1)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(2)
    return wait(pid)
"""


def run(code: str, *arguments: str, native: bool = False, timeout: float = 100.0) -> subprocess.CompletedProcess[str]:
    """Runs a script behind the definitions above; `TimeoutExpired` where it hangs.

    Without `native` there are no native kernels: where they were not compiled yet, the end of the script waits for that.
    """
    search = os.pathsep.join(filter(None, [ROOT, os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": search, "PROA_NATIVE": str(int(native))}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "script.py"  # a file: source code can be read from it
        path.write_text(TRAINING + textwrap.dedent(code), encoding="utf-8")
        return subprocess.run(
            [sys.executable, str(path), *arguments], capture_output=True, text=True, timeout=timeout, check=False,
            env=environment,
        )  # fmt: skip


def outcome(code: str, *arguments: str, native: bool = False) -> tuple[int, str, str]:
    """Exit code, output and errors of a script."""
    found = run(code, *arguments, native=native)
    return found.returncode, found.stdout.strip(), found.stderr.strip()
