"""Five steps of every optimiser equal what Paddle 3.3.1 did (data/trajectories.json)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import proa as paddle

nn, optimizer, regularizer = paddle.nn, paddle.optimizer, paddle.regularizer
GOLDEN = json.loads((Path(__file__).parent / "data" / "trajectories.json").read_text())


def attribute(layer, name, value, make):
    setattr(layer.weight, name, value)
    return make(layer)


def adam(layer, **options):
    return optimizer.Adam(0.1, parameters=layer.parameters(), **options)


def sgd(layer, **options):
    return optimizer.SGD(0.1, parameters=layer.parameters(), **options)


def momentum(layer, **options):
    return optimizer.Momentum(0.1, 0.9, parameters=layer.parameters(), **options)


def adamw(layer, **options):
    return optimizer.AdamW(0.1, parameters=layer.parameters(), weight_decay=0.1, **options)


def groups(layer, first, second):
    return [{"params": [layer.weight], **first}, {"params": [layer.bias], **second}]


MAKERS = {
    "sgd": sgd,
    "sgd_l2": lambda net: sgd(net, weight_decay=0.1),
    "sgd_l1": lambda net: sgd(net, weight_decay=regularizer.L1Decay(0.1)),
    "momentum": momentum,
    "momentum_nesterov": lambda net: momentum(net, use_nesterov=True),
    "momentum_l2": lambda net: momentum(net, weight_decay=0.1),
    "momentum_nesterov_l2": lambda net: momentum(net, weight_decay=0.1, use_nesterov=True),
    "adam": adam,
    "adam_epsilon": lambda net: adam(net, epsilon=0.1),
    "adam_betas": lambda net: adam(net, beta1=0.5, beta2=0.7),
    "adam_l2": lambda net: adam(net, weight_decay=0.1),
    "adam_l1": lambda net: adam(net, weight_decay=regularizer.L1Decay(0.1)),
    "adam_amsgrad": lambda net: optimizer.Adam(0.5, beta2=0.5, parameters=net.parameters(), amsgrad=True),
    "adamw": adamw,
    "adamw_chosen": lambda net: adamw(net, apply_decay_param_fun=lambda name: name.endswith("w_0")),
    "adam_global_norm": lambda net: adam(net, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "sgd_global_norm": lambda net: sgd(net, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "sgd_norm": lambda net: sgd(net, grad_clip=nn.ClipGradByNorm(0.5)),
    "sgd_value": lambda net: sgd(net, grad_clip=nn.ClipGradByValue(0.5)),
    "sgd_clip_then_l2": lambda net: sgd(net, weight_decay=0.5, grad_clip=nn.ClipGradByGlobalNorm(0.5)),
    "sgd_groups": lambda net: optimizer.SGD(
        0.1, parameters=groups(net, {}, {"learning_rate": 0.1, "weight_decay": 0.5})
    ),
    "adam_groups": lambda net: optimizer.Adam(0.1, parameters=groups(net, {"beta1": 0.5}, {"learning_rate": 0.1})),
    "adamw_groups": lambda net: optimizer.AdamW(
        0.1,
        parameters=groups(net, {"weight_decay": 0.5}, {"learning_rate": 0.1}),
        weight_decay=0.01,
    ),
    "adam_attribute": lambda net: attribute(net, "optimize_attr", {"learning_rate": 0.5}, adam),
    "sgd_regularizer": lambda net: attribute(
        net, "regularizer", regularizer.L2Decay(0.3), lambda net: sgd(net, weight_decay=0.1)
    ),
    "adam_schedule": lambda net: optimizer.Adam(optimizer.lr.StepDecay(0.1, 2, 0.5), parameters=net.parameters()),
}


def trajectory(make, steps=5):
    layer = nn.Linear(2, 2)
    layer.weight.set_value(np.array([[0.1, 0.2], [0.3, 0.4]], "float32"))
    layer.bias.set_value(np.array([0.5, 0.6], "float32"))
    opt = make(layer)
    seen = []
    for i in range(steps):
        x = paddle.to_tensor((np.array([[1.0, 2.0], [3.0, -4.0]]) * (i + 1) / 3).astype("float32"))
        ((layer(x) - 1.0) ** 2).mean().backward()
        opt.step()
        opt.clear_grad()
        if isinstance(opt._learning_rate, optimizer.lr.LRScheduler):
            opt._learning_rate.step()
        seen.append([*layer.weight.numpy().ravel(), *layer.bias.numpy()])
    return seen


def test_every_recorded_trajectory_has_a_test():
    assert set(GOLDEN) == set(MAKERS)


@pytest.mark.parametrize("mode", ["auto", "immediate"])
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_trajectory_is_paddles(name, mode):
    paddle.set_flags({"FLAGS_eager_mode": mode})
    try:
        seen = trajectory(MAKERS[name])
    finally:
        paddle.set_flags({"FLAGS_eager_mode": "auto"})
    np.testing.assert_allclose(seen, GOLDEN[name], atol=2e-6)
