"""Sums, means, extremes and the like along axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....eager.tensor import Tensor
from ..functions import linalg, paddle
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Integer, Integers


def axes_of(axis: Any, reduce_all: bool = False) -> Any:
    """Axes as our functions take them: an empty list means all."""
    if reduce_all or axis is None:
        return None
    if isinstance(axis, int):
        return axis
    return list(axis) or None


@reads("sum")
def total(x: Tensor, axis: Integers | None = None, *, dtype: Any = None, keepdim: bool = False) -> Tensor:
    wanted = None if dtype in (None, "undefined") else dtype
    return paddle.sum(x, axes_of(axis), dtype=wanted, keepdim=keepdim)


@reads("mean")
def mean(x: Tensor, places: Integers | None = None, *, axis: Any = None, keepdim: bool = False) -> Tensor:
    return paddle.mean(x, axes_of(axis if places is None else places), keepdim)


@reads("mean_all")
def mean_all(x: Tensor) -> Tensor:
    return paddle.mean(x)


@reads("max")
def maximum(x: Tensor, axis: Integers | None = None, *, keepdim: bool = False) -> Tensor:
    return paddle.max(x, axes_of(axis), keepdim)


@reads("min")
def minimum(x: Tensor, axis: Integers | None = None, *, keepdim: bool = False) -> Tensor:
    return paddle.min(x, axes_of(axis), keepdim)


@reads("max_with_index")
def max_with_index(x: Tensor, dim: Integer | None = None, *, keepdim: bool = False, flatten: bool = False) -> Any:
    if flatten or dim is None:
        return paddle.max(x), paddle.argmax(x)
    return paddle.max(x, dim, keepdim), paddle.argmax(x, dim, keepdim)


@reads("min_with_index")
def min_with_index(x: Tensor, dim: Integer | None = None, *, keepdim: bool = False, flatten: bool = False) -> Any:
    if flatten or dim is None:
        return paddle.min(x), paddle.argmin(x)
    return paddle.min(x, dim, keepdim), paddle.argmin(x, dim, keepdim)


@reads("amax")
def amax(x: Tensor, *, axis: Any = None, keepdim: bool = False) -> Tensor:
    return paddle.amax(x, axes_of(axis), keepdim)


@reads("amin")
def amin(x: Tensor, *, axis: Any = None, keepdim: bool = False) -> Tensor:
    return paddle.amin(x, axes_of(axis), keepdim)


@reads("prod")
def prod(x: Tensor, axis: Integers | None = None, *, keepdim: bool = False, reduce_all: bool = False) -> Tensor:
    return paddle.prod(x, axes_of(axis, reduce_all), keepdim)


@reads("all")
def every(x: Tensor, *, axis: Any = None, keepdim: bool = False) -> Tensor:
    return paddle.all(x, axes_of(axis), keepdim)


@reads("any")
def some(x: Tensor, *, axis: Any = None, keepdim: bool = False) -> Tensor:
    return paddle.any(x, axes_of(axis), keepdim)


@reads("nansum")
def nansum(x: Tensor, axis: Integers | None = None, *, keepdim: bool = False, dtype: Any = None) -> Tensor:
    return paddle.nansum(x, axes_of(axis), None if dtype in (None, "undefined") else dtype, keepdim)


@reads("logsumexp")
def logsumexp(x: Tensor, *, axis: Any = None, keepdim: bool = False, reduce_all: bool = False) -> Tensor:
    return paddle.logsumexp(x, axes_of(axis, reduce_all), keepdim)


@reads("frobenius_norm")
def frobenius_norm(
    x: Tensor, axis: Integers | None = None, *, keep_dim: bool = False, reduce_all: bool = False
) -> Tensor:
    return paddle.sqrt(paddle.sum(x * x, axes_of(axis, reduce_all), keepdim=keep_dim))


@reads("p_norm")
def p_norm(
    x: Tensor, *, porder: float = 2.0, axis: int = -1, epsilon: float = 1e-12, keepdim: bool = False,
    asvector: bool = False,
) -> Tensor:  # fmt: skip
    if asvector:
        return linalg.norm(x.reshape([-1]), porder, None if keepdim else 0).reshape([1] * x.ndim if keepdim else [])
    return linalg.norm(x, porder, axis, keepdim)


@reads("squared_l2_norm")
def squared_l2_norm(x: Tensor) -> Tensor:
    return paddle.sum(x * x).reshape([1])


@reads("l1_norm")
def l1_norm(x: Tensor) -> Tensor:
    return paddle.sum(paddle.abs(x))


@reads("dist")
def dist(x: Tensor, y: Tensor, *, p: float = 2.0) -> Tensor:
    return paddle.dist(x, y, p)


@reads("reduce_as")
def reduce_as(x: Tensor, target: Tensor) -> Tensor:
    return paddle.reduce_as(x, target)


@reads("std")
def std(x: Tensor, *, axis: Any = None, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    return paddle.std(x, axes_of(axis), unbiased, keepdim)


@reads("var", "variance")
def var(x: Tensor, *, axis: Any = None, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    return paddle.var(x, axes_of(axis), unbiased, keepdim)


@reads("argmax")
def argmax(
    x: Tensor, axis: Integer | None = None, *, keepdims: bool = False, flatten: bool = False, dtype: str = "int64"
) -> Tensor:
    return paddle.argmax(x, None if flatten else axis, keepdims, dtype)


@reads("argmin")
def argmin(
    x: Tensor, axis: Integer | None = None, *, keepdims: bool = False, flatten: bool = False, dtype: str = "int64"
) -> Tensor:
    return paddle.argmin(x, None if flatten else axis, keepdims, dtype)


def _accumulated(function: Any, x: Tensor, axis: int, exclusive: bool, reverse: bool, neutral: float) -> Tensor:
    """A running total along an axis, from the other end and without the element itself if wanted."""
    if reverse:
        x = paddle.flip(x, [axis])
    if exclusive:
        size = x._aval.shape[axis]
        first = paddle.full_like(paddle.slice(x, [axis], [0], [1]), neutral)
        x = paddle.concat([first, paddle.slice(x, [axis], [0], [size - 1])], axis)
    result = function(x, axis)
    return paddle.flip(result, [axis]) if reverse else result


@reads("cumsum")
def cumsum(
    x: Tensor, axis: Integer | None = None, *, flatten: bool = False, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    if flatten:
        x, axis = x.reshape([-1]), 0
    return _accumulated(paddle.cumsum, x, -1 if axis is None else axis, exclusive, reverse, 0.0)


@reads("cumprod")
def cumprod(x: Tensor, *, dim: int = -1, exclusive: bool = False, reverse: bool = False) -> Tensor:
    return _accumulated(paddle.cumprod, x, dim, exclusive, reverse, 1.0)


@reads("logcumsumexp")
def logcumsumexp(
    x: Tensor, *, axis: int = -1, flatten: bool = False, exclusive: bool = False, reverse: bool = False
) -> Tensor:
    if flatten:
        x, axis = x.reshape([-1]), 0
    return _accumulated(paddle.logcumsumexp, x, axis, exclusive, reverse, float("-inf"))


@reads("cummax")
def cummax(x: Tensor, *, axis: int = -1, dtype: str = "int64") -> Any:
    return paddle.cummax(x, axis, dtype)


@reads("cummin")
def cummin(x: Tensor, *, axis: int = -1, dtype: str = "int64") -> Any:
    return paddle.cummin(x, axis, dtype)


@reads("trace")
def trace(x: Tensor, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    return paddle.trace(x, offset, axis1, axis2)


@reads("median")
def median(x: Tensor, *, axis: Any = None, keepdim: bool = False, mode: str = "avg") -> Any:
    return paddle.median(x, _one_or_all(axis), keepdim, mode)


@reads("nanmedian")
def nanmedian(x: Tensor, *, axis: Any = None, keepdim: bool = False, mode: str = "avg") -> Any:
    return paddle.nanmedian(x, axes_of(axis), keepdim, mode)


def _one_or_all(axis: Any) -> Any:
    axes = axes_of(axis)
    return axes[0] if isinstance(axes, list) and len(axes) == 1 else axes
