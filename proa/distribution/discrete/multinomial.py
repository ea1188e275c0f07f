"""The multinomial distribution: how often each class occurs in a number of draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor
from ..arguments import tensors
from ..distribution import Distribution, without_gradient
from ..functions import functional, paddle, times_log


class Multinomial(Distribution):
    """Counts of `total_count` draws with the weights `probs` (divided by their sum, over the last dimension)."""

    probs: Any  # a parameter here, not the older name of prob()

    def __init__(self, total_count: int, probs: Any) -> None:
        if isinstance(total_count, bool) or not isinstance(total_count, (int, np.integer)) or total_count < 1:
            raise value_error("Multinomial", "total_count must be a positive integer", f"total_count: {total_count!r}")
        if not isinstance(probs, Tensor):
            raise type_error("Multinomial", "probs must be a Tensor", f"probs: {type(probs).__name__}")
        if not probs.ndim:
            raise value_error("Multinomial", "probs must have at least one dimension", f"probs: {probs._aval}")
        (weights,) = tensors("Multinomial", probs=probs)
        self.probs = weights / weights.sum(-1, keepdim=True)
        self.total_count = int(total_count)
        super().__init__(tuple(weights.shape)[:-1], tuple(weights.shape)[-1:])

    @property
    def mean(self) -> Any:
        return self.probs * float(self.total_count)

    @property
    def variance(self) -> Any:
        return float(self.total_count) * self.probs * (1.0 - self.probs)

    def sample(self, shape: Sequence[int] = []) -> Any:
        extended = self._extend_shape(shape)
        classes = self._event_shape[0]
        if not math.prod(extended):
            return paddle.zeros(list(extended), dtype=self.probs.dtype)
        rows = self.probs.reshape([-1, classes])
        times = math.prod(extended) // (rows.shape[0] * classes)
        drawn = paddle.multinomial(rows, times * self.total_count, True)
        drawn = drawn.reshape([rows.shape[0], times, self.total_count])
        counts = functional.one_hot(drawn, classes).sum(2).transpose([1, 0, 2])
        return without_gradient(paddle.cast(counts, self.probs.dtype).reshape(list(extended)))

    def log_prob(self, value: Any) -> Any:
        value = self._value(value, self.probs)
        ways = paddle.lgamma(value.sum(-1) + 1.0) - paddle.lgamma(value + 1.0).sum(-1)
        return ways + times_log(value, self.probs).sum(-1)

    def entropy(self) -> Any:
        """Exact: the expected logarithm of k! of each class is a sum over its binomial distribution."""
        count = float(self.total_count)
        size = self.total_count + 1
        k = paddle.arange(size, dtype=self.probs.dtype).reshape([-1] + [1] * self.probs.ndim)
        chance = self.probs
        ways = math.lgamma(count + 1.0) - paddle.lgamma(k + 1.0) - paddle.lgamma(count - k + 1.0)
        binomial = paddle.exp(ways + times_log(k, chance) + times_log(count - k, 1.0 - chance))
        expected = (binomial * paddle.lgamma(k + 1.0)).sum(0).sum(-1)
        return expected - count * times_log(chance, chance).sum(-1) - math.lgamma(count + 1.0)
