"""The exponential distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arguments import tensors
from ..distribution import without_gradient
from ..exponential_family import ExponentialFamily
from ..functions import choose, paddle
from ..noise import standard_exponential


class Exponential(ExponentialFamily):
    """Density rate * exp(-rate * x) for x >= 0."""

    def __init__(self, rate: Any) -> None:
        (self.rate,) = tensors("Exponential", integers=False, rate=rate)
        super().__init__(tuple(self.rate.shape))

    @property
    def mean(self) -> Any:
        return 1.0 / self.rate

    @property
    def variance(self) -> Any:
        return 1.0 / paddle.square(self.rate)

    def sample(self, shape: Sequence[int] = []) -> Any:
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        return standard_exponential(self._extend_shape(shape), self.rate._aval.dtype) / self.rate

    def log_prob(self, value: Any) -> Any:
        value = self._value(value, self.rate)
        return choose(value >= 0.0, paddle.log(self.rate) - self.rate * value, -float("inf"))

    def cdf(self, value: Any) -> Any:
        """The probability of a number up to `value`."""
        value = self._value(value, self.rate)
        return choose(value >= 0.0, -paddle.expm1(-self.rate * value), 0.0)

    def icdf(self, value: Any) -> Any:
        """The number that is not exceeded with probability `value`."""
        return -paddle.log1p(-self._value(value, self.rate)) / self.rate

    def entropy(self) -> Any:
        return 1.0 - paddle.log(self.rate)

    @property
    def _natural_parameters(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, *parameters: Any) -> Any:
        return -paddle.log(-parameters[0])
