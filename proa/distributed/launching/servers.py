"""A job with table servers: `launch --server_num 2 --trainer_num 4 train.py`, or lists of addresses on several machines.

Servers and trainers run the same program; Paddle's variables say which part is theirs. The job is complete when its
trainers are. A process that fails is started again by itself, as often as `--max_restart` says: servers take over the
tables that they wrote, and trainers find their servers.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...core.errors import value_error
from .options import Options
from .workers import Worker, Workers, show

_PAUSE = 0.05
_FAREWELL = 20.0  # seconds that servers have to end by themselves once the trainers have


@dataclass(frozen=True)
class Role:
    """One process: what it is, its number among its kind, and the variables that say so."""

    is_server: bool
    number: int
    variables: dict[str, str]


def roles_of(chosen: Options) -> list[Role]:
    """The processes that this machine starts, servers first."""
    servers, trainers = _addresses(chosen)
    shared = {
        "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(servers), "PADDLE_TRAINER_ENDPOINTS": ",".join(trainers),
        "PADDLE_TRAINERS_NUM": str(len(trainers)), "PADDLE_JOB_ID": chosen.job_id,
    }  # fmt: skip
    roles = []
    for is_server, addresses in ((True, servers), (False, trainers)):
        for number, address in enumerate(addresses):
            host, _, port = address.rpartition(":")
            own = {"POD_IP": host, "PADDLE_PORT": port, "TRAINING_ROLE": "PSERVER" if is_server else "TRAINER"}
            if not is_server:
                own |= {"PADDLE_TRAINER_ID": str(number), "PADDLE_CURRENT_ENDPOINT": address}
            if host == chosen.host:
                roles.append(Role(is_server, number, {**shared, **own}))
    if not roles:
        raise value_error(
            "launch", "none of the addresses is on this machine", f"--host {chosen.host}: {servers}, {trainers}",
            "give this machine's address as --host",
        )  # fmt: skip
    return roles


def _addresses(chosen: Options) -> tuple[list[str], list[str]]:
    """Of servers and of trainers: as listed, or on this machine at free ports."""
    found = []
    with _free_ports() as port:
        for kind, listed, count in (
            ("servers", chosen.servers, chosen.server_num), ("trainers", chosen.trainers, chosen.trainer_num)
        ):  # fmt: skip
            if listed:
                if count is not None and count != len(listed):
                    raise value_error("launch", f"--{kind} and --{kind[:-1]}_num say different numbers",
                                      f"{len(listed)} addresses, {count}")  # fmt: skip
                found.append(listed)
            else:
                found.append([f"{chosen.host}:{port()}" for _ in range(1 if count is None else count)])
    return found[0], found[1]


@contextlib.contextmanager
def _free_ports() -> Iterator[Callable[[], int]]:
    """Gives ports that are free, all held until the last one is known, so that none is given twice."""
    with contextlib.ExitStack() as held:

        def port() -> int:
            probe = held.enter_context(socket.socket())
            probe.bind(("", 0))
            return probe.getsockname()[1]

        yield port


def run(command: list[str], chosen: Options, received: list[int]) -> int | None:
    """Runs this machine's part of the job: its status; None where a signal came (`received`), with all processes ended."""
    os.environ.setdefault("PROA_JOB_KEY", secrets.token_hex(32))
    left = chosen.max_restart or 0
    workers = Workers(chosen.log_dir)
    running: list[tuple[Role, Worker]] = []
    try:
        for role in roles_of(chosen):
            running.append((role, _start(workers, command, role)))
        while not received:
            ended = [(role, worker) for role, worker in running if worker.process.poll()]
            if ended:
                role, worker = ended[0]
                show(worker, left, "the others go on" if left else "the job is ended")
                if not left:
                    status = worker.process.returncode
                    return status if status > 0 else 128 - status
                left -= 1
                workers.forget(worker)
                running.remove(ended[0])
                running.append((role, _start(workers, command, role)))
            elif _is_complete(running):
                return _complete(workers, running)
            time.sleep(_PAUSE)
        workers.signal(received[0])
        workers.stop(chosen.stop_timeout, lambda: len(received) == 1)
        return None
    finally:
        workers.stop(0)
        workers.close()


def _start(workers: Workers, command: list[str], role: Role) -> Worker:
    kind = "serverlog" if role.is_server else "workerlog"
    return workers.start(command, role.number, role.number, {**os.environ, **role.variables}, kind, role.is_server)


def _is_complete(running: list[tuple[Role, Worker]]) -> bool:
    """Whether all trainers here have ended; a machine with servers alone waits for these."""
    trainers = [worker for role, worker in running if not role.is_server] or [worker for _, worker in running]
    return all(worker.process.poll() == 0 for worker in trainers)


def _complete(workers: Workers, running: list[tuple[Role, Worker]]) -> int:
    """Servers end by themselves when every trainer has left; those of a program that never says so are ended."""
    workers.wait_for_end(_FAREWELL)
    return next((1 for _, worker in running if worker.process.poll()), 0)
