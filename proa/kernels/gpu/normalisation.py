"""Normalisation over channels (batch norm) in as few passes over memory as possible, for the op table's GPU backend.

A GPU needs the time that memory takes. Mean and variance come from one pass instead of two: sums of `x - s` and of its
square, where `s` is one element of the channel, so that nothing is lost to cancellation when the mean is large. The
gradients share their two sums. Rows (layer norm) fit into registers, and XLA's own kernels do them well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Shape = tuple[int, ...]


def _channel_of(x: Any, view: Shape, axes: Shape, centred: bool) -> int | None:
    """The axis that is left when all others are summed over, where these kernels are for it."""
    left = [axis for axis in range(len(view)) if axis not in axes]
    suits = centred and view == x.shape and x.size and np.dtype(x.dtype).name in ("float32", "bfloat16", "float16")
    return left[0] if suits and len(left) == 1 and left[0] > 0 else None


def _others(x: Any, channel: int) -> Shape:
    return tuple(axis for axis in range(x.ndim) if axis != channel)


def _moments(xp: Any, x: Any, channel: int) -> tuple[Any, Any]:
    """Mean and variance of each channel of a float32 array, in its rank."""
    axes = _others(x, channel)
    sample = x[tuple(slice(None) if axis == channel else slice(0, 1) for axis in range(x.ndim))]
    moved = x - sample
    first = xp.mean(moved, axis=axes, keepdims=True)
    second = xp.mean(moved * moved, axis=axes, keepdims=True)
    return first + sample, xp.maximum(second - first * first, 0)


def _standardised(xp: Any, x: Any, epsilon: float, channel: int) -> tuple[Any, Any]:
    """Each channel with mean 0 and variance 1, and the factor that was applied."""
    x = x.astype(xp.float32)
    mean, variance = _moments(xp, x, channel)
    factor = 1 / xp.sqrt(variance + np.float32(epsilon))
    return (x - mean) * factor, factor


def _grad_sums(xp: Any, standard: Any, y: Any, channel: int) -> tuple[Any, Any]:
    """The sums of the gradient, and of its product with the standardised values."""
    axes = _others(y, channel)
    return xp.sum(y, axis=axes, keepdims=True), xp.sum(y * standard, axis=axes, keepdims=True)


def one_pass_normalise(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise`."""

    def kernel(
        xp: Any,
        x: Any,
        weight: Any,
        bias: Any,
        epsilon: float,
        view: Shape,
        axes: Shape,
        broadcast: Shape,
        centred: bool,
    ) -> Any:
        channel = _channel_of(x, view, axes, centred)
        if channel is None:
            return fallback(xp, x, weight, bias, epsilon, view, axes, broadcast, centred)
        out = _standardised(xp, x, epsilon, channel)[0]
        if weight is not None:
            out = out * weight.astype(xp.float32).reshape(broadcast)
        if bias is not None:
            out = out + bias.astype(xp.float32).reshape(broadcast)
        return out.astype(x.dtype)

    return kernel


def one_pass_grad_input(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise_grad_input`."""

    def kernel(
        xp: Any, x: Any, y: Any, weight: Any, epsilon: float, view: Shape, axes: Shape, broadcast: Shape, centred: bool
    ) -> Any:
        channel = _channel_of(x, view, axes, centred)
        if channel is None:
            return fallback(xp, x, y, weight, epsilon, view, axes, broadcast, centred)
        standard, factor = _standardised(xp, x, epsilon, channel)
        y = y.astype(xp.float32)
        total, along = _grad_sums(xp, standard, y, channel)
        count = x.size // x.shape[channel]
        if weight is not None:
            factor = factor * weight.astype(xp.float32).reshape(broadcast)
        return ((y - (standard * along + total) / count) * factor).astype(x.dtype)

    return kernel


def one_pass_grad_weight(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise_grad_weight`."""

    def kernel(
        xp: Any, x: Any, y: Any, epsilon: float, view: Shape, axes: Shape, broadcast: Shape, centred: bool
    ) -> Any:
        channel = _channel_of(x, view, axes, centred)
        if channel is None or int(np.prod(broadcast)) != x.shape[channel]:
            return fallback(xp, x, y, epsilon, view, axes, broadcast, centred)
        standard = _standardised(xp, x, epsilon, channel)[0]
        return _grad_sums(xp, standard, y.astype(xp.float32), channel)[1].reshape(broadcast).astype(x.dtype)

    return kernel


def one_pass_running_statistics(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `running_statistics`, with the sums of `normalise`."""

    def kernel(xp: Any, x: Any, mean: Any, variance: Any, momentum: Any, axes: Shape) -> Any:
        channel = _channel_of(x, x.shape, axes, True)
        if channel is None:
            return fallback(xp, x, mean, variance, momentum, axes)
        kept = momentum.astype(xp.float32)
        return tuple(
            (kept * old.astype(xp.float32) + (1 - kept) * new.reshape(old.shape)).astype(old.dtype)
            for old, new in zip((mean, variance), _moments(xp, x.astype(xp.float32), channel), strict=True)
        )

    return kernel
