"""`kl_divergence` and `register_kl`: the table of rules, and the rules for the distributions here.

A rule is found by the classes of both distributions; one for a subclass goes before one for its base.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.errors import message, type_error, value_error
from .continuous.beta import Beta
from .continuous.cauchy import Cauchy
from .continuous.continuous_bernoulli import ContinuousBernoulli
from .continuous.dirichlet import Dirichlet
from .continuous.exponential import Exponential
from .continuous.gamma import Gamma
from .continuous.laplace import Laplace
from .continuous.lognormal import LogNormal
from .continuous.multivariate_normal import MultivariateNormal
from .continuous.normal import Normal
from .continuous.uniform import Uniform
from .discrete.bernoulli import Bernoulli
from .discrete.binomial import Binomial
from .discrete.categorical import Categorical
from .discrete.geometric import Geometric
from .discrete.poisson import Poisson
from .distribution import Distribution
from .exponential_family import ExponentialFamily
from .functions import choose, log_beta, paddle, softplus, sum_rightmost, times_log
from .independent import Independent

__all__ = ["kl_divergence", "register_kl"]

Rule = Callable[[Any, Any], Any]
_RULES: dict[tuple[type, type], Rule] = {}


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The Kullback-Leibler divergence: the expected value under `p` of log(p(x) / q(x)).

    Args:
        p: a distribution.
        q: another.

    Raises:
        NotImplementedError: there is no rule for the two.

    Examples:
        >>> p, q = paddle.distribution.Normal(0.0, 1.0), paddle.distribution.Normal(1.0, 1.0)
        >>> round(paddle.distribution.kl_divergence(p, q).item(), 4)
        0.5
    """
    rule = divergence_rule(type(p), type(q))
    if rule is None:
        raise NotImplementedError(
            message(
                "kl_divergence",
                "there is no rule for these distributions",
                f"p: {type(p).__name__}, q: {type(q).__name__}",
                "define one with register_kl()",
            )
        )
    return rule(p, q)


def register_kl(cls_p: type, cls_q: type) -> Callable[[Rule], Rule]:
    """Makes the decorated function `f(p, q)` the divergence between distributions of two classes.

    A rule for a subclass goes before one for its base.

    Args:
        cls_p: the class of the first.
        cls_q: the class of the second.

    Raises:
        TypeError: one is no class of distributions.

    Examples:
        >>> class Point(paddle.distribution.Distribution):
        ...     pass
        >>> @paddle.distribution.register_kl(Point, Point)
        ... def _(p, q):
        ...     return 0.0
        >>> paddle.distribution.kl_divergence(Point(), Point())
        0.0
    """
    for name, given in (("cls_p", cls_p), ("cls_q", cls_q)):
        if not (isinstance(given, type) and issubclass(given, Distribution)):
            raise type_error("register_kl", f"{name} must be a subclass of Distribution", f"{name}: {given!r}")

    def declare(function: Rule) -> Rule:
        _RULES[cls_p, cls_q] = function
        divergence_rule.cache_clear()
        return function

    return declare


@functools.lru_cache(maxsize=1024)
def divergence_rule(cls_p: type, cls_q: type) -> Rule | None:
    """The rule for two classes: the one whose classes are nearest to them; None if there is none.

    Args:
        cls_p: the class of the first.
        cls_q: the class of the second.

    Examples:
        >>> from proa.distribution.kl import divergence_rule
        >>> divergence_rule(paddle.distribution.Normal, paddle.distribution.Uniform) is None
        True
    """
    best: tuple[int, Rule] | None = None
    for (rule_p, rule_q), rule in _RULES.items():
        if issubclass(cls_p, rule_p) and issubclass(cls_q, rule_q):
            distance = cls_p.__mro__.index(rule_p) + cls_q.__mro__.index(rule_q)
            if best is None or distance < best[0]:
                best = (distance, rule)
    if best is None or (best[1] is _exponential_families and cls_p is not cls_q):
        return None
    return best[1]


def _same_batch(p: Distribution, q: Distribution) -> None:
    if p.batch_shape != q.batch_shape:
        raise value_error(
            "kl_divergence",
            f"two {type(p).__name__} distributions must have the same batch_shape",
            f"p: {list(p.batch_shape)}, q: {list(q.batch_shape)}",
        )


# ---- the rules -------------------------------------------------------------------------------------------------------


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_families(p: ExponentialFamily, q: ExponentialFamily) -> Any:
    """The Bregman divergence of the log normalizer, for two distributions of one class."""
    etas, value, gradients = p._normalizer_gradients()
    others = q._natural_parameters
    result = q._log_normalizer(*others) - value
    for eta, gradient, other in zip(etas, gradients, others):
        result = result - sum_rightmost((other - eta) * gradient, len(p.event_shape))
    return result


@register_kl(Normal, Normal)
def _normals(p: Normal, q: Normal) -> Any:
    if p._is_complex != q._is_complex:
        raise value_error("kl_divergence", "a real and a complex normal distribution have no divergence")
    difference = p.loc - q.loc
    if p._is_complex:
        squared = paddle.square(paddle.abs(difference))
    else:
        squared = paddle.square(difference)
    ratio = paddle.square(p.scale / q.scale)
    result = 0.5 * (ratio + squared / paddle.square(q.scale) - 1.0 - paddle.log(ratio))
    if not p._is_complex:
        return result
    return result * 2.0


@register_kl(LogNormal, LogNormal)
def _log_normals(p: LogNormal, q: LogNormal) -> Any:
    return _normals(p._base, q._base)


@register_kl(Uniform, Uniform)
def _uniforms(p: Uniform, q: Uniform) -> Any:
    result = paddle.log((q.high - q.low) / (p.high - p.low))
    inside = paddle.logical_and(q.low <= p.low, p.high <= q.high)
    return choose(inside, result, float("inf"))


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Bernoulli, q: Bernoulli) -> Any:
    probability = p._clipped
    return probability * (p.logits - q.logits) + softplus(q.logits) - softplus(p.logits)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoullis(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Any:
    _same_batch(p, q)
    return -p.entropy() - (p.mean * q._log_odds + paddle.log1p(-q.probs) + q._log_normalizer())


@register_kl(Geometric, Geometric)
def _geometrics(p: Geometric, q: Geometric) -> Any:
    failures = p._failures
    return (
        paddle.log(p.probs)
        - paddle.log(q.probs)
        + (times_log(failures, 1.0 - p.probs) - times_log(failures, 1.0 - q.probs))
    )


@register_kl(Binomial, Binomial)
def _binomials(p: Binomial, q: Binomial) -> Any:
    counts = p._support(max(len(p.batch_shape), len(q.batch_shape)))
    log_p, log_q = p._log_prob(counts), q._log_prob(counts)
    possible = log_p > float("-inf")
    difference = choose(possible, log_p, 0.0) - choose(possible, log_q, 0.0)
    return paddle.sum(paddle.exp(log_p) * difference, axis=0)


@register_kl(Categorical, Categorical)
def _categoricals(p: Categorical, q: Categorical) -> Any:
    log_p, log_q = p._log_softmax(), q._log_softmax()
    return paddle.sum(paddle.exp(log_p) * (log_p - log_q), axis=-1, keepdim=True)


@register_kl(Poisson, Poisson)
def _poissons(p: Poisson, q: Poisson) -> Any:
    _same_batch(p, q)
    return times_log(p.rate, p.rate) - times_log(p.rate, q.rate) - p.rate + q.rate


@register_kl(Exponential, Exponential)
def _exponentials(p: Exponential, q: Exponential) -> Any:
    ratio = q.rate / p.rate
    return ratio - paddle.log(ratio) - 1.0


@register_kl(Gamma, Gamma)
def _gammas(p: Gamma, q: Gamma) -> Any:
    return (
        (p.concentration - q.concentration) * paddle.digamma(p.concentration)
        - paddle.lgamma(p.concentration)
        + paddle.lgamma(q.concentration)
        + q.concentration * (paddle.log(p.rate) - paddle.log(q.rate))
        + p.concentration * (q.rate / p.rate - 1.0)
    )


@register_kl(Beta, Beta)
def _betas(p: Beta, q: Beta) -> Any:
    return (
        log_beta(q.alpha, q.beta)
        - log_beta(p.alpha, p.beta)
        + (p.alpha - q.alpha) * paddle.digamma(p.alpha)
        + (p.beta - q.beta) * paddle.digamma(p.beta)
        + (q.alpha + q.beta - p.alpha - p.beta) * paddle.digamma(p.alpha + p.beta)
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlets(p: Dirichlet, q: Dirichlet) -> Any:
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    mean_log = paddle.digamma(p.concentration) - paddle.digamma(total_p).unsqueeze(-1)
    return (
        paddle.lgamma(total_p)
        - paddle.lgamma(total_q)
        + (paddle.lgamma(q.concentration) - paddle.lgamma(p.concentration)).sum(-1)
        + ((p.concentration - q.concentration) * mean_log).sum(-1)
    )


@register_kl(Laplace, Laplace)
def _laplaces(p: Laplace, q: Laplace) -> Any:
    distance = paddle.abs(p.loc - q.loc)
    return (
        paddle.log(q.scale)
        - paddle.log(p.scale)
        + (distance + p.scale * paddle.exp(-distance / p.scale)) / q.scale
        - 1.0
    )


@register_kl(Cauchy, Cauchy)
def _cauchys(p: Cauchy, q: Cauchy) -> Any:
    above = paddle.square(p.scale + q.scale) + paddle.square(p.loc - q.loc)
    return paddle.log(above / (4.0 * p.scale * q.scale))


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normals(p: MultivariateNormal, q: MultivariateNormal) -> Any:
    return p._divergence_from(q)


@register_kl(Independent, Independent)
def _independents(p: Independent, q: Independent) -> Any:
    if p.event_shape != q.event_shape:
        raise value_error(
            "kl_divergence", "the distributions must have the same event_shape",
            f"p: {list(p.event_shape)}, q: {list(q.event_shape)}",
        )  # fmt: skip
    return sum_rightmost(kl_divergence(p._base, q._base), p._reinterpreted_batch_rank)
