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

from ...core.dtype import BFLOAT16
from . import library
from .choice import chosen, enough

Shape = tuple[int, ...]
_WORTHWHILE = 2048  # elements
# Activations that gradients of channels are taken through: their numbers in native code, and the gradient before them for
# the gradient behind them and what they were applied to.
SLOPES: dict[str, tuple[int, Callable[[Any, Any, Any], Any]]] = {
    "relu": (1, lambda xp, g, z: xp.where(z > 0, g, g.dtype.type(0))),
    "hardswish": (2, lambda xp, g, z: g * xp.where(z <= -3, 0, xp.where(z >= 3, 1, z / 3 + 0.5)).astype(g.dtype)),
}


def _suits(symbol: str, x: Any, *others: Any) -> bool:
    if not enough(x.size, _WORTHWHILE) or any(a is not None and a.dtype != np.float32 for a in (x, *others)):
        return False
    return library.target(symbol) is not None


def _has_sums(symbol: str, images: tuple[Any, ...], *parameters: Any) -> bool:
    """Whether native code sums over the channels of images: of float32, or of bfloat16 in programs."""
    low = library.THREAD.direct is None and all(image.dtype == BFLOAT16 for image in images)
    if not enough(images[0].size, _WORTHWHILE) or not (low or all(image.dtype == np.float32 for image in images)):
        return False
    return all(p is None or p.dtype == np.float32 for p in parameters) and library.target(symbol) is not None


def _wide(x: Any) -> Any:
    """Float32: what is elementwise is computed in it, whatever lies in memory."""
    return x if x.dtype == np.float32 else x.astype(np.float32)


def _channel_of(view: Shape, axes: Shape) -> int | None:
    """The axis that is left when all others are summed over, if it is not the last of what a row is."""
    left = [axis for axis in range(len(view)) if axis not in axes]
    return left[0] if len(left) == 1 and left[0] > 0 else None


def _as_image(x: Any, channel: int) -> Any:
    """`x` as [images, channels, ...]; nothing moves in memory where the channels were last."""
    if channel == 1:
        return x
    order = (0, channel, *(axis for axis in range(1, x.ndim) if axis != channel))
    return x.transpose(order)


def _row_length(x: Any, view: Shape, axes: Shape) -> int | None:
    """The length of the slices when they are contiguous rows, else None."""
    if not axes or axes != tuple(range(len(view) - len(axes), len(view))):
        return None
    return math.prod(view[axis] for axis in axes)


def _is_row(broadcast: Shape, length: int, x: Any) -> bool:
    """Whether parameters viewed as `broadcast` lie along a row."""
    return math.prod(broadcast) == length and broadcast == x.shape[x.ndim - len(broadcast) :]


def _in_memory(*arrays: Any) -> tuple[list[Any], bool]:
    """Images as operands, and whether their channels lie side by side: always but in cold code, which has planes."""
    last = library.THREAD.direct is None or arrays[0].ndim == 2
    return [library.Image(array) if last and array.ndim > 2 else array for array in arrays], last


def _moments(x: Any, channel: int) -> tuple[Any, Any]:
    def compute() -> tuple[Any, Any]:
        shape = library.shaped((x.shape[channel],))
        operands, last = _in_memory(_as_image(x, channel))
        return library.call("ChannelMoments", (shape, shape), *operands, last=last)

    return library.once("moments", (x,), channel, compute)


def _grad_sums(x: Any, y: Any, mean: Any, channel: int) -> tuple[Any, Any]:
    def compute() -> tuple[Any, Any]:
        shape = library.shaped((x.shape[channel],))
        operands, last = _in_memory(_as_image(x, channel), _as_image(y, channel))
        return library.call("ChannelGradSums", (shape, shape), *operands, mean, last=last, activation=np.int64(0))

    return library.once("grad_sums", (x, y), channel, compute)


def _grad_sums_through(activation: str, x: Any, y: Any, mean: Any, channel: int, *parameters: Any) -> tuple[Any, Any]:
    """The same for the gradient `y` behind an activation."""
    shape = library.shaped((x.shape[channel],))
    images = _as_image(x, channel), _as_image(y, channel)
    operands = [library.Image(image) if image.ndim > 2 else image for image in images]
    number = np.int64(SLOPES[activation][0])
    return library.call("ChannelGradSums", (shape, shape), *operands, mean, *parameters, last=True, activation=number)


def _along(values: Any, x: Any, channel: int) -> Any:
    return values.reshape([-1 if axis == channel else 1 for axis in range(x.ndim)])


def _taken_in(xp: Any, x: Any, y: Any, moments: Any, sums: Any, epsilon: float, weight: Any, channel: int) -> Any:
    """The gradient of `x` for the gradient `y` of the normalised, and the sums of it."""
    (mean, variance), (total, along) = moments, sums
    factor = 1 / xp.sqrt(variance + np.float32(epsilon))
    count = x.size // x.shape[channel]
    scale = factor if weight is None else factor * weight.reshape(-1)
    # dx = scale * (y - mean(y) - standardised x * mean(y * standardised x))
    slope, level = along * factor * factor / count, total / count
    # Each step writes over the one before where arrays can be written.
    through = _wide(x) - _along(mean, x, channel)
    through *= _along(slope, x, channel)
    inner = _wide(y) - _along(level, x, channel)
    inner -= through
    inner *= _along(scale, x, channel)
    return inner


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
        if not enough(x.size, _WORTHWHILE):
            return fallback(xp, x, weight, bias, epsilon, view, axes, broadcast, centred)
        channel = _channel_of(view, axes) if centred and view == x.shape else None
        if channel is not None and _has_sums("ChannelMoments", (x,), weight, bias):
            mean, variance = _moments(x, channel)
            scale = 1 / xp.sqrt(variance + np.float32(epsilon))
            scale = scale if weight is None else scale * weight.reshape(-1)
            out = _wide(x) - _along(mean, x, channel)
            out *= _along(scale, x, channel)
            if bias is not None:
                out += _along(bias, x, channel)
            return out
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
        if channel is not None and _has_sums("ChannelGradSums", (x, y), weight):
            moments = _moments(x, channel)
            sums = _grad_sums(x, y, moments[0], channel)
            return _taken_in(xp, x, y, moments, sums, epsilon, weight, channel)
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
        if channel is not None and _has_sums("ChannelGradSums", (x, y)):
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
def native_grad_bias(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise_grad_bias`: one of the sums that the other gradients need anyway."""

    def kernel(xp: Any, x: Any, y: Any, axes: Shape) -> Any:
        channel = _channel_of(x.shape, axes)
        if channel is None or not _has_sums("ChannelGradSums", (x, y)):
            return fallback(xp, x, y, axes)
        return _along(_grad_sums(x, y, _moments(x, channel)[0], channel)[0], x, channel)

    return kernel


@chosen
def native_grad_through(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `normalise_grad_through`."""

    def kernel(
        xp: Any,
        x: Any,
        y: Any,
        weight: Any,
        bias: Any,
        wanted: str,
        activation: str,
        epsilon: float,
        axes: Shape,
        broadcast: Shape,
    ) -> Any:
        channel = _channel_of(x.shape, axes)
        if channel is None or not _has_sums("ChannelGradSums", (x, y), weight, bias):
            return fallback(xp, x, y, weight, bias, wanted, activation, epsilon, axes, broadcast)
        mean, variance = _moments(x, channel)
        factor = 1 / xp.sqrt(variance + np.float32(epsilon))
        scale = factor if weight is None else factor * weight.reshape(-1)
        shift = xp.zeros_like(mean) if bias is None else bias.reshape(-1)
        sums = _grad_sums_through(activation, x, y, mean, channel, scale, shift)
        if wanted == "bias":
            return sums[0].reshape(broadcast)
        if wanted == "weight":
            return (sums[1] * factor).reshape(broadcast)
        before = (_wide(x) - _along(mean, x, channel)) * _along(scale, x, channel) + _along(shift, x, channel)
        y = SLOPES[activation][1](xp, _wide(y), before)
        return _taken_in(xp, x, y, (mean, variance), sums, epsilon, weight, channel)

    return kernel


@chosen
def native_running_statistics(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `running_statistics`."""

    def kernel(xp: Any, x: Any, mean: Any, variance: Any, momentum: Any, axes: Shape) -> Any:
        channel = _channel_of(x.shape, axes)
        if channel is None or not _has_sums("ChannelMoments", (x,), mean, variance):
            return fallback(xp, x, mean, variance, momentum, axes)
        kept = momentum.astype(xp.float32)
        return tuple(
            kept * old + (1 - kept) * new.reshape(old.shape)
            for old, new in zip((mean, variance), _moments(x, channel), strict=True)
        )

    return kernel
