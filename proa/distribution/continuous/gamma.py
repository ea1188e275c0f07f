"""The gamma distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arguments import common_shape, spread, tensors
from ..distribution import without_gradient
from ..exponential_family import ExponentialFamily
from ..functions import paddle, times_log


class Gamma(ExponentialFamily):
    """Density proportional to x^(concentration - 1) exp(-rate * x) for x > 0."""

    def __init__(self, concentration: Any, rate: Any) -> None:
        self.concentration, self.rate = tensors(
            "Gamma", integers=False, mixed=False, concentration=concentration, rate=rate
        )
        super().__init__(common_shape("Gamma", self.concentration, self.rate))

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def variance(self) -> Any:
        return self.concentration / paddle.square(self.rate)

    def sample(self, shape: Sequence[int] = []) -> Any:
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        return paddle.standard_gamma(spread(self.concentration, self._extend_shape(shape))) / self.rate

    def log_prob(self, value: Any) -> Any:
        value = self._value(value, self.rate)
        return (
            self.concentration * paddle.log(self.rate)
            + times_log(self.concentration - 1.0, value)
            - self.rate * value
            - paddle.lgamma(self.concentration)
        )

    def entropy(self) -> Any:
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
        power, slope = parameters
        return paddle.lgamma(power + 1.0) - (power + 1.0) * paddle.log(-slope)
