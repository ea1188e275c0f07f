"""A regularizer of a parameter's own, beside clipping and the decay of the weights; constants observed from Paddle 3.3.1."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle


@pytest.mark.parametrize(
    ("kind", "options", "wanted"),
    [
        ("AdamW", {"weight_decay": 0.0}, [2.8089, 1.3587, 0.5002, 0.2072]),
        ("AdamW", {"weight_decay": 0.02}, [2.8089, 1.351, 0.4929, 0.2043]),
        ("Adam", {}, [2.8089, 1.3587, 0.5002, 0.2072]),
        ("Momentum", {"weight_decay": 0.05}, [2.8089, 2.2114, 1.277, 0.391]),
    ],
)
def test_it_acts_on_the_clipped_gradient(kind: str, options: dict[str, float], wanted: list[float]) -> None:
    numbers = np.random.RandomState(0)
    x = np.random.RandomState(0).uniform(-1, 1, (2, 3)).astype("float32")
    weight = numbers.uniform(-1, 1, (3, 1)).astype("float32")
    attribute = paddle.ParamAttr(
        initializer=paddle.nn.initializer.Assign(weight), regularizer=paddle.regularizer.L2Decay(0.1)
    )
    parameter = paddle.create_parameter([3, 1], "float32", attr=attribute)
    clip = paddle.nn.ClipGradByGlobalNorm(0.5)
    optimizer = getattr(paddle.optimizer, kind)(0.1, parameters=[parameter], grad_clip=clip, **options)
    found = []
    for _ in wanted:
        y = paddle.matmul(paddle.to_tensor(x), parameter)
        loss = (y * y * 100).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        found.append(loss.item())
    np.testing.assert_allclose(found, wanted, 2e-3)
