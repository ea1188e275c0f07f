"""The Gumbel distribution, of the largest of many numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arguments import common_shape, spread, tensors
from ..distribution import Distribution, without_gradient
from ..functions import paddle
from ..noise import standard_gumbel
from ..transformed_distribution import TransformedDistribution


class Gumbel(TransformedDistribution):
    """Mode `loc`, stretched by `scale`."""

    def __init__(self, loc: Any, scale: Any) -> None:
        loc, scale = tensors("Gumbel", lists=False, loc=loc, scale=scale)
        shape = common_shape("Gumbel", loc, scale)
        self.loc, self.scale = spread(loc, shape), spread(scale, shape)
        # A transform of uniform numbers, all of whose formulas are closed ones.
        Distribution.__init__(self, shape)

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * float(np.euler_gamma)

    @property
    def variance(self) -> Any:
        return paddle.square(self.scale) * (math.pi**2 / 6)

    @property
    def stddev(self) -> Any:
        """The root of the variance."""
        return self.scale * (math.pi / math.sqrt(6))

    def sample(self, shape: Sequence[int] = []) -> Any:
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        return self.loc + self.scale * standard_gumbel(self._extend_shape(shape), self.loc._aval.dtype)

    def log_prob(self, value: Any) -> Any:
        standardised = (self._value(value, self.loc) - self.loc) / self.scale
        return -(standardised + paddle.exp(-standardised)) - paddle.log(self.scale)

    def cdf(self, value: Any) -> Any:
        """The probability of a number up to `value`."""
        standardised = (self._value(value, self.loc) - self.loc) / self.scale
        return paddle.exp(-paddle.exp(-standardised))

    def entropy(self) -> Any:
        return paddle.log(self.scale) + (1.0 + float(np.euler_gamma))
