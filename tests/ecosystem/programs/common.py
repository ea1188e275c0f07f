"""What the programs share: training until the loss falls, saving, loading, predicting the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import paddle


def train(name: str, model: Any, optimizer: Any, loss_of: Callable[[], Any], steps: int = 6) -> list[float]:
    """Losses of some steps, the last below the first."""
    model.train()
    losses = []
    for _ in range(steps):
        loss = loss_of()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert np.isfinite(losses).all(), (name, losses)
    assert losses[-1] < losses[0], (name, losses)
    return losses


def survives_saving(model: Any, again: Any, predict: Callable[[Any], Any]) -> None:
    """A second model that is given the first one's saved state predicts the same."""
    paddle.save(model.state_dict(), "model.pdparams")
    again.set_state_dict(paddle.load("model.pdparams"))
    model.eval()
    again.eval()
    with paddle.no_grad():
        np.testing.assert_allclose(predict(model), predict(again), rtol=1e-5, atol=1e-6)


def report(**losses: list[float]) -> None:
    print(json.dumps({"losses": losses}))
