"""Sums, means, extremes and running sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import paddle
from ..registry import reads

if TYPE_CHECKING:
    from ....formats.paddle.reading.registry import Integer, Integers


def _extreme(name: str) -> Callable[..., Tensor]:
    def reduce(x: Tensor, axes: Any, keep: bool) -> Tensor:
        if x._aval.size == 0:
            return _extreme_of_nothing(name, x, axes, keep)
        if x._aval.dtype.kind == "b":
            function = paddle.any if name == "max" else paddle.all
            return function(x, axes, keep)
        return getattr(paddle, name)(x, axes, keep)

    return reduce


def _extreme_of_nothing(name: str, x: Tensor, axes: Any, keep: bool) -> Tensor:
    dtype = x._aval.dtype
    if dtype.kind == "b":
        value: Any = name == "min"
    elif dtype.kind in "iu":
        value = np.iinfo(dtype).min if name == "max" else np.iinfo(dtype).max
    else:
        value = float("-inf") if name == "max" else float("inf")
    chosen = {axis % x.ndim for axis in (range(x.ndim) if axes is None else axes)}
    shape = [1 if axis in chosen else size for axis, size in enumerate(x.shape) if keep or axis not in chosen]
    return paddle.full(shape, value, x.dtype)


_REDUCTIONS: dict[str, Callable[..., Tensor]] = {
    "ReduceMax": _extreme("max"),
    "ReduceMin": _extreme("min"),
    "ReduceSum": lambda x, axes, keep: paddle.sum(x, axes, keepdim=keep).astype(x.dtype),
    "ReduceMean": lambda x, axes, keep: paddle.mean(_real(x), axes, keep).astype(x.dtype),
    "ReduceProd": lambda x, axes, keep: paddle.prod(x, axes, keep).astype(x.dtype),
    "ReduceL1": lambda x, axes, keep: paddle.sum(paddle.abs(x), axes, keepdim=keep).astype(x.dtype),
    "ReduceL2": lambda x, axes, keep: paddle.sqrt(paddle.sum(_real(x) * _real(x), axes, keepdim=keep)).astype(x.dtype),
    "ReduceSumSquare": lambda x, axes, keep: paddle.sum(x * x, axes, keepdim=keep).astype(x.dtype),
    "ReduceLogSum": lambda x, axes, keep: paddle.log(paddle.sum(_real(x), axes, keepdim=keep)).astype(x.dtype),
    "ReduceLogSumExp": lambda x, axes, keep: paddle.logsumexp(_real(x), axes, keep).astype(x.dtype),
}  # fmt: skip
# What a reduction over no axes does to each element.
_OF_ONE: dict[str, Callable[..., Tensor]] = {
    "ReduceL1": lambda x: paddle.abs(x), "ReduceL2": lambda x: paddle.abs(x), "ReduceSumSquare": lambda x: x * x,
    "ReduceLogSum": lambda x: paddle.log(x),
}  # fmt: skip


def _real(x: Tensor) -> Tensor:
    return x if x._aval.dtype.kind not in "iub" else x.astype("float64")


def _reduction(name: str) -> Any:
    def reduce(
        x: Tensor, wanted: Integers | None = None, *, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> Tensor:
        chosen = list(wanted if wanted is not None else axes or ())
        if not chosen and noop_with_empty_axes:
            return _OF_ONE.get(name, paddle.assign)(x)
        return _REDUCTIONS[name](x, chosen or None, bool(keepdims))

    return reduce


for _name in _REDUCTIONS:
    reads(_name)(_reduction(_name))


def _position(function: Any, x: Tensor, axis: int, keepdims: int, last: int) -> Tensor:
    if not last:
        return function(x, axis, keepdim=bool(keepdims))
    size = x.shape[axis]
    return size - 1 - function(paddle.flip(x, [axis]), axis, keepdim=bool(keepdims))


@reads("ArgMax")
def argmax(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
    return _position(paddle.argmax, x, axis, keepdims, select_last_index)


@reads("ArgMin")
def argmin(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
    return _position(paddle.argmin, x, axis, keepdims, select_last_index)


@reads("CumSum")
def cumsum(x: Tensor, axis: Integer, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
    return _running(lambda t: paddle.cumsum(t, axis), x, axis, exclusive, reverse, 0)


@reads("CumProd")
def cumprod(x: Tensor, axis: Integer, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
    return _running(lambda t: paddle.cumprod(t, axis), x, axis, exclusive, reverse, 1)


def _running(function: Any, x: Tensor, axis: int, exclusive: int, reverse: int, neutral: int) -> Tensor:
    x = paddle.flip(x, [axis]) if reverse else x
    if exclusive:
        size = x.shape[axis]
        first = paddle.full([1 if a == axis % x.ndim else s for a, s in enumerate(x.shape)], neutral, x.dtype)
        x = paddle.concat([first, paddle.slice(x, [axis % x.ndim], [0], [size - 1])], axis)
    made = function(x).astype(x.dtype)
    return paddle.flip(made, [axis]) if reverse else made
