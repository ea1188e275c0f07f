"""Softmax along the last axis, GELU and SiLU by native code, for the op table's CPU backend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough

_SILU = 2  # in rows.cc; 0 is the exact GELU, 1 that by tanh
_WORTHWHILE = 4096  # elements; fewer are fused with their neighbours by XLA
# Beside NumPy, which has neither, where the library is open: opening it takes as long as some dozens of small calls, so that
# it is opened when so many elements were asked for.
_WORTHWHILE_WHEN_OPEN = 256
_ASKED = Counter[str]()
_ASKED_OFTEN = 1 << 14


def _is_open(symbol: str, work: int) -> bool:
    direct = library.THREAD.direct
    if direct is None:
        return False
    if direct.is_open(symbol):
        return True
    _ASKED[symbol] += work
    return _ASKED[symbol] > _ASKED_OFTEN


def _suits(symbol: str, *arrays: Any) -> bool:
    first = arrays[0]
    if not enough(first.size, _WORTHWHILE_WHEN_OPEN if _is_open(symbol, first.size) else _WORTHWHILE):
        return False
    if any(a.dtype != np.float32 or a.shape != first.shape for a in arrays):
        return False
    return library.target(symbol) is not None


@chosen
def native_softmax(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `softmax`."""

    def kernel(xp: Any, x: Any, axis: int) -> Any:
        if not x.ndim or axis % x.ndim != x.ndim - 1 or not _suits("Softmax", x):
            return fallback(xp, x, axis)
        rows = x.reshape(-1, x.shape[-1])
        return library.call("Softmax", library.shaped(rows.shape), rows).reshape(x.shape)

    return kernel


def _activation(kind: int, *operands: Any) -> Any:
    return library.call("Activation", library.shaped(operands[0].shape), *operands, kind=np.int64(kind))


@chosen
def native_gelu(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `gelu`."""

    def kernel(xp: Any, x: Any, approximate: bool) -> Any:
        return _activation(int(approximate), x) if _suits("Activation", x) else fallback(xp, x, approximate)

    return kernel


@chosen
def native_gelu_slope(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `gelu_grad`: the derivative at `x` times what comes from above."""

    def kernel(xp: Any, outer: Any, x: Any, approximate: bool) -> Any:
        if not _suits("Activation", x, outer):
            return fallback(xp, outer, x, approximate)
        return _activation(int(approximate), x, outer)

    return kernel


@chosen
def native_silu(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `silu`."""

    def kernel(xp: Any, x: Any) -> Any:
        return _activation(_SILU, x) if _suits("Activation", x) else fallback(xp, x)

    return kernel


@chosen
def native_silu_slope(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `silu_grad`."""

    def kernel(xp: Any, outer: Any, x: Any) -> Any:
        return _activation(_SILU, x, outer) if _suits("Activation", x, outer) else fallback(xp, outer, x)

    return kernel
