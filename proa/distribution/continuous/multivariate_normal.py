"""The normal distribution of vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.annotations import Number
from ...eager.tensor import Tensor
from ..arguments import broadcast, tensors
from ..distribution import Distribution, without_gradient
from ..functions import linalg, paddle
from ..noise import standard_normal


class MultivariateNormal(Distribution):
    """The normal distribution of vectors.

    Exactly one of the three matrices is given.

    Args:
        loc: the mean.
        covariance_matrix: the covariance.
        precision_matrix: its inverse.
        scale_tril: its lower triangular root.

    Raises:
        ValueError: none or several matrices are given, or the shapes do not fit.
        TypeError: the matrix is no tensor.

    Examples:
        >>> covariance = paddle.to_tensor([[4.0, 1.0], [1.0, 2.0]])
        >>> normal = paddle.distribution.MultivariateNormal(paddle.to_tensor([0.0, 1.0]), covariance)
        >>> normal.event_shape, normal.variance.numpy().round(4).tolist()
        ((2,), [4.0, 2.0])
    """

    def __init__(
        self,
        loc: Number,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril,
        }  # fmt: skip
        named = [name for name, value in given.items() if value is not None]
        if len(named) != 1:
            raise value_error(
                "MultivariateNormal",
                "exactly one of covariance_matrix, precision_matrix and scale_tril must be given",
                ", ".join(named) or "none of them",
            )
        (name,) = named
        if not isinstance(given[name], Tensor):
            raise type_error("MultivariateNormal", f"{name} must be a Tensor", f"{name}: {type(given[name]).__name__}")
        centre, matrix = tensors(
            "MultivariateNormal", loc=[float(loc)] if isinstance(loc, (int, float)) else loc, matrix=given[name]
        )
        received = f"loc: {centre._aval}, {name}: {matrix._aval}"
        if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
            raise value_error("MultivariateNormal", f"{name} must be a square matrix, or a batch of them", received)
        if not centre.ndim:
            raise value_error("MultivariateNormal", "loc must have at least one dimension", received)
        size = int(matrix.shape[-1])
        if centre.shape[-1] not in (1, size):
            raise value_error("MultivariateNormal", f"loc must have {size} entries like the matrix", received)
        try:
            batch = tuple(np.broadcast_shapes(tuple(matrix.shape[:-2]), tuple(centre.shape[:-1])))
        except ValueError:
            raise value_error("MultivariateNormal", "the batches cannot be broadcast together", received) from None
        self.loc = broadcast(centre, (*batch, size))
        matrix = broadcast(matrix, (*batch, size, size))
        self.covariance_matrix = matrix if name == "covariance_matrix" else None
        self.precision_matrix = matrix if name == "precision_matrix" else None
        self.scale_tril = matrix if name == "scale_tril" else None
        if name == "scale_tril":
            self._root = matrix
        elif name == "covariance_matrix":
            self._root = linalg.cholesky(matrix)
        else:
            self._root = _root_of_inverse(matrix)
        super().__init__(batch, (size,))

    @property
    def mean(self) -> Any:
        """The expected value.

        Examples:
            >>> law = paddle.distribution.MultivariateNormal(paddle.to_tensor([0.0, 1.0]), paddle.eye(2))
            >>> print(law.mean.numpy().round(4))
            [0. 1.]
        """
        return self.loc

    @property
    def variance(self) -> Any:
        """The expected squared distance from the mean.

        Examples:
            >>> law = paddle.distribution.MultivariateNormal(paddle.to_tensor([0.0, 1.0]), paddle.eye(2))
            >>> print(law.variance.numpy().round(4))
            [1. 1.]
        """
        return paddle.square(self._root).sum(-1)

    def sample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers; no gradient flows through them.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> law = paddle.distribution.MultivariateNormal(paddle.to_tensor([0.0, 1.0]), paddle.eye(2))
            >>> law.sample([4]).shape
            paddle.Size([4, 2])
        """
        return without_gradient(self.rsample(shape))

    def rsample(self, shape: Sequence[int] = []) -> Any:
        """Draws numbers as a function of the parameters, which gradients flow through.

        Args:
            shape: how many samples, as a list of extents; [] draws one for each batch element.

        Examples:
            >>> law = paddle.distribution.MultivariateNormal(paddle.to_tensor([0.0, 1.0]), paddle.eye(2))
            >>> law.rsample([4]).shape
            paddle.Size([4, 2])
        """
        numbers = standard_normal(self._extend_shape(shape), self.loc._aval.dtype)
        return self.loc + paddle.matmul(self._root, numbers.unsqueeze(-1)).squeeze(-1)

    def _half_log_determinant(self) -> Any:
        return paddle.log(paddle.diagonal(self._root, axis1=-2, axis2=-1)).sum(-1)

    def log_prob(self, value: Number) -> Any:
        """The logarithm of the density at a place.

        Args:
            value: the place.

        Examples:
            >>> law = paddle.distribution.MultivariateNormal(paddle.to_tensor([0.0, 1.0]), paddle.eye(2))
            >>> print(law.log_prob(paddle.to_tensor([0.0, 1.0])).numpy().round(4))
            -1.8379
        """
        difference = self._value(value, self.loc) - self.loc
        distance = paddle.square(_solved(self._root, difference.unsqueeze(-1))).sum([-2, -1])
        return -0.5 * (distance + self._event_shape[0] * math.log(2 * math.pi)) - self._half_log_determinant()

    def entropy(self) -> Any:
        """The expected value of `-log_prob`.

        Examples:
            >>> law = paddle.distribution.MultivariateNormal(paddle.to_tensor([0.0, 1.0]), paddle.eye(2))
            >>> print(law.entropy().numpy().round(4))
            2.8379
        """
        constant = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return self._half_log_determinant() + constant

    def _divergence_from(self, other: MultivariateNormal) -> Any:
        if self._event_shape != other._event_shape:
            raise value_error(
                "kl_divergence", "the distributions must have the same event_shape",
                f"p: {list(self._event_shape)}, q: {list(other._event_shape)}",
            )  # fmt: skip
        ratio = paddle.square(_solved(other._root, self._root)).sum([-2, -1])
        difference = (self.loc - other.loc).unsqueeze(-1)
        distance = paddle.square(_solved(other._root, difference)).sum([-2, -1])
        determinants = other._half_log_determinant() - self._half_log_determinant()
        return determinants + 0.5 * (ratio + distance - float(self._event_shape[0]))


def _solved(root: Any, right: Any) -> Any:
    """The solution of root @ x = right for a lower triangular root, with broadcast batches."""
    batch = np.broadcast_shapes(tuple(root.shape[:-2]), tuple(right.shape[:-2]))
    root = broadcast(root, (*batch, *root.shape[-2:]))
    right = broadcast(right, (*batch, *right.shape[-2:]))
    return linalg.triangular_solve(root, right, upper=False)


def _root_of_inverse(matrix: Any) -> Any:
    """The lower triangular root of the inverse of a matrix.

    With rows and columns in reverse order, the root of the matrix is upper triangular: matrix = U U^T, so the
    inverse is (U^-1)^T U^-1, and (U^-1)^T is lower triangular.
    """
    reversed_root = linalg.cholesky(paddle.flip(matrix, [-2, -1]))
    upper = paddle.flip(reversed_root, [-2, -1])
    order = [*range(upper.ndim - 2), upper.ndim - 1, upper.ndim - 2]
    eye = paddle.eye(upper.shape[-1], dtype=upper.dtype)
    return _solved(upper.transpose(order), eye)
