"""Normalisation by native code, for the op table's CPU backend.

Over channels (batch norm) native code gives the sums alone. The rest is elementwise, and XLA fuses it with what stands
around it (a ReLU, a residual); the same sums asked for by several operations are computed once. Over rows (layer norm,
RMS norm, and the groups of a group norm) one pass does everything while the row is in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough

Shape = tuple[int, ...]
_WORTHWHILE = 2048  # elements


def _suits(symbol: str, x: Any, *others: Any) -> bool:
    if not enough(x.size, _WORTHWHILE) or any(a is not None and a.dtype != np.float32 for a in (x, *others)):
        return False
    return library.target(symbol) is not None


def _channel_of(view: Shape, axes: Shape) -> int | None:
    """The axis that is left when all others are summed over, if it is not the last of what a row is."""
    left = [axis for axis in range(len(view)) if axis not in axes]
    return left[0] if len(left) == 1 and left[0] > 0 else None


def _planes(x: Any, channel: int) -> Any:
    """`x` as [outer, channels, inner]."""
    shape = x.shape
    return x.reshape(math.prod(shape[:channel]), shape[channel], math.prod(shape[channel + 1 :]))


def _row_length(x: Any, view: Shape, axes: Shape) -> int | None:
    """The length of the slices when they are contiguous rows, else None."""
    if not axes or axes != tuple(range(len(view) - len(axes), len(view))):
        return None
    return math.prod(view[axis] for axis in axes)


def _is_row(broadcast: Shape, length: int, x: Any) -> bool:
    """Whether parameters viewed as `broadcast` lie along a row."""
    return math.prod(broadcast) == length and broadcast == x.shape[x.ndim - len(broadcast) :]


def _moments(x: Any, channel: int) -> tuple[Any, Any]:
    shape = library.shaped((x.shape[channel],))
    return library.call("ChannelMoments", (shape, shape), _planes(x, channel))


def _grad_sums(x: Any, y: Any, mean: Any, channel: int) -> tuple[Any, Any]:
    shape = library.shaped((x.shape[channel],))
    return library.call("ChannelGradSums", (shape, shape), _planes(x, channel), _planes(y, channel), mean)


def _along(values: Any, x: Any, channel: int) -> Any:
    return values.reshape([-1 if axis == channel else 1 for axis in range(x.ndim)])


@chosen
def native_normalise(fallback: Callable[..., Any]) -> Callable[..., Any]:
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
        channel = _channel_of(view, axes) if centred and view == x.shape else None
        if channel is not None and _suits("ChannelMoments", x, weight, bias):
            mean, variance = _moments(x, channel)
            scale = 1 / xp.sqrt(variance + np.float32(epsilon))
            out = (x - _along(mean, x, channel)) * _along(scale, x, channel)
        else:
            length = _row_length(x, view, axes)
            if length is None or length < 8 or not _suits("RowNorm", x, weight, bias):
                return fallback(xp, x, weight, bias, epsilon, view, axes, broadcast, centred)
            fused = _is_row(broadcast, length, x)
            inside = [p.reshape(length) for p in (weight, bias) if p is not None and fused]
            out = library.call(
                "RowNorm", library.shaped((x.size // length, length)), x.reshape(-1, length),
                np.float32(epsilon), *inside, centred=bool(centred),
                has_weight=bool(fused and weight is not None), has_bias=bool(fused and bias is not None),
            ).reshape(x.shape)  # fmt: skip
            if fused:
                return out
        if weight is not None:
            out = out * weight.reshape(broadcast)
        return out if bias is None else out + bias.reshape(broadcast)

    return kernel


@chosen
def native_grad_input(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise_grad_input`."""

    def kernel(
        xp: Any, x: Any, y: Any, weight: Any, epsilon: float, view: Shape, axes: Shape, broadcast: Shape, centred: bool
    ) -> Any:
        channel = _channel_of(view, axes) if centred and view == x.shape else None
        if channel is not None and _suits("ChannelGradSums", x, y, weight):
            mean, variance = _moments(x, channel)
            total, along = _grad_sums(x, y, mean, channel)
            factor = 1 / xp.sqrt(variance + np.float32(epsilon))
            count = x.size // x.shape[channel]
            scale = factor if weight is None else factor * weight.reshape(-1)
            # dx = scale * (y - mean(y) - standardised x * mean(y * standardised x))
            slope, level = along * factor * factor / count, total / count
            inner = y - _along(level, x, channel) - (x - _along(mean, x, channel)) * _along(slope, x, channel)
            return inner * _along(scale, x, channel)
        length = _row_length(x, view, axes)
        if length is None or length < 8 or not _suits("RowNormGradInput", x, y, weight):
            return fallback(xp, x, y, weight, epsilon, view, axes, broadcast, centred)
        inside = []
        if weight is not None and _is_row(broadcast, length, x):
            inside = [weight.reshape(length)]
        elif weight is not None:
            y = y * weight.reshape(broadcast)
        return library.call(
            "RowNormGradInput", library.shaped((x.size // length, length)), x.reshape(-1, length),
            y.reshape(-1, length), np.float32(epsilon), *inside, centred=bool(centred),
        ).reshape(x.shape)  # fmt: skip

    return kernel


@chosen
def native_grad_weight(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise_grad_weight`."""

    def kernel(
        xp: Any, x: Any, y: Any, epsilon: float, view: Shape, axes: Shape, broadcast: Shape, centred: bool
    ) -> Any:
        channel = _channel_of(view, axes) if centred and view == x.shape else None
        if channel is not None and _suits("ChannelGradSums", x, y):
            mean, variance = _moments(x, channel)
            _, along = _grad_sums(x, y, mean, channel)
            return (along / xp.sqrt(variance + np.float32(epsilon))).reshape(broadcast)
        length = _row_length(x, view, axes)
        if length is None or length < 8 or not _is_row(broadcast, length, x) or not _suits("RowNormGradWeight", x, y):
            return fallback(xp, x, y, epsilon, view, axes, broadcast, centred)
        return library.call(
            "RowNormGradWeight", library.shaped((length,)), x.reshape(-1, length), y.reshape(-1, length),
            np.float32(epsilon), centred=bool(centred),
        ).reshape(broadcast)  # fmt: skip

    return kernel


@chosen
def native_running_statistics(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `running_statistics`."""

    def kernel(xp: Any, x: Any, mean: Any, variance: Any, momentum: Any, axes: Shape) -> Any:
        channel = _channel_of(x.shape, axes)
        if channel is None or not _suits("ChannelMoments", x, mean, variance):
            return fallback(xp, x, mean, variance, momentum, axes)
        kept = momentum.astype(xp.float32)
        return tuple(
            kept * old + (1 - kept) * new.reshape(old.shape)
            for old, new in zip((mean, variance), _moments(x, channel), strict=True)
        )

    return kernel
