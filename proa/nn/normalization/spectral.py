"""Weights divided by their largest singular value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import failed_check
from ...eager.tensor import Tensor, alias
from ...ir.recorder import recording_gradients
from ...ops.basic import reshape_to, transpose_to
from ...ops.linear.linalg import matmul
from ..base.attributes import ParamAttr
from ..base.sizes import whole_sizes
from ..initializer import Normal
from ..layer import Layer


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The axis `dim` against all others."""
    shape = weight._aval.shape
    moved = weight if dim == 0 else transpose_to(weight, (dim, *(a for a in range(len(shape)) if a != dim)))
    return reshape_to(moved, (shape[dim], math.prod(shape) // max(shape[dim], 1)))


def power_iteration(matrix: Tensor, u: Tensor, v: Tensor, rounds: int, eps: float) -> tuple[Any, Any]:
    """Better left and right singular vectors, outside of the gradient."""
    with recording_gradients(False):
        fixed: Any = matrix.detach()
        left: Any = alias(u)
        right: Any = alias(v)
        for _ in range(rounds):
            right = matmul(fixed, left, True, False)
            right = right / (right.norm() + eps)
            left = matmul(fixed, right, False, False)
            left = left / (left.norm() + eps)
        return left, right


class SpectralNorm(Layer):
    """Divides a weight by its largest singular value, which is followed by power iteration.

    `paddle.nn.utils.spectral_norm` does this to the weight of a layer.

    Args:
        weight_shape: the extents of the weight.
        dim: the axis that stands for the rows of the matrix.
        power_iters: rounds of power iteration at each call.
        eps: the smallest divisor.
        dtype: the data type.

    Raises:
        ValueError: the weight would have no elements, or `dim` is none of its axes.

    Examples:
        >>> layer = paddle.nn.SpectralNorm([2, 2], power_iters=20)
        >>> print(layer(paddle.to_tensor([[4.0, 0.0], [0.0, 2.0]])).numpy().round(3))
        [[1.  0. ]
         [0.  0.5]]
    """

    def __init__(
        self,
        weight_shape: Sequence[int],
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: str = "float32",
    ) -> None:
        super().__init__(dtype=dtype)
        shape = [int(n) for n in weight_shape]
        dim, power_iters = whole_sizes(self, dim=dim, power_iters=power_iters)
        if not shape or min(shape) < 1 or not -len(shape) <= dim < len(shape):
            raise failed_check(
                "SpectralNorm", "the weight must have elements, and dim must be one of its axes", f"{shape}, dim: {dim}"
            )
        self._power_iters, self._epsilon, self._dim = power_iters, eps, dim % len(shape)
        rows = shape[self._dim]
        columns = int(np.prod(shape)) // rows
        self.weight_u = self.create_parameter([rows], ParamAttr(), default_initializer=Normal(0.0, 1.0))
        self.weight_v = self.create_parameter([columns], ParamAttr(), default_initializer=Normal(0.0, 1.0))
        self.weight_u.stop_gradient = self.weight_v.stop_gradient = True

    def forward(self, x: Tensor) -> Tensor:
        """The weight, divided by its largest singular value.

        Examples:
            >>> paddle.nn.SpectralNorm([4, 3, 3]).forward(paddle.randn([4, 3, 3])).shape
            paddle.Size([4, 3, 3])
        """
        matrix = as_matrix(x, self._dim)
        u, v = power_iteration(matrix, self.weight_u, self.weight_v, self._power_iters, self._epsilon)
        sigma: Any = (u * matmul(matrix, v, False, False)).sum()
        return x / sigma  # type: ignore[operator]
