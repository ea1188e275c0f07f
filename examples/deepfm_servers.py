"""DeepFM on synthetic clicks, its embeddings on table servers: more features than a worker wants to hold.

    python examples/deepfm_servers.py                              # 10 million features, 2 servers, 2 workers, here
    python examples/deepfm_servers.py --features 100000 --steps 200

Needs `pip install 'proa[ps]'`. Started without a role this program starts servers and workers on this machine and waits for
them. On machines of one's own a launcher starts it with Paddle's variables (docs/parameter_server.md): the code below is
the same then.

A click depends on hidden strengths of an advert's features. Features are drawn so that few are frequent and most are rare,
as in real logs. Judged by the area under the ROC curve on clicks that were not trained on.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np

import proa as paddle
from proa import nn
from proa.distributed import fleet
from proa.distributed.ps.embedding import SparseEmbedding

FIELDS = 8
WIDTH = 8


def clicks(random: np.random.Generator, count: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Features of `count` shown adverts, one for each field, and whether they were clicked."""
    per_field = features // FIELDS
    # Density falls with the number of the feature: half of all shows belong to a hundredth of them.
    ranks = (per_field ** random.random((count, FIELDS))).astype(np.int64) - 1
    ids = ranks + np.arange(FIELDS) * per_field
    hidden = np.sin(ids * 12.9898) * 43758.5453
    strengths = (hidden - np.floor(hidden) - 0.5) * 4
    chance = 1 / (1 + np.exp(-strengths.sum(1)))
    return ids, (random.random(count) < chance).astype("float32")


class DeepFM(nn.Layer):
    """Scores from a factorisation machine and a deep network over the same embeddings."""

    def __init__(self) -> None:
        super().__init__()
        # One lookup gives a feature's own weight and its factors.
        self.rows = SparseEmbedding(1 + WIDTH, "features", rule="adagrad", rate=0.1, initial_range=0.01)
        self.deep = nn.Sequential(nn.Linear(FIELDS * WIDTH, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, ids: paddle.Tensor | np.ndarray) -> paddle.Tensor:
        rows = self.rows(ids)
        weights, factors = rows[:, :, :1], rows[:, :, 1:]
        pairs = 0.5 * (factors.sum(1).square() - factors.square().sum(1)).sum(-1, keepdim=True)
        deep: paddle.Tensor = self.deep(factors.flatten(1))
        return (weights.sum(1) + pairs + deep)[:, 0]


def auc(scores: np.ndarray, labels: np.ndarray) -> float:
    """The chance that a click scores above a show without one."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(1, len(scores) + 1)
    positive = labels.sum()
    return float((ranks[labels == 1].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive)))


def train(features: int, steps: int, batch: int) -> None:
    """One worker's training."""
    paddle.seed(1)
    worker = fleet.worker_index()
    model = DeepFM()
    adam = paddle.optimizer.Adam(learning_rate=0.002, parameters=model.parameters())
    optimizer = fleet.distributed_optimizer(adam)
    random = np.random.default_rng(worker)
    begin = time.perf_counter()
    for step in range(1, steps + 1):
        ids, labels = clicks(random, batch, features)
        loss = nn.functional.binary_cross_entropy_with_logits(model(ids), paddle.to_tensor(labels))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if step % max(1, steps // 5) == 0 and worker == 0:
            speed = step * batch / (time.perf_counter() - begin)
            print(f"step {step}: loss {loss.item():.4f}, {speed:,.0f} shows a second and worker", flush=True)
    fleet.barrier_worker()
    if worker == 0:
        model.eval()
        ids, labels = clicks(np.random.default_rng(10**6), 20_000, features)
        print(f"area under the curve: {auc(model(ids).numpy(), labels):.3f}", flush=True)


def run_role(arguments: argparse.Namespace) -> None:
    """What this process is for, as the environment says."""
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    strategy.a_sync_configs = {"k_steps": arguments.geo}
    fleet.init(fleet.PaddleCloudRoleMaker(), strategy=strategy)
    if fleet.is_server():
        fleet.init_server(arguments.tables)
        fleet.run_server()
    else:
        fleet.init_worker()
        train(arguments.features, arguments.steps, arguments.batch)
        fleet.stop_worker()


def run_here(arguments: argparse.Namespace) -> None:
    """Servers and workers of a job on this machine."""
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(arguments.servers)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    shared = {
        "PADDLE_PSERVERS_IP_PORT_LIST": ",".join(f"127.0.0.1:{port}" for port in ports),
        "PADDLE_TRAINERS_NUM": str(arguments.workers),
        "POD_IP": "127.0.0.1",
    }
    roles = [{"TRAINING_ROLE": "PSERVER", "PADDLE_PORT": str(port)} for port in ports]
    roles += [{"TRAINING_ROLE": "TRAINER", "PADDLE_TRAINER_ID": str(number)} for number in range(arguments.workers)]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, *sys.argv, *([] if arguments.tables else ["--tables", folder])]
        started = [subprocess.Popen(command, env={**os.environ, **shared, **role}) for role in roles]
        try:
            while any(process.poll() is None for process in started):
                failed = [process for process in started if process.poll()]
                if failed:
                    sys.exit(f"a process of the job ended with {failed[0].returncode}")
                time.sleep(0.2)
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, default=10_000_000)
    parser.add_argument("--steps", type=int, default=1000, help="of each worker (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--geo", type=int, default=0, help="send differences every so many steps instead of each gradient"
    )
    parser.add_argument("--tables", help="the folder of the tables; a temporary one otherwise")
    arguments = parser.parse_args()
    (run_role if os.environ.get("TRAINING_ROLE") else run_here)(arguments)


if __name__ == "__main__":
    main()
