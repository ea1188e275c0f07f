"""The Cauchy distribution, whose moments do not exist."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.errors import value_error
from ..arguments import common_shape, spread, tensors
from ..distribution import Distribution, without_gradient
from ..functions import paddle
from ..noise import standard_cauchy


class Cauchy(Distribution):
    """Median `loc`, half width at half height `scale`."""

    _warns_of_types = True

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.name = "Cauchy" if name is None else name
        loc, scale = tensors("Cauchy", lists=False, loc=loc, scale=scale)
        shape = common_shape("Cauchy", loc, scale)
        self.loc, self.scale = spread(loc, shape), spread(scale, shape)
        super().__init__(shape)

    @property
    def mean(self) -> Any:
        raise value_error("Cauchy", "a Cauchy distribution has no mean")

    @property
    def variance(self) -> Any:
        raise value_error("Cauchy", "a Cauchy distribution has no variance")

    @property
    def stddev(self) -> Any:
        raise value_error("Cauchy", "a Cauchy distribution has no standard deviation")

    def sample(self, shape: Sequence[int] = [], name: str | None = None) -> Any:
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = [], name: str | None = None) -> Any:
        return self.loc + self.scale * standard_cauchy(self._extend_shape(shape), self.loc._aval.dtype)

    def log_prob(self, value: Any) -> Any:
        standardised = (self._value(value, self.loc) - self.loc) / self.scale
        return -paddle.log1p(paddle.square(standardised)) - paddle.log(self.scale) - math.log(math.pi)

    def cdf(self, value: Any) -> Any:
        """The probability of a number up to `value`."""
        standardised = (self._value(value, self.loc) - self.loc) / self.scale
        return paddle.atan(standardised) / math.pi + 0.5

    def entropy(self) -> Any:
        return paddle.log(self.scale) + math.log(4 * math.pi)
