"""standard_gamma, poisson, binomial, log_normal and the functions that fill in place."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import proa as paddle
from proa.ops.create.random_families import gamma_slope

SIZE = 5000


@pytest.mark.parametrize("shape", [0.05, 0.9, 1.0, 3.5, 80.0, 1e5])
def test_gamma(shape: float) -> None:
    drawn = paddle.standard_gamma(paddle.full([SIZE], shape, "float64")).numpy()
    assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > 1e-3


def count_test(drawn: np.ndarray, expected: Any) -> float:
    """The p value of a chi-squared test over classes of about equal probability."""
    edges = np.unique(expected.ppf(np.linspace(0.05, 0.95, 12)))
    bounds = np.concatenate([[-np.inf], edges, [np.inf]])
    chances = np.diff(np.concatenate([[0.0], expected.cdf(edges), [1.0]]))
    seen = np.array([((drawn > a) & (drawn <= b)).sum() for a, b in itertools.pairwise(bounds)])
    kept = chances > 1e-3
    assert seen[~kept].sum() < 20
    return float(stats.chisquare(seen[kept], chances[kept] / chances[kept].sum() * seen[kept].sum()).pvalue)


@pytest.mark.parametrize("rate", [0.2, 4.0, 9.99, 10.0, 35.0, 1e6])
def test_poisson(rate: float) -> None:
    drawn = paddle.poisson(paddle.full([SIZE], rate, "float64")).numpy()
    assert (drawn == np.floor(drawn)).all()
    assert count_test(drawn, stats.poisson(rate)) > 1e-3


@pytest.mark.parametrize(
    ("count", "chance"), [(1, 0.3), (9, 0.5), (500, 0.01), (40, 0.5), (300, 0.93), (10**6, 0.4), (10**9, 1e-9)]
)
def test_binomial(count: int, chance: float) -> None:
    drawn = paddle.binomial(paddle.full([SIZE], count, "int64"), paddle.full([SIZE], chance, "float64"))
    assert drawn.dtype == paddle.int64
    assert count_test(drawn.numpy(), stats.binom(count, chance)) > 1e-3


def test_edges() -> None:
    nan = float("nan")
    gamma = paddle.standard_gamma(paddle.to_tensor([-1.0, nan, 0.0, 1e-4])).numpy()
    assert np.isnan(gamma[:2]).all()
    assert (gamma[2:] > 0).all()
    poisson = paddle.poisson(paddle.to_tensor([-1.0, nan, 0.0])).numpy()
    assert np.isnan(poisson[:2]).all()
    assert poisson[2] == 0
    counts = paddle.to_tensor([10, 10, 0, -3, 10])
    chances = paddle.to_tensor([0.0, 1.0, 0.5, 0.5, 1.5])
    np.testing.assert_array_equal(paddle.binomial(counts, chances).numpy(), [0, 10, 0, 0, 10])
    for function in (paddle.standard_gamma, paddle.poisson):
        assert function(paddle.ones([0, 3])).shape == [0, 3]
        assert function(paddle.ones([])).shape == []
        for dtype in ("float16", "bfloat16", "float64"):
            assert function(paddle.ones([2], dtype)).dtype == paddle.ones([1], dtype).dtype
        with pytest.raises(TypeError, match="floating type"):
            function(paddle.to_tensor([1, 2]))
        with pytest.raises(TypeError, match="must be a Tensor"):
            function(1.0)
    assert paddle.binomial(paddle.to_tensor([[3], [4]]), paddle.to_tensor([0.5, 0.5])).shape == [2, 2]
    with pytest.raises(ValueError, match="broadcast"):
        paddle.binomial(paddle.to_tensor([3, 4]), paddle.to_tensor([0.5, 0.5, 0.5]))
    with pytest.raises(TypeError, match="count must be a Tensor"):
        paddle.binomial(3, paddle.to_tensor([0.5]))


def test_the_same_numbers_on_both_tiers() -> None:
    def draw() -> list[np.ndarray]:
        paddle.seed(11)
        return [
            paddle.standard_gamma(paddle.to_tensor([0.3, 2.0, 70.0])).numpy(),
            paddle.poisson(paddle.to_tensor([0.3, 2.0, 70.0])).numpy(),
            paddle.binomial(paddle.to_tensor([3, 200, 7000]), paddle.to_tensor([0.3, 0.2, 0.7])).numpy(),
            paddle.log_normal(0.0, 1.0, [3]).numpy(),
        ]

    first = draw()
    for _ in range(3):
        for a, b in zip(first, draw()):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def quantile_slope(a: float, q: float) -> float:
    h = 1e-4 * a
    return float((special.gammaincinv(a + h, q) - special.gammaincinv(a - h, q)) / (2 * h))


@pytest.mark.parametrize("a", [0.1, 0.7, 1.0, 5.0, 30.0, 500.0])
def test_implicit_gradient_is_that_of_the_quantile(a: float) -> None:
    for q in (0.01, 0.3, 0.5, 0.9, 0.999):
        x, value = np.array([a]), np.array([special.gammaincinv(a, q)])
        expected = quantile_slope(a, q)
        operation = gamma_slope.operation
        assert operation.kernel(np, x, value)[0] == pytest.approx(expected, rel=1e-5)
        import jax.numpy

        compiled = operation.kernels["xla"](jax.numpy, jax.numpy.asarray(x), jax.numpy.asarray(value))
        assert float(compiled[0]) == pytest.approx(expected, rel=1e-5)


def test_second_order_gradient_of_gamma() -> None:
    a = 2.3
    x = paddle.to_tensor([a], "float64", stop_gradient=False)
    drawn = paddle.standard_gamma(x)
    (slope,) = paddle.grad([drawn], [x], create_graph=True)
    (bend,) = paddle.grad([slope], [x])
    q = special.gammainc(a, drawn.item())
    assert slope.item() == pytest.approx(quantile_slope(a, q), rel=1e-6)
    h = 1e-3
    expected = (quantile_slope(a + h, q) - quantile_slope(a - h, q)) / (2 * h)
    assert bend.item() == pytest.approx(expected, rel=1e-3)


def test_poisson_has_a_zero_gradient() -> None:
    x = paddle.to_tensor([1.0, 20.0], stop_gradient=False)
    paddle.poisson(x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [0.0, 0.0])


def test_log_normal() -> None:
    drawn = paddle.log_normal(0.5, 0.7, [SIZE]).numpy()
    assert stats.kstest(drawn, stats.lognorm(0.7, scale=np.exp(0.5)).cdf).pvalue > 1e-3
    assert paddle.log_normal(paddle.zeros([2], "float64"), 1.0).dtype == paddle.float64
    assert paddle.log_normal(shape=[2, 3]).shape == [2, 3]
    with pytest.raises(TypeError):
        paddle.log_normal("a", 1.0, [2])


def test_filling_in_place() -> None:
    x = paddle.zeros([SIZE])
    assert x.log_normal_(0.5, 0.7) is x
    assert stats.kstest(x.numpy(), stats.lognorm(0.7, scale=np.exp(0.5)).cdf).pvalue > 1e-3
    assert paddle.cauchy_(x, 1.0, 2.0) is x
    assert stats.kstest(x.numpy(), stats.cauchy(1.0, 2.0).cdf).pvalue > 1e-3
    assert paddle.geometric_(x, 0.3) is x
    assert count_test(x.numpy(), stats.geom(0.3)) > 1e-3
    assert x.min().item() == 1
    assert x.geometric_(paddle.full([SIZE], 0.5)).mean().item() == pytest.approx(2.0, abs=0.15)
    assert (x.geometric_(1.0).numpy() == 1).all()
    assert x.inplace_version == 5
    for bad in (0.0, 1.5, -0.1, float("nan")):
        with pytest.raises(ValueError, match="above 0 and at most 1"):
            x.geometric_(bad)


@pytest.mark.parametrize("fill", ["log_normal_", "cauchy_"])
def test_what_cannot_be_filled(fill: str) -> None:
    with pytest.raises(TypeError, match="floating type"):
        getattr(paddle.zeros([2], "int32"), fill)()
    x = paddle.to_tensor([1.0], stop_gradient=False)
    with pytest.raises(ValueError, match="in place"):
        getattr(x, fill)()
