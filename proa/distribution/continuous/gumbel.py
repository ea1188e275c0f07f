"""The Gumbel distribution, of the largest of many numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...eager.annotations import Number
from ..arguments import broadcast, common_shape, tensors
from ..distribution import Distribution, without_gradient
from ..functions import paddle
from ..noise import standard_gumbel
from ..transformed_distribution import TransformedDistribution


class Gumbel(TransformedDistribution):
    """The Gumbel distribution, of the largest of many numbers.

    Args:
        loc: the mode.
        scale: how wide it is.

    Examples:
        >>> gumbel = paddle.distribution.Gumbel(paddle.to_tensor([0.0]), paddle.to_tensor([1.0]))
        >>> print(gumbel.mean.numpy().round(4))
        [0.5772]
    """

    def __init__(self, loc: Number, scale: Number) -> None:
        loc, scale = tensors("Gumbel", lists=False, loc=loc, scale=scale)
        shape = common_shape("Gumbel", loc, scale)
        self.loc, self.scale = broadcast(loc, shape), broadcast(scale, shape)
        # A transform of uniform numbers, all of whose formulas are closed ones.
        Distribution.__init__(self, shape)

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.Gumbel(0.0, 1.0).mean.numpy().round(4))
            0.5772
        """
        return self.loc + self.scale * float(np.euler_gamma)

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.Gumbel(0.0, 1.0).variance.numpy().round(4))
            1.6449
        """
        return paddle.square(self.scale) * (math.pi**2 / 6)

    @property
    def stddev(self) -> Any:
        """The root of the variance.

        Examples:
            >>> print(paddle.distribution.Gumbel(0.0, 1.0).stddev.numpy().round(4))
            1.2825
        """
        return self.scale * (math.pi / math.sqrt(6))

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Gumbel(0.0, 1.0).sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Gumbel(0.0, 1.0).rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return self.loc + self.scale * standard_gumbel(self._extend_shape(shape), self.loc._aval.dtype)

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> print(paddle.distribution.Gumbel(0.0, 1.0).log_prob(paddle.to_tensor(0.0)).numpy().round(4))
            -1.0
        """
        standardised = (self._value(value, self.loc) - self.loc) / self.scale
        return -(standardised + paddle.exp(-standardised)) - paddle.log(self.scale)

    def cdf(self, value: Number) -> Any:
        """The probability of a number up to `value`.

        Args:
            value: the number.

        Examples:
            >>> print(paddle.distribution.Gumbel(0.0, 1.0).cdf(paddle.to_tensor(0.0)).numpy().round(4))
            0.3679
        """
        standardised = (self._value(value, self.loc) - self.loc) / self.scale
        return paddle.exp(-paddle.exp(-standardised))

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.Gumbel(0.0, 1.0).entropy().numpy().round(4))
            1.5772
        """
        return paddle.log(self.scale) + (1.0 + float(np.euler_gamma))
