"""The geometric distribution: failures before the first success."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arguments import tensors
from ..distribution import Distribution, without_gradient
from ..functions import choose, paddle, times_log
from ..noise import standard_uniform


class Geometric(Distribution):
    """0, 1, 2, …, where each trial succeeds with probability `probs`."""

    probs: Any  # a parameter here, not the older name of prob()

    def __init__(self, probs: Any) -> None:
        (self.probs,) = tensors("Geometric", lists=False, probs=probs)
        super().__init__(tuple(self.probs.shape))

    @property
    def _failures(self) -> Any:
        return (1.0 - self.probs) / self.probs

    @property
    def mean(self) -> Any:
        return self._failures

    @property
    def variance(self) -> Any:
        return self._failures / self.probs

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return paddle.sqrt(self.variance)

    def sample(self, shape: Sequence[int] = []) -> Any:
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Like `sample`; a whole number has the gradient 0."""
        fraction = standard_uniform(self._extend_shape(shape), self.probs._aval.dtype)
        return paddle.floor(paddle.log(fraction) / paddle.log1p(-self.probs))

    def log_pmf(self, k: Any) -> Any:
        """The logarithm of the probability of `k` failures."""
        k = self._value(k, self.probs)
        result = times_log(k, 1.0 - self.probs) + paddle.log(self.probs)
        return choose(k >= 0.0, result, -float("inf"))

    def pmf(self, k: Any) -> Any:
        """The probability of `k` failures."""
        return paddle.exp(self.log_pmf(k))

    def log_prob(self, value: Any) -> Any:
        return self.log_pmf(value)

    def cdf(self, k: Any) -> Any:
        """The probability of at most `k` failures."""
        k = self._value(k, self.probs)
        return choose(k >= 0.0, -paddle.expm1((k + 1.0) * paddle.log1p(-self.probs)), 0.0)

    def entropy(self) -> Any:
        return -times_log(self._failures, 1.0 - self.probs) - paddle.log(self.probs)
