"""The LKJ distribution of the lower triangular roots of correlation matrices (Lewandowski, Kurowicka, Joe 2009)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...core.errors import type_error, value_error
from ...eager.annotations import Number
from ..arguments import broadcast, require_all, sample_shape, tensors
from ..distribution import Distribution, without_gradient
from ..functions import paddle
from ..noise import standard_normal
from .beta import Beta

if TYPE_CHECKING:
    from ...eager.tensor import Tensor

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower triangular roots of correlation matrices, with density proportional to det^(concentration - 1).

    Args:
        dim: the rows and columns of the matrices, at least 2.
        concentration: a positive number, or a tensor of them; 1 makes all matrices equally likely.
        sample_method: 'onion' or 'cvine'.

    Raises:
        ValueError: a number is out of its range, or the method is unknown.
        TypeError: `dim` is no integer.

    Examples:
        >>> lkj = paddle.distribution.LKJCholesky(3, 1.0)
        >>> root = lkj.sample()
        >>> print((root @ root.T).diagonal().numpy().round(4))
        [1. 1. 1.]
    """

    def __init__(self, dim: int = 2, concentration: Number = 1.0, sample_method: str = "onion") -> None:
        if isinstance(dim, bool) or not isinstance(dim, int):
            raise type_error("LKJCholesky", "dim must be an integer", f"dim: {dim!r}")
        if dim < 2:
            raise value_error("LKJCholesky", "dim must be at least 2", f"dim: {dim}")
        if sample_method not in ("onion", "cvine"):
            raise value_error("LKJCholesky", "sample_method must be 'onion' or 'cvine'", f"{sample_method!r}")
        (self.concentration,) = tensors("LKJCholesky", integers=False, concentration=concentration)
        require_all(
            self.concentration > 0.0,
            "LKJCholesky", "concentration must be positive", f"concentration: {self.concentration._aval}",
        )  # fmt: skip
        self.dim = dim
        self.sample_method = sample_method
        super().__init__(tuple(self.concentration.shape), (dim, dim))

    def sample(self, sample_shape: Sequence[int] = []) -> Any:
        """Draws roots; no gradient flows through them.

        Args:
            sample_shape: how many samples, as a list of extents.

        Examples:
            >>> paddle.distribution.LKJCholesky(3, 1.0).sample([2]).shape
            paddle.Size([2, 3, 3])
        """
        return without_gradient(
            self._onion(sample_shape) if self.sample_method == "onion" else self._vine(sample_shape)
        )

    def _steps(self, first: int) -> Any:
        """The numbers first, first + 1, … for rows (or columns) 1 to dim - 1."""
        return paddle.arange(first, first + self.dim - 1, dtype=self.concentration.dtype)

    def _onion(self, shape: Any) -> Any:
        """Row by row: a direction of the sphere, with a beta distributed squared length."""
        row = self._steps(1)
        rest = self.concentration.unsqueeze(-1) + (float(self.dim - 1) - row) * 0.5
        squared = Beta(broadcast(row * 0.5, tuple(rest.shape)), rest).sample(shape).unsqueeze(-1)
        dims = (*sample_shape("LKJCholesky", shape), *self._batch_shape, self.dim - 1, self.dim - 1)
        numbers = paddle.tril(standard_normal(dims, self.concentration._aval.dtype))
        direction = numbers / paddle.sqrt(paddle.square(numbers).sum(-1, keepdim=True))
        return self._with_diagonal(paddle.sqrt(squared) * direction, paddle.sqrt(1.0 - squared).squeeze(-1))

    def _vine(self, shape: Any) -> Any:
        """Partial correlations, column by column, turned into the root."""
        column = self._steps(0)
        weight = self.concentration.unsqueeze(-1) + (float(self.dim - 2) - column) * 0.5
        table = broadcast(weight.unsqueeze(-2), (*self._batch_shape, self.dim - 1, self.dim - 1))
        partial = paddle.tril(Beta(table, table).sample(shape) * 2.0 - 1.0)
        left = paddle.cumprod(1.0 - paddle.square(partial), dim=-1)
        one = paddle.ones_like(left[..., :1])
        before = paddle.sqrt(paddle.concat([one, left[..., :-1]], axis=-1))
        return self._with_diagonal(partial * before, paddle.sqrt(left[..., -1]))

    def _with_diagonal(self, below: Any, diagonal: Any) -> Any:
        """The root with rows 1 to dim - 1 given: `below` without, `diagonal` on the diagonal."""
        rows = paddle.concat([below, paddle.zeros_like(below[..., :1])], axis=-1)
        place = paddle.eye(self.dim, dtype=below.dtype)[1:]
        rows = rows + diagonal.unsqueeze(-1) * place
        first = paddle.zeros_like(rows[..., :1, :]) + paddle.eye(self.dim, dtype=below.dtype)[:1]
        return paddle.concat([first, rows], axis=-2)

    def log_prob(self, value: Tensor) -> Any:
        """The logarithm of the density at a root.

        Args:
            value: a lower triangular matrix, or a batch of them.

        Raises:
            ValueError: it has other extents.

        Examples:
            >>> law = paddle.distribution.LKJCholesky(2, 1.0)
            >>> print(law.log_prob(paddle.to_tensor([[1.0, 0.0], [0.6, 0.8]])).numpy().round(4))
            -0.6931
        """
        value = self._value(value, self.concentration)
        if value.ndim < 2 or tuple(value.shape[-2:]) != self._event_shape:
            raise value_error(
                "LKJCholesky", f"the value must be a matrix of {self.dim} rows and columns, or a batch of them",
                f"value: {value._aval}",
            )  # fmt: skip
        diagonal = paddle.diagonal(value, axis1=-2, axis2=-1)[..., 1:]
        power = 2.0 * (self.concentration.unsqueeze(-1) - 1.0) + float(self.dim) - self._steps(2)
        return (power * paddle.log(diagonal)).sum(-1) - self._log_normalizer()

    def _log_normalizer(self) -> Any:
        count = self.dim - 1
        top = self.concentration + 0.5 * count
        # The logarithm of the multivariate gamma function of (top - 1/2), in dimension `count`.
        halves = 0.5 * (self._steps(0) + 1.0)
        multivariate = paddle.lgamma(top.unsqueeze(-1) - halves).sum(-1) + 0.25 * count * (count - 1) * math.log(
            math.pi
        )
        return 0.5 * count * math.log(math.pi) + multivariate - paddle.lgamma(top) * float(count)
