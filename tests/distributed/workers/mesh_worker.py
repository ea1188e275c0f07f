"""One process of a job whose tensors lie on a mesh of all processes: does what its mode says, prints a report as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np


def train(paddle: Any, dist: Any, count: int) -> dict[str, Any]:
    """The MLP of the other tests; data, tensor and sharded parallel over all processes."""
    import jax

    from tests.distributed.support.models import MLP, batch, loss_of

    paddle.seed(11)
    model = MLP()
    optimizer = paddle.optimizer.AdamW(0.01, parameters=model.parameters())
    if count > 1:
        sizes = [2, count // 2] if count > 2 else [1, 2]
        mesh = dist.ProcessMesh(np.arange(count).reshape(sizes), ["dp", "mp"])
        plan = {r"blocks\.[02]": dist.ColWiseParallel(), r"blocks\.[13]": dist.RowWiseParallel()}
        config = {"dp_config": {"sharding_level": 1}, "mp_config": {"parallelize_plan": plan}}
        model, optimizer = dist.parallelize(model, optimizer, mesh, config)
    losses = []
    for step in range(6):
        x, labels = (paddle.to_tensor(one) for one in batch(step, False))
        loss = loss_of(model(x), labels)
        if jax.process_index() == 0 and step % 2:
            print(f"step {step}: {float(loss)}", file=sys.stderr)  # one process alone looks, now and then
        loss.backward()
        optimizer.step()
        if jax.process_index() == 0 and step % 3 == 0:
            print(f"step {step}: {loss}", file=sys.stderr)
        optimizer.clear_grad()
        losses.append(float(loss))
    return {"losses": losses, "weight": float(model.blocks[0].weight.numpy().sum())}


def tensors(paddle: Any, dist: Any, count: int) -> dict[str, Any]:
    """Layouts, parts of single processes, gradients through them, reading what lies elsewhere."""
    import jax

    rank = jax.process_index()
    mesh = dist.ProcessMesh(list(range(count)), ["x"])
    whole = np.arange(24, dtype="float32").reshape(8, 3)
    x = dist.shard_tensor(whole, mesh, [dist.Shard(0)])
    assert x._local_value().numpy().tolist() == np.split(whole, count)[rank].tolist()
    for placement in (dist.Shard(1), dist.Replicate(), dist.Partial(), dist.Partial(dist.ReduceType.kRedMax)):
        there = dist.reshard(x, mesh, [placement])
        np.testing.assert_array_equal(there.numpy(), whole)
        np.testing.assert_array_equal(dist.reshard(there, mesh, [dist.Shard(0)]).numpy(), whole)
    local = paddle.to_tensor(np.full((2, 2), rank + 1.0, "float32"), stop_gradient=False)
    summed = dist.dtensor_from_local(local, mesh, [dist.Partial()])
    assert summed.numpy().tolist() == np.full((2, 2), count * (count + 1) / 2).tolist()
    (dist.dtensor_from_local(local, mesh, [dist.Shard(0)]) * 3.0).sum().backward()
    assert local.grad.numpy().tolist() == [[3.0, 3.0], [3.0, 3.0]]
    y = dist.shard_tensor(paddle.to_tensor(whole, stop_gradient=False), mesh, [dist.Shard(0)]) * 2.0
    part = dist.dtensor_to_local(y)
    part = part * float(rank + 1)
    again = dist.dtensor_from_local(part, mesh, [dist.Shard(0)])
    factors = np.repeat(np.arange(1, count + 1), 8 // count)[:, None]
    np.testing.assert_array_equal(again.numpy(), whole * 2 * factors)
    return {"rank": rank, "shape": x._local_shape}


def main() -> None:
    mode, rank, count, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    import jax

    if count > 1:
        jax.distributed.initialize(f"127.0.0.1:{port}", count, rank)
    import proa as paddle
    from proa import distributed as dist

    report = {"train": train, "tensors": tensors}[mode](paddle, dist, count)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
