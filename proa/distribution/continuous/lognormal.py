"""The log-normal distribution: the exponential of normal numbers."""

from __future__ import annotations

from typing import Any

from ...eager.annotations import Number
from ..functions import paddle
from ..transform import ExpTransform
from ..transformed_distribution import TransformedDistribution
from .normal import Normal


class LogNormal(TransformedDistribution):
    """The exponential of normal numbers.

    Args:
        loc: the mean of the logarithm.
        scale: the standard deviation of the logarithm.

    Examples:
        >>> prices = paddle.distribution.LogNormal(paddle.to_tensor([0.0]), paddle.to_tensor([1.0]))
        >>> print(prices.mean.numpy().round(4))
        [1.6487]
        >>> prices.sample([5]).shape
        paddle.Size([5, 1])
    """

    def __init__(self, loc: Number, scale: Number) -> None:
        base = Normal(loc, scale)
        self.loc, self.scale = base.loc, base.scale
        super().__init__(base, [ExpTransform()])

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.LogNormal(0.0, 1.0).mean.numpy().round(4))
            1.6487
        """
        return paddle.exp(self._base.mean + 0.5 * self._base.variance)

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.LogNormal(0.0, 1.0).variance.numpy().round(4))
            4.6708
        """
        variance = self._base.variance
        return paddle.expm1(variance) * paddle.exp(2.0 * self._base.mean + variance)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.LogNormal(0.0, 1.0).entropy().numpy().round(4))
            1.4189
        """
        return self._base.entropy() + self._base.mean
