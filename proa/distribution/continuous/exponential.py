"""The exponential distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...eager.annotations import Number
from ..arguments import tensors
from ..distribution import without_gradient
from ..exponential_family import ExponentialFamily
from ..functions import choose, paddle
from ..noise import standard_exponential


class Exponential(ExponentialFamily):
    """The exponential distribution: density rate * exp(-rate * x) for x >= 0.

    Args:
        rate: a positive number, or a tensor of them.

    Examples:
        >>> waiting = paddle.distribution.Exponential(paddle.to_tensor([2.0]))
        >>> waiting.mean.tolist(), waiting.variance.tolist()
        ([0.5], [0.25])
    """

    def __init__(self, rate: Number) -> None:
        (self.rate,) = tensors("Exponential", integers=False, rate=rate)
        super().__init__(tuple(self.rate.shape))

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.Exponential(paddle.to_tensor(2.0)).mean.numpy().round(4))
            0.5
        """
        return 1.0 / self.rate

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.Exponential(paddle.to_tensor(2.0)).variance.numpy().round(4))
            0.25
        """
        return 1.0 / paddle.square(self.rate)

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Exponential(paddle.to_tensor(2.0)).sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Exponential(paddle.to_tensor(2.0)).rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return standard_exponential(self._extend_shape(shape), self.rate._aval.dtype) / self.rate

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> law = paddle.distribution.Exponential(paddle.to_tensor(2.0))
            >>> print(law.log_prob(paddle.to_tensor(0.5)).numpy().round(4))
            -0.3069
        """
        value = self._value(value, self.rate)
        return choose(value >= 0.0, paddle.log(self.rate) - self.rate * value, -float("inf"))

    def cdf(self, value: Number) -> Any:
        """The probability of a number up to `value`.

        Args:
            value: the number.

        Examples:
            >>> law = paddle.distribution.Exponential(paddle.to_tensor(2.0))
            >>> print(law.cdf(paddle.to_tensor(0.5)).numpy().round(4))
            0.6321
        """
        value = self._value(value, self.rate)
        return choose(value >= 0.0, -paddle.expm1(-self.rate * value), 0.0)

    def icdf(self, value: Number) -> Any:
        """The number that is not exceeded with probability `value`.

        Args:
            value: the probability.

        Examples:
            >>> print(paddle.distribution.Exponential(paddle.to_tensor(2.0)).icdf(paddle.to_tensor(0.75)).numpy().round(4))
            0.6931
        """
        return -paddle.log1p(-self._value(value, self.rate)) / self.rate

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.Exponential(paddle.to_tensor(2.0)).entropy().numpy().round(4))
            0.3069
        """
        return 1.0 - paddle.log(self.rate)

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, *parameters: Any) -> Any:
        return -paddle.log(-parameters[0])
