"""A training script as a user would write it for a job that may be interrupted: it saves its state and resumes from it.

python -m proa.distributed.launch --nproc_per_node 2 --max_restart 3 tests/distributed/workers/elastic_worker.py FOLDER STEPS
"""

from __future__ import annotations

import os
import pathlib
import signal
import sys

import numpy as np

import proa as paddle
from proa import nn
from proa.distributed import fleet

BATCH = 12  # divides among 1, 2, 3, 4 and 6 processes


def main() -> None:
    folder, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    dist = paddle.distributed
    rank, size = dist.get_rank(), dist.get_world_size()
    (folder / f"pid.{os.environ.get('PROA_RESTARTS', '0')}.{rank}").write_text(str(os.getpid()))
    fleet.init(is_collective=True)
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    paddle.seed(3)
    model = fleet.distributed_model(nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)))
    optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
    file, first = folder / "checkpoint.pd", 0
    if file.exists():
        state = paddle.load(str(file))
        model.set_state_dict(state["model"])
        optimizer.set_state_dict(state["optimizer"])
        first = state["step"]
    for step in range(first, steps):
        random = np.random.default_rng(step)
        x = random.normal(size=(BATCH, 8)).astype("float32")[rank::size]
        loss = ((model(paddle.to_tensor(x)) - paddle.to_tensor(np.sin(x.sum(1, keepdims=True)))) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        leave = paddle.to_tensor([len(asked)])
        dist.all_reduce(leave, dist.ReduceOp.MAX)  # all leave at the same step
        if rank == 0 and (step % 5 == 4 or leave.item()):
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
            paddle.save(state, str(file))  # written beside its place and moved there
        if leave.item():
            print(f"left at step {step + 1}", flush=True)
            dist.barrier()
            return
    x = np.random.default_rng(99).normal(size=(50, 8)).astype("float32")
    final = ((model(paddle.to_tensor(x)) - paddle.to_tensor(np.sin(x.sum(1, keepdims=True)))) ** 2).mean()
    if rank == 0:
        (folder / "final").write_text(repr(float(final)))


if __name__ == "__main__":
    main()
