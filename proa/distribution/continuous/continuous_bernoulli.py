"""The continuous Bernoulli distribution: density proportional to probs^x (1 - probs)^(1 - x) on [0, 1].

Its formulas are quotients that become 0 / 0 at probs = 1/2; between the two `lims` around it they
are replaced by their Taylor expansions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.annotations import Number
from ..arguments import tensors
from ..discrete.bernoulli import clip_probability
from ..distribution import Distribution, without_gradient
from ..functions import paddle
from ..noise import standard_uniform


class ContinuousBernoulli(Distribution):
    """Numbers in [0, 1] with density proportional to probs^x (1 - probs)^(1 - x).

    Args:
        probs: leans towards 0 or 1; one number gives a batch of one.
        lims: two numbers around 0.5; between them expansions are used, where the formulas would be 0 / 0.

    Raises:
        ValueError: `lims` are not around 0.5.

    Examples:
        >>> leaning = paddle.distribution.ContinuousBernoulli(paddle.to_tensor([0.2, 0.5]))
        >>> print(leaning.mean.numpy().round(4))
        [0.388 0.5  ]
    """

    probs: Any  # a parameter here, not the older name of prob()

    def __init__(self, probs: Number, lims: tuple[float, float] = (0.499, 0.501)) -> None:
        if not isinstance(lims, (list, tuple)) or len(lims) != 2 or not lims[0] <= 0.5 <= lims[1]:
            raise value_error("ContinuousBernoulli", "lims must be two numbers around 0.5", f"lims: {lims!r}")
        # A number gives a batch of one, as in Paddle.
        batch = [float(probs)] if isinstance(probs, (int, float, np.number)) else probs
        (given,) = tensors("ContinuousBernoulli", probs=batch)
        self.probs = clip_probability(given)
        self.lims = (float(lims[0]), float(lims[1]))
        super().__init__(tuple(given.shape))
        probability = self.probs
        self._near = paddle.logical_and(probability >= self.lims[0], probability <= self.lims[1])
        # For the quotients: some other probability where the expansion is taken.
        self._away = paddle.where(self._near, paddle.full_like(probability, 0.25), probability)
        self._offset = probability - 0.5
        self._log_odds = paddle.logit(probability)

    def _either(self, expansion: Any, quotient: Any) -> Any:
        return paddle.where(self._near, expansion, quotient)

    def _log_normalizer(self) -> Any:
        """The logarithm of what the density is to be multiplied with."""
        squared = paddle.square(self._offset)
        expansion = math.log(2.0) + squared * (4.0 / 3.0 + squared * (104.0 / 45.0))
        width = 1.0 - 2.0 * self._away
        return self._either(expansion, paddle.log(paddle.abs(2.0 * paddle.atanh(width) / width)))

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.ContinuousBernoulli(0.2).mean.numpy().round(4))
            [0.388]
        """
        expansion = 0.5 + self._offset * (1.0 / 3.0 + paddle.square(self._offset) * (16.0 / 45.0))
        away = self._away
        return self._either(expansion, away / (2.0 * away - 1.0) + 0.5 / paddle.atanh(1.0 - 2.0 * away))

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.ContinuousBernoulli(0.2).variance.numpy().round(4))
            [0.0759]
        """
        squared = paddle.square(self._offset)
        expansion = 1.0 / 12.0 - squared * (1.0 / 15.0 - squared * (128.0 / 945.0))
        away = self._away
        quotient = away * (away - 1.0) / paddle.square(1.0 - 2.0 * away) + 1.0 / paddle.square(paddle.logit(away))
        return self._either(expansion, quotient)

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.ContinuousBernoulli(0.2).sample([2, 3]).shape
            paddle.Size([2, 3, 1])
        """
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.ContinuousBernoulli(0.2).rsample([2, 3]).shape
            paddle.Size([2, 3, 1])
        """
        return self.icdf(standard_uniform(self._extend_shape(shape), self._offset._aval.dtype))

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> law = paddle.distribution.ContinuousBernoulli(0.2)
            >>> print(law.log_prob(paddle.to_tensor(0.5)).numpy().round(4))
            [-0.0788]
        """
        value = self._value(value, self._offset)
        return value * self._log_odds + paddle.log1p(-self.probs) + self._log_normalizer()

    def cdf(self, value: Number) -> Any:
        """The probability of a number up to `value`.

        Args:
            value: the number.

        Examples:
            >>> law = paddle.distribution.ContinuousBernoulli(0.2)
            >>> print(law.cdf(paddle.to_tensor(0.5)).numpy().round(4))
            [0.6667]
        """
        value = paddle.clip(self._value(value, self._offset), 0.0, 1.0)
        away = self._away
        power = paddle.exp(value * paddle.log(away) + (1.0 - value) * paddle.log1p(-away))
        return paddle.clip(self._either(value, (power + away - 1.0) / (2.0 * away - 1.0)), 0.0, 1.0)

    def icdf(self, value: Number) -> Any:
        """The number that is not exceeded with probability `value`.

        Args:
            value: the probability.

        Examples:
            >>> print(paddle.distribution.ContinuousBernoulli(0.2).icdf(paddle.to_tensor(0.75)).numpy().round(4))
            [0.5963]
        """
        value = self._value(value, self._offset)
        away = self._away
        quotient = paddle.log1p(value * (2.0 * away - 1.0) / (1.0 - away)) / paddle.logit(away)
        return self._either(value, quotient)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.ContinuousBernoulli(0.2).entropy().numpy().round(4))
            [-0.0764]
        """
        return -(self.mean * self._log_odds + paddle.log1p(-self.probs) + self._log_normalizer())
