"""The beta distribution on (0, 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arguments import common_shape, spread, tensors
from ..distribution import without_gradient
from ..exponential_family import ExponentialFamily
from ..functions import log_beta, paddle, times_log


class Beta(ExponentialFamily):
    """Density proportional to x^(alpha - 1) (1 - x)^(beta - 1)."""

    def __init__(self, alpha: Any, beta: Any) -> None:
        alpha, beta = tensors("Beta", lists=False, alpha=alpha, beta=beta)
        shape = common_shape("Beta", alpha, beta)
        self.alpha, self.beta = spread(alpha, shape), spread(beta, shape)
        super().__init__(shape)

    @property
    def mean(self) -> Any:
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Any:
        total = self.alpha + self.beta
        return self.alpha * self.beta / (paddle.square(total) * (total + 1.0))

    def sample(self, shape: Sequence[int] = []) -> Any:
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        extended = self._extend_shape(shape)
        successes = paddle.standard_gamma(spread(self.alpha, extended))
        failures = paddle.standard_gamma(spread(self.beta, extended))
        return successes / (successes + failures)

    def log_prob(self, value: Any) -> Any:
        value = self._value(value, self.alpha)
        powers = times_log(self.alpha - 1.0, value) + times_log(self.beta - 1.0, 1.0 - value)
        return powers - log_beta(self.alpha, self.beta)

    def entropy(self) -> Any:
        return (
            log_beta(self.alpha, self.beta)
            - (self.alpha - 1.0) * paddle.digamma(self.alpha)
            - (self.beta - 1.0) * paddle.digamma(self.beta)
            + (self.alpha + self.beta - 2.0) * paddle.digamma(self.alpha + self.beta)
        )

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return self.alpha, self.beta

    def _log_normalizer(self, *parameters: Any) -> Any:
        return log_beta(*parameters)
