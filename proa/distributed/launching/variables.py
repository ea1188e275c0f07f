"""What a process finds in its environment: its number, and where it meets the others."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...core import job
from .options import Options

RESTARTS = "PROA_RESTARTS"  # how often the job was started before; a script that saves its state resumes from it


@dataclass(frozen=True)
class Start:
    """One start of a job, as one machine sees it."""

    number: int = 0  # how many starts there were before
    first: int = 0  # the number of this machine's first process
    total: int = 1  # processes on all machines
    node: int = 0
    nodes: int = 1
    master: str = ""


def variables(chosen: Options, start: Start, count: int, local: int) -> dict[str, str]:
    """For process `local` of the `count` on this machine."""
    rank = start.first + local
    endpoints = [f"{chosen.host}:{chosen.start_port + number}" for number in range(start.total)]
    found = {
        job.RANK: str(rank), job.SIZE: str(start.total), job.MASTER: start.master, job.ENDPOINTS: ",".join(endpoints),
        job.LAUNCHER: str(os.getpid()), RESTARTS: str(start.number), "PADDLE_CURRENT_ENDPOINT": endpoints[rank],
        "PADDLE_GLOBAL_RANK": str(rank), "PADDLE_GLOBAL_SIZE": str(start.total), "PADDLE_LOCAL_RANK": str(local),
        "PADDLE_LOCAL_SIZE": str(count), "PADDLE_RANK_IN_NODE": str(local), "PADDLE_NNODES": str(start.nodes),
        "PADDLE_NODE_RANK": str(start.node), "PADDLE_JOB_ID": chosen.job_id,
    }  # fmt: skip
    if chosen.devices:
        found[job.DEVICES] = chosen.devices[local]
    elif count > 1:
        # Several processes share the cores of a machine: each takes its part of them.
        cores = str(max(1, len(os.sched_getaffinity(0)) // count) if hasattr(os, "sched_getaffinity") else 1)
        for name in ("PROA_NUM_THREADS", "OMP_NUM_THREADS"):
            if not os.environ.get(name):
                found[name] = cores
    return found
