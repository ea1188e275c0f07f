"""The chi-squared distribution."""

from __future__ import annotations

from ...eager.annotations import Number
from ..arguments import require_all, tensors
from ..functions import paddle
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of `df` squared standard normal numbers: a gamma distribution.

    Args:
        df: the degrees of freedom.

    Examples:
        >>> chi2 = paddle.distribution.Chi2(paddle.to_tensor([3.0]))
        >>> chi2.mean.tolist(), chi2.variance.tolist()
        ([3.0], [6.0])
    """

    def __init__(self, df: Number) -> None:
        (self.df,) = tensors("Chi2", integers=False, df=df)
        require_all(self.df > 0.0, "Chi2", "df must be positive", f"df: {self.df._aval}")
        super().__init__(self.df * 0.5, paddle.full_like(self.df, 0.5))
