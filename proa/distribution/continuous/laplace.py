"""The Laplace distribution: exponential on both sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...eager.annotations import Number
from ..arguments import broadcast, common_shape, tensors
from ..distribution import Distribution, without_gradient
from ..functions import paddle
from ..noise import standard_laplace


class Laplace(Distribution):
    """The Laplace distribution: exponential on both sides.

    Args:
        loc: the mean.
        scale: the mean distance from it.

    Examples:
        >>> laplace = paddle.distribution.Laplace(0.0, 1.0)
        >>> laplace.variance.item(), laplace.cdf(paddle.to_tensor(0.0)).item()
        (2.0, 0.5)
    """

    def __init__(self, loc: Number, scale: Number) -> None:
        loc, scale = tensors("Laplace", lists=False, loc=loc, scale=scale)
        shape = common_shape("Laplace", loc, scale)
        self.loc, self.scale = broadcast(loc, shape), broadcast(scale, shape)
        super().__init__(shape)

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.Laplace(0.0, 1.0).mean.numpy().round(4))
            0.0
        """
        return self.loc

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.Laplace(0.0, 1.0).variance.numpy().round(4))
            2.0
        """
        return 2.0 * paddle.square(self.scale)

    @property
    def stddev(self) -> Any:
        """The root of the variance.

        Examples:
            >>> print(paddle.distribution.Laplace(0.0, 1.0).stddev.numpy().round(4))
            1.4142
        """
        return math.sqrt(2.0) * self.scale

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Laplace(0.0, 1.0).sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Laplace(0.0, 1.0).rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return self.loc + self.scale * standard_laplace(self._extend_shape(shape), self.loc._aval.dtype)

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> print(paddle.distribution.Laplace(0.0, 1.0).log_prob(paddle.to_tensor(1.0)).numpy().round(4))
            -1.6931
        """
        distance = paddle.abs(self._value(value, self.loc) - self.loc)
        return -distance / self.scale - paddle.log(2.0 * self.scale)

    def cdf(self, value: Number) -> Any:
        """The probability of a number up to `value`.

        Args:
            value: the number.

        Examples:
            >>> print(paddle.distribution.Laplace(0.0, 1.0).cdf(paddle.to_tensor(1.0)).numpy().round(4))
            0.8161
        """
        difference = self._value(value, self.loc) - self.loc
        tail = paddle.expm1(-paddle.abs(difference) / self.scale)
        return 0.5 - 0.5 * paddle.sign(difference) * tail

    def icdf(self, value: Number) -> Any:
        """The number that is not exceeded with probability `value`.

        Args:
            value: the probability.

        Examples:
            >>> print(paddle.distribution.Laplace(0.0, 1.0).icdf(paddle.to_tensor(0.75)).numpy().round(4))
            0.6931
        """
        centred = self._value(value, self.loc) - 0.5
        return self.loc - self.scale * paddle.sign(centred) * paddle.log1p(paddle.abs(centred) * -2.0)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.Laplace(0.0, 1.0).entropy().numpy().round(4))
            1.6931
        """
        return 1.0 + paddle.log(2.0 * self.scale)
