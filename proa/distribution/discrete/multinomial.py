"""The multinomial distribution: how often each class occurs in a number of draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.annotations import Number
from ...eager.tensor import Tensor
from ..arguments import tensors
from ..distribution import Distribution, without_gradient
from ..functions import functional, paddle, times_log


class Multinomial(Distribution):
    """How often each class occurs in `total_count` draws.

    Args:
        total_count: the number of draws.
        probs: a tensor of weights, with the classes along its last axis; they are divided by their sum.

    Raises:
        ValueError: `total_count` is no positive integer, or `probs` has no axis.
        TypeError: `probs` is no tensor.

    Examples:
        >>> counts = paddle.distribution.Multinomial(4, paddle.to_tensor([0.25, 0.75]))
        >>> counts.mean.tolist(), counts.sample().sum().item()
        ([1.0, 3.0], 4.0)
    """

    probs: Any  # a parameter here, not the older name of prob()

    def __init__(self, total_count: int, probs: Number) -> None:
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
        """The expected value.

        Examples:
            >>> law = paddle.distribution.Multinomial(4, paddle.to_tensor([0.25, 0.75]))
            >>> print(law.mean.numpy().round(4))
            [1. 3.]
        """
        return self.probs * float(self.total_count)

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> law = paddle.distribution.Multinomial(4, paddle.to_tensor([0.25, 0.75]))
            >>> print(law.variance.numpy().round(4))
            [0.75 0.75]
        """
        return float(self.total_count) * self.probs * (1.0 - self.probs)

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> law = paddle.distribution.Multinomial(4, paddle.to_tensor([0.25, 0.75]))
            >>> law.sample([5]).shape
            paddle.Size([5, 2])
        """
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

    def log_prob(self, value: Tensor) -> Any:
        """The logarithm of the probability of a value.

        Args:
            value: the value.

        Examples:
            >>> law = paddle.distribution.Multinomial(4, paddle.to_tensor([0.25, 0.75]))
            >>> print(law.log_prob(paddle.to_tensor([1.0, 3.0])).numpy().round(4))
            -0.863
        """
        value = self._value(value, self.probs)
        ways = paddle.lgamma(value.sum(-1) + 1.0) - paddle.lgamma(value + 1.0).sum(-1)
        return ways + times_log(value, self.probs).sum(-1)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> law = paddle.distribution.Multinomial(4, paddle.to_tensor([0.25, 0.75]))
            >>> print(law.entropy().numpy().round(4))
            1.2216
        """
        count = float(self.total_count)
        size = self.total_count + 1
        k = paddle.arange(size, dtype=self.probs.dtype).reshape([-1] + [1] * self.probs.ndim)
        probability = self.probs
        ways = math.lgamma(count + 1.0) - paddle.lgamma(k + 1.0) - paddle.lgamma(count - k + 1.0)
        binomial = paddle.exp(ways + times_log(k, probability) + times_log(count - k, 1.0 - probability))
        expected = (binomial * paddle.lgamma(k + 1.0)).sum(0).sum(-1)
        return expected - count * times_log(probability, probability).sum(-1) - math.lgamma(count + 1.0)
