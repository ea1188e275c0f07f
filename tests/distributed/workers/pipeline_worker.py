"""One process of a pipeline whose tensors lie on meshes of processes; prints what it found as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

import proa as paddle
import proa.distributed as dist
from tests.distributed.support.models import MLP, batch, loss_of

STEPS = 4


def model_and_optimizer() -> tuple[Any, Any]:
    paddle.seed(11)
    model = MLP()
    clip = paddle.nn.ClipGradByGlobalNorm(0.5)
    return model, paddle.optimizer.AdamW(0.01, parameters=model.parameters(), grad_clip=clip)


def data(step: int) -> list[Any]:
    return [paddle.to_tensor(one) for one in batch(step, False)]


def alone() -> list[float]:
    """The same in one process."""
    model, optimizer = model_and_optimizer()
    losses = []
    for step in range(STEPS):
        x, labels = data(step)
        loss = loss_of(model(x), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


def staged(rank: int, folder: str) -> dict[str, Any]:
    """`dist.parallelize` with a stage in each process: in eager code, then micro-batches; a checkpoint of all stages."""
    mesh = dist.ProcessMesh([0, 1], ["pp"])
    config = {"pp_config": {"split_spec": "blocks"}}
    model, optimizer = dist.parallelize(*model_and_optimizer(), mesh, config)
    everywhere = dist.ProcessMesh([0, 1], ["x"])
    losses, refusal = [], ""
    for step in range(STEPS):
        x, labels = data(step)
        loss = loss_of(model(x), labels)
        if rank == 1 and step % 2:
            print(float(loss), file=sys.stderr)  # the process that has it looks when it likes
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(dist.reshard(loss, everywhere, [dist.Replicate()])))
    try:
        float(loss)
    except RuntimeError as error:
        refusal = str(error)
    dist.save_state_dict(model.state_dict(), folder)
    model, optimizer = dist.parallelize(*model_and_optimizer(), mesh, config)
    strategy = dist.Strategy({"pipeline": {"enable": True, "accumulate_steps": 4}})
    train = dist.to_static(model, None, loss_of, optimizer, strategy)
    micro = [float(train(*data(step))) for step in range(STEPS)]
    train.eval()
    evaluated = float(train(*data(0)))
    train.predict()
    predicted = float(np.abs(train(data(0)[0]).numpy()).sum())
    return {"losses": losses, "micro": micro, "refusal": refusal, "evaluated": evaluated, "predicted": predicted}


def moves(rank: int) -> dict[str, Any]:
    """A tensor from mesh to mesh, and its gradient back; plain arithmetic beside it."""
    first, second, both = (dist.ProcessMesh(ids, ["x"]) for ids in ([0], [1], [0, 1]))
    whole = np.arange(8, dtype="float32").reshape(4, 2)
    x = dist.shard_tensor(whole, first, [dist.Replicate()], stop_gradient=False)
    beside = paddle.to_tensor([2.0]) * 3.0  # every process has it, before and behind
    there = dist.reshard(x * 2.0, second, [dist.Replicate()])
    result = dist.reshard(there * beside, both, [dist.Shard(0)])
    result.sum().backward()
    assert beside.tolist() == [6.0]
    assert dist.reshard(x.grad, both, [dist.Replicate()]).numpy().tolist() == np.full((4, 2), 12.0).tolist()
    np.testing.assert_array_equal(dist.reshard(result, both, [dist.Replicate()]).numpy(), whole * 12)
    for dtype in ("float64", "int64", "bool", "bfloat16"):
        sent = dist.shard_tensor(paddle.to_tensor(whole).astype(dtype), second, [dist.Replicate()])
        back = dist.reshard(dist.reshard(sent, first, [dist.Replicate()]), both, [dist.Replicate()])
        expected = whole.astype(bool) if dtype == "bool" else whole
        np.testing.assert_array_equal(back.astype("float32").numpy(), expected.astype("float32"))
    return {"rank": rank}


def main() -> None:
    dist.init_parallel_env()
    rank = dist.get_rank()
    print(json.dumps({"alone": alone(), **staged(rank, sys.argv[1]), **moves(rank)}))


if __name__ == "__main__":
    main()
