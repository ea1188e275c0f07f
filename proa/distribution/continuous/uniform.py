"""The uniform distribution on an interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ops.arguments import integer
from ..arguments import common_shape, tensors
from ..distribution import Distribution
from ..functions import choose, paddle
from ..noise import standard_uniform


class Uniform(Distribution):
    """Equal density between `low` and `high`."""

    _warns_of_types = True

    def __init__(self, low: Any, high: Any, name: str | None = None) -> None:
        self.name = "Uniform" if name is None else name
        self.low, self.high = tensors("Uniform", mixed=False, low=low, high=high)
        super().__init__(common_shape("Uniform", self.low, self.high))

    @property
    def mean(self) -> Any:
        return self._spread((self.low + self.high) * 0.5)

    @property
    def variance(self) -> Any:
        return self._spread(paddle.square(self.high - self.low) / 12.0)

    def sample(self, shape: Sequence[int] = [], seed: int = 0) -> Any:
        """Draws numbers; a `seed` other than 0 always gives the same ones."""
        return self._draw(shape, integer("Uniform", "seed", seed))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        return self._draw(shape, 0)

    def _draw(self, shape: Any, seed: int) -> Any:
        fraction = standard_uniform(self._extend_shape(shape), self.low._aval.dtype, seed)
        return self.low + (self.high - self.low) * fraction

    def entropy(self) -> Any:
        return paddle.log(self.high - self.low)

    def _inside(self, value: Any) -> Any:
        value = self._value(value, self.low)
        return paddle.logical_and(value > self.low, value < self.high)

    def log_prob(self, value: Any) -> Any:
        inside = self._inside(value)
        return choose(
            inside, -paddle.log(self.high - self.low) + paddle.zeros_like(inside, self.low.dtype), -float("inf")
        )

    def prob(self, value: Any) -> Any:
        inside = paddle.cast(self._inside(value), self.low.dtype)
        return inside / (self.high - self.low)
