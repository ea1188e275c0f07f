"""Softmax along the last axis and exact GELU by native code, for the op table's CPU backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import library

_WORTHWHILE = 4096  # elements; fewer are fused with their neighbours by XLA


def _suits(symbol: str, *arrays: Any) -> bool:
    if any(a.dtype != np.float32 or a.size < _WORTHWHILE or a.shape != arrays[0].shape for a in arrays):
        return False
    return library.target(symbol) is not None


def native_softmax(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `softmax`."""

    def kernel(xp: Any, x: Any, axis: int) -> Any:
        if not x.ndim or axis % x.ndim != x.ndim - 1 or not _suits("Softmax", x):
            return fallback(xp, x, axis)
        rows = x.reshape(-1, x.shape[-1])
        return library.call("Softmax", library.shaped(rows.shape), rows).reshape(x.shape)

    return kernel


def native_gelu(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `gelu`."""

    def kernel(xp: Any, x: Any, approximate: bool) -> Any:
        if approximate or not _suits("Gelu", x):
            return fallback(xp, x, approximate)
        return library.call("Gelu", library.shaped(x.shape), x)

    return kernel


def native_gelu_slope(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `gelu_grad`: the slope at `x` times what comes from above."""

    def kernel(xp: Any, outer: Any, x: Any, approximate: bool) -> Any:
        if approximate or not _suits("Gelu", x, outer):
            return fallback(xp, outer, x, approximate)
        return library.call("Gelu", library.shaped(x.shape), x, outer)

    return kernel
