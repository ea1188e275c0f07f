"""How many features a second are looked up and updated: a table in this process, and tables on servers.

    python -m benchmarks.parameter_server
    python -m benchmarks.parameter_server --features 1000000 --seconds 5 --batch 2048

Every round looks up a batch of features (drawn evenly from `--features`, each once) and pushes a gradient for each; Adagrad,
rows of 16 numbers. `memory` is a table in the process that trains; `durable` the same with log and store, as one server;
`servers` is 2 servers (actors of Ray, durable) and 2 workers. Waiting for the acknowledgement is part of a round.
Needs `pip install 'proa[ps]'`.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

WIDTH = 16


def rounds(client: Any, arguments: argparse.Namespace, seed: int) -> dict[str, Any]:
    """Looks up and updates for a while."""
    from proa.distributed.ps.config import TableConfig

    client.create(TableConfig("features", WIDTH, "adagrad", initial_range=0.01))
    random = np.random.default_rng(seed)
    gradient = random.normal(size=(arguments.batch, WIDTH)).astype("float32")
    shows = np.ones(arguments.batch, np.float32)
    count, pulling, pushing = 0, 0.0, 0.0
    begin = time.perf_counter()
    while time.perf_counter() - begin < arguments.seconds:
        ids = np.unique(random.integers(0, arguments.features, arguments.batch))
        start = time.perf_counter()
        client.pull("features", ids)
        middle = time.perf_counter()
        client.update("push", "features", ids, gradient[: len(ids)], shows[: len(ids)])
        pulling, pushing = pulling + middle - start, pushing + time.perf_counter() - middle
        count += len(ids)
    elapsed = time.perf_counter() - begin
    number = count / arguments.batch
    return {
        "features_per_s": round(count / elapsed), "pull_ms": round(1e3 * pulling / number, 2),
        "push_ms": round(1e3 * pushing / number, 2),
    }  # fmt: skip


def here(arguments: argparse.Namespace, folder: str | None) -> dict[str, Any]:
    from proa.distributed.ps.client import Client, LocalServer
    from proa.distributed.ps.server import TableServer

    return rounds(Client([LocalServer(TableServer(folder))]), arguments, 0)


def on_servers(arguments: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Servers and workers of their own."""
    from proa.distributed.ps.cluster import Head, connect, disconnect, start_server

    with socket.create_server(("127.0.0.1", 0)) as probe:
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    head = Head(address)
    try:
        connect(address, check=head.check)
        servers = [start_server(number, f"{folder}/{number}") for number in range(arguments.servers)]
        command = [sys.executable, "-m", "benchmarks.parameter_server", "--worker", address]
        command += [f"--{name}={getattr(arguments, name)}" for name in ("features", "seconds", "batch", "servers")]
        workers = [
            subprocess.Popen([*command, f"--seed={seed}"], stdout=subprocess.PIPE) for seed in range(arguments.workers)
        ]
        reports = [json.loads(worker.communicate(timeout=arguments.seconds + 300)[0]) for worker in workers]
        for server in servers:
            server.stop()
    finally:
        disconnect()
        head.stop()
    return {"features_per_s": sum(report["features_per_s"] for report in reports), "workers": reports}


def work(arguments: argparse.Namespace) -> None:
    from proa.distributed.ps.client import Client
    from proa.distributed.ps.cluster import RayServer, connect

    connect(arguments.worker)
    client = Client([RayServer(number) for number in range(arguments.servers)])
    print(json.dumps(rounds(client, arguments, arguments.seed)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments)
        return
    report: dict[str, Any] = {"memory": here(arguments, None)}
    with tempfile.TemporaryDirectory() as folder:
        report["durable"] = here(arguments, folder)
    with tempfile.TemporaryDirectory() as folder:
        report["servers"] = on_servers(arguments, folder)
    report["servers_of_memory"] = round(report["servers"]["features_per_s"] / report["memory"]["features_per_s"], 2)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
