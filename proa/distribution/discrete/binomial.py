"""The binomial distribution: successes in a number of trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import type_error
from ...eager.annotations import Number
from ..arguments import broadcast, common_shape, tensors
from ..distribution import Distribution, without_gradient
from ..functions import choose, paddle
from .bernoulli import clip_probability

if TYPE_CHECKING:
    from ...eager.tensor import Tensor


class Binomial(Distribution):
    """The number of successes in `total_count` trials.

    Args:
        total_count: the number of trials: an integer or a tensor.
        probs: the probability of success.

    Raises:
        TypeError: `total_count` is a float.

    Examples:
        >>> binomial = paddle.distribution.Binomial(4, 0.5)
        >>> binomial.mean.item(), binomial.variance.item()
        (2.0, 1.0)
        >>> binomial.prob(paddle.to_tensor([0.0, 2.0])).numpy().round(4).tolist()
        [0.0625, 0.375]
    """

    probs: Any  # a parameter here, not the older name of prob()

    def __init__(self, total_count: int | Tensor, probs: Number) -> None:
        if isinstance(total_count, float):
            raise type_error("Binomial", "total_count must be an integer or a Tensor", f"total_count: {total_count}")
        count, probability = tensors("Binomial", lists=False, total_count=_floating(total_count), probs=probs)
        shape = common_shape("Binomial", count, probability)
        self.total_count = broadcast(count, shape)
        self.probs = broadcast(probability, shape)
        super().__init__(shape)

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.Binomial(4, 0.5).mean.numpy().round(4))
            2.0
        """
        return self.total_count * self.probs

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.Binomial(4, 0.5).variance.numpy().round(4))
            1.0
        """
        return self.total_count * self.probs * (1.0 - self.probs)

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Binomial(4, 0.5).sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        extended = self._extend_shape(shape)
        drawn = paddle.binomial(broadcast(self.total_count, extended), broadcast(self.probs, extended))
        return without_gradient(paddle.cast(drawn, self.total_count.dtype))

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the probability of a value.

        Args:
            value: the value.

        Examples:
            >>> print(paddle.distribution.Binomial(4, 0.5).log_prob(paddle.to_tensor(2.0)).numpy().round(4))
            -0.9808
        """
        return self._log_prob(self._value(value, self.total_count))

    def _log_prob(self, value: Any) -> Any:
        possible = paddle.logical_and(value >= 0.0, value <= self.total_count)
        count = paddle.ones_like(value) * self.total_count
        value = paddle.where(possible, value + paddle.zeros_like(count), paddle.zeros_like(count))
        probability = clip_probability(self.probs)
        ways = paddle.lgamma(count + 1.0) - paddle.lgamma(value + 1.0) - paddle.lgamma(count - value + 1.0)
        result = ways + value * paddle.log(probability) + (count - value) * paddle.log1p(-probability)
        return choose(possible, result, -float("inf"))

    def _support(self, rank: int) -> Any:
        """All counts along a new first dimension before `rank` others; how many there are is read from
        `total_count`."""
        most = int(np.max(np.asarray(self.total_count.numpy()), initial=0))
        counts = paddle.arange(most + 1, dtype=self.total_count.dtype)
        return counts.reshape([most + 1] + [1] * rank)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`, summed over all counts, so that `total_count` is read.

        Examples:
            >>> print(paddle.distribution.Binomial(4, 0.5).entropy().numpy().round(4))
            1.4075
        """
        log_probability = self._log_prob(self._support(len(self._batch_shape)))
        return -paddle.sum(
            paddle.exp(log_probability) * choose(log_probability > -float("inf"), log_probability, 0.0), axis=0
        )


def _floating(count: Any) -> Any:
    return float(count) if isinstance(count, (int, np.integer)) else count
