"""The uniform distribution on an interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...eager.annotations import Number
from ...ops.arguments import integer
from ..arguments import common_shape, tensors
from ..distribution import Distribution
from ..functions import choose, paddle
from ..noise import standard_uniform


class Uniform(Distribution):
    """Equal density between two numbers.

    Args:
        low: the lower one.
        high: the upper one.
        name: a label; it changes nothing.

    Examples:
        >>> uniform = paddle.distribution.Uniform(0.0, 4.0)
        >>> uniform.mean.item(), uniform.prob(paddle.to_tensor([1.0, 5.0])).tolist()
        (2.0, [0.25, 0.0])
    """

    _warns_of_types = True

    def __init__(self, low: Number, high: Number, name: str | None = None) -> None:
        self.name = "Uniform" if name is None else name
        self.low, self.high = tensors("Uniform", mixed=False, low=low, high=high)
        super().__init__(common_shape("Uniform", self.low, self.high))

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.Uniform(0.0, 4.0).mean.numpy().round(4))
            2.0
        """
        return self._spread((self.low + self.high) * 0.5)

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.Uniform(0.0, 4.0).variance.numpy().round(4))
            1.3333
        """
        return self._spread(paddle.square(self.high - self.low) / 12.0)

    def sample(self, shape: Sequence[int] = [], seed: int = 0) -> Any:
        """Draws numbers.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.
            seed: another number than 0 always gives the same ones.

        Examples:
            >>> uniform = paddle.distribution.Uniform(0.0, 4.0)
            >>> uniform.sample([2], seed=7).tolist() == uniform.sample([2], seed=7).tolist()
            True
        """
        return self._draw(shape, integer("Uniform", "seed", seed))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Uniform(0.0, 4.0).rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return self._draw(shape, 0)

    def _draw(self, shape: Any, seed: int) -> Any:
        fraction = standard_uniform(self._extend_shape(shape), self.low._aval.dtype, seed)
        return self.low + (self.high - self.low) * fraction

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.Uniform(0.0, 4.0).entropy().numpy().round(4))
            1.3863
        """
        return paddle.log(self.high - self.low)

    def _inside(self, value: Any) -> Any:
        value = self._value(value, self.low)
        return paddle.logical_and(value > self.low, value < self.high)

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> print(paddle.distribution.Uniform(0.0, 4.0).log_prob(paddle.to_tensor(1.0)).numpy().round(4))
            -1.3863
        """
        inside = self._inside(value)
        return choose(
            inside, -paddle.log(self.high - self.low) + paddle.zeros_like(inside, self.low.dtype), -float("inf")
        )

    def prob(self, value: Number) -> Any:
        """The density at a place.

        Args:
            value: the place.

        Examples:
            >>> print(paddle.distribution.Uniform(0.0, 4.0).prob(paddle.to_tensor(1.0)).numpy().round(4))
            0.25
        """
        inside = paddle.cast(self._inside(value), self.low.dtype)
        return inside / (self.high - self.low)
