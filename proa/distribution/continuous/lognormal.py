"""The log-normal distribution: the exponential of normal numbers."""

from __future__ import annotations

from typing import Any

from ..functions import paddle
from ..transform import ExpTransform
from ..transformed_distribution import TransformedDistribution
from .normal import Normal


class LogNormal(TransformedDistribution):
    """`loc` and `scale` are the mean and the standard deviation of the logarithm."""

    def __init__(self, loc: Any, scale: Any) -> None:
        base = Normal(loc, scale)
        self.loc, self.scale = base.loc, base.scale
        super().__init__(base, [ExpTransform()])

    @property
    def mean(self) -> Any:
        return paddle.exp(self._base.mean + 0.5 * self._base.variance)

    @property
    def variance(self) -> Any:
        variance = self._base.variance
        return paddle.expm1(variance) * paddle.exp(2.0 * self._base.mean + variance)

    def entropy(self) -> Any:
        return self._base.entropy() + self._base.mean
