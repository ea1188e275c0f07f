"""`Independent`: the last dimensions of a batch taken as one event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import type_error, value_error
from ..eager.annotations import Number
from .distribution import Distribution
from .functions import sum_rightmost


class Independent(Distribution):
    """A distribution with its last batch axes counted to the event.

    Args:
        base: the distribution.
        reinterpreted_batch_rank: how many axes.

    Raises:
        TypeError: `base` is no distribution.
        ValueError: it has fewer axes.

    Examples:
        >>> base = paddle.distribution.Normal(paddle.to_tensor([0.0, 1.0]), paddle.to_tensor([1.0, 1.0]))
        >>> joint = paddle.distribution.Independent(base, 1)
        >>> joint.batch_shape, joint.event_shape
        ((), (2,))
        >>> base.log_prob(paddle.to_tensor([0.0, 0.0])).shape, joint.log_prob(paddle.to_tensor([0.0, 0.0])).shape
        (paddle.Size([2]), paddle.Size([]))
    """

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Distribution):
            raise type_error("Independent", "base must be a Distribution", f"base: {type(base).__name__}")
        rank, most = reinterpreted_batch_rank, len(base.batch_shape)
        if isinstance(rank, bool) or not isinstance(rank, int) or not 0 < rank <= most:
            raise value_error(
                "Independent", f"reinterpreted_batch_rank must be an integer from 1 to {most}",
                f"reinterpreted_batch_rank: {rank!r}, base.batch_shape: {list(base.batch_shape)}",
            )  # fmt: skip
        self._base = base
        self._reinterpreted_batch_rank = rank
        shape = base.batch_shape + base.event_shape
        super().__init__(shape[: most - rank], shape[most - rank :])

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> from proa.distribution import Independent, Normal
            >>> law = Independent(Normal(paddle.to_tensor([0.0, 1.0]), paddle.to_tensor([1.0, 1.0])), 1)
            >>> print(law.mean.numpy().round(4))
            [0. 1.]
        """
        return self._base.mean

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> from proa.distribution import Independent, Normal
            >>> law = Independent(Normal(paddle.to_tensor([0.0, 1.0]), paddle.to_tensor([1.0, 1.0])), 1)
            >>> print(law.variance.numpy().round(4))
            [1. 1.]
        """
        return self._base.variance

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> from proa.distribution import Independent, Normal
            >>> law = Independent(Normal(paddle.to_tensor([0.0, 1.0]), paddle.to_tensor([1.0, 1.0])), 1)
            >>> law.sample([4]).shape
            paddle.Size([4, 2])
        """
        return self._base.sample(shape)

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> from proa.distribution import Independent, Normal
            >>> law = Independent(Normal(paddle.to_tensor([0.0, 1.0]), paddle.to_tensor([1.0, 1.0])), 1)
            >>> law.rsample([4]).shape
            paddle.Size([4, 2])
        """
        return self._base.rsample(shape)

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> from proa.distribution import Independent, Normal
            >>> law = Independent(Normal(paddle.to_tensor([0.0, 1.0]), paddle.to_tensor([1.0, 1.0])), 1)
            >>> print(law.log_prob(paddle.to_tensor([0.0, 1.0])).numpy().round(4))
            -1.8379
        """
        return sum_rightmost(self._base.log_prob(value), self._reinterpreted_batch_rank)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> from proa.distribution import Independent, Normal
            >>> law = Independent(Normal(paddle.to_tensor([0.0, 1.0]), paddle.to_tensor([1.0, 1.0])), 1)
            >>> print(law.entropy().numpy().round(4))
            2.8379
        """
        return sum_rightmost(self._base.entropy(), self._reinterpreted_batch_rank)
