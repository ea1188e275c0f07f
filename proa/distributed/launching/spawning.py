"""`spawn`: processes of a job for a function of the program at hand."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import secrets
import socket
import time
import traceback
from collections.abc import Callable
from typing import Any

from ...core import job
from ...core.errors import value_error


class SpawnContext:
    """The processes that `spawn` started."""

    def __init__(self, processes: list[Any], errors: list[Any]) -> None:
        self.processes, self._errors = processes, errors

    def join(self, timeout: float | None = None) -> bool:
        """Waits for them; True when all are done. Where one fails the others are ended, and its error is shown here."""
        end = None if timeout is None else time.monotonic() + timeout
        # Asked once in each round: waiting for nobody, since the last one has just ended, would never be over.
        while running := [process.sentinel for process in self.processes if process.exitcode is None]:
            left = None if end is None else max(0.0, end - time.monotonic())
            ended = multiprocessing.connection.wait(running, left)
            if any(process.exitcode for process in self.processes):
                break
            if not ended:
                return False
        failed = [number for number, process in enumerate(self.processes) if process.exitcode]
        if failed:
            self._end_others()
            raise RuntimeError(self._said(failed))
        return True

    def _end_others(self) -> None:
        for process in self.processes:
            if process.exitcode is None:
                process.terminate()
        for process in self.processes:
            process.join(5)
            if process.exitcode is None:
                process.kill()
                process.join()

    def _said(self, failed: list[int]) -> str:
        said = {number: self._errors[number].recv() for number in failed if self._errors[number].poll()}
        own = {n: text for n, text in said.items() if "another process has ended" not in text}
        number = next(iter(own or said), failed[0])
        status = self.processes[number].exitcode
        text = f"(spawn) process {number} ended with exit status {status}"
        return f"{text}:\n\n{said[number]}" if number in said else f"{text}; its own message is above."


def spawn(
    func: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = -1, join: bool = True, daemon: bool = False,
    **options: Any,
) -> SpawnContext:  # fmt: skip
    """Runs `func(*args)` in `nprocs` new processes of one job (-1: one), and waits for them unless `join` is False.

    The function calls `init_parallel_env()` and asks for its number, as a script under the launcher does.

    Args:
        func: a function that can be imported.
        args: its arguments.
        nprocs: how many processes.
        join: whether to wait for them.
        daemon: whether they end with this process.
        **options: taken; they change nothing.

    Returns:
        A context with `join()`.

    Raises:
        ValueError: `nprocs` is no number of processes.

    Examples:
        >>> context = paddle.distributed.spawn(train, args=(10,), nprocs=2)  # doctest: +SKIP
        >>> paddle.distributed.spawn(print, nprocs=0)
        Traceback (most recent call last):
            ...
        ValueError: (spawn) nprocs must be a number of processes, or -1; received nprocs: 0.
    """
    if not isinstance(nprocs, int) or nprocs == 0 or nprocs < -1:
        raise value_error("spawn", "nprocs must be a number of processes, or -1", f"nprocs: {nprocs}")
    count = max(1, nprocs)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        master = f"127.0.0.1:{probe.getsockname()[1]}"
    key = os.environ.get("PROA_JOB_KEY") or secrets.token_hex(32)
    context = multiprocessing.get_context("spawn")
    processes, errors = [], []
    for rank in range(count):
        reader, writer = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(func, args, rank, count, master, key, writer), daemon=daemon)
        process.start()
        writer.close()
        processes.append(process)
        errors.append(reader)
    started = SpawnContext(processes, errors)
    if join:
        started.join()
    return started


def _run(
    func: Callable[..., Any], args: tuple[Any, ...], rank: int, count: int, master: str, key: str, errors: Any
) -> None:  # fmt: skip
    variables = {
        job.RANK: str(rank), job.SIZE: str(count), job.MASTER: master, job.LAUNCHER: str(os.getppid()),
        "PADDLE_LOCAL_RANK": str(rank), "PADDLE_RANK_IN_NODE": str(rank), "PADDLE_LOCAL_SIZE": str(count),
        "PROA_JOB_KEY": key,
    }  # fmt: skip
    os.environ.update(variables)
    try:
        func(*args)
    except Exception:
        job.fail()
        errors.send(traceback.format_exc())
        raise
