"""Any Python function on a tensor, as a method: `x.apply(f)`, `x.apply_(f)`; and quarter turns, `rot90`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import runtime_error, type_error, value_error
from ...eager.attaching import attach
from ...eager.declare import public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import leave_storage, take_over
from ..arguments import integer, integers, require_tensor
from ..basic import transpose_to
from ..shape.repetition import flip_axes


def _applied(where: str, x: Tensor, func: Callable[[Tensor], Any]) -> Tensor:
    if not x.stop_gradient:
        raise runtime_error(
            where, "the tensor's gradient is wanted, and an applied function is not followed", f"x: {x._aval}",
            "call the function itself, or detach() first",
        )  # fmt: skip
    if not callable(func):
        raise type_error(where, "func must be callable", f"func: {type(func).__name__}")
    result = func(x)
    if result is None:
        return x
    if not isinstance(result, Tensor):
        raise type_error(where, "func must give a Tensor", f"{type(result).__name__}")
    return result


def apply(self: Tensor, func: Callable[[Tensor], Any]) -> Tensor:
    """`func(x)`; the tensor itself where `func` gives None.

    Args:
        func: a function of the tensor.

    Raises:
        RuntimeError: the gradient of the tensor is wanted.

    Examples:
        >>> paddle.to_tensor([1.0, 2.0]).apply(lambda x: x * 3).tolist()
        [3.0, 6.0]
    """
    return _applied("apply", self, func)


def apply_(self: Tensor, func: Callable[[Tensor], Any]) -> Tensor:
    """Lets the tensor become `func(x)`, whatever its shape and type, and returns it.

    Args:
        func: a function of the tensor.

    Raises:
        RuntimeError: the gradient of the tensor is wanted.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> x.apply_(lambda x: x * 3).tolist(), x.tolist()
        ([3.0, 6.0], [3.0, 6.0])
    """
    result = _applied("apply_", self, func)
    if result is not self:
        leave_storage(self)
        take_over(self, result)
    return self


attach(__name__, apply=apply)
attach(__name__, apply_=apply_)


@samples(
    S(A(2, 3)), S(A(2, 3), 2), S(A(2, 3, 4), -1, [1, 2]), S(A(2, 3), 4), S(A(0, 3), 3, [-1, 0]),
    S(A(2, 2, dtype="int64"), 7),
    reference=lambda x, k=1, axes=(0, 1): np.rot90(x, k, axes),
)  # fmt: skip
@public(method=True)
def rot90(x: Tensor, k: int = 1, axes: Sequence[int] = (0, 1), name: str | None = None) -> Tensor:
    """A tensor turned by 90 degrees in the plane of two axes.

    Args:
        x: the tensor.
        k: how many times; negative numbers turn the other way.
        axes: the two axes; it is turned from the first towards the second.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.rot90(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
    """
    aval = require_tensor("rot90", "x", x)._aval
    turns, plane = integer("rot90", "k", k) % 4, integers("rot90", "axes", axes)
    if aval.ndim < 2:
        raise value_error("rot90", "x needs at least two dimensions", f"x: {aval}")
    if len(plane) != 2 or not all(-aval.ndim <= axis < aval.ndim for axis in plane):
        raise value_error("rot90", "axes must be two axes of x", f"axes: {list(plane)}, x: {aval}")
    first, second = (axis % aval.ndim for axis in plane)
    if first == second:
        raise value_error("rot90", "the two axes must be different", f"axes: {list(plane)}")
    if turns == 0:
        return x
    if turns == 2:
        return flip_axes(x, (first, second))
    swapped = list(range(aval.ndim))
    swapped[first], swapped[second] = second, first
    if turns == 1:
        return transpose_to(flip_axes(x, (second,)), tuple(swapped))
    return flip_axes(transpose_to(x, tuple(swapped)), (second,))
