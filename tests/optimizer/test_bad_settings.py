"""Settings that Paddle refuses are refused, by an exception that whoever expects Paddle's catches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import proa as paddle
from proa import optimizer as O


def weight() -> list[Any]:
    return [paddle.create_parameter([2], "float32")]


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: O.Adam(None, parameters=weight()), AssertionError, "learning rate"),
        (lambda: O.Adam(0.1, beta1=None, parameters=weight()), AssertionError, "beta1"),
        (lambda: O.Adam(0.1, epsilon=None, parameters=weight()), AssertionError, "epsilon"),
        (lambda: O.Adam(0.1, beta1=1.0, parameters=weight()), ValueError, "beta1"),
        (lambda: O.Adam("fast", parameters=weight()), TypeError, "learning rate"),
        (lambda: O.Adam(0.1), AttributeError, "parameters"),
        (lambda: O.AdamW(0.1, parameters=weight(), lr_ratio=0.5), AssertionError, "lr_ratio"),
        (lambda: O.NAdam(-0.1, parameters=weight()), ValueError, "learning_rate"),
        (lambda: O.RAdam(-0.1, parameters=weight()), ValueError, "learning_rate"),
        (lambda: O.Lamb(None, parameters=weight()), AssertionError, "learning rate"),
        (lambda: O.Adagrad(0.1, epsilon=None, parameters=weight()), AssertionError, "epsilon"),
        (lambda: O.SGD(0.1, parameters=weight()).minimize("loss"), AssertionError, "loss"),
        (lambda: O.lr.NaturalExpDecay(0.1, -1.0), AssertionError, "gamma"),
        (lambda: O.lr.ExponentialDecay(0.1, 2.0), AssertionError, "gamma"),
        (lambda: O.lr.PolynomialDecay(0.1, 20.0), AssertionError, "decay_steps"),
        (lambda: O.lr.PolynomialDecay(0.1, 20, power=-1.0), AssertionError, "power"),
        (lambda: O.lr.LinearWarmup(0.1, 10, 0.2, 0.1), AssertionError, "end_lr"),
        (lambda: O.lr.CosineAnnealingDecay(0.1, -3), AssertionError, "T_max"),
        (lambda: O.lr.CosineAnnealingDecay(0.1, 3, eta_min="low"), TypeError, "eta_min"),
    ],
)
def test_is_refused_as_paddle_does(make: Callable[[], Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        make()


def test_a_failed_check_is_a_value_error_too() -> None:
    with pytest.raises(ValueError, match="gamma"):
        O.lr.ExponentialDecay(0.1, 2.0)
    with pytest.raises(ValueError, match="parameters"):
        O.Adam(0.1)


def test_notes_in_a_parameter_group_have_no_effect_and_are_named() -> None:
    (parameter,) = weight()
    with pytest.warns(UserWarning, match="lr_scale"):
        optimizer = O.SGD(0.1, parameters=[{"params": [parameter], "lr_scale": 0.5}])
    before = parameter.numpy()
    parameter.sum().backward()
    optimizer.step()
    assert abs((before - parameter.numpy()) - 0.1).max() < 1e-6


def test_gradients_are_cleared_by_either_name() -> None:
    (parameter,) = weight()
    optimizer = O.SGD(0.1, parameters=[parameter])
    parameter.sum().backward()
    optimizer.clear_gradients()
    assert parameter.grad.tolist() == [0.0, 0.0]
