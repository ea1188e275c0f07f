"""The gamma distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...eager.annotations import Number
from ..arguments import broadcast, common_shape, tensors
from ..distribution import without_gradient
from ..exponential_family import ExponentialFamily
from ..functions import paddle, times_log


class Gamma(ExponentialFamily):
    """The gamma distribution: density proportional to x^(concentration - 1) exp(-rate * x) for x > 0.

    Args:
        concentration: a positive number, or a tensor of them.
        rate: the same.

    Examples:
        >>> gamma = paddle.distribution.Gamma(paddle.to_tensor([3.0]), paddle.to_tensor([2.0]))
        >>> gamma.mean.tolist(), gamma.variance.tolist()
        ([1.5], [0.75])
    """

    def __init__(self, concentration: Number, rate: Number) -> None:
        self.concentration, self.rate = tensors(
            "Gamma", integers=False, mixed=False, concentration=concentration, rate=rate
        )
        super().__init__(common_shape("Gamma", self.concentration, self.rate))

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> law = paddle.distribution.Gamma(paddle.to_tensor(3.0), paddle.to_tensor(2.0))
            >>> print(law.mean.numpy().round(4))
            1.5
        """
        return self.concentration / self.rate

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> law = paddle.distribution.Gamma(paddle.to_tensor(3.0), paddle.to_tensor(2.0))
            >>> print(law.variance.numpy().round(4))
            0.75
        """
        return self.concentration / paddle.square(self.rate)

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> law = paddle.distribution.Gamma(paddle.to_tensor(3.0), paddle.to_tensor(2.0))
            >>> law.sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> law = paddle.distribution.Gamma(paddle.to_tensor(3.0), paddle.to_tensor(2.0))
            >>> law.rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return paddle.standard_gamma(broadcast(self.concentration, self._extend_shape(shape))) / self.rate

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> law = paddle.distribution.Gamma(paddle.to_tensor(3.0), paddle.to_tensor(2.0))
            >>> print(law.log_prob(paddle.to_tensor(1.0)).numpy().round(4))
            -0.6137
        """
        value = self._value(value, self.rate)
        return (
            self.concentration * paddle.log(self.rate)
            + times_log(self.concentration - 1.0, value)
            - self.rate * value
            - paddle.lgamma(self.concentration)
        )

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> law = paddle.distribution.Gamma(paddle.to_tensor(3.0), paddle.to_tensor(2.0))
            >>> print(law.entropy().numpy().round(4))
            1.1544
        """
        return (
            self.concentration
            - paddle.log(self.rate)
            + paddle.lgamma(self.concentration)
            + (1.0 - self.concentration) * paddle.digamma(self.concentration)
        )

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return self.concentration - 1.0, -self.rate

    def _log_normalizer(self, *parameters: Any) -> Any:
        power, negative_rate = parameters
        return paddle.lgamma(power + 1.0) - (power + 1.0) * paddle.log(-negative_rate)
