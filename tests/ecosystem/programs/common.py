"""What the programs share: training until the loss falls, saving, loading, predicting the same.

A program runs on proa or on Paddle, whichever `import paddle` finds. Two runs are comparable when the same folder is named
in ECOSYSTEM_WEIGHTS: the first one leaves its fresh weights there, the others start from them, and no dropout draws.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import paddle

STEPS = int(os.environ.get("ECOSYSTEM_STEPS", "20"))
FLOAT = os.environ.get("ECOSYSTEM_FLOAT", "float32")
_WEIGHTS = os.environ.get("ECOSYSTEM_WEIGHTS", "")
_NUDGE = int(os.environ.get("ECOSYSTEM_NUDGE", "0"))  # above 0: weights are moved by their last bit, at random
_TIMES: dict[str, tuple[float, float]] = {}

paddle.set_default_dtype(FLOAT)


def start_alike(name: str, model: Any) -> None:
    """Give a model the weights that other runs have too."""
    if not _WEIGHTS:
        return
    _make_comparable(model)
    path = pathlib.Path(_WEIGHTS) / f"{name}.npz"
    if not path.exists():
        np.savez(path, **{key: value.numpy() for key, value in model.state_dict().items()})
    random = np.random.default_rng(_NUDGE)
    own = model.state_dict()
    with np.load(path) as kept:
        state = {key: _nudged(kept[key], random).astype(own[key].numpy().dtype) for key in kept}
    missing, unexpected = model.set_state_dict({key: paddle.to_tensor(value) for key, value in state.items()})
    assert not missing, (name, missing)
    assert not unexpected, (name, unexpected)


def _make_comparable(model: Any) -> None:
    model.to(dtype=FLOAT)  # the default type does not reach every parameter
    for layer in model.sublayers():
        if type(layer).__name__.startswith("Dropout"):
            layer.p = 0.0


def _nudged(weight: np.ndarray, random: np.random.Generator) -> np.ndarray:
    if not _NUDGE or weight.dtype.kind != "f":
        return weight
    away = random.choice(np.array([-np.inf, np.inf], weight.dtype), weight.shape)
    return np.where(weight == 0, weight, np.nextafter(weight, away))  # padding stays zero


@contextlib.contextmanager
def timed(name: str) -> Iterator[None]:
    """What a training run takes, of the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    yield
    _TIMES[name] = (time.perf_counter() - clock, time.process_time() - processor)


def train(name: str, model: Any, optimizer: Any, loss_of: Callable[[], Any]) -> list[float]:
    """Losses of some steps, the last below the first."""
    start_alike(name, model)
    model.train()
    losses = []
    with timed(name):
        for _ in range(STEPS):
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
    if _WEIGHTS:
        _make_comparable(again)
    paddle.save(model.state_dict(), "model.pdparams")
    again.set_state_dict(paddle.load("model.pdparams"))
    model.eval()
    again.eval()
    with paddle.no_grad():
        np.testing.assert_allclose(predict(model), predict(again), rtol=1e-5, atol=1e-6)


def report(**losses: list[float]) -> None:
    print(json.dumps({"losses": losses, "seconds_of": _TIMES}))
