"""Values of every distribution against SciPy: log_prob, mean, variance, entropy, cdf and its inverse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import proa as paddle

D = paddle.distribution


def tensor(value: Any) -> paddle.Tensor:
    return paddle.to_tensor(np.asarray(value, "float64"))


A, B, C = np.array([0.5, 2.0, 7.5]), np.array([1.5, 0.7, 3.0]), np.array([-1.0, 0.3, 2.0])
CHANCE = np.array([0.15, 0.5, 0.9])
POINTS = np.array([0.2, 0.5, 0.85])
COUNTS = np.array([0.0, 2.0, 5.0])

# What we say, what SciPy says, where to ask, and what else both have.
CASES = {
    "Normal": (lambda: D.Normal(tensor(C), tensor(B)), stats.norm(C, B), C + 0.3, ""),
    "Uniform": (lambda: D.Uniform(tensor(C), tensor(C + B)), stats.uniform(C, B), C + B * POINTS, ""),
    "Bernoulli": (lambda: D.Bernoulli(tensor(CHANCE)), stats.bernoulli(CHANCE), np.array([0.0, 1.0, 1.0]), "cdf"),
    "Beta": (lambda: D.Beta(tensor(A), tensor(B)), stats.beta(A, B), POINTS, ""),
    "Binomial": (lambda: D.Binomial(6, tensor(CHANCE)), stats.binom(6, CHANCE), COUNTS, ""),
    "Cauchy": (lambda: D.Cauchy(tensor(C), tensor(B)), stats.cauchy(C, B), C + 0.3, "cdf no_moments"),
    "Chi2": (lambda: D.Chi2(tensor(A)), stats.chi2(A), B, ""),
    "Exponential": (lambda: D.Exponential(tensor(B)), stats.expon(scale=1 / B), A, "cdf icdf"),
    "Gamma": (lambda: D.Gamma(tensor(A), tensor(B)), stats.gamma(A, scale=1 / B), B, ""),
    "Geometric": (lambda: D.Geometric(tensor(CHANCE)), stats.geom(CHANCE, -1), COUNTS, "cdf"),
    "Gumbel": (lambda: D.Gumbel(tensor(C), tensor(B)), stats.gumbel_r(C, B), C + 0.3, "cdf"),
    "Laplace": (lambda: D.Laplace(tensor(C), tensor(B)), stats.laplace(C, B), C + 0.3, "cdf icdf"),
    "LogNormal": (lambda: D.LogNormal(tensor(C), tensor(B)), stats.lognorm(B, scale=np.exp(C)), A, ""),
    "Poisson": (lambda: D.Poisson(tensor(A)), stats.poisson(A), COUNTS, ""),
    "StudentT": (lambda: D.StudentT(tensor(A + 2.1), tensor(C), tensor(B)), stats.t(A + 2.1, C, B), C + 0.3, ""),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    make, expected, points, more = CASES[name]
    d = make()
    assert d.batch_shape == (3,)
    assert d.event_shape == ()
    log_density = expected.logpdf if hasattr(expected.dist, "pdf") else expected.logpmf
    np.testing.assert_allclose(d.log_prob(tensor(points)).numpy(), log_density(points), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(d.prob(tensor(points)).numpy(), np.exp(log_density(points)), rtol=1e-9)
    np.testing.assert_allclose(d.entropy().numpy(), expected.entropy(), rtol=1e-7, atol=1e-9)
    if "no_moments" in more:
        for moment in ("mean", "variance", "stddev"):
            with pytest.raises(ValueError, match="has no"):
                getattr(d, moment)
    else:
        np.testing.assert_allclose(d.mean.numpy(), expected.mean(), rtol=1e-9)
        np.testing.assert_allclose(d.variance.numpy(), expected.var(), rtol=1e-9)
        if hasattr(d, "stddev"):
            np.testing.assert_allclose(d.stddev.numpy(), expected.std(), rtol=1e-9)
    if "cdf" in more.split():
        np.testing.assert_allclose(d.cdf(tensor(points)).numpy(), expected.cdf(points), rtol=1e-9, atol=1e-12)
    if "icdf" in more:
        np.testing.assert_allclose(d.icdf(tensor(POINTS)).numpy(), expected.ppf(POINTS), rtol=1e-9)


def test_float32_is_kept_and_values_are_converted() -> None:
    d = D.Normal(paddle.to_tensor([0.5, 1.0]), paddle.to_tensor([1.0, 2.0]))
    for value in (0.7, [0.7, 0.7], np.array([0.7, 0.7]), paddle.to_tensor(0.7, "float64")):
        result = d.log_prob(value)
        assert result.dtype == paddle.float32
        assert result.shape == [2]
        np.testing.assert_allclose(result.numpy(), stats.norm([0.5, 1.0], [1.0, 2.0]).logpdf(0.7), rtol=1e-5)


def test_outside_the_support() -> None:
    minus_infinity = -np.inf
    assert D.Uniform(0.0, 1.0).log_prob(tensor(2.0)).item() == minus_infinity
    assert D.Exponential(2.0).log_prob(tensor(-1.0)).item() == minus_infinity
    assert D.Exponential(2.0).cdf(tensor(-1.0)).item() == 0.0
    assert D.Binomial(10, 0.3).log_prob(tensor(11.0)).item() == minus_infinity
    assert D.Geometric(0.3).pmf(tensor(-1.0)).item() == 0.0
    assert D.Bernoulli(0.3).cdf(tensor([-1.0, 0.5, 2.0])).numpy() == pytest.approx([0.0, 0.7, 1.0])
    # At the edge, with an exponent of 0.
    assert D.Beta(1.0, 2.0).log_prob(tensor(0.0)).item() == pytest.approx(np.log(2.0))
    assert D.Poisson(paddle.to_tensor([0.0])).log_prob(tensor(0.0)).item() == 0.0


def test_probabilities_of_zero_and_one() -> None:
    d = D.Bernoulli(tensor([0.0, 1.0]))
    assert np.isfinite(d.logits.numpy()).all()
    np.testing.assert_allclose(d.entropy().numpy(), 0.0, atol=1e-13)
    assert D.Geometric(1.0).mean.item() == 0.0
    assert D.Geometric(1.0).entropy().item() == 0.0


def test_student_t_without_moments() -> None:
    d = D.StudentT(tensor([0.5, 1.0, 2.0, 2.5]), 0.0, 1.0)
    np.testing.assert_array_equal(d.mean.numpy(), [np.nan, np.nan, 0.0, 0.0])
    np.testing.assert_allclose(d.variance.numpy(), [np.nan, np.nan, np.inf, 5.0])


@pytest.mark.parametrize("rate", [0.01, 3.0, 63.9, 64.1, 1000.0])
def test_entropy_of_poisson_over_its_two_formulas(rate: float) -> None:
    expected = stats.poisson(rate).entropy()
    assert D.Poisson(tensor([rate])).entropy().item() == pytest.approx(expected, rel=1e-7)
    assert D.Poisson(paddle.to_tensor([0.0])).entropy().item() == 0.0


def test_dirichlet() -> None:
    concentration = np.array([[1.0, 2.0, 3.0], [0.5, 4.0, 0.7]])
    point = np.array([0.2, 0.3, 0.5])
    d = D.Dirichlet(tensor(concentration))
    assert d.batch_shape == (2,)
    assert d.event_shape == (3,)
    expected = [stats.dirichlet(c) for c in concentration]
    np.testing.assert_allclose(d.log_prob(tensor(point)).numpy(), [e.logpdf(point) for e in expected])
    np.testing.assert_allclose(d.mean.numpy(), [e.mean() for e in expected])
    np.testing.assert_allclose(d.variance.numpy(), [e.var() for e in expected])
    np.testing.assert_allclose(d.entropy().numpy(), [e.entropy() for e in expected])


def test_multinomial() -> None:
    weights = np.array([[0.2, 0.3, 0.5], [1.0, 1.0, 2.0]])
    counts = np.array([2.0, 3.0, 5.0])
    d = D.Multinomial(10, tensor(weights))
    assert d.batch_shape == (2,)
    assert d.event_shape == (3,)
    assert d.total_count == 10
    expected = [stats.multinomial(10, w / w.sum()) for w in weights]
    np.testing.assert_allclose(d.log_prob(tensor(counts)).numpy(), [e.logpmf(counts) for e in expected])
    np.testing.assert_allclose(d.entropy().numpy(), [e.entropy() for e in expected])
    np.testing.assert_allclose(d.mean.numpy(), 10 * weights / weights.sum(-1, keepdims=True))
    np.testing.assert_allclose(d.variance.numpy()[0], np.diag(expected[0].cov()))
    # A class that cannot occur.
    rare = D.Multinomial(4, tensor([0.0, 0.4, 0.6]))
    assert rare.entropy().item() == pytest.approx(stats.binom(4, 0.4).entropy())
    assert rare.log_prob(tensor([0.0, 1.0, 3.0])).item() == pytest.approx(stats.binom(4, 0.4).logpmf(1))


def test_categorical_reads_logits_as_paddle_does() -> None:
    """Weights for prob, log weights for the entropy (observed in Paddle 3.3.1)."""
    d = D.Categorical(tensor([0.5, 2.0, 1.0]))
    np.testing.assert_allclose(d.prob(paddle.to_tensor([2, 1, 0])).numpy(), [2 / 7, 4 / 7, 1 / 7])
    np.testing.assert_allclose(d.log_prob(paddle.to_tensor([[2], [0]])).numpy(), np.log([[2 / 7], [1 / 7]]))
    assert d.entropy().item() == pytest.approx(0.90596, abs=1e-5)
    batch = D.Categorical(tensor([[0.5, 2.0, 1.0], [1.0, 1.0, 1.0]]))
    assert batch.prob(paddle.to_tensor([2, 0])).shape == [2, 2]
    np.testing.assert_allclose(batch.prob(paddle.to_tensor([[2, 0], [1, 1]])).numpy()[0], [2 / 7, 1 / 7])
    with pytest.raises(ValueError, match="one dimension, or 2"):
        batch.prob(paddle.to_tensor([[[0]]]))
    with pytest.raises(ValueError, match="classes must be integers"):
        batch.prob(paddle.to_tensor([1.0]))
    with pytest.raises(IndexError):
        d.prob(paddle.to_tensor([5])).numpy()


@pytest.mark.parametrize("given", ["covariance_matrix", "precision_matrix", "scale_tril"])
def test_multivariate_normal(given: str) -> None:
    covariance = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.7]])
    matrices = {
        "covariance_matrix": covariance,
        "precision_matrix": np.linalg.inv(covariance),
        "scale_tril": np.linalg.cholesky(covariance),
    }
    loc = np.array([[0.5, 1.0, -1.0], [0.0, 0.0, 0.0]])
    point = np.array([0.3, 0.2, 0.1])
    d = D.MultivariateNormal(tensor(loc), **{given: tensor(matrices[given])})
    assert d.batch_shape == (2,)
    assert d.event_shape == (3,)
    expected = [stats.multivariate_normal(m, covariance) for m in loc]
    np.testing.assert_allclose(d.log_prob(tensor(point)).numpy(), [e.logpdf(point) for e in expected], rtol=1e-8)
    np.testing.assert_allclose(d.entropy().numpy(), [e.entropy() for e in expected], rtol=1e-8)
    np.testing.assert_allclose(d.mean.numpy(), loc)
    np.testing.assert_allclose(d.variance.numpy()[1], np.diag(covariance), rtol=1e-8)
    assert getattr(d, given).shape == [2, 3, 3]


@pytest.mark.parametrize("chance", [1e-4, 0.2, 0.4985, 0.4995, 0.5, 0.5009, 0.7, 0.999])
def test_continuous_bernoulli_by_quadrature(chance: float) -> None:
    d = D.ContinuousBernoulli(tensor([chance]))

    def density(x: float) -> float:
        return chance**x * (1 - chance) ** (1 - x)

    total = integrate.quad(density, 0, 1)[0]
    mean = integrate.quad(lambda x: x * density(x), 0, 1)[0] / total
    variance = integrate.quad(lambda x: (x - mean) ** 2 * density(x), 0, 1)[0] / total
    part = integrate.quad(density, 0, 0.3)[0] / total
    entropy = -integrate.quad(lambda x: density(x) / total * np.log(density(x) / total), 0, 1)[0]
    assert d.log_prob(tensor([0.3])).item() == pytest.approx(np.log(density(0.3) / total), abs=1e-9)
    assert d.mean.item() == pytest.approx(mean, rel=1e-9)
    assert d.variance.item() == pytest.approx(variance, rel=1e-6)
    assert d.entropy().item() == pytest.approx(entropy, abs=1e-7)
    # Between the limits the distribution is taken for the uniform one here, as in Paddle.
    assert d.cdf(tensor([0.3])).item() == pytest.approx(part, abs=1e-3)
    assert d.icdf(d.cdf(tensor([0.3]))).item() == pytest.approx(0.3, abs=1e-9)


def test_complex_normal() -> None:
    d = D.Normal(1 + 2j, 3.0)
    assert d.loc.dtype == paddle.complex64
    assert d.sample([4]).dtype == paddle.complex64
    assert d.log_prob(paddle.to_tensor(0.7 + 0j)).item() == pytest.approx(-4.09 / 9 - np.log(9 * np.pi), rel=1e-5)
    assert d.entropy().item() == pytest.approx(1 + np.log(9 * np.pi), rel=1e-5)
    assert d.variance.item() == pytest.approx(9.0)


def test_lkj_density_of_two_variables() -> None:
    """For two variables the correlation r has the density of 2 * Beta(c, c) - 1."""
    for concentration in (0.7, 1.0, 2.5):
        d = D.LKJCholesky(2, tensor(concentration))
        r = 0.6
        root = tensor([[1.0, 0.0], [r, 0.8]])
        expected = stats.beta(concentration, concentration, -1, 2).logpdf(r)
        assert d.log_prob(root).item() == pytest.approx(expected, rel=1e-9)
    # Observed in Paddle 3.3.1.
    three = D.LKJCholesky(3, 1.5).log_prob(paddle.to_tensor([[1.0, 0, 0], [0.6, 0.8, 0], [0.0, 0.6, 0.8]]))
    assert three.item() == pytest.approx(-1.69638, abs=1e-4)


def test_shapes_broadcast() -> None:
    d = D.Normal(paddle.to_tensor([0.5, 1.0]), paddle.to_tensor([[1.0], [2.0], [3.0]]))
    assert d.batch_shape == (3, 2)
    assert d.mean.shape == [3, 2]
    assert d.variance.shape == [3, 2]
    assert d.sample([4]).shape == [4, 3, 2]
    assert d.rsample().shape == [3, 2]
    assert d.entropy().shape == [3, 2]
    assert D.Gamma(paddle.ones([2]), paddle.ones([3, 1])).sample([0, 5]).shape == [0, 5, 3, 2]
    assert D.Poisson(3.0).batch_shape == (1,)
    assert D.ContinuousBernoulli(0.3).batch_shape == (1,)
