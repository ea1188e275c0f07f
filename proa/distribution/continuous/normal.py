"""The normal distribution, real or (circularly symmetric) complex."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...eager.annotations import Number
from ...ops.arguments import integer
from ..arguments import common_shape, tensors
from ..distribution import Distribution
from ..functions import paddle
from ..noise import standard_normal


class Normal(Distribution):
    """The normal distribution, real or (circularly symmetric) complex.

    Args:
        loc: the mean; a complex one makes the distribution complex.
        scale: the standard deviation.
        name: a label; it changes nothing.

    Examples:
        >>> normal = paddle.distribution.Normal(paddle.to_tensor([0.0, 10.0]), paddle.to_tensor([1.0, 2.0]))
        >>> normal.variance.tolist()
        [1.0, 4.0]
        >>> normal.sample([5]).shape
        paddle.Size([5, 2])
    """

    _warns_of_types = True

    def __init__(self, loc: Number, scale: Number, name: str | None = None) -> None:
        self.name = "Normal" if name is None else name
        self.loc, self.scale = tensors("Normal", mixed=False, complex_numbers=True, loc=loc, scale=scale)
        self._is_complex = self.loc._aval.dtype.kind == "c"
        if self.scale._aval.dtype.kind == "c":
            self.scale = paddle.real(self.scale)
        super().__init__(common_shape("Normal", self.loc, self.scale))

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> print(paddle.distribution.Normal(0.0, 1.0).mean.numpy().round(4))
            0.0
        """
        return self._spread(self.loc)

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> print(paddle.distribution.Normal(0.0, 1.0).variance.numpy().round(4))
            1.0
        """
        return paddle.square(self._spread(self.scale))

    def sample(self, shape: Sequence[int] = [], seed: int = 0) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.
            seed: another number than 0 always gives the same ones.

        Examples:
            >>> normal = paddle.distribution.Normal(0.0, 1.0)
            >>> normal.sample([2], seed=7).tolist() == normal.sample([2], seed=7).tolist()
            True
        """
        return self._draw(shape, integer("Normal", "seed", seed))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> paddle.distribution.Normal(0.0, 1.0).rsample([2, 3]).shape
            paddle.Size([2, 3])
        """
        return self._draw(shape, 0)

    def _draw(self, shape: Any, seed: int) -> Any:
        return self.loc + self.scale * standard_normal(self._extend_shape(shape), self.loc._aval.dtype, seed)

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> print(paddle.distribution.Normal(0.0, 1.0).entropy().numpy().round(4))
            1.4189
        """
        log_scale = paddle.log(self._spread(self.scale))
        if self._is_complex:
            return 2.0 * log_scale + (1.0 + math.log(math.pi))
        return log_scale + (0.5 + 0.5 * math.log(2 * math.pi))

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> print(paddle.distribution.Normal(0.0, 1.0).log_prob(paddle.to_tensor(0.0)).numpy().round(4))
            -0.9189
        """
        standardised = (self._value(value, self.loc) - self.loc) / self.scale
        log_scale = paddle.log(self.scale)
        if self._is_complex:
            return -paddle.square(paddle.abs(standardised)) - 2.0 * log_scale - math.log(math.pi)
        return -0.5 * paddle.square(standardised) - log_scale - 0.5 * math.log(2 * math.pi)
