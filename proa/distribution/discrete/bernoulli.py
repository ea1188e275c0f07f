"""The Bernoulli distribution: 1 with some probability, else 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.annotations import Number
from ..arguments import tensors
from ..distribution import without_gradient
from ..exponential_family import ExponentialFamily
from ..functions import choose, paddle, softplus
from ..noise import standard_logistic, standard_uniform


def clip_probability(probs: Any) -> Any:
    """A probability that has finite log odds: at least one resolution of its type away from 0 and 1."""
    kind = probs._aval.dtype
    resolution = float(np.finfo(kind if kind.kind == "f" else np.float32).eps)
    return paddle.clip(probs, resolution, 1.0 - resolution)


class Bernoulli(ExponentialFamily):
    """1 with some probability, else 0; `logits` are the log odds.

    Args:
        probs: the probability of 1: a float, a list or a tensor.
        name: a label; it changes nothing.

    Examples:
        >>> coin = paddle.distribution.Bernoulli([0.25, 0.5])
        >>> coin.batch_shape, coin.variance.tolist()
        ((2,), [0.1875, 0.25])
        >>> sorted(set(coin.sample([100]).flatten().tolist()))
        [0.0, 1.0]
    """

    _warns_of_types = True

    probs: Any  # a parameter here, not the older name of prob()

    def __init__(self, probs: Number, name: str | None = None) -> None:
        self.name = "Bernoulli" if name is None else name
        (self.probs,) = tensors("Bernoulli", integers=False, probs=probs)
        self._clipped = clip_probability(self.probs)
        self.logits = paddle.logit(self._clipped)
        super().__init__(tuple(self.probs.shape))

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.Bernoulli(0.25).mean.numpy().round(4))
            0.25
        """
        return self.probs

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.Bernoulli(0.25).variance.numpy().round(4))
            0.1875
        """
        return self.probs * (1.0 - self.probs)

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Bernoulli(0.25).sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        fraction = standard_uniform(self._extend_shape(shape), self.logits._aval.dtype)
        return without_gradient(paddle.cast(fraction < self.probs, self.logits.dtype))

    def rsample(self, shape: Sequence[int] = [], temperature: float = 1.0) -> Any:
        """The log odds of a relaxed draw (the Gumbel trick), which gradients flow through.

        Its sigmoid is near 0 or 1, the more so the lower the temperature.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.
            temperature: a positive number.

        Raises:
            ValueError: the temperature is not positive.

        Examples:
            >>> paddle.distribution.Bernoulli(0.25).rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        if isinstance(temperature, bool) or not isinstance(temperature, (int, float)) or not temperature > 0:
            raise value_error("Bernoulli", "the temperature must be a positive number", f"temperature: {temperature!r}")
        noise = standard_logistic(self._extend_shape(shape), self.logits._aval.dtype)
        return (self.logits + noise) / float(temperature)

    def cdf(self, value: Number) -> Any:
        """The probability of a number up to `value`.

        Args:
            value: the number.

        Examples:
            >>> print(paddle.distribution.Bernoulli(0.25).cdf(paddle.to_tensor(1.0)).numpy().round(4))
            1.0
        """
        value = self._value(value, self.logits)
        below = paddle.ones_like(value) * (1.0 - self.probs)
        return choose(value >= 0.0, choose(value < 1.0, below, 1.0), 0.0)

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the probability of a value.

        Args:
            value: the value.

        Examples:
            >>> print(paddle.distribution.Bernoulli(0.25).log_prob(paddle.to_tensor(1.0)).numpy().round(4))
            -1.3863
        """
        return self._value(value, self.logits) * self.logits - softplus(self.logits)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.Bernoulli(0.25).entropy().numpy().round(4))
            0.5623
        """
        return softplus(self.logits) - self._clipped * self.logits
