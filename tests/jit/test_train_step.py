"""`train_step`: one program for forward, backward and update, with the numbers of eager code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn


def model_and_optimizer() -> tuple[Any, Any]:
    paddle.seed(3)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    return model, paddle.optimizer.Adam(1e-2, parameters=model.parameters())


def losses(wrap: Any) -> tuple[list[float], Any]:
    model, optimizer = model_and_optimizer()

    def step(x: Any, y: Any) -> Any:
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, (model(x) ** 2).mean()

    step = wrap(step)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(6):
        x, y = rng.standard_normal((5, 4)).astype("float32"), rng.standard_normal((5, 1)).astype("float32")
        first, second = step(paddle.to_tensor(x), paddle.to_tensor(y))
        found += [first.item(), second.item()]
    return found, step


def test_the_numbers_are_those_of_eager_code() -> None:
    expected, _ = losses(lambda function: function)
    found, step = losses(paddle.jit.train_step)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    names = [instruction.operation.name for instruction in step.program.instructions]
    assert names.count("adam_update") == 1
    assert names.count("linear") == 4  # what follows clear_grad is in it too


def test_it_is_compiled_once_and_not_cut() -> None:
    paddle.jit.reset_statistics()
    model, optimizer = model_and_optimizer()

    @paddle.jit.train_step
    def step(x: Any) -> Any:
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    x = paddle.ones([3, 4])
    for _ in range(8):
        step(x).item()
    explanation = paddle.jit.explain()
    assert explanation.compiles == 1
    assert explanation.hits == 7


def test_bad_use() -> None:
    with pytest.raises(TypeError, match="function"):
        paddle.jit.train_step(3)
    with pytest.raises(RuntimeError, match="no program yet"):
        _ = paddle.jit.train_step(lambda: None).program
