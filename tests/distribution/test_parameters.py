"""What distributions accept and refuse (types of errors as observed in Paddle 3.3.1), and what the base lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle

D = paddle.distribution
T = paddle.to_tensor
EYE = T([[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda: D.Normal("a", 1.0), TypeError, "loc must be"),
    (lambda: D.Normal(None, 1.0), TypeError, "loc must be"),
    (lambda: D.Normal(T([0.0, 1.0]), 2.0), ValueError, "all of them must be"),
    (lambda: D.Uniform(T([0.0]), 1.0), ValueError, "all of them must be"),
    (lambda: D.LogNormal(T([0.0]), 1.0), ValueError, "all of them must be"),
    (lambda: D.Gamma(1.0, T(2.0)), ValueError, "all of them must be"),
    (lambda: D.Gamma(2, 3), TypeError, "concentration must be a float"),
    (lambda: D.Exponential(2), TypeError, "rate must be a float"),
    (lambda: D.Chi2(3), TypeError, "df must be a float"),
    (lambda: D.Bernoulli(1), TypeError, "probs must be a float"),
    (lambda: D.StudentT(5, 0.0, 1.0), TypeError, "df must be a float"),
    (lambda: D.Cauchy([1.0], 1.0), TypeError, "loc must be a number or a Tensor"),
    (lambda: D.Laplace(np.array([1.0]), 1.0), TypeError, "loc must be a number or a Tensor"),
    (lambda: D.Gumbel("a", 1.0), TypeError, "loc must be"),
    (lambda: D.Geometric([0.5]), TypeError, "probs must be"),
    (lambda: D.Beta("a", 2.0), TypeError, "alpha must be"),
    (lambda: D.Chi2(-1.0), ValueError, "df must be positive"),
    (lambda: D.Chi2(T([1.0, float("nan")])), ValueError, "df must be positive"),
    (lambda: D.StudentT(-1.0, 0.0, 1.0), ValueError, "df must not be negative"),
    (lambda: D.StudentT(1.0, 0.0, -1.0), ValueError, "scale must not be negative"),
    (lambda: D.Dirichlet(T(1.0)), ValueError, "at least one dimension"),
    (lambda: D.Dirichlet([1.0, 2.0]), TypeError, "must be a Tensor"),
    (lambda: D.Multinomial(0, T([0.5, 0.5])), ValueError, "positive integer"),
    (lambda: D.Multinomial(1.5, T([0.5, 0.5])), ValueError, "positive integer"),
    (lambda: D.Multinomial(3, T(0.5)), ValueError, "at least one dimension"),
    (lambda: D.Multinomial(3, [0.5, 0.5]), TypeError, "must be a Tensor"),
    (lambda: D.Binomial(5.5, 0.5), TypeError, "total_count must be an integer"),
    (lambda: D.Categorical(1.0), ValueError, "at least one dimension"),
    (lambda: D.ContinuousBernoulli(0.5, (0.6, 0.4)), ValueError, "lims must be"),
    (lambda: D.MultivariateNormal(T([0.0, 0.0])), ValueError, "exactly one of"),
    (lambda: D.MultivariateNormal(T([0.0, 0.0]), EYE, EYE), ValueError, "exactly one of"),
    (lambda: D.MultivariateNormal(T([0.0, 0.0]), T([1.0, 2.0])), ValueError, "must be a square matrix"),
    (lambda: D.MultivariateNormal(T([0.0, 0.0, 0.0]), EYE), ValueError, "loc must have 2 entries"),
    (lambda: D.MultivariateNormal(T([0.0, 0.0]), [[1.0, 0.0], [0.0, 1.0]]), TypeError, "must be a Tensor"),
    (lambda: D.LKJCholesky(1), ValueError, "at least 2"),
    (lambda: D.LKJCholesky(2.5), TypeError, "dim must be an integer"),
    (lambda: D.LKJCholesky(3, 0.0), ValueError, "concentration must be positive"),
    (lambda: D.LKJCholesky(3, 1), TypeError, "concentration must be a float"),
    (lambda: D.LKJCholesky(3, 1.0, "foo"), ValueError, "'onion' or 'cvine'"),
    (lambda: D.LKJCholesky(3).log_prob(T([[1.0, 0.0], [0.0, 1.0]])), ValueError, "3 rows and columns"),
    (lambda: D.Independent("a", 1), TypeError, "base must be a Distribution"),
    (lambda: D.Independent(D.Normal([0.0], [1.0]), 0), ValueError, "from 1 to 1"),
    (lambda: D.Independent(D.Normal([0.0], [1.0]), 2), ValueError, "from 1 to 1"),
    (lambda: D.Normal(T([0.0, 1.0]), T([1.0, 1.0, 1.0])), ValueError, "cannot be broadcast"),
    (lambda: D.Normal(0.0, 1.0).log_prob("a"), TypeError, "must be a Tensor or a number"),
])  # fmt: skip
def test_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        make()
    assert str(caught.value).startswith("(")
    assert str(caught.value).endswith(".")


def test_a_matrix_that_is_not_positive_definite() -> None:
    with pytest.raises(ValueError):
        D.MultivariateNormal(T([0.0, 0.0]), T([[1.0, 2.0], [2.0, 1.0]])).entropy().numpy()


@pytest.mark.parametrize(("given", "dtype"), [
    (0.5, "float32"), (1, "float32"), ([0.5, 1.0], "float32"), (np.array([0.5, 1.0]), "float64"),
    (np.array([1, 2]), "float32"), (np.float32(0.5), "float32"), ((0.5, 1.0), "float32"),
])  # fmt: skip
def test_types_of_parameters(given: Any, dtype: str) -> None:
    d = D.Normal(given, given)
    assert str(d.loc.dtype) == f"paddle.{dtype}"
    assert str(d.sample().dtype) == f"paddle.{dtype}"
    assert d.batch_shape == np.shape(given)


def test_tensors_of_two_types_meet_in_the_wider() -> None:
    d = D.Laplace(T([0.5, 1.0], "float64"), 1.0)
    assert d.scale.dtype == paddle.float64
    assert D.Normal(T([1.0], "float64"), T([1.0])).entropy().dtype == paddle.float64
    half = D.Normal(T([0.0], "bfloat16"), T([1.0], "bfloat16"))
    assert half.rsample([2]).dtype == paddle.bfloat16


def test_parameters_are_the_tensors_given() -> None:
    x = T([0.3, 0.6], stop_gradient=False)
    assert D.Normal(x, x).loc is x
    assert D.Gamma(x, x).rate is x
    assert D.Bernoulli(x).probs is x


def test_names() -> None:
    assert D.Normal(0.0, 1.0).name == "Normal"
    assert D.Normal(0.0, 1.0, name="q").name == "q"
    assert D.Uniform(0.0, 1.0).name == "Uniform"
    assert D.Categorical([1.0]).name == "Categorical"


def test_the_base_has_nothing() -> None:
    d = D.Distribution([2], [3])
    assert d.batch_shape == (2,)
    assert d.event_shape == (3,)
    for ask in (
        lambda: d.mean, lambda: d.variance, d.sample, d.rsample, d.entropy, lambda: d.log_prob(T(1.0)),
        lambda: d.prob(T(1.0)), lambda: d.probs(T(1.0)), lambda: d.kl_divergence(d),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match="does not have"):
            ask()
    with pytest.raises(TypeError):
        D.Distribution(1)


def test_every_name_is_there() -> None:
    for name in dir(D):
        if not name.startswith("_"):
            assert getattr(D, name) is not None
    assert "Normal" in dir(D)
    assert D.transform.ExpTransform is D.ExpTransform
    assert D.kl.register_kl is D.register_kl
    with pytest.raises(AttributeError, match="no attribute 'Foo'"):
        D.Foo  # noqa: B018
