"""The Cauchy distribution, whose moments do not exist."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.errors import value_error
from ...eager.annotations import Number
from ..arguments import broadcast, common_shape, tensors
from ..distribution import Distribution, without_gradient
from ..functions import paddle
from ..noise import standard_cauchy


class Cauchy(Distribution):
    """The Cauchy distribution, whose moments do not exist.

    Args:
        loc: the median.
        scale: half the width at half height.
        name: a label; it changes nothing.

    Examples:
        >>> cauchy = paddle.distribution.Cauchy(0.0, 1.0)
        >>> round(cauchy.cdf(paddle.to_tensor(1.0)).item(), 4)
        0.75
    """

    _warns_of_types = True

    def __init__(self, loc: Number, scale: Number, name: str | None = None) -> None:
        self.name = "Cauchy" if name is None else name
        loc, scale = tensors("Cauchy", lists=False, loc=loc, scale=scale)
        shape = common_shape("Cauchy", loc, scale)
        self.loc, self.scale = broadcast(loc, shape), broadcast(scale, shape)
        super().__init__(shape)

    @property
    def mean(self) -> Any:
        """There is none.

        Raises:
            ValueError: always.

        Examples:
            >>> paddle.distribution.Cauchy(0.0, 1.0).mean
            Traceback (most recent call last):
                ...
            ValueError: (Cauchy) a Cauchy distribution has no mean.
        """
        raise value_error("Cauchy", "a Cauchy distribution has no mean")

    @property
    def variance(self) -> Any:
        """There is none.

        Raises:
            ValueError: always.

        Examples:
            >>> paddle.distribution.Cauchy(0.0, 1.0).variance
            Traceback (most recent call last):
                ...
            ValueError: (Cauchy) a Cauchy distribution has no variance.
        """
        raise value_error("Cauchy", "a Cauchy distribution has no variance")

    @property
    def stddev(self) -> Any:
        """There is none.

        Raises:
            ValueError: always.

        Examples:
            >>> paddle.distribution.Cauchy(0.0, 1.0).stddev
            Traceback (most recent call last):
                ...
            ValueError: (Cauchy) a Cauchy distribution has no standard deviation.
        """
        raise value_error("Cauchy", "a Cauchy distribution has no standard deviation")

    def sample(self, shape: Sequence[int] = [], name: str | None = None) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.
            name: a label; it changes nothing.

        Examples:
            >>> paddle.distribution.Cauchy(0.0, 1.0).sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = [], name: str | None = None) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.
            name: a label; it changes nothing.

        Examples:
            >>> paddle.distribution.Cauchy(0.0, 1.0).rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return self.loc + self.scale * standard_cauchy(self._extend_shape(shape), self.loc._aval.dtype)

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> print(paddle.distribution.Cauchy(0.0, 1.0).log_prob(paddle.to_tensor(1.0)).numpy().round(4))
            -1.8379
        """
        standardised = (self._value(value, self.loc) - self.loc) / self.scale
        return -paddle.log1p(paddle.square(standardised)) - paddle.log(self.scale) - math.log(math.pi)

    def cdf(self, value: Number) -> Any:
        """The probability of a number up to `value`.

        Args:
            value: the number.

        Examples:
            >>> print(paddle.distribution.Cauchy(0.0, 1.0).cdf(paddle.to_tensor(1.0)).numpy().round(4))
            0.75
        """
        standardised = (self._value(value, self.loc) - self.loc) / self.scale
        return paddle.atan(standardised) / math.pi + 0.5

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.Cauchy(0.0, 1.0).entropy().numpy().round(4))
            2.531
        """
        return paddle.log(self.scale) + math.log(4 * math.pi)
