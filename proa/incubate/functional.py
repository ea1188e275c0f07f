"""Softmax with a mask, and a loss that passes through. What is fused elsewhere by hand, XLA fuses by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtype import BOOL
from ..core.errors import type_error, value_error
from ..eager.declare import public
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor
from ..ops.arguments import require_tensor
from ..ops.basic import full_of
from ..ops.basic import sum as total
from ..ops.linear.matrix import tril
from ..ops.math.reduction import mean
from ..ops.math.ternary import where as choose_by
from ..ops.neural.softmax import softmax_along


def _reference_softmax(x: Any) -> Any:
    wide = x.astype("float64" if x.dtype.kind == "f" else "float32")
    shares = np.exp(wide - wide.max(-1, keepdims=True)) if x.size else wide
    return (shares / shares.sum(-1, keepdims=True)).astype(x.dtype)


@samples(
    S(A(2, 3, 4, 5), A(2, 1, 4, 5)), S(A(1, 1, 2, 3), A(1, 1, 2, 3, values=[[[[0, -1e9, 0], [0, 0, -1e9]]]])),
    S(A(0, 2, 3, 4), A(0, 1, 3, 4)), S(A(1, 2, 1, 1), A(1, 1, 1, 1)),
    reference=lambda x, mask: _reference_softmax(x + mask),
)  # fmt: skip
@public(module="incubate")
def softmax_mask_fuse(x: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """`softmax(x + mask)` over the last axis.

    Args:
        x: scores, `[batch, heads, queries, keys]`.
        mask: `[batch, 1, queries, keys]`.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> mask = paddle.to_tensor([0.0, -1e9]).reshape([1, 1, 1, 2])
        >>> paddle.incubate.softmax_mask_fuse(paddle.zeros([1, 1, 1, 2]), mask).flatten().tolist()
        [1.0, 0.0]
    """
    where = "softmax_mask_fuse"
    aval, mask_aval = require_tensor(where, "x", x)._aval, require_tensor(where, "mask", mask)._aval
    expected = (*aval.shape[:1], 1, *aval.shape[2:])
    if aval.ndim != 4 or mask_aval.shape != expected:
        raise value_error(
            where,
            "x must have four dimensions, and the mask the same but for one head",
            f"x: {aval}, mask: {mask_aval}",
        )
    return softmax_along(x + mask, 3)


def _reference_triangle(x: Any) -> Any:
    lower = np.tril(np.ones(x.shape[-2:], bool))
    return _reference_softmax(np.where(lower, x, np.asarray(-np.inf, x.dtype)))


@samples(
    S(A(2, 3, 4, 4)), S(A(1, 1, 1, 1)), S(A(0, 2, 3, 3)), S(A(1, 2, 5, 5, dtype="float64")),
    reference=_reference_triangle,
)  # fmt: skip
@public(module="incubate")
def softmax_mask_fuse_upper_triangle(x: Tensor) -> Tensor:
    """The softmax over the last axis without what lies above the diagonal (causal attention).

    Args:
        x: scores, `[batch, heads, n, n]`.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.incubate.softmax_mask_fuse_upper_triangle(paddle.zeros([1, 1, 2, 2]))[0, 0].tolist()
        [[1.0, 0.0], [0.5, 0.5]]
    """
    where = "softmax_mask_fuse_upper_triangle"
    aval = require_tensor(where, "x", x)._aval
    if aval.ndim != 4 or aval.shape[2] != aval.shape[3]:
        raise value_error(where, "x must be [batch, heads, n, n]", f"x: {aval}")
    return softmax_along(choose_by(tril(full_of(True, aval.shape[2:], BOOL)), x, -math.inf), 3)


@samples(
    S(A(2, 3)), S(A(2, 3), "sum"), S(A(2, 3), 1), S(A(), "mean"), S(A(0, 3), 0),
    reference=lambda x, reduction="none": x if reduction in ("none", 2) else np.mean(x)
    if reduction in ("mean", 1) else np.sum(x),
)  # fmt: skip
@public(module="incubate")
def identity_loss(x: Tensor, reduction: str | int = "none") -> Tensor:
    """Marks `x` as the loss.

    Args:
        x: the tensor.
        reduction: 'sum' or 0, 'mean' or 1, 'none' or 2.

    Returns:
        The sum, the mean, or `x` itself.

    Examples:
        >>> paddle.incubate.identity_loss(paddle.to_tensor([1.0, 3.0]), "mean").item()
        2.0
    """
    require_tensor("identity_loss", "x", x)
    if isinstance(reduction, str):
        if reduction.lower() not in ("sum", "mean", "none"):
            raise type_error("identity_loss", "reduction is 'none', 'mean' or 'sum'", f"reduction: {reduction!r}")
        reduction = {"sum": 0, "mean": 1, "none": 2}[reduction.lower()]
    if reduction not in (0, 1, 2):
        raise value_error("identity_loss", "reduction is 0 (sum), 1 (mean) or 2 (none)", f"reduction: {reduction!r}")
    return total(x) if reduction == 0 else mean(x) if reduction == 1 else x.clone()
