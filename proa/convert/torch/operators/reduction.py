"""Sums, means, extremes, norms, running sums."""

from __future__ import annotations

from typing import Any

from ....core.symbols import maximum
from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import linalg, paddle
from ..registry import reads
from .promotion import kind_of, real


def _axes(axis: Any) -> Any:
    return None if axis is None or axis == [] else axis


@reads("sum")
def total(x: Tensor, axis: Any = None, keep: bool = False, dtype: Any = None) -> Tensor:
    x = x.astype(dtype) if dtype else x.astype("int64") if kind_of(x) < 2 else x
    return paddle.sum(x, _axes(axis), keepdim=keep)


@reads("mean")
def mean(x: Tensor, axis: Any = None, keep: bool = False, dtype: Any = None) -> Tensor:
    return paddle.mean(x.astype(dtype) if dtype else x, _axes(axis), keep)


@reads("prod")
def prod(x: Tensor, axis: Any = None, keep: bool = False, dtype: Any = None) -> Tensor:
    return paddle.prod(x.astype(dtype) if dtype else x.astype("int64") if kind_of(x) < 2 else x, axis, keep)


def _variance(x: Tensor, axis: Any, correction: Any, keep: bool) -> Tensor:
    axes = list(range(x.ndim)) if _axes(axis) is None else ([axis] if isinstance(axis, int) else list(axis))
    count: Any = 1
    for one in axes:
        count = count * x._aval.shape[one]
    mean_ = paddle.mean(x, axes, keepdim=True)
    squares = paddle.sum((x - mean_) * (x - mean_), axes, keepdim=keep)
    return squares / maximum(count - (1 if correction is None else correction), 0)


@reads("var.correction", "var")
def var(x: Tensor, axis: Any = None, unbiased: Any = None, keep: bool = False, *, correction: Any = None,
        keepdim: bool = False) -> Tensor:  # fmt: skip
    if isinstance(axis, bool):
        axis, unbiased = None, axis
    correction = int(unbiased) if unbiased is not None else correction
    return _variance(x, axis, correction, keep or keepdim)


@reads("std.correction", "std")
def std(x: Tensor, *arguments: Any, **named: Any) -> Tensor:
    return paddle.sqrt(var(x, *arguments, **named))


@reads("var_mean")
def var_mean(x: Tensor, axis: Any = None, unbiased: Any = None, keep: bool = False, *, correction: Any = None,
             keepdim: bool = False) -> Any:  # fmt: skip
    keep = keep or keepdim
    return var(x, axis, unbiased, keep, correction=correction), paddle.mean(x, _axes(axis), keep)


@reads("amax")
def amax(x: Tensor, axis: Any = None, keep: bool = False) -> Tensor:
    return paddle.max(x, _axes(axis), keep)


@reads("amin")
def amin(x: Tensor, axis: Any = None, keep: bool = False) -> Tensor:
    return paddle.min(x, _axes(axis), keep)


@reads("max")
def largest(x: Tensor) -> Tensor:
    return paddle.max(x)


@reads("min")
def smallest(x: Tensor) -> Tensor:
    return paddle.min(x)


@reads("max.dim")
def max_along(x: Tensor, axis: int, keep: bool = False) -> Any:
    return paddle.max(x, axis, keep), paddle.argmax(x, axis, keep)


@reads("min.dim")
def min_along(x: Tensor, axis: int, keep: bool = False) -> Any:
    return paddle.min(x, axis, keep), paddle.argmin(x, axis, keep)


@reads("argmax")
def argmax(x: Tensor, axis: Any = None, keep: bool = False) -> Tensor:
    return paddle.argmax(x, axis, keep)


@reads("argmin")
def argmin(x: Tensor, axis: Any = None, keep: bool = False) -> Tensor:
    return paddle.argmin(x, axis, keep)


@reads("any")
def any_(x: Tensor, axis: Any = None, keep: bool = False) -> Tensor:
    return paddle.any(x.astype("bool"), _axes(axis), keep)


@reads("all")
def all_(x: Tensor, axis: Any = None, keep: bool = False) -> Tensor:
    return paddle.all(x.astype("bool"), _axes(axis), keep)


@reads("logsumexp")
def logsumexp(x: Tensor, axis: Any, keep: bool = False) -> Tensor:
    return paddle.logsumexp(real(x), axis, keep)


@reads("cumsum")
def cumsum(x: Tensor, axis: int, dtype: Any = None) -> Tensor:
    x = x.astype(dtype) if dtype else x.astype("int64") if kind_of(x) < 2 else x
    return paddle.cumsum(x, axis) if x.ndim else x


@reads("cumprod")
def cumprod(x: Tensor, axis: int, dtype: Any = None) -> Tensor:
    return paddle.cumprod(x.astype(dtype) if dtype else x, axis)


@reads("linalg_vector_norm")
def vector_norm(x: Tensor, order: Any = 2, axis: Any = None, keep: bool = False, dtype: Any = None) -> Tensor:
    return _norm(x, order, axis, keep)


@reads("norm")
def norm(x: Tensor, order: Any = 2, axis: Any = None, keep: bool = False, dtype: Any = None) -> Tensor:
    return _norm(x, 2 if order is None else order, axis, keep)


def _norm(x: Tensor, order: Any, axis: Any, keep: bool) -> Tensor:
    if order == 2:
        return paddle.sqrt(paddle.sum(x * x, _axes(axis), keepdim=keep))
    if order == 0:
        return paddle.sum((x != 0).astype(x.dtype), _axes(axis), keepdim=keep)
    if order == 1:
        return paddle.sum(paddle.abs(x), _axes(axis), keepdim=keep)
    if order in (float("inf"), float("-inf")):
        return (paddle.max if order > 0 else paddle.min)(paddle.abs(x), _axes(axis), keep)
    return paddle.pow(paddle.sum(paddle.pow(paddle.abs(x), order), _axes(axis), keepdim=keep), 1 / order)


@reads("linalg_inv", "inverse")
def inverse(x: Tensor) -> Tensor:
    return linalg.inv(x)


@reads("count_nonzero")
def count_nonzero(x: Tensor, axis: Any = None) -> Tensor:
    return paddle.sum((x != 0).astype("int64"), _axes(axis))
