"""Starting the processes of a small job for a test: each has a number, all know where to meet, none is left behind."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).resolve().parents[3]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(**more: str) -> dict[str, str]:
    """For a process of a job: this copy of the package, one CPU device, few threads."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PADDLE_", "PROA_LAUNCHER"))}
    return {**kept, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "", **more}


def run_processes(
    count: int, arguments: Sequence[str], limit: float = 240, expect: Sequence[int] | None = None, **more: str
) -> list[str]:
    """Runs `python *arguments` as `count` processes of a job and gives what each printed.

    `expect` are exit statuses (None: success of all). Where it comes otherwise, or the time is over, the error shows the
    end of what every process said; whatever still runs is killed.
    """
    master = f"127.0.0.1:{free_port()}"
    with tempfile.TemporaryDirectory() as folder:
        files = [open(os.path.join(folder, str(rank)), "w+") for rank in range(count)]  # noqa: SIM115
        started = [
            subprocess.Popen(
                [sys.executable, *arguments], stdout=files[rank], stderr=subprocess.STDOUT, cwd=ROOT, start_new_session=True,
                env=environment(PADDLE_TRAINER_ID=str(rank), PADDLE_TRAINERS_NUM=str(count), PADDLE_MASTER=master, **more),
            )
            for rank in range(count)
        ]  # fmt: skip
        end = time.monotonic() + limit
        try:
            late = [not _ends_before(process, end) for process in started]
        finally:
            for process in started:
                _kill(process)
        outputs = []
        for file in files:
            file.seek(0)
            outputs.append(file.read())
            file.close()
    statuses = [process.returncode for process in started]
    if any(late) or statuses != list(expect or [0] * count):
        shown = "\n".join(
            f"--- process {rank}, status {statuses[rank]}:\n{outputs[rank][-3000:]}" for rank in range(count)
        )
        raise AssertionError(f"{'time is over' if any(late) else 'wrong exit statuses'} after {limit} s\n{shown}")
    return outputs


def _ends_before(process: subprocess.Popen[str], end: float) -> bool:
    try:
        process.wait(max(0.1, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def _kill(process: subprocess.Popen[str]) -> None:
    """The process and what it started, which is a session of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
