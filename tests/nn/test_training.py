"""Whole models learn, the same on both tiers, and a hot step is one program."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.ir.report import STATISTICS

F, nn = paddle.nn.functional, paddle.nn


def run(make, data, steps, mode="auto", optimizer="Adam", **options):
    """Losses of some training steps from a fixed start."""
    paddle.set_flags({"FLAGS_eager_mode": mode})
    try:
        paddle.seed(3)
        net = make()
        opt = getattr(paddle.optimizer, optimizer)(parameters=net.parameters(), **options)
        losses = []
        for step in range(steps):
            x, y = data(step)
            loss = F.cross_entropy(net(paddle.to_tensor(x)), paddle.to_tensor(y))
            loss.backward()
            opt.step()
            opt.clear_grad()
            losses.append(loss)
        return net, [loss.item() for loss in losses]
    finally:
        paddle.set_flags({"FLAGS_eager_mode": "auto"})


def spiral(step):
    rng = np.random.default_rng(step)
    labels = rng.integers(0, 3, 64)
    radius = rng.random(64)
    angle = labels * 2.1 + radius * 4 + rng.standard_normal(64) * 0.1
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype("float32"), labels


def mlp():
    return nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 3))


def bars(step):
    """8 x 8 pictures with a horizontal or vertical bar, and noise."""
    rng = np.random.default_rng(step)
    labels = rng.integers(0, 2, 32)
    pictures = rng.standard_normal((32, 1, 8, 8)) * 0.3
    for picture, label, at in zip(pictures, labels, rng.integers(0, 8, 32)):
        picture[0, at if label else slice(None), slice(None) if label else at] += 1.5
    return pictures.astype("float32"), labels


def conv_net():
    return nn.Sequential(
        nn.Conv2D(1, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.MaxPool2D(2),
        nn.Conv2D(8, 8, 3), nn.GroupNorm(2, 8), nn.GELU(), nn.AdaptiveAvgPool2D(1), nn.Flatten(),
        nn.Linear(8, 2),
    )  # fmt: skip


def test_mlp_learns():
    net, losses = run(mlp, spiral, 300, learning_rate=0.01)
    assert losses[0] > 0.9
    assert np.mean(losses[-20:]) < 0.15
    x, y = spiral(1000)
    net.eval()
    assert (net(paddle.to_tensor(x)).numpy().argmax(1) == y).mean() > 0.9


def test_conv_net_learns():
    net, losses = run(conv_net, bars, 100, learning_rate=0.01)
    assert np.mean(losses[-10:]) < 0.1
    net.eval()
    x, y = bars(1000)
    assert (net(paddle.to_tensor(x)).numpy().argmax(1) == y).mean() > 0.9


@pytest.mark.parametrize(("make", "data"), [(mlp, spiral), (conv_net, bars)], ids=["mlp", "conv"])
@pytest.mark.parametrize("optimizer", ["SGD", "Momentum", "Adam", "AdamW"])
def test_both_modes_train_alike(make, data, optimizer):
    _, immediate = run(make, data, 6, "immediate", optimizer, learning_rate=0.01)
    _, compiled = run(make, data, 6, "auto", optimizer, learning_rate=0.01)
    np.testing.assert_allclose(compiled, immediate, rtol=2e-3, atol=1e-4)


def test_a_hot_step_is_one_program():
    run(mlp, spiral, 5, learning_rate=0.01)
    compiles, cold = STATISTICS.compiles, STATISTICS.cold_runs
    hits = STATISTICS.hits
    run(mlp, spiral, 20, learning_rate=0.02)
    assert STATISTICS.compiles - compiles <= 1
    assert STATISTICS.cold_runs - cold <= 4
    assert STATISTICS.hits - hits >= 16


def test_second_derivatives_through_a_network():
    """A gradient penalty: the derivative of a gradient's norm, against differences."""
    paddle.seed(0)
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.LayerNorm(8), nn.Linear(8, 1))
    net.to(dtype="float64")
    data = np.random.default_rng(0).standard_normal((2, 1, 4, 4))

    def penalty(array):
        x = paddle.to_tensor(array, stop_gradient=False)
        (gradient,) = paddle.grad(net(x).sum(), x, create_graph=True)
        return x, (gradient**2).sum()

    x, value = penalty(data)
    value.backward()
    direction = np.random.default_rng(1).standard_normal(data.shape)
    up, down = penalty(data + 1e-6 * direction)[1], penalty(data - 1e-6 * direction)[1]
    slope = (up.item() - down.item()) / 2e-6
    assert (x.grad.numpy() * direction).sum() == pytest.approx(slope, rel=1e-5)
