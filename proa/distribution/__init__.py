"""`paddle.distribution`: probability distributions, transforms, divergences.

`distribution.py` says what a distribution is. To add one: a file of its own, with parameters made
by `arguments.tensors`, numbers from `noise` or a sampling function, formulas in public tensor
functions; a rule in `kl.py`; its name below. Nothing here looks at the values of tensors, except
where a docstring says so.

Files are imported when a name of theirs is first used: there are many, and most programs use none.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "bernoulli": "Bernoulli",
    "beta": "Beta",
    "binomial": "Binomial",
    "categorical": "Categorical",
    "cauchy": "Cauchy",
    "chi2": "Chi2",
    "constraint": "",
    "continuous_bernoulli": "ContinuousBernoulli",
    "dirichlet": "Dirichlet",
    "distribution": "Distribution",
    "exponential": "Exponential",
    "exponential_family": "ExponentialFamily",
    "gamma": "Gamma",
    "geometric": "Geometric",
    "gumbel": "Gumbel",
    "independent": "Independent",
    "kl": "kl_divergence register_kl",
    "laplace": "Laplace",
    "lkj_cholesky": "LKJCholesky",
    "lognormal": "LogNormal",
    "multinomial": "Multinomial",
    "multivariate_normal": "MultivariateNormal",
    "normal": "Normal",
    "poisson": "Poisson",
    "student_t": "StudentT",
    "transform": (
        "AbsTransform AffineTransform ChainTransform ExpTransform IndependentTransform PowerTransform ReshapeTransform "
        "SigmoidTransform SoftmaxTransform StackTransform StickBreakingTransform TanhTransform Transform"
    ),
    "transformed_distribution": "TransformedDistribution",
    "uniform": "Uniform",
    "variable": "",
}
_FILES = {name: file for file, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_FILES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    file = _FILES.get(name, name if name in _HOMES else None)
    if file is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f".{file}", __name__)
    value = globals()[name] = module if file == name else getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_FILES, *_HOMES})
