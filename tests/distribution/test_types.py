"""A value of another type than the parameters': converted, with a warning where Paddle warns."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from scipy import stats

import proa as paddle
from proa import distribution as D

WARNED: dict[str, tuple[Any, float, float]] = {
    "Normal": (lambda t: D.Normal(t(0.0), t(1.0)), 0.5, stats.norm.logpdf(0.5)),
    "Uniform": (lambda t: D.Uniform(t(0.0), t(2.0)), 0.5, stats.uniform.logpdf(0.5, 0, 2)),
    "Cauchy": (lambda t: D.Cauchy(t(0.0), t(1.0)), 0.5, stats.cauchy.logpdf(0.5)),
    "Bernoulli": (lambda t: D.Bernoulli(t(0.25)), 1.0, stats.bernoulli.logpmf(1, 0.25)),
    "LogNormal": (lambda t: D.LogNormal(t(0.0), t(1.0)), 0.5, stats.lognorm.logpdf(0.5, 1)),
}


def double(number: float) -> Any:
    return paddle.to_tensor([number], dtype="float64")


@pytest.mark.parametrize("name", WARNED)
def test_a_converted_value_is_worth_a_warning(name: str) -> None:
    make, value, expected = WARNED[name]
    with pytest.warns(UserWarning, match="dtype"):
        found = make(double).log_prob(paddle.to_tensor([value]))
    assert found.dtype == paddle.float64
    assert found.item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", WARNED)
def test_equal_types_are_not(name: str) -> None:
    make, value, _ = WARNED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(double).log_prob(double(value))


def test_logits_of_any_sign_can_be_drawn_from() -> None:
    drawn = D.Categorical(paddle.to_tensor([-50.0, 50.0, -50.0])).sample([100])
    assert drawn.tolist() == [1] * 100
    assert drawn.dtype == paddle.int64
