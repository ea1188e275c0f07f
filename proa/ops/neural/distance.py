"""Distances, similarity and bilinear forms (`paddle.nn.functional`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.declare import public
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from ..basic import reshape_to
from ..linear.linalg import matmul
from ..math.norm import norm
from ..shape.repetition import broadcast_tensors


@samples(
    S(A(3, 4), A(3, 4)), S(A(2, 3, 4), A(2, 3, 4), axis=-1), S(A(3, 4), A(1, 4), axis=0), S(A(4), A(4), axis=0),
    reference=lambda x, y, axis=1, eps=1e-8: (x * y).sum(axis) / np.sqrt(
        np.maximum((x * x + 0 * y).sum(axis) * (y * y + 0 * x).sum(axis), eps * eps)),
)  # fmt: skip
@public(module="nn.functional")
def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis.

    Args:
        x1: the first vectors.
        x2: the second; their shape broadcasts with that of `x1`.
        axis: the axis of the vectors.
        eps: what the product of the lengths is at least.

    Returns:
        A tensor without `axis`, from -1 to 1.

    Examples:
        >>> x1 = paddle.to_tensor([[3.0, 4.0], [1.0, 0.0]])
        >>> x2 = paddle.to_tensor([[3.0, 4.0], [0.0, 1.0]])
        >>> paddle.nn.functional.cosine_similarity(x1, x2).tolist()
        [1.0, 0.0]
    """
    a: Any = require_tensor("cosine_similarity", "x1", x1)
    b: Any = require_tensor("cosine_similarity", "x2", x2)
    if a._aval.shape != b._aval.shape:  # a length counts as often as its vector is used
        a, b = broadcast_tensors([a, b])
    product = (a * b).sum(axis)
    squares = (a * a).sum(axis) * (b * b).sum(axis)
    return product / squares.clip(min=float(eps) ** 2).sqrt()


def _reference_distance(
    x: np.ndarray, y: np.ndarray, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False
) -> Any:
    return np.linalg.norm(x - y + epsilon, ord=p, axis=-1, keepdims=keepdim)


@samples(
    S(A(3, 4), A(3, 4)), S(A(3, 4), A(3, 4), 1.0, keepdim=True), S(A(3, 4), A(3, 4), 3.0), S(A(4), A(4)),
    S(A(3, 4), A(1, 4), float("inf")), reference=_reference_distance,
)  # fmt: skip
@public(module="nn.functional")
def pairwise_distance(
    x: Tensor, y: Tensor, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """The p-norm of `x - y + epsilon` along the last axis.

    Args:
        x: vectors, `[batch, size]` or `[size]`.
        y: as `x`.
        p: the order of the norm; infinity takes the largest difference.
        epsilon: a small number that keeps the gradient finite.
        keepdim: whether the last axis stays, with size 1.
        name: a label; it changes nothing.

    Returns:
        A tensor of distances.

    Examples:
        >>> x = paddle.to_tensor([[3.0, 4.0]])
        >>> y = paddle.to_tensor([[0.0, 0.0]])
        >>> print(paddle.nn.functional.pairwise_distance(x, y).numpy().round(3))
        [5.]
    """
    difference: Any = require_tensor("pairwise_distance", "x", x) - require_tensor("pairwise_distance", "y", y)  # type: ignore[operator]
    return norm(difference + float(epsilon), p=p, axis=-1, keepdim=keepdim)


@samples(
    S(A(2, 3), A(2, 4), A(5, 3, 4)), S(A(2, 3), A(2, 4), A(5, 3, 4), A(1, 5)), S(A(0, 3), A(0, 4), A(2, 3, 4)),
    reference=lambda x, y, w, b=0: np.einsum("ni,oij,nj->no", x, w, y) + b,
)  # fmt: skip
@public(module="nn.functional")
@one_operator("bilinear_tensor_product")
def bilinear(x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None) -> Tensor:
    """`x1ᵀ W x2 + bias` for each of the matrices in `weight`.

    Args:
        x1: `[batch, in1]`.
        x2: `[batch, in2]`.
        weight: `[out, in1, in2]`.
        bias: `[1, out]`, or None.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, out]`.

    Examples:
        >>> weight = paddle.to_tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]])
        >>> x1 = paddle.to_tensor([[1.0, 2.0]])
        >>> x2 = paddle.to_tensor([[3.0, 4.0]])
        >>> paddle.nn.functional.bilinear(x1, x2, weight).tolist()
        [[11.0, 4.0]]
    """
    avals = [require_tensor("bilinear", n, v)._aval for n, v in (("x1", x1), ("x2", x2), ("weight", weight))]
    first, second, matrices = avals
    received = f"x1: {first}, x2: {second}, weight: {matrices}"
    if first.ndim != 2 or second.ndim != 2 or matrices.ndim != 3 or first.shape[0] != second.shape[0]:
        raise value_error("bilinear", "x1 and x2 must be [batch, features], weight [out, in1, in2]", received)
    if (first.shape[1], second.shape[1]) != matrices.shape[1:]:
        raise value_error("bilinear", "the features must be those of the weight", received)
    count, rows, columns = matrices.shape
    batch = first.shape[0]
    # x1 against all matrices at once, then each row of that against x2.
    left = matmul(x1, reshape_to(weight.transpose([1, 0, 2]), (rows, count * columns)), False, False)
    right = reshape_to(x2, (batch, columns, 1))
    out = reshape_to(matmul(reshape_to(left, (batch, count, columns)), right, False, False), (batch, count))
    return out if bias is None else out + bias  # type: ignore[operator]
