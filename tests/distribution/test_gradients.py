"""Gradients of log_prob, entropy, kl_divergence and rsample against central differences; second order; compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import proa as paddle

D = paddle.distribution

POSITIVE, REAL, CHANCE = [0.7, 1.9], [-0.4, 0.8], [0.3, 0.65]
MATRIX = [[1.3, 0.0], [0.4, 0.9]]

# The distribution of its parameters, the parameters, a value, and whether rsample is smooth.
CASES: dict[str, tuple[Callable[..., Any], list[Any], Any, bool]] = {
    "Normal": (D.Normal, [REAL, POSITIVE], [0.1, 0.5], True),
    "Uniform": (D.Uniform, [REAL, [1.0, 2.0]], [0.1, 0.9], True),
    "Bernoulli": (D.Bernoulli, [CHANCE], [1.0, 0.0], True),
    "Beta": (D.Beta, [POSITIVE, [1.2, 0.8]], [0.2, 0.6], True),
    "Binomial": (lambda p: D.Binomial(5, p), [CHANCE], [1.0, 4.0], False),
    "Categorical": (D.Categorical, [[0.5, 1.5, 1.0]], None, False),
    "Cauchy": (D.Cauchy, [REAL, POSITIVE], [0.1, 0.5], True),
    "ContinuousBernoulli": (D.ContinuousBernoulli, [[0.3, 0.5002]], [0.2, 0.6], True),
    "Dirichlet": (D.Dirichlet, [[0.7, 1.2, 2.5]], [0.2, 0.3, 0.5], True),
    "Exponential": (D.Exponential, [POSITIVE], [0.2, 0.6], True),
    "Gamma": (D.Gamma, [POSITIVE, [1.2, 0.8]], [0.2, 0.6], True),
    "Geometric": (D.Geometric, [CHANCE], [1.0, 4.0], False),
    "Gumbel": (D.Gumbel, [REAL, POSITIVE], [0.1, 0.5], True),
    "Laplace": (D.Laplace, [REAL, POSITIVE], [0.1, 0.5], True),
    "LogNormal": (D.LogNormal, [REAL, POSITIVE], [0.1, 0.5], True),
    "Multinomial": (lambda p: D.Multinomial(4, p), [[0.5, 0.7, 0.9]], [1.0, 1.0, 2.0], False),
    "MultivariateNormal": (lambda m, s: D.MultivariateNormal(m, scale_tril=s), [REAL, MATRIX], [0.1, 0.5], True),
    "Poisson": (D.Poisson, [POSITIVE], [1.0, 4.0], False),
    "StudentT": (D.StudentT, [[2.5, 4.0], REAL, POSITIVE], [0.1, 0.5], True),
    "Independent": (lambda m, s: D.Independent(D.Normal(m, s), 1), [REAL, POSITIVE], [0.1, 0.5], True),
    "TransformedDistribution": (
        lambda m, s: D.TransformedDistribution(D.Normal(m, s), [D.TanhTransform()]), [REAL, POSITIVE], [0.1, 0.5], True,
    ),
}  # fmt: skip
WITHOUT_KL = {"Gumbel", "Multinomial", "StudentT", "TransformedDistribution"}


def check_gradient(function: Callable[..., Any], arrays: list[Any], tolerance: float = 2e-5) -> None:
    """First derivatives in all arguments against central differences, and second ones against differences of them."""
    inputs = [paddle.to_tensor(np.asarray(a, "float64"), stop_gradient=False) for a in arrays]

    def slopes(values: list[Any], create_graph: bool = False) -> list[Any]:
        return paddle.grad([function(*values).sum()], values, create_graph=create_graph, allow_unused=True)

    found = slopes(inputs, create_graph=True)
    step = 1e-5
    for position, array in enumerate(arrays):
        base = np.asarray(array, "float64")
        for index in np.ndindex(base.shape):
            if len(base.shape) == 2 and index[0] < index[1]:
                continue  # above the diagonal of a triangular matrix
            ends = []
            for sign in (1, -1):
                moved = base.copy()
                moved[index] += sign * step
                others = [paddle.to_tensor(np.asarray(a, "float64")) for a in arrays]
                others[position] = paddle.to_tensor(moved)
                ends.append(float(function(*others).sum().item()))
            difference = (ends[0] - ends[1]) / (2 * step)
            assert found[position].numpy()[index] == pytest.approx(difference, rel=tolerance, abs=tolerance)
    # Second order: along the direction of ones, in the first argument.
    first = found[0].sum()
    if not first.stop_gradient:
        (second,) = paddle.grad([first], [inputs[0]], allow_unused=True)
        ends = []
        for sign in (1, -1):
            moved = [paddle.to_tensor(np.asarray(a, "float64"), stop_gradient=False) for a in arrays]
            moved[0] = paddle.to_tensor(np.asarray(arrays[0], "float64") + sign * step, stop_gradient=False)
            ends.append(float(slopes(moved)[0].sum().item()))
        difference = (ends[0] - ends[1]) / (2 * step)
        total = 0.0 if second is None else second.sum().item()
        assert total == pytest.approx(difference, rel=2e-3, abs=2e-4)


@pytest.mark.parametrize("name", CASES)
def test_log_prob(name: str) -> None:
    make, parameters, value, _ = CASES[name]
    if name == "Categorical":
        check_gradient(lambda p: make(p).log_prob(paddle.to_tensor([2, 0])), parameters)
    else:
        point = paddle.to_tensor(np.asarray(value, "float64"))
        check_gradient(lambda *p: make(*p).log_prob(point), parameters)


@pytest.mark.parametrize("name", [n for n in CASES if n not in {"TransformedDistribution"}])
def test_entropy(name: str) -> None:
    make, parameters, _, _ = CASES[name]
    if name in ("Normal", "Cauchy", "Laplace", "Gumbel", "Independent"):  # of the scale alone
        check_gradient(lambda s: make(paddle.zeros([2], "float64"), s).entropy(), [POSITIVE])
    elif name == "MultivariateNormal":
        check_gradient(lambda s: make(paddle.zeros([2], "float64"), s).entropy(), [MATRIX])
    elif name == "StudentT":
        zero = paddle.zeros([2], "float64")
        check_gradient(lambda df, s: D.StudentT(df, zero, s).entropy(), [parameters[0], POSITIVE])
    else:
        check_gradient(lambda *p: make(*p).entropy(), parameters)


@pytest.mark.parametrize("name", [n for n in CASES if n not in WITHOUT_KL])
def test_divergence(name: str) -> None:
    make, parameters, _, _ = CASES[name]
    other = [np.asarray(p, "float64") * 0.9 + 0.02 for p in parameters]
    if name == "Uniform":
        other = [np.array([-2.0, -2.0]), np.array([4.0, 4.0])]
    if name == "MultivariateNormal":
        other[1] = np.tril(other[1])
    q = make(*(paddle.to_tensor(o) for o in other))
    check_gradient(lambda *p: D.kl_divergence(make(*p), q), parameters)


@pytest.mark.parametrize("name", [n for n, case in CASES.items() if case[3]])
def test_rsample(name: str) -> None:
    """With the seed held fixed a sample is a smooth function of the parameters. Drawing a gamma number is not (its
    attempts are refused or not), so what is built on it has tests of its own below."""
    make, parameters, _, _ = CASES[name]
    if name in ("Beta", "Dirichlet", "Gamma", "StudentT"):
        d = make(*(paddle.to_tensor(np.asarray(p, "float64"), stop_gradient=False) for p in parameters))
        assert not d.rsample([3]).stop_gradient
        return

    def drawn(*values: Any) -> Any:
        paddle.seed(3)
        return make(*values).rsample([3])

    check_gradient(drawn, parameters)


@pytest.mark.parametrize("make", [
    lambda x: D.Gamma(x, paddle.full([], 2.0, "float64")),
    lambda x: D.Beta(x, paddle.full([], 2.0, "float64")),
    lambda x: D.Dirichlet(paddle.stack([x, x * 0.0 + 2.0])),
    lambda x: D.StudentT(x, 0.0, 1.0),
])  # fmt: skip
def test_implicit_gradients_move_the_mean(make: Any) -> None:
    """The mean over samples of d f(sample) / d x is the derivative of the mean of f, known from the density."""
    value = 1.7
    x = paddle.to_tensor(value, "float64", stop_gradient=False)
    drawn = make(x).rsample([60000])

    def f(y: Any) -> Any:
        y = y[..., 0] if y.ndim > 1 else y
        return paddle.sin(y) if y.ndim else y

    (slope,) = paddle.grad([f(drawn).mean()], [x])

    families = {
        "Gamma": lambda a: stats.gamma(a, scale=0.5), "Beta": lambda a: stats.beta(a, 2.0),
        "Dirichlet": lambda a: stats.beta(a, 2.0), "StudentT": stats.t,
    }  # fmt: skip
    family = families[type(make(x)).__name__]

    def mean(a: float) -> float:
        frozen = family(a)
        low, high = frozen.ppf([1e-10, 1 - 1e-10])
        return integrate.quad(lambda y: np.sin(y) * frozen.pdf(y), low, high, limit=200)[0]

    if type(make(x)).__name__ == "StudentT":
        # The sine is odd: its mean is 0 whatever df is.
        assert slope.item() == pytest.approx(0.0, abs=0.02)
        return
    expected = (mean(value + 1e-3) - mean(value - 1e-3)) / 2e-3
    assert slope.item() == pytest.approx(expected, abs=0.01)


def test_a_step_compiles_and_agrees_with_immediate_mode() -> None:
    def step(number: int) -> tuple[np.ndarray, np.ndarray]:
        paddle.seed(number)
        x = paddle.to_tensor([0.3, 1.2], stop_gradient=False)
        p = D.Normal(x, paddle.exp(x))
        q = D.Normal(paddle.zeros([2]), paddle.ones([2]))
        loss = (p.log_prob(p.rsample([5])) - q.log_prob(p.rsample([5]))).mean() + D.kl_divergence(p, q).sum()
        loss = loss + D.Gamma(paddle.exp(x), paddle.ones([2])).rsample([5]).mean()
        loss.backward()
        return loss.numpy(), x.grad.numpy()

    compiled = [step(n % 2) for n in range(6)]
    paddle.set_flags({"FLAGS_eager_mode": "immediate"})
    try:
        expected = [step(n) for n in range(2)]
    finally:
        paddle.set_flags({"FLAGS_eager_mode": "auto"})
    for number, (loss, grad) in enumerate(compiled):
        np.testing.assert_allclose(loss, expected[number % 2][0], rtol=1e-4)
        np.testing.assert_allclose(grad, expected[number % 2][1], rtol=1e-3, atol=1e-5)
