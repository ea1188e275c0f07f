"""Samples: their distribution (Kolmogorov and Smirnov, moments), the same numbers on both tiers, shapes, types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import proa as paddle

D = paddle.distribution
SIZE = 4000

CONTINUOUS = {
    "Normal": (lambda: D.Normal(0.5, 2.0), stats.norm(0.5, 2.0)),
    "Uniform": (lambda: D.Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    "Beta": (lambda: D.Beta(0.5, 2.0), stats.beta(0.5, 2.0)),
    "Cauchy": (lambda: D.Cauchy(0.5, 2.0), stats.cauchy(0.5, 2.0)),
    "Chi2": (lambda: D.Chi2(3.0), stats.chi2(3.0)),
    "Exponential": (lambda: D.Exponential(2.0), stats.expon(scale=0.5)),
    "Gamma": (lambda: D.Gamma(0.3, 2.0), stats.gamma(0.3, scale=0.5)),
    "Gumbel": (lambda: D.Gumbel(0.5, 2.0), stats.gumbel_r(0.5, 2.0)),
    "Laplace": (lambda: D.Laplace(0.5, 2.0), stats.laplace(0.5, 2.0)),
    "LogNormal": (lambda: D.LogNormal(0.5, 0.7), stats.lognorm(0.7, scale=np.exp(0.5))),
    "StudentT": (lambda: D.StudentT(2.5, 0.5, 2.0), stats.t(2.5, 0.5, 2.0)),
}
DISCRETE = {
    "Bernoulli": (lambda: D.Bernoulli(0.3), stats.bernoulli(0.3)),
    "Binomial small": (lambda: D.Binomial(7, 0.8), stats.binom(7, 0.8)),
    "Binomial large": (lambda: D.Binomial(60, 0.4), stats.binom(60, 0.4)),
    "Geometric": (lambda: D.Geometric(0.3), stats.geom(0.3, -1)),
    "Poisson small": (lambda: D.Poisson(paddle.to_tensor(3.0)), stats.poisson(3.0)),
    "Poisson large": (lambda: D.Poisson(paddle.to_tensor(30.0)), stats.poisson(30.0)),
    "Categorical": (
        lambda: D.Categorical([-1.0, 0.0, 1.0]),
        stats.rv_discrete(values=([0, 1, 2], special.softmax([-1.0, 0.0, 1.0]))),
    ),
}


def chi_squared(drawn: np.ndarray, expected: Any) -> float:
    """The p value of the counts; rare values are taken together."""
    values = np.arange(0, int(drawn.max()) + 1)
    wanted = expected.pmf(values) * drawn.size
    kept = values[wanted >= 5]
    seen = np.array([(drawn == k).sum() for k in kept])
    seen, wanted = np.append(seen, drawn.size - seen.sum()), wanted[wanted >= 5]
    wanted = np.append(wanted, drawn.size - wanted.sum())
    if wanted[-1] < 1e-6:
        assert seen[-1] == 0
        seen, wanted = seen[:-1], wanted[:-1]
    return float(stats.chisquare(seen, wanted * (seen.sum() / wanted.sum())).pvalue)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution_of_continuous_samples(name: str) -> None:
    make, expected = CONTINUOUS[name]
    drawn = make().sample([SIZE])
    assert drawn.shape == [SIZE]
    assert drawn.dtype == paddle.float32
    assert stats.kstest(drawn.numpy().astype("float64"), expected.cdf).pvalue > 1e-3
    assert np.isfinite(make().log_prob(drawn).numpy()).all()


@pytest.mark.parametrize("name", DISCRETE)
def test_distribution_of_discrete_samples(name: str) -> None:
    make, expected = DISCRETE[name]
    drawn = make().sample([SIZE]).numpy()
    assert drawn.shape == (SIZE,)
    assert chi_squared(drawn, expected) > 1e-3


EVERY = {
    **{name: make for name, (make, _) in {**CONTINUOUS, **DISCRETE}.items()},
    "ContinuousBernoulli": lambda: D.ContinuousBernoulli(paddle.to_tensor([0.2, 0.5])),
    "Dirichlet": lambda: D.Dirichlet(paddle.to_tensor([1.0, 2.0, 0.5])),
    "Multinomial": lambda: D.Multinomial(5, paddle.to_tensor([0.2, 0.8])),
    "MultivariateNormal": lambda: D.MultivariateNormal(
        paddle.to_tensor([0.5, 1.0]), scale_tril=paddle.to_tensor([[2.0, 0.0], [0.5, 1.0]])
    ),
    "LKJCholesky": lambda: D.LKJCholesky(3, 1.5),
    "Independent": lambda: D.Independent(D.Normal([0.0, 1.0], [1.0, 2.0]), 1),
    "TransformedDistribution": lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [D.SigmoidTransform()]),
}


@pytest.mark.parametrize("name", EVERY)
def test_a_seed_repeats_on_both_tiers(name: str) -> None:
    d = EVERY[name]()

    def draw() -> np.ndarray:
        paddle.seed(7)
        return d.sample([6]).numpy()

    first = draw()
    for _ in range(3):  # compiled from the third time on
        np.testing.assert_allclose(draw(), first, rtol=2e-5, atol=1e-6)
    paddle.seed(8)
    assert not np.array_equal(d.sample([6]).numpy(), first)
    assert list(first.shape) == [6, *d.batch_shape, *d.event_shape]


@pytest.mark.parametrize("name", EVERY)
def test_empty_samples_and_bad_shapes(name: str) -> None:
    d = EVERY[name]()
    if name != "Categorical":
        assert d.sample([0, 2]).shape == [0, 2, *d.batch_shape, *d.event_shape]
        with pytest.raises(TypeError, match="list of integers"):
            d.sample(5)
    assert d.sample().shape == [*d.batch_shape, *d.event_shape]
    with pytest.raises(ValueError, match="negative"):
        d.sample([-2])
    with pytest.raises(TypeError):
        d.sample([1.5])


def test_own_seed() -> None:
    for d in (D.Normal(0.0, 1.0), D.Uniform(0.0, 1.0)):
        np.testing.assert_array_equal(d.sample([3], seed=5).numpy(), d.sample([3], seed=5).numpy())
        assert not np.array_equal(d.sample([3]).numpy(), d.sample([3]).numpy())
        with pytest.raises(TypeError, match="seed must be an integer"):
            d.sample([3], seed="a")


def test_dirichlet_and_multinomial_samples() -> None:
    concentration = np.array([0.5, 1.0, 2.5])
    drawn = D.Dirichlet(paddle.to_tensor(concentration)).sample([SIZE]).numpy()
    np.testing.assert_allclose(drawn.sum(-1), 1.0, rtol=1e-6)
    assert stats.kstest(drawn[:, 0], stats.beta(0.5, 3.5).cdf).pvalue > 1e-3
    counts = D.Multinomial(6, paddle.to_tensor([0.2, 0.3, 0.5])).sample([2000]).numpy()
    assert (counts.sum(-1) == 6).all()
    assert chi_squared(counts[:, 0], stats.binom(6, 0.2)) > 1e-3


def test_multivariate_normal_samples() -> None:
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    d = D.MultivariateNormal(paddle.to_tensor([0.5, 1.0]), covariance_matrix=paddle.to_tensor(covariance, "float32"))
    drawn = d.sample([SIZE]).numpy()
    np.testing.assert_allclose(drawn.mean(0), [0.5, 1.0], atol=0.08)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.15)


@pytest.mark.parametrize("method", ["onion", "cvine"])
def test_lkj_samples(method: str) -> None:
    d = D.LKJCholesky(4, 1.5, method)
    roots = d.sample([SIZE]).numpy().astype("float64")
    correlations = roots @ roots.transpose(0, 2, 1)
    np.testing.assert_allclose(np.diagonal(correlations, axis1=1, axis2=2), 1.0, rtol=1e-5)
    # Each single correlation has the density of a symmetric beta distribution on (-1, 1).
    marginal = stats.beta(1.5 + 1.0, 1.5 + 1.0, -1, 2)
    for i, j in ((1, 0), (3, 0), (3, 2)):
        assert stats.kstest(correlations[:, i, j], marginal.cdf).pvalue > 1e-3
    assert d.log_prob(paddle.to_tensor(roots[:5], "float32")).shape == [5]
    assert D.LKJCholesky(2, paddle.to_tensor([1.0, 2.0]), method).sample([3]).shape == [3, 2, 2, 2]


def test_relaxed_bernoulli() -> None:
    """The draw is the log odds; that it is positive has the given probability."""
    drawn = D.Bernoulli(0.3).rsample([SIZE], temperature=0.5).numpy()
    assert abs((drawn > 0).mean() - 0.3) < 0.03
    with pytest.raises(ValueError, match="temperature must be a positive number"):
        D.Bernoulli(0.3).rsample([2], temperature=0)


def test_what_samples_have_no_gradient() -> None:
    x = paddle.to_tensor([0.3, 0.6], stop_gradient=False)
    for d in (D.Gamma(x, x), D.Beta(x, x), D.Laplace(x, x), D.Exponential(x), D.Gumbel(x, x), D.Bernoulli(x)):
        assert d.sample([2]).stop_gradient
        assert not d.rsample([2]).stop_gradient
    assert D.Poisson(x).sample().stop_gradient
    assert D.Binomial(3, x).sample().stop_gradient
    # As observed in Paddle 3.3.1, these keep it.
    assert not D.Normal(x, x).sample().stop_gradient
    assert not D.Uniform(x, x + 1).sample().stop_gradient
