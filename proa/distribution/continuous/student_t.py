"""Student's t distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...eager.annotations import Number
from ..arguments import broadcast, common_shape, require_all, tensors
from ..distribution import Distribution
from ..functions import choose, paddle
from ..noise import standard_normal


class StudentT(Distribution):
    """Student's t distribution.

    Args:
        df: the degrees of freedom.
        loc: the centre.
        scale: how wide it is.
        name: a label; it changes nothing.

    Examples:
        >>> t = paddle.distribution.StudentT(df=5.0, loc=0.0, scale=1.0)
        >>> round(t.variance.item(), 4)
        1.6667
    """

    def __init__(self, df: Number, loc: Number, scale: Number, name: str | None = None) -> None:
        self.name = "StudentT" if name is None else name
        freedom, centre, width = tensors("StudentT", integers=False, df=df, loc=loc, scale=scale)
        for label, value in (("df", freedom), ("scale", width)):
            require_all(value >= 0.0, "StudentT", f"{label} must not be negative", f"{label}: {value._aval}")
        shape = common_shape("StudentT", freedom, centre, width)
        self.df, self.loc, self.scale = broadcast(freedom, shape), broadcast(centre, shape), broadcast(width, shape)
        super().__init__(shape)

    @property
    def mean(self) -> Any:
        """The expected value; NaN where `df` is at most 1.

        Examples:
            >>> print(paddle.distribution.StudentT(5.0, 0.0, 1.0).mean.numpy().round(4))
            0.0
        """
        return choose(self.df > 1.0, self.loc, math.nan)

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean; infinite where `df` is at most 2, NaN where it is at most 1.

        Examples:
            >>> print(paddle.distribution.StudentT(5.0, 0.0, 1.0).variance.numpy().round(4))
            1.6667
        """
        finite = paddle.where(self.df > 2.0, self.df, paddle.full_like(self.df, 3.0))
        value = choose(self.df > 2.0, paddle.square(self.scale) * finite / (finite - 2.0), math.inf)
        return choose(self.df > 1.0, value, math.nan)

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.StudentT(5.0, 0.0, 1.0).sample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return self.rsample(shape)

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.StudentT(5.0, 0.0, 1.0).rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        extended = self._extend_shape(shape)
        numbers = standard_normal(extended, self.df._aval.dtype)
        # Half a chi-squared number with df degrees of freedom.
        half = paddle.standard_gamma(broadcast(self.df * 0.5, extended))
        return self.loc + self.scale * numbers * paddle.rsqrt(half / (self.df * 0.5))

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> law = paddle.distribution.StudentT(5.0, 0.0, 1.0)
            >>> print(law.log_prob(paddle.to_tensor(0.0)).numpy().round(4))
            -0.9686
        """
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
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.StudentT(5.0, 0.0, 1.0).entropy().numpy().round(4))
            1.6275
        """
        half = (self.df + 1.0) * 0.5
        return (
            half * (paddle.digamma(half) - paddle.digamma(self.df * 0.5))
            + 0.5 * paddle.log(self.df)
            + 0.5 * math.log(math.pi)
            + paddle.lgamma(self.df * 0.5)
            - paddle.lgamma(half)
            + paddle.log(self.scale)
        )
