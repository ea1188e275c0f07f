"""DataParallel: the model itself under Paddle's wrapper."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

nn = paddle.nn


def model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Linear(4, 1))


def test_names_are_paddles() -> None:
    inner = model()
    wrapped = paddle.DataParallel(inner)
    assert paddle.DataParallel is paddle.distributed.DataParallel
    # Parameters are named by where they are, the state dictionary is the model's own (so in Paddle).
    assert [name for name, _ in wrapped.named_parameters()][:2] == ["_layers.0.weight", "_layers.0.bias"]
    assert list(wrapped.state_dict()) == list(inner.state_dict())
    assert next(iter(wrapped.state_dict(structured_name_prefix="a."))) == "a.0.weight"
    assert wrapped.parameters()[0] is inner[0].weight


def test_it_trains_as_the_model_alone() -> None:
    alone, wrapped = model(), model()
    parallel = paddle.DataParallel(wrapped, find_unused_parameters=True)
    assert parallel.set_state_dict(alone.state_dict()) == ([], [])
    x = np.random.default_rng(0).random((6, 3), np.float32)
    losses = []
    for layer in (alone, parallel):
        optimizer = paddle.optimizer.Momentum(0.1, parameters=layer.parameters())
        curve = []
        for _ in range(5):
            for part in (x[:3], x[3:]):  # gradients of two parts are accumulated
                loss = layer(paddle.to_tensor(part)).square().mean()
                loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            curve.append(float(loss))
        losses.append(curve)
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)
    assert losses[0][-1] < losses[0][0]


def test_old_scripts_find_their_methods() -> None:
    wrapped = paddle.DataParallel(model())
    loss = paddle.ones([])
    assert wrapped.scale_loss(loss) is loss
    with wrapped.no_sync():
        assert not wrapped.grad_need_sync
        wrapped(paddle.ones([2, 3])).sum().backward()
    assert wrapped.grad_need_sync
    wrapped.apply_collective_grads()
    assert wrapped._layers[0].weight.grad is not None
    wrapped.eval()
    assert not wrapped._layers.training


def test_only_layers_can_be_wrapped() -> None:
    with pytest.raises(TypeError, match=r"\(DataParallel\) layers must be a Layer; received layers: int"):
        paddle.DataParallel(3)  # type: ignore[arg-type]
