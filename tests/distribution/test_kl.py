"""kl_divergence against quadrature and sums over SciPy's densities; register_kl; exponential families."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import proa as paddle

D = paddle.distribution


def tensor(value: Any) -> paddle.Tensor:
    return paddle.to_tensor(np.asarray(value, "float64"))


def number(value: float) -> paddle.Tensor:
    return tensor(value)


CONTINUOUS = {
    "Normal": (D.Normal, stats.norm, (0.5, 1.2), (-0.3, 2.0)),
    "Uniform": (D.Uniform, lambda a, b: stats.uniform(a, b - a), (0.0, 1.0), (-1.0, 3.0)),
    "Beta": (D.Beta, stats.beta, (1.5, 2.5), (3.0, 0.8)),
    "Cauchy": (D.Cauchy, stats.cauchy, (0.5, 1.2), (-0.3, 2.0)),
    "Chi2": (D.Chi2, stats.chi2, (3.0,), (5.0,)),
    "Exponential": (D.Exponential, lambda r: stats.expon(scale=1 / r), (2.0,), (0.7,)),
    "Gamma": (D.Gamma, lambda a, r: stats.gamma(a, scale=1 / r), (2.0, 3.0), (1.5, 0.6)),
    "Laplace": (D.Laplace, stats.laplace, (0.5, 1.2), (-0.3, 2.0)),
    "LogNormal": (D.LogNormal, lambda m, s: stats.lognorm(s, scale=np.exp(m)), (0.5, 0.6), (-0.3, 0.9)),
}
DISCRETE = {
    "Bernoulli": (D.Bernoulli, stats.bernoulli, 0.3, 0.8),
    "Geometric": (D.Geometric, lambda p: stats.geom(p, -1), 0.3, 0.6),
    "Poisson": (lambda r: D.Poisson(r), stats.poisson, 3.0, 5.5),
    "Binomial": (lambda p: D.Binomial(7, p), lambda p: stats.binom(7, p), 0.3, 0.8),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_by_quadrature(name: str) -> None:
    make, reference, first, second = CONTINUOUS[name]
    p, q = make(*map(number, first)), make(*map(number, second))
    expected_p, expected_q = reference(*first), reference(*second)
    # Over quantiles, which bring every support to (0, 1).
    expected, _ = integrate.quad(
        lambda u: float(expected_p.logpdf(x := expected_p.ppf(u)) - expected_q.logpdf(x)), 0, 1, limit=400
    )
    assert D.kl_divergence(p, q).item() == pytest.approx(expected, rel=1e-4)
    assert p.kl_divergence(q).item() == pytest.approx(expected, rel=1e-4)
    assert D.kl_divergence(p, p).item() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", DISCRETE)
def test_by_sum(name: str) -> None:
    make, reference, first, second = DISCRETE[name]
    k = np.arange(0, 200)
    expected_p, expected_q = reference(first), reference(second)
    mass = expected_p.pmf(k)
    kept = mass > 1e-300
    expected = (mass[kept] * (expected_p.logpmf(k[kept]) - expected_q.logpmf(k[kept]))).sum()
    assert D.kl_divergence(make(number(first)), make(number(second))).item() == pytest.approx(expected, rel=1e-9)


def test_binomials_with_different_counts() -> None:
    fewer, more = D.Binomial(tensor([5.0]), tensor([0.6])), D.Binomial(tensor([10.0]), tensor([0.6]))
    k = np.arange(6)
    p, q = stats.binom(5, 0.6), stats.binom(10, 0.6)
    assert D.kl_divergence(fewer, more).item() == pytest.approx((p.pmf(k) * (p.logpmf(k) - q.logpmf(k))).sum())
    assert D.kl_divergence(more, fewer).item() == np.inf
    assert D.kl_divergence(D.Binomial(3, tensor(0.4)), D.Binomial(3, tensor([0.4, 0.4]))).shape == [2]


def test_uniform_outside_is_infinite() -> None:
    assert D.kl_divergence(D.Uniform(0.0, 2.0), D.Uniform(0.0, 1.0)).item() == np.inf


def test_dirichlet() -> None:
    p, q = np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.5, 0.7])
    drawn = stats.dirichlet(p).rvs(200000, random_state=3)
    expected = np.mean(stats.dirichlet(p).logpdf(drawn.T) - stats.dirichlet(q).logpdf(drawn.T))
    assert D.kl_divergence(D.Dirichlet(tensor(p)), D.Dirichlet(tensor(q))).item() == pytest.approx(expected, rel=0.02)
    # Two classes are a beta distribution.
    beta = D.kl_divergence(D.Beta(number(1.2), number(0.7)), D.Beta(number(2.0), number(0.5)))
    dirichlet = D.kl_divergence(D.Dirichlet(tensor([1.2, 0.7])), D.Dirichlet(tensor([2.0, 0.5])))
    assert beta.item() == pytest.approx(dirichlet.item())


def test_categorical_keeps_the_dimension() -> None:
    p, q = np.array([[0.5, 2.0, 1.0], [1.0, 1.0, 1.0]]), np.array([1.0, 1.0, 1.0])
    result = D.kl_divergence(D.Categorical(tensor(p)), D.Categorical(tensor(q)))
    chance = np.exp(p) / np.exp(p).sum(-1, keepdims=True)
    assert result.shape == [2, 1]
    np.testing.assert_allclose(result.numpy()[:, 0], (chance * np.log(chance * 3)).sum(-1), atol=1e-12)


def test_continuous_bernoulli() -> None:
    p, q = 0.3, 0.8
    make = D.ContinuousBernoulli
    x = np.linspace(0, 1, 20001)
    log_p = make(tensor([p])).log_prob(tensor(x)).numpy()
    log_q = make(tensor([q])).log_prob(tensor(x)).numpy()
    expected = integrate.simpson(np.exp(log_p) * (log_p - log_q), x=x)
    assert D.kl_divergence(make(tensor([p])), make(tensor([q]))).item() == pytest.approx(expected, rel=1e-6)
    for family, more in ((make, tensor([0.2, 0.3])), (D.Poisson, tensor([2.0, 3.0]))):
        with pytest.raises(ValueError, match="same batch_shape"):
            D.kl_divergence(family(tensor([0.5])), family(more))


def test_multivariate_normal() -> None:
    a, b = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, -0.2], [-0.2, 3.0]])
    m, n = np.array([0.5, 1.0]), np.array([-0.5, 0.3])
    inverse = np.linalg.inv(b)
    expected = 0.5 * (
        np.trace(inverse @ a) + (n - m) @ inverse @ (n - m) - 2 + np.log(np.linalg.det(b) / np.linalg.det(a))
    )
    p = D.MultivariateNormal(tensor(m), covariance_matrix=tensor(a))
    q = D.MultivariateNormal(tensor(n), precision_matrix=tensor(inverse))
    assert D.kl_divergence(p, q).item() == pytest.approx(expected, rel=1e-9)
    with pytest.raises(ValueError, match="same event_shape"):
        D.kl_divergence(p, D.MultivariateNormal(tensor([0.0]), covariance_matrix=tensor([[1.0]])))


def test_independent_sums() -> None:
    p, q = D.Normal(tensor([0.0, 1.0]), tensor([1.0, 2.0])), D.Normal(tensor([1.0, 1.0]), tensor([1.0, 1.5]))
    expected = D.kl_divergence(p, q).sum().item()
    assert D.kl_divergence(D.Independent(p, 1), D.Independent(q, 1)).item() == pytest.approx(expected)


def test_complex_normals() -> None:
    p, q = D.Normal(1 + 2j, 3.0), D.Normal(0j, 2.0)
    # Twice a real normal distribution of half the variance, for each part.
    expected = np.log(4 / 9) + 9 / 4 + 5 / 4 - 1
    assert D.kl_divergence(p, q).item() == pytest.approx(expected, rel=1e-5)
    with pytest.raises(ValueError, match="real and a complex"):
        D.kl_divergence(p, D.Normal(0.0, 1.0))


def test_no_rule() -> None:
    with pytest.raises(NotImplementedError, match="p: Normal, q: Uniform; define one with register_kl"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Uniform(0.0, 1.0))
    with pytest.raises(TypeError, match="other must be a Cauchy"):
        D.Cauchy(0.0, 1.0).kl_divergence(D.Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError):
        D.Gumbel(0.0, 1.0).kl_divergence(D.Gumbel(0.0, 1.0))
    with pytest.raises(NotImplementedError):
        D.kl_divergence(D.Beta(1.0, 2.0), D.Gamma(1.0, 2.0))


def test_register() -> None:
    class Own(D.Normal):
        pass

    class Further(Own):
        pass

    assert D.kl_divergence(Own(0.0, 1.0), Own(0.0, 1.0)).item() == 0.0  # the rule of the base

    @D.register_kl(Own, D.Normal)
    def rule(p: Any, q: Any) -> str:
        return "own"

    assert D.kl_divergence(Further(0.0, 1.0), D.Normal(0.0, 1.0)) == "own"
    assert D.kl_divergence(D.Normal(0.0, 1.0), Own(0.0, 1.0)).item() == 0.0
    for bad in ((D.Normal, int), (1, 2)):
        with pytest.raises(TypeError, match="subclass of Distribution"):
            D.register_kl(*bad)


def test_exponential_families_from_their_normalizer() -> None:
    """The general formulas give what the closed ones do."""
    from proa.distribution.exponential_family import ExponentialFamily
    from proa.distribution.kl import _exponential_families

    pairs = [
        (D.Beta(tensor([1.5, 0.6]), tensor([2.5, 3.0])), D.Beta(tensor([3.0, 1.0]), tensor([0.8, 0.5]))),
        (D.Exponential(tensor([2.0])), D.Exponential(tensor([0.7]))),
        (D.Gamma(tensor([2.0]), tensor([3.0])), D.Gamma(tensor([1.5]), tensor([0.6]))),
        (D.Dirichlet(tensor([[1.0, 2.0, 3.0]])), D.Dirichlet(tensor([[0.5, 1.5, 0.7]]))),
    ]
    for p, q in pairs:
        np.testing.assert_allclose(_exponential_families(p, q).numpy(), D.kl_divergence(p, q).numpy(), rtol=1e-9)

    class Own(ExponentialFamily):
        """Exponential numbers, told by their normalizer alone."""

        def __init__(self, rate: Any) -> None:
            self.rate = rate
            super().__init__(tuple(rate.shape))

        _natural_parameters = property(lambda self: (-self.rate,))  # type: ignore[assignment]
        _mean_carrier_measure = 0.0  # type: ignore[assignment]

        def _log_normalizer(self, *parameters: Any) -> Any:
            return -paddle.log(-parameters[0])

    own = Own(tensor([2.0, 0.5]))
    np.testing.assert_allclose(own.entropy().numpy(), 1 - np.log([2.0, 0.5]), rtol=1e-9)
    expected = D.kl_divergence(D.Exponential(tensor([2.0, 0.5])), D.Exponential(tensor([1.0, 1.0])))
    np.testing.assert_allclose(D.kl_divergence(own, Own(tensor([1.0, 1.0]))).numpy(), expected.numpy(), rtol=1e-9)
    with pytest.raises(NotImplementedError):
        ExponentialFamily().entropy()
