"""The normal distribution, real or (circularly symmetric) complex."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...ops.arguments import integer
from ..arguments import common_shape, tensors
from ..distribution import Distribution
from ..functions import paddle
from ..noise import standard_normal


class Normal(Distribution):
    """Mean `loc`, standard deviation `scale`; complex when `loc` is."""

    _warns_of_types = True

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.name = "Normal" if name is None else name
        self.loc, self.scale = tensors("Normal", mixed=False, complex_numbers=True, loc=loc, scale=scale)
        self._is_complex = self.loc._aval.dtype.kind == "c"
        if self.scale._aval.dtype.kind == "c":
            self.scale = paddle.real(self.scale)
        super().__init__(common_shape("Normal", self.loc, self.scale))

    @property
    def mean(self) -> Any:
        return self._spread(self.loc)

    @property
    def variance(self) -> Any:
        return paddle.square(self._spread(self.scale))

    def sample(self, shape: Sequence[int] = [], seed: int = 0) -> Any:
        """Draws numbers; a `seed` other than 0 always gives the same ones."""
        return self._draw(shape, integer("Normal", "seed", seed))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        return self._draw(shape, 0)

    def _draw(self, shape: Any, seed: int) -> Any:
        return self.loc + self.scale * standard_normal(self._extend_shape(shape), self.loc._aval.dtype, seed)

    def entropy(self) -> Any:
        log_scale = paddle.log(self._spread(self.scale))
        if self._is_complex:
            return 2.0 * log_scale + (1.0 + math.log(math.pi))
        return log_scale + (0.5 + 0.5 * math.log(2 * math.pi))

    def log_prob(self, value: Any) -> Any:
        standardised = (self._value(value, self.loc) - self.loc) / self.scale
        log_scale = paddle.log(self.scale)
        if self._is_complex:
            return -paddle.square(paddle.abs(standardised)) - 2.0 * log_scale - math.log(math.pi)
        return -0.5 * paddle.square(standardised) - log_scale - 0.5 * math.log(2 * math.pi)
