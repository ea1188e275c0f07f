"""Kills table servers and workers of a job in turn, with -9, and counts what they had acknowledged. Run by hand:

    python -m tests.distributed.killed_servers                                  # 10 million features, 2 servers, 2 workers
    python -m tests.distributed.killed_servers --features 200000 --batch 5000

Workers push the gradient -1 for every feature of their half, batch by batch, into a table whose rule is SGD with rate 1:
the weights of a feature then count its updates. A worker notes a batch before it sends it and after it was acknowledged.
While they work, each server and each worker is killed; Ray starts servers again, this program starts workers again, where
their notes end. At last every feature must count at least what was acknowledged, and at most what was sent.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

WIDTH = 8


def batch_ids(worker: int, workers: int, number: int, features: int, batch: int) -> np.ndarray:
    """The features of a worker's batch: spread over all 64-bit numbers, in increasing order."""
    first = number * batch * workers + worker
    ids = np.arange(first, min(first + batch * workers, features), workers, dtype=np.int64)
    return np.sort(ids * 1_000_003 - 2**40)


# ---- the processes of the job --------------------------------------------------------------------


def serve(folder: str) -> None:
    from proa.distributed import fleet

    fleet.init(fleet.PaddleCloudRoleMaker())
    fleet.init_server(os.path.join(folder, "tables"))
    fleet.run_server()


def work(folder: str, features: int, batch: int) -> None:
    from proa.distributed import fleet
    from proa.distributed.ps.config import TableConfig
    from proa.distributed.ps.session import current_session

    fleet.init(fleet.PaddleCloudRoleMaker())
    fleet.init_worker()
    worker, workers = fleet.worker_index(), fleet.worker_num()
    client = current_session().client
    client.create(TableConfig("counts", WIDTH, "sgd", 1.0, initial_range=0.0, memory_rows=features))
    notes = pathlib.Path(folder, f"worker-{worker}.notes")
    done = notes.read_text().count("acknowledged") if notes.exists() else 0
    with notes.open("a", buffering=1) as file:
        number = done
        while len(ids := batch_ids(worker, workers, number, features, batch)):
            processes = client.everywhere("process")
            file.write(f"sent {number} {json.dumps(processes)}\n")
            client.update(
                "push", "counts", ids, np.full((len(ids), WIDTH), -1, np.float32), np.ones(len(ids), np.float32)
            )
            file.write(f"acknowledged {number}\n")
            number += 1
    fleet.barrier_worker()
    if worker == 0:
        check(client, folder, workers, features, batch)
    fleet.barrier_worker()
    fleet.stop_worker()
    print(f"worker {worker}: {client.retries} questions asked again", flush=True)


def check(client: Any, folder: str, workers: int, features: int, batch: int) -> None:
    """Compares the tables with the notes."""
    exported = client.everywhere("export", "counts")
    ids = np.concatenate([part[0] for part in exported])
    weights = np.concatenate([part[1] for part in exported])
    order = np.argsort(ids)
    ids, weights = ids[order], weights[order]
    assert (np.diff(ids) > 0).all(), "a feature is on two servers"
    assert len(ids) == features, f"{len(ids)} features of {features} are there"
    assert (weights == weights[:, :1]).all(), "an update was applied in part"
    acknowledged, sent = np.zeros(features, int), np.zeros(features, int)
    for worker in range(workers):
        for line in pathlib.Path(folder, f"worker-{worker}.notes").read_text().splitlines():
            word, number = line.split()[:2]
            at = np.searchsorted(ids, batch_ids(worker, workers, int(number), features, batch))
            (acknowledged if word == "acknowledged" else sent)[at] += 1
    counted = weights[:, 0]
    assert (counted >= acknowledged).all(), f"{int((counted < acknowledged).sum())} features lost acknowledged updates"
    assert (counted <= sent).all(), f"{int((counted > sent).sum())} features count more than was sent"
    twice = int((counted > 1).sum())
    print(f"{features} features: every acknowledged update is there; {twice} were sent by a worker twice", flush=True)


# ---- the program that kills ----------------------------------------------------------------------


class Job:
    """Servers and workers of one job."""

    def __init__(self, folder: str, servers: int, workers: int, features: int, batch: int) -> None:
        ports = free_ports(servers)
        self._folder, self._arguments = folder, ["--features", str(features), "--batch", str(batch)]
        endpoints = ",".join(f"127.0.0.1:{port}" for port in ports)
        self._environment = {
            **os.environ, "PADDLE_PSERVERS_IP_PORT_LIST": endpoints, "PADDLE_TRAINERS_NUM": str(workers),
            "POD_IP": "127.0.0.1", "JAX_PLATFORMS": "cpu",
        }  # fmt: skip
        self.servers = [self._start("serve", TRAINING_ROLE="PSERVER", PADDLE_PORT=str(port)) for port in ports]
        self.workers = [self.start_worker(number) for number in range(workers)]

    def start_worker(self, number: int) -> subprocess.Popen[bytes]:
        return self._start("work", TRAINING_ROLE="TRAINER", PADDLE_TRAINER_ID=str(number))

    def _start(self, role: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.distributed.killed_servers", "--role", role, "--folder", self._folder]
        with open(os.path.join(self._folder, "output.txt"), "ab") as output:
            return subprocess.Popen(
                command + self._arguments, env={**self._environment, **environment}, stdout=output, stderr=output
            )

    def output(self) -> str:
        return pathlib.Path(self._folder, "output.txt").read_text(errors="replace")

    def notes(self) -> list[str]:
        paths = sorted(pathlib.Path(self._folder).glob("worker-*.notes"))
        return [line for path in paths for line in path.read_text().splitlines()]

    def wait_for(self, acknowledged: int, until: float) -> None:
        """Waits until so many batches are acknowledged."""
        while sum(line.startswith("acknowledged") for line in self.notes()) < acknowledged:
            for process in (*self.servers, *self.workers):
                assert process.poll() in (None, 0), self.output()[-6000:]
            assert time.monotonic() < until, self.output()[-6000:]
            time.sleep(0.02)

    def stop(self) -> None:
        """Ends what is left; the first server ends its Ray when it is asked to."""
        for process in (*self.workers, *self.servers):
            if process.poll() is None:
                process.terminate()
        for process in (*self.workers, *self.servers):
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def run(features: int, batch: int, servers: int = 2, workers: int = 2, seconds: float = 1500.0) -> str:
    """Runs a job, kills every process of it once, and gives its output."""
    until = time.monotonic() + seconds
    batches = sum(-(-len(range(worker, features, workers)) // batch) for worker in range(workers))
    with tempfile.TemporaryDirectory() as folder:
        job = Job(folder, servers, workers, features, batch)
        try:
            for turn in range(servers + workers):
                job.wait_for(max(1, batches * (turn + 1) // (servers + workers + 2)), until)
                if turn < servers:
                    sent = [line for line in job.notes() if line.startswith("sent")]
                    victim = json.loads(sent[-1].split(maxsplit=2)[2])[turn]
                    os.kill(victim, signal.SIGKILL)
                    print(f"killed server {turn}, process {victim}", flush=True)
                else:
                    number = turn - servers
                    job.workers[number].kill()
                    job.workers[number].wait()
                    job.workers[number] = job.start_worker(number)
                    print(f"killed worker {number} and started it again", flush=True)
            for process in (*job.workers, *job.servers):
                assert process.wait(max(1.0, until - time.monotonic())) == 0, job.output()[-6000:]
            return job.output()
        finally:
            job.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, default=10_000_000)
    parser.add_argument("--batch", type=int, default=50_000)
    parser.add_argument("--role", choices=["serve", "work"])
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    if arguments.role == "serve":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server's own Ray ends, too
        serve(arguments.folder)
    elif arguments.role == "work":
        work(arguments.folder, arguments.features, arguments.batch)
    else:
        begin = time.monotonic()
        print(run(arguments.features, arguments.batch))
        print(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
