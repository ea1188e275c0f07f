"""The Poisson distribution: a count of rare events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...eager.annotations import Number
from ..arguments import broadcast, tensors
from ..distribution import Distribution, without_gradient
from ..functions import paddle, times_log

# Up to this rate the entropy is summed, over counts that nothing noticeable lies beyond.
_SUMMED_RATE = 64.0
_SUMMED_COUNTS = 192


class Poisson(Distribution):
    """The number of rare events.

    Args:
        rate: the mean; one number gives a batch of one.

    Examples:
        >>> events = paddle.distribution.Poisson(paddle.to_tensor([3.0]))
        >>> events.mean.tolist(), events.variance.tolist()
        ([3.0], [3.0])
    """

    def __init__(self, rate: Number) -> None:
        # A number gives a batch of one, as in Paddle.
        batch = [float(rate)] if isinstance(rate, (int, float, np.number)) else rate
        (self.rate,) = tensors("Poisson", rate=batch)
        super().__init__(tuple(self.rate.shape))

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.Poisson(3.0).mean.numpy().round(4))
            [3.]
        """
        return self.rate

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.Poisson(3.0).variance.numpy().round(4))
            [3.]
        """
        return self.rate

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Poisson(3.0).sample([2, 3]).shape
            paddle.Size([2, 3, 1])
        """
        return without_gradient(paddle.poisson(broadcast(self.rate, self._extend_shape(shape))))

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the probability of a value.

        Args:
            value: the value.

        Examples:
            >>> print(paddle.distribution.Poisson(3.0).log_prob(paddle.to_tensor(2.0)).numpy().round(4))
            [-1.4959]
        """
        value = self._value(value, self.rate)
        return times_log(value, self.rate) - self.rate - paddle.lgamma(value + 1.0)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`: a sum over counts for small rates, an expansion in 1 / rate for large ones.

        Examples:
            >>> print(paddle.distribution.Poisson(3.0).entropy().numpy().round(4))
            [1.9315]
        """
        is_small = self.rate <= _SUMMED_RATE
        limit = paddle.full_like(self.rate, _SUMMED_RATE)
        small, large = paddle.where(is_small, self.rate, limit), paddle.where(is_small, limit, self.rate)
        counts = paddle.arange(_SUMMED_COUNTS, dtype=self.rate.dtype).reshape([-1] + [1] * self.rate.ndim)
        log_probability = times_log(counts, small) - small - paddle.lgamma(counts + 1.0)
        summed = -(paddle.exp(log_probability) * log_probability).sum(0)
        inverse = 1.0 / large
        expansion = 0.5 * paddle.log(large) + 0.5 * math.log(2 * math.pi * math.e)
        expansion = expansion - inverse * (1 / 12 + inverse * (1 / 24 + inverse * (19 / 360)))
        # At rate 0 the only count is 0: log_probability is -inf elsewhere.
        summed = paddle.where(small > 0.0, summed, paddle.zeros_like(summed))
        return paddle.where(is_small, summed, expansion)
