"""The Poisson distribution: a count of rare events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arguments import spread, tensors
from ..distribution import Distribution, without_gradient
from ..functions import paddle, times_log

# Up to this rate the entropy is summed, over counts that nothing noticeable lies beyond.
_SUMMED_RATE = 64.0
_SUMMED_COUNTS = 192


class Poisson(Distribution):
    """Counts with the mean `rate`."""

    def __init__(self, rate: Any) -> None:
        if isinstance(rate, (int, float, np.number)):
            rate = [float(rate)]  # a number gives a batch of one, as in Paddle
        (self.rate,) = tensors("Poisson", rate=rate)
        super().__init__(tuple(self.rate.shape))

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def variance(self) -> Any:
        return self.rate

    def sample(self, shape: Sequence[int] = []) -> Any:
        return without_gradient(paddle.poisson(spread(self.rate, self._extend_shape(shape))))

    def log_prob(self, value: Any) -> Any:
        value = self._value(value, self.rate)
        return times_log(value, self.rate) - self.rate - paddle.lgamma(value + 1.0)

    def entropy(self) -> Any:
        """A sum over counts for small rates, an expansion in 1 / rate for large ones."""
        is_small = self.rate <= _SUMMED_RATE
        limit = paddle.full_like(self.rate, _SUMMED_RATE)
        small, large = paddle.where(is_small, self.rate, limit), paddle.where(is_small, limit, self.rate)
        counts = paddle.arange(_SUMMED_COUNTS, dtype=self.rate.dtype).reshape([-1] + [1] * self.rate.ndim)
        log_chance = times_log(counts, small) - small - paddle.lgamma(counts + 1.0)
        summed = -(paddle.exp(log_chance) * log_chance).sum(0)
        inverse = 1.0 / large
        expansion = 0.5 * paddle.log(large) + 0.5 * math.log(2 * math.pi * math.e)
        expansion = expansion - inverse * (1 / 12 + inverse * (1 / 24 + inverse * (19 / 360)))
        # At rate 0 the only count is 0: log_chance is -inf elsewhere.
        summed = paddle.where(small > 0.0, summed, paddle.zeros_like(summed))
        return paddle.where(is_small, summed, expansion)
