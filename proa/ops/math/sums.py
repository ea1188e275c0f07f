"""Sums over lists and down to shapes: add_n, reduce_as, increment, renorm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.dtype import INT64, is_differentiable
from ...core.errors import type_error, value_error
from ...eager.declare import public
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import assign_in_place
from ..arguments import one_axis, require_tensor
from ..basic import cast_to, sum_to
from ..create.creation import scalar_of
from .arithmetic import affine, divide_or_zero, plus, times
from .norm import p_norm
from .ternary import clip


@samples(
    S([A(2, 3), A(2, 3)]), S([A(3, dtype="int64"), A(3, dtype="int64"), A(3, dtype="int64")]), S(A(2)),
    S([A(0, 3), A(0, 3)]), S([A(), A()]), S([A(4)]),
    reference=lambda inputs: np.sum(inputs, 0, dtype=inputs[0].dtype) if isinstance(inputs, list) else inputs,
)  # fmt: skip
@public(method=True)
@one_operator("sum")
def add_n(inputs: Tensor | Sequence[Tensor], name: str | None = None) -> Tensor:
    """The sum of several tensors of one shape and type, element by element.

    Args:
        inputs: a list of tensors, or one tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.add_n([paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0]), paddle.ones([2])]).tolist()
        [5.0, 7.0]
    """
    if isinstance(inputs, Tensor):
        return inputs.clone()
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise value_error(
            "add_n", "inputs must be a tensor or a list of tensors, not empty", f"{type(inputs).__name__}"
        )
    first = require_tensor("add_n", "inputs[0]", inputs[0])._aval
    for position, other in enumerate(inputs):
        aval = require_tensor("add_n", f"inputs[{position}]", other)._aval
        if aval.shape != first.shape or aval.dtype != first.dtype:
            raise value_error(
                "add_n", "all tensors must have one shape and data type",
                f"inputs[0]: {first}, inputs[{position}]: {aval}",
            )  # fmt: skip
    total = inputs[0]
    for other in inputs[1:]:
        total = plus(total, other)
    return total.clone() if len(inputs) == 1 else total


def _reference_reduce_as(x: Any, target: Any) -> Any:
    extra = x.ndim - target.ndim
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(target.shape) if n == 1)
    kind = "int64" if x.dtype.kind in "bi" else x.dtype
    return x.sum(axes, keepdims=True, dtype=kind).reshape(target.shape)


@samples(
    S(A(2, 3, 4), A(3, 1, grad=False)), S(A(2, 3), A(2, 3, grad=False)), S(A(2, 3), A(grad=False)),
    S(A(2, 3, dtype="int32"), A(3, grad=False)), S(A(2, 3, dtype="bool"), A(3, grad=False)), S(A(0, 3), A(3, grad=False)),
    reference=_reference_reduce_as,
)  # fmt: skip
@public(method=True)
def reduce_as(x: Tensor, target: Tensor, name: str | None = None) -> Tensor:
    """`x` summed down to the shape of another tensor, the reverse of broadcasting.

    Args:
        x: the tensor.
        target: a tensor whose shape broadcasts to that of `x`.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.reduce_as(paddle.ones([2, 3]), paddle.zeros([1, 3])).tolist()
        [[2.0, 2.0, 2.0]]
    """
    aval, wanted = require_tensor("reduce_as", "x", x)._aval, require_tensor("reduce_as", "target", target)._aval
    extra = aval.ndim - wanted.ndim
    if extra < 0 or any(n not in (1, aval.shape[extra + i]) for i, n in enumerate(wanted.shape)):
        raise value_error(
            "reduce_as", "the shape of target must broadcast to that of x", f"x: {aval}, target: {wanted}"
        )
    if aval.shape != wanted.shape and (aval.dtype == np.bool_ or aval.dtype == np.int32):
        x = cast_to(x, INT64)
    return sum_to(x, wanted.shape)


@samples(
    S(A(1, grad=False)), S(A(grad=False), 2.5), S(A(1, 1, dtype="int64"), 3),
    S(A(1, dtype="float64", grad=False), value=-0.5),
    reference=lambda x, value=1.0: x + value, gradient=False, why="changes its argument",
)  # fmt: skip
@public(method=True)
def increment(x: Tensor, value: float = 1.0, name: str | None = None) -> Tensor:
    """Adds a number to the one element of `x`, in place.

    Args:
        x: a tensor with one element.
        value: what is added.
        name: a label; it changes nothing.

    Examples:
        >>> counter = paddle.zeros([1])
        >>> paddle.increment(counter).tolist(), counter.tolist()
        ([1.0], [1.0])
    """
    aval = require_tensor("increment", "x", x)._aval
    if aval.size != 1:
        raise value_error("increment", "x must have exactly one element", f"x: {aval}", "use add_()")
    return assign_in_place(x, affine(x, 1.0, scalar_of("increment", "value", value), True), "increment")


def _reference_renorm(x: Any, p: float, axis: int, max_norm: float) -> Any:
    rest = tuple(i for i in range(x.ndim) if i != axis % x.ndim)
    length = (
        np.sum(np.abs(x) ** p, rest, keepdims=True) ** (1 / p) if p != math.inf else np.abs(x).max(rest, keepdims=True)
    )
    return np.where(length > max_norm, x * (max_norm / np.maximum(length, 1e-30)), x)


@samples(
    S(A(2, 3, 4), 2.0, 0, 1.5), S(A(3, 4), 1.0, -1, 2.0), S(A(4), 2.0, 0, 1.0), S(A(0, 3), 2.0, 0, 1.0),
    S(A(3, 4), 3.0, 1, 1.0), S(A(2, 3, dtype="float64"), math.inf, 0, 0.5), S(A(2, 3), 2.0, 0, 100.0),
    reference=_reference_renorm,
)  # fmt: skip
@public(method=True, inplace=True)
@one_operator("renorm")
def renorm(x: Tensor, p: float, axis: int, max_norm: float) -> Tensor:
    """Every slice along an axis whose norm is too large scaled down to `max_norm`.

    Args:
        x: the tensor.
        p: which norm.
        axis: the axis whose slices are looked at.
        max_norm: the largest norm that stays as it is.

    Examples:
        >>> paddle.renorm(paddle.to_tensor([[3.0, 4.0], [0.3, 0.4]]), 2.0, 0, 1.0).numpy().round(4)
        array([[0.6, 0.8],
               [0.3, 0.4]], dtype=float32)
    """
    aval = require_tensor("renorm", "x", x)._aval
    if not is_differentiable(aval.dtype):
        raise type_error("renorm", "x must be floating", f"x: {aval}", "convert with astype('float32')")
    if not aval.ndim:
        raise value_error("renorm", "x needs a dimension", f"x: {aval}")
    order, limit = float(scalar_of("renorm", "p", p)), float(scalar_of("renorm", "max_norm", max_norm))
    if not order > 0 or not limit >= 0:
        raise value_error("renorm", "p must be positive and max_norm not negative", f"p: {p}, max_norm: {max_norm}")
    along = one_axis("renorm", axis, aval.ndim)
    rest = tuple(i for i in range(aval.ndim) if i != along)
    if not rest:
        x = x.unsqueeze(1)
        return renorm(x, order, 0, limit).squeeze(1)
    length = p_norm(x, order, rest, True)
    # Where the length is below the limit this is 1, with a gradient of zero.
    return x * divide_or_zero(clip(length, None, limit), length) if limit else times(x, 0.0)
