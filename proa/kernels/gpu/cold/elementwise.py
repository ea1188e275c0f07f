"""Elements, one by one or along an axis: in one call of CuPy's each, or few."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

_OWN_TYPES = ("float32", "float64")


@functools.cache
def elementwise(name: str, inputs: str, body: str) -> Any:
    """A kernel of CuPy's that computes `T out` from `inputs`, element by element."""
    import cupy  # type: ignore[import-not-found] # pyright: ignore

    return cupy.ElementwiseKernel(inputs, "T out", body, f"proa_{name}")


def gelu(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """`x * (1 + erf(x / sqrt(2))) / 2` in one call."""
    body = f"out = T(0.5) * x * (T(1) + erf(x * T({math.sqrt(0.5)!r})))"

    def kernel(xp: Any, x: Any, approximate: bool) -> Any:
        if approximate or x.dtype.name not in _OWN_TYPES:
            return otherwise(xp, x, approximate)
        return elementwise("gelu", "T x", body)(x)

    return kernel


def gelu_slope(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    body = (
        f"out = outer * (T(0.5) * (T(1) + erf(x * T({math.sqrt(0.5)!r}))) "
        f"+ x * exp(T(-0.5) * x * x) * T({1 / math.sqrt(2 * math.pi)!r}))"
    )

    def kernel(xp: Any, outer: Any, x: Any, approximate: bool) -> Any:
        if approximate or x.dtype.name not in _OWN_TYPES or outer.dtype != x.dtype:
            return otherwise(xp, outer, x, approximate)
        return elementwise("gelu_slope", "T outer, T x", body)(outer, x)

    return kernel


def relu(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(xp: Any, x: Any) -> Any:
        if x.dtype.name not in _OWN_TYPES:
            return otherwise(xp, x)
        return elementwise("relu", "T x", "out = x <= T(0) ? T(0) : x")(x)

    return kernel


def relu_slope(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(xp: Any, outer: Any, result: Any) -> Any:
        if outer.dtype.name not in _OWN_TYPES or result.dtype != outer.dtype:
            return otherwise(xp, outer, result)
        return elementwise("relu_slope", "T outer, T result", "out = result > T(0) ? outer : T(0)")(outer, result)

    return kernel


def softmax(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Four calls instead of six, and one array."""

    def kernel(xp: Any, x: Any, axis: int) -> Any:
        if not x.size or x.dtype.name not in _OWN_TYPES:
            return otherwise(xp, x, axis)
        shares = elementwise("lowered_exp", "T x, T largest", "out = exp(x - largest)")(
            x, x.max(axis=axis, keepdims=True)
        )
        shares /= shares.sum(axis=axis, keepdims=True)
        return shares

    return kernel


@functools.cache
def _mean() -> Any:
    import cupy  # type: ignore[import-not-found] # pyright: ignore

    return cupy.ReductionKernel("T x, T count", "T out", "x", "a + b", "out = a / count", "0", "proa_mean")


def mean(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """In one pass, and with less in front of it than CuPy's own."""

    def kernel(xp: Any, x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
        if not x.size or not axis or x.dtype.name not in _OWN_TYPES:
            return otherwise(xp, x, axis, keepdim)
        count = math.prod([x.shape[a] for a in axis])
        return _mean()(x, x.dtype.type(count), axis=axis, keepdims=keepdim)

    return kernel
