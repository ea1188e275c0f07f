"""`launch`: runs a job on this machine, and again where a process failed and that is wanted."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ...core import job
from . import machines, servers
from . import options as reading
from .options import Options
from .variables import Start, variables
from .workers import Workers, leave, show


def launch(arguments: Sequence[str] | None = None) -> None:
    """`python -m paddle.distributed.launch [options] script.py …`; leaves with the status of the job.

    Args:
        arguments: the options and the script; None: those of the command line.

    Examples:
        >>> paddle.distributed.launch(["--nproc_per_node", "2", "train.py"])  # doctest: +SKIP
        >>> paddle.distributed.launch([])
        Traceback (most recent call last):
            ...
        SystemExit: 2
    """
    chosen = reading.parse(sys.argv[1:] if arguments is None else arguments)
    python: Any = subprocess  # its list of the interpreter's own options is what multiprocessing uses
    interpreter = [sys.executable, *python._args_from_interpreter_flags()]
    command = [*interpreter, *chosen.command]
    if chosen.has_servers:
        with _signals() as received:
            status = servers.run(command, chosen, received)
            sys.exit(128 + received[0] if status is None else status)
    if chosen.least_nodes is not None:
        with _signals() as received:
            sys.exit(machines.run(command, chosen, received))
    if chosen.nodes == chosen.most == 1 and chosen.max_restart is None and chosen.log_dir is None:
        _become(command, chosen)
    sys.exit(_run(command, chosen))


def _become(command: list[str], chosen: Options) -> None:
    """One process needs nobody to watch it: this one becomes the script."""
    os.environ.update(variables(chosen, Start(), 1, 0))
    os.environ.pop(job.LAUNCHER)
    sys.stdout.flush()
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(sys.executable, command)


def _run(command: list[str], chosen: Options) -> int:
    count, restarts, left = chosen.most, 0, chosen.max_restart or 0
    if chosen.nodes == 1:
        os.environ.setdefault("PROA_JOB_KEY", secrets.token_hex(32))
    with _signals() as received:
        while True:
            workers = Workers(chosen.log_dir)
            try:
                start = _start(chosen, count, restarts)
                for local in range(count):
                    own = {**os.environ, **variables(chosen, start, count, local)}
                    workers.start(command, start.first + local, local, own)
                failed = workers.wait(lambda: not received)
                if received:
                    return leave(workers, received, chosen.stop_timeout)
                if failed is None:
                    return 0
                workers.stop(min(chosen.stop_timeout, 5.0))
                show(failed, left)
            finally:
                workers.stop(0)
                workers.close()
            if left == 0:
                status = failed.process.returncode
                return status if status > 0 else 128 - status
            restarts, left = restarts + 1, left - 1
            count = max(chosen.least, count - 1)


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """The signals that came, in place of their effect."""
    received: list[int] = []

    def note(number: int, _: Any) -> None:
        received.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _start(chosen: Options, count: int, restarts: int) -> Start:
    """With `count` processes on each machine."""
    first, total = chosen.node * count, chosen.nodes * count
    return Start(restarts, first, total, chosen.node, chosen.nodes, _master(chosen, restarts))


def _master(chosen: Options, restarts: int) -> str:
    """Where this round's processes meet: a port that was free a moment ago, or the one that all machines know."""
    if chosen.master is None:
        return f"127.0.0.1:{machines.free_port('127.0.0.1')}"
    host, port = reading.address(chosen.master)
    return f"{host}:{port + restarts}"
