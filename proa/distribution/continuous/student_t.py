"""Student's t distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..arguments import common_shape, require_all, spread, tensors
from ..distribution import Distribution
from ..functions import choose, paddle
from ..noise import standard_normal


class StudentT(Distribution):
    """`df` degrees of freedom, centred at `loc`, stretched by `scale`."""

    def __init__(self, df: Any, loc: Any, scale: Any, name: str | None = None) -> None:
        self.name = "StudentT" if name is None else name
        df, loc, scale = tensors("StudentT", integers=False, df=df, loc=loc, scale=scale)
        for label, value in (("df", df), ("scale", scale)):
            require_all(value >= 0.0, "StudentT", f"{label} must not be negative", f"{label}: {value._aval}")
        shape = common_shape("StudentT", df, loc, scale)
        self.df, self.loc, self.scale = spread(df, shape), spread(loc, shape), spread(scale, shape)
        super().__init__(shape)

    @property
    def mean(self) -> Any:
        """NaN where `df` is at most 1."""
        return choose(self.df > 1.0, self.loc, math.nan)

    @property
    def variance(self) -> Any:
        """Infinite where `df` is at most 2, NaN where it is at most 1."""
        finite = paddle.where(self.df > 2.0, self.df, paddle.full_like(self.df, 3.0))
        value = choose(self.df > 2.0, paddle.square(self.scale) * finite / (finite - 2.0), math.inf)
        return choose(self.df > 1.0, value, math.nan)

    def sample(self, shape: Sequence[int] = []) -> Any:
        return self.rsample(shape)

    def rsample(self, shape: Sequence[int] = []) -> Any:
        extended = self._extend_shape(shape)
        numbers = standard_normal(extended, self.df._aval.dtype)
        # Half a chi-squared number with df degrees of freedom.
        half = paddle.standard_gamma(spread(self.df * 0.5, extended))
        return self.loc + self.scale * numbers * paddle.rsqrt(half / (self.df * 0.5))

    def log_prob(self, value: Any) -> Any:
        standardised = (self._value(value, self.df) - self.loc) / self.scale
        half = (self.df + 1.0) * 0.5
        return (
            paddle.lgamma(half)
            - paddle.lgamma(self.df * 0.5)
            - 0.5 * paddle.log(self.df)
            - 0.5 * math.log(math.pi)
            - paddle.log(self.scale)
            - half * paddle.log1p(paddle.square(standardised) / self.df)
        )

    def entropy(self) -> Any:
        half = (self.df + 1.0) * 0.5
        return (
            half * (paddle.digamma(half) - paddle.digamma(self.df * 0.5))
            + 0.5 * paddle.log(self.df)
            + 0.5 * math.log(math.pi)
            + paddle.lgamma(self.df * 0.5)
            - paddle.lgamma(half)
            + paddle.log(self.scale)
        )
