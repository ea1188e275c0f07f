"""One process of the sharded training test: trains a small MLP and reports its losses as JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np


def main() -> None:
    mode, rank, processes, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    import jax

    if processes > 1:
        jax.distributed.initialize(f"127.0.0.1:{port}", processes, rank)
    import proa as paddle
    from proa.nn import functional as F

    paddle.seed(7)
    random = np.random.default_rng(0)
    inputs = random.normal(size=(32, 16)).astype("float32")
    labels = (inputs[:, :4].argmax(1)).astype("int64")
    model = paddle.nn.Sequential(paddle.nn.Linear(16, 32), paddle.nn.ReLU(), paddle.nn.Linear(32, 4))
    for number, parameter in enumerate(model.parameters()):
        values = np.random.default_rng(number).normal(size=parameter.shape).astype("float32") * 0.2
        if mode == "sharded":
            values = shard(jax, values)
        parameter.set_value(paddle.to_tensor(values))
    optimizer = paddle.optimizer.Adam(learning_rate=0.01, parameters=model.parameters())
    losses = []
    for _ in range(12):
        x = shard_rows(jax, inputs) if mode == "sharded" else inputs
        loss = F.cross_entropy(model(paddle.to_tensor(x)), paddle.to_tensor(labels))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    weight = model[0].weight._data()
    print(
        json.dumps(
            {
                "losses": losses,
                "devices": len(jax.devices()),
                "programs": paddle.jit.explain().num_programs,
                "weight_shards": count_shards(weight),
            }
        )
    )


def mesh(jax: Any) -> Any:
    return jax.sharding.Mesh(np.array(jax.devices()), ("x",))


def shard(jax: Any, values: np.ndarray) -> Any:
    """The last dimension spread over all devices where it divides, replicated otherwise."""
    spec = ["x"] if values.shape[-1] % len(jax.devices()) == 0 else [None]
    spec = [None] * (values.ndim - 1) + spec
    sharding = jax.sharding.NamedSharding(mesh(jax), jax.sharding.PartitionSpec(*spec))
    return jax.make_array_from_callback(values.shape, sharding, lambda index: values[index])


def shard_rows(jax: Any, values: np.ndarray) -> Any:
    sharding = jax.sharding.NamedSharding(mesh(jax), jax.sharding.PartitionSpec("x"))
    return jax.make_array_from_callback(values.shape, sharding, lambda index: values[index])


def count_shards(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return 1
    whole = value.shape
    return 1 if value.sharding.shard_shape(whole) == whole else len(value.sharding.device_set)


if __name__ == "__main__":
    main()
