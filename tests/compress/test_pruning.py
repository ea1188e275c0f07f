"""Weights that become zero and stay so; a student that learns from a teacher."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import proa as paddle
import proa.nn.functional as F
from proa import nn
from proa.compress import Distiller, distillation_loss, feature_loss, prune_weights, sparsity_of


def model_of(*sizes: int) -> nn.Sequential:
    layers: list[nn.Layer] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def test_the_smallest_weights_of_all_go_and_stay_away() -> None:
    model = model_of(8, 16, 4)
    weights = np.concatenate([np.abs(model[i].weight.numpy()).ravel() for i in (0, 2)])
    border = np.sort(weights)[int(0.75 * weights.size)]
    masks = prune_weights(model, 0.75)
    assert sparsity_of(model) == 0.75
    for i in (0, 2):
        left = model[i].weight.numpy()
        assert (np.abs(left[left != 0]) >= border).all()
    optimizer = masks.decorate(paddle.optimizer.Adam(0.01, parameters=model.parameters()))
    before = model[0].weight.numpy()
    for _ in range(3):
        (model(paddle.ones([2, 8])) ** 2).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
    assert not np.array_equal(before, model[0].weight.numpy())
    assert ((model[0].weight.numpy() == 0) == (before == 0)).all()
    prune_weights(model, 0.9)
    assert sparsity_of(model) == pytest.approx(0.9, abs=0.01)
    assert np.count_nonzero(model[0].bias.numpy()) == np.count_nonzero(before[0] * 0 + model[0].bias.numpy())


def test_each_layer_loses_the_same_share_and_some_none() -> None:
    model = model_of(8, 16, 4)
    model[0].weight.set_value(model[0].weight.numpy() * 1000)
    prune_weights(model, 0.5, scope="layer")
    assert [np.count_nonzero(model[i].weight.numpy()) for i in (0, 2)] == [64, 32]
    other = model_of(8, 16, 4)
    prune_weights(other, 0.5, exclude=["0"])
    assert [np.count_nonzero(other[i].weight.numpy()) for i in (0, 2)] == [128, 32]
    equal = nn.Linear(4, 4)
    equal.weight.set_value(np.ones((4, 4), "float32"))
    prune_weights(equal, 0.5)  # of equal ones exactly the share goes
    assert np.count_nonzero(equal.weight.numpy()) == 8


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        ((nn.Linear(2, 2), 1.0), {}, "from 0 to below 1"),
        ((nn.Linear(2, 2), -0.1), {}, "from 0 to below 1"),
        ((nn.Linear(2, 2), 0.5), {"scope": "all"}, "scope must be"),
        ((nn.ReLU(), 0.5), {}, "no weight to prune"),
        ((nn.Linear(2, 2), 0.5), {"exclude": ["x"]}, "exclude names layers"),
    ],
)
def test_bad_input(arguments: Any, options: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        prune_weights(*arguments, **options)
    broken = nn.Linear(2, 2)
    broken.weight.set_value(np.full((2, 2), np.nan, "float32"))
    with pytest.raises(ValueError, match="NaN"):
        prune_weights(broken, 0.5)


def test_the_loss_of_distillation_by_its_definition() -> None:
    generator = np.random.default_rng(0)
    mine, theirs = generator.normal(size=(2, 5, 7))

    def softmax(x: np.ndarray) -> np.ndarray:
        return np.exp(x) / np.exp(x).sum(-1, keepdims=True)

    p, q = softmax(theirs / 3), softmax(mine / 3)
    expected = (p * np.log(p / q)).sum(-1).mean() * 9
    found = distillation_loss(paddle.to_tensor(mine), paddle.to_tensor(theirs), 3.0)
    assert float(found) == pytest.approx(expected, rel=1e-9)
    assert float(distillation_loss(paddle.to_tensor(mine), paddle.to_tensor(mine))) == pytest.approx(0, abs=1e-12)
    assert float(feature_loss(paddle.to_tensor(mine), paddle.to_tensor(mine * 5))) == pytest.approx(0, abs=1e-9)


def test_a_student_learns_from_its_teacher_alone() -> None:
    teacher, student = model_of(4, 32, 3), model_of(4, 8, 3)
    teacher[0].weight.set_value(teacher[0].weight.numpy() * 3)
    kept = {name: value.numpy().copy() for name, value in teacher.state_dict().items()}
    distiller = Distiller(
        student, teacher, temperature=2.0, weight=1.0, features={"0": "0"}, adapters={"0": nn.Linear(8, 32)}
    )
    names = [name for name, _ in distiller.named_parameters()]
    assert all(name.startswith(("student.", "adapter_0.")) for name in names)
    assert len(names) == 6
    optimizer = paddle.optimizer.Adam(0.02, parameters=distiller.parameters())
    x = paddle.to_tensor(np.random.default_rng(1).normal(size=(128, 4)).astype("float32"))
    losses = []
    for _ in range(80):
        loss = distiller.loss(x)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0]
    agreement = (distiller(x).numpy().argmax(1) == teacher(x).numpy().argmax(1)).mean()
    assert agreement > 0.85
    assert all(np.array_equal(kept[name], value.numpy()) for name, value in teacher.state_dict().items())


def test_labels_weigh_in() -> None:
    teacher, student = model_of(4, 8, 3), model_of(4, 8, 3)
    x, y = paddle.ones([2, 4]), paddle.to_tensor([0, 2])
    distiller = Distiller(student, teacher, weight=0.25)
    expected = 0.25 * float(distillation_loss(student(x), teacher(x))) + 0.75 * float(F.cross_entropy(student(x), y))
    assert float(distiller.loss(x, y, F.cross_entropy)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"weight": 2.0}, "weight must be"),
        ({"temperature": 0.0}, "temperature must be"),
        ({"features": {"nothing": "0"}}, "student has no layer"),
        ({"features": {"0": "nothing"}}, "teacher has no layer"),
        ({"adapters": {"0": nn.Linear(2, 2)}}, "adapters are for layers in features"),
    ],
)
def test_refused(options: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Distiller(model_of(2, 2, 2), model_of(2, 2, 2), **options)
    with pytest.raises(ValueError, match="same shape"):
        distillation_loss(paddle.ones([2, 3]), paddle.ones([2, 4]))
