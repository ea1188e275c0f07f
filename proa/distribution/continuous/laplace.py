"""The Laplace distribution: exponential on both sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..arguments import common_shape, spread, tensors
from ..distribution import Distribution, without_gradient
from ..functions import paddle
from ..noise import standard_laplace


class Laplace(Distribution):
    """Mean `loc`, mean distance from it `scale`."""

    def __init__(self, loc: Any, scale: Any) -> None:
        loc, scale = tensors("Laplace", lists=False, loc=loc, scale=scale)
        shape = common_shape("Laplace", loc, scale)
        self.loc, self.scale = spread(loc, shape), spread(scale, shape)
        super().__init__(shape)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return 2.0 * paddle.square(self.scale)

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return math.sqrt(2.0) * self.scale

    def sample(self, shape: Sequence[int] = []) -> Any:
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        return self.loc + self.scale * standard_laplace(self._extend_shape(shape), self.loc._aval.dtype)

    def log_prob(self, value: Any) -> Any:
        distance = paddle.abs(self._value(value, self.loc) - self.loc)
        return -distance / self.scale - paddle.log(2.0 * self.scale)

    def cdf(self, value: Any) -> Any:
        """The probability of a number up to `value`."""
        difference = self._value(value, self.loc) - self.loc
        tail = paddle.expm1(-paddle.abs(difference) / self.scale)
        return 0.5 - 0.5 * paddle.sign(difference) * tail

    def icdf(self, value: Any) -> Any:
        """The number that is not exceeded with probability `value`."""
        centred = self._value(value, self.loc) - 0.5
        return self.loc - self.scale * paddle.sign(centred) * paddle.log1p(paddle.abs(centred) * -2.0)

    def entropy(self) -> Any:
        return 1.0 + paddle.log(2.0 * self.scale)
