"""`paddle.distribution`: probability distributions, transforms, divergences.

`distribution.py` says what a distribution is. To add one: a file of its own in
`discrete/` or `continuous/`, with parameters made
by `arguments.tensors`, numbers from `noise` or a sampling function, formulas in public tensor
functions; a rule in `kl.py`; its name below. Nothing here looks at the values of tensors, except
where a docstring says so.

Files are imported when a name of theirs is first used: there are many, and most programs use none.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "discrete.bernoulli": "Bernoulli",
    "continuous.beta": "Beta",
    "discrete.binomial": "Binomial",
    "discrete.categorical": "Categorical",
    "continuous.cauchy": "Cauchy",
    "continuous.chi2": "Chi2",
    "constraint": "",
    "continuous.continuous_bernoulli": "ContinuousBernoulli",
    "continuous.dirichlet": "Dirichlet",
    "distribution": "Distribution",
    "continuous.exponential": "Exponential",
    "exponential_family": "ExponentialFamily",
    "continuous.gamma": "Gamma",
    "discrete.geometric": "Geometric",
    "continuous.gumbel": "Gumbel",
    "independent": "Independent",
    "kl": "kl_divergence register_kl",
    "continuous.laplace": "Laplace",
    "continuous.lkj_cholesky": "LKJCholesky",
    "continuous.lognormal": "LogNormal",
    "discrete.multinomial": "Multinomial",
    "continuous.multivariate_normal": "MultivariateNormal",
    "continuous.normal": "Normal",
    "discrete.poisson": "Poisson",
    "continuous.student_t": "StudentT",
    "transform": (
        "AbsTransform AffineTransform ChainTransform ExpTransform IndependentTransform PowerTransform ReshapeTransform "
        "SigmoidTransform SoftmaxTransform StackTransform StickBreakingTransform TanhTransform Transform"
    ),
    "transformed_distribution": "TransformedDistribution",
    "continuous.uniform": "Uniform",
    "variable": "",
}
_MODULES = {file.rpartition(".")[2]: file for file in _HOMES}
_FILES = {name: file for file, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_FILES)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    file = _FILES.get(name, _MODULES.get(name))
    if file is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f".{file}", __name__)
    value = globals()[name] = getattr(module, name) if name in _FILES else module
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_FILES, *_MODULES})
