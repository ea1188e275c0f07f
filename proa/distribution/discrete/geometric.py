"""The geometric distribution: failures before the first success."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...eager.annotations import Number
from ..arguments import tensors
from ..distribution import Distribution, without_gradient
from ..functions import choose, paddle, times_log
from ..noise import standard_uniform


class Geometric(Distribution):
    """The number of failures before the first success: 0, 1, 2, …

    Args:
        probs: the probability of success.

    Examples:
        >>> geometric = paddle.distribution.Geometric(0.5)
        >>> geometric.mean.item(), geometric.pmf(paddle.to_tensor([0.0, 1.0, 2.0])).tolist()
        (1.0, [0.5, 0.25, 0.125])
    """

    probs: Any  # a parameter here, not the older name of prob()

    def __init__(self, probs: Number) -> None:
        (self.probs,) = tensors("Geometric", lists=False, probs=probs)
        super().__init__(tuple(self.probs.shape))

    @property
    def _failures(self) -> Any:
        return (1.0 - self.probs) / self.probs

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.Geometric(0.5).mean.numpy().round(4))
            1.0
        """
        return self._failures

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.Geometric(0.5).variance.numpy().round(4))
            2.0
        """
        return self._failures / self.probs

    @property
    def stddev(self) -> Any:
        """The root of the variance.

        Examples:
            >>> print(paddle.distribution.Geometric(0.5).stddev.numpy().round(4))
            1.4142
        """
        return paddle.sqrt(self.variance)

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Geometric(0.5).sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers, as `sample` does: a whole number has the gradient 0.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Geometric(0.5).rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        fraction = standard_uniform(self._extend_shape(shape), self.probs._aval.dtype)
        return paddle.floor(paddle.log(fraction) / paddle.log1p(-self.probs))

    def log_pmf(self, k: Number) -> Any:
        """The logarithm of the probability of `k` failures.

        Args:
            k: the number of failures.

        Examples:
            >>> print(paddle.distribution.Geometric(0.5).log_pmf(paddle.to_tensor(2.0)).numpy().round(4))
            -2.0794
        """
        k = self._value(k, self.probs)
        result = times_log(k, 1.0 - self.probs) + paddle.log(self.probs)
        return choose(k >= 0.0, result, -float("inf"))

    def pmf(self, k: Number) -> Any:
        """The probability of `k` failures.

        Args:
            k: the number of failures.

        Examples:
            >>> print(paddle.distribution.Geometric(0.5).pmf(paddle.to_tensor(2.0)).numpy().round(4))
            0.125
        """
        return paddle.exp(self.log_pmf(k))

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the probability of a value.

        Args:
            value: the value.

        Examples:
            >>> print(paddle.distribution.Geometric(0.5).log_prob(paddle.to_tensor(2.0)).numpy().round(4))
            -2.0794
        """
        return self.log_pmf(value)

    def cdf(self, k: Number) -> Any:
        """The probability of at most `k` failures.

        Args:
            k: the number of failures.

        Examples:
            >>> print(paddle.distribution.Geometric(0.5).cdf(paddle.to_tensor(2.0)).numpy().round(4))
            0.875
        """
        k = self._value(k, self.probs)
        return choose(k >= 0.0, -paddle.expm1((k + 1.0) * paddle.log1p(-self.probs)), 0.0)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.Geometric(0.5).entropy().numpy().round(4))
            1.3863
        """
        return -times_log(self._failures, 1.0 - self.probs) - paddle.log(self.probs)
