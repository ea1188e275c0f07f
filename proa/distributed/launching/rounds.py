"""`launch`: runs a job on this machine, and again where a process failed and that is wanted."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from ...core import job
from . import options as reading
from . import servers
from .options import Options
from .workers import Workers, show

RESTARTS = "PROA_RESTARTS"  # how often the job was started before; a script that saves its state resumes from it


def launch(arguments: Sequence[str] | None = None) -> None:
    """`python -m paddle.distributed.launch [options] script.py …`; leaves with the status of the job."""
    chosen = reading.parse(sys.argv[1:] if arguments is None else arguments)
    interpreter = [sys.executable, *subprocess._args_from_interpreter_flags()]
    command = [*interpreter, *chosen.command]
    if chosen.has_servers:
        with _signals() as received:
            status = servers.run(command, chosen, received)
            sys.exit(128 + received[0] if status is None else status)
    if chosen.nodes == chosen.most == 1 and chosen.max_restart is None and chosen.log_dir is None:
        _become(command, chosen)
    sys.exit(_run(command, chosen))


def _become(command: list[str], chosen: Options) -> None:
    """One process needs nobody to watch it: this one becomes the script."""
    os.environ.update(_environment(chosen, 1, 0, 0, ""))
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
                master = _master(chosen, restarts)
                for local in range(count):
                    own = {**os.environ, **_environment(chosen, count, local, restarts, master)}
                    workers.start(command, chosen.node * count + local, local, own)
                failed = workers.wait(lambda: not received)
                if received:
                    return _leave(workers, received, chosen)
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


def _leave(workers: Workers, received: list[int], chosen: Options) -> int:
    """SIGTERM and Ctrl-C go to all; who saves its state has time for it. A second Ctrl-C ends everything at once."""
    first, before = received[0], len(received)
    workers.signal(first)
    if first != signal.SIGTERM:  # a process may take Ctrl-C for something to be asked about
        workers.wait_for_end(chosen.stop_timeout, lambda: len(received) == before)
    workers.stop(chosen.stop_timeout, lambda: len(received) == before)
    succeeded = all(worker.process.returncode == 0 for worker in workers.workers)
    return 0 if succeeded else 128 + first


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


def _master(chosen: Options, restarts: int) -> str:
    """Where this round's processes meet: a port that was free a moment ago, or the one that all machines know."""
    if chosen.master is None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return f"127.0.0.1:{probe.getsockname()[1]}"
    host, _, port = chosen.master.removeprefix("http://").removeprefix("tcp://").rpartition(":")
    return f"{host}:{int(port) + restarts}"


def _environment(chosen: Options, count: int, local: int, restarts: int, master: str) -> dict[str, str]:
    rank, total = chosen.node * count + local, chosen.nodes * count
    endpoints = [f"{chosen.host}:{chosen.start_port + number}" for number in range(total)]
    variables = {
        job.RANK: str(rank), job.SIZE: str(total), job.MASTER: master, job.ENDPOINTS: ",".join(endpoints),
        job.LAUNCHER: str(os.getpid()), RESTARTS: str(restarts), "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
        "PADDLE_GLOBAL_RANK": str(rank), "PADDLE_GLOBAL_SIZE": str(total), "PADDLE_LOCAL_RANK": str(local),
        "PADDLE_LOCAL_SIZE": str(count), "PADDLE_RANK_IN_NODE": str(local), "PADDLE_NNODES": str(chosen.nodes),
        "PADDLE_NODE_RANK": str(chosen.node), "PADDLE_JOB_ID": chosen.job_id,
    }  # fmt: skip
    if chosen.devices:
        variables[job.DEVICES] = chosen.devices[local]
    elif count > 1:
        # Several processes share the cores of a machine: each takes its part of them.
        cores = str(max(1, len(os.sched_getaffinity(0)) // count) if hasattr(os, "sched_getaffinity") else 1)
        for name in ("PROA_NUM_THREADS", "OMP_NUM_THREADS"):
            if not os.environ.get(name):
                variables[name] = cores
    return variables
