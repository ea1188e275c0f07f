"""Convolutions over one to three axes by native code, for the op table's CPU backend.

The native kernels want the channels of an image side by side in memory (`library.Image`), whatever the order of its axes.
A convolution that gives every channel filters of its own is no product of matrices: see depthwise.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import depthwise, library
from .choice import chosen, enough

Window = tuple[tuple[int, ...], tuple[tuple[int, int], ...], tuple[int, ...], int, bool]
# Fewer multiplications than this are not worth a call.
_WORTHWHILE = 20_000


def _suits(symbol: str, x: Any, weight: Any, y: tuple[int, ...], window: Window) -> bool:
    arrays_fit = x.dtype == weight.dtype == np.float32 and all(math.prod(a) for a in (x.shape, weight.shape, y))
    return len(window[0]) <= 3 and arrays_fit and library.target(symbol) is not None


def work_of(weight: tuple[int, ...], y: tuple[int, ...], channels_last: bool) -> int:
    positions = math.prod(y[1:-1] if channels_last else y[2:])
    return math.prod(weight) * y[0] * positions


def numbers(
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    kernel: tuple[int, ...],
    groups: int,
) -> Any:
    """Stride, padding before, dilation and kernel of depth, height and width, then groups: what native kernels read."""
    missing = 3 - len(stride)
    before = [first for first, _ in padding]
    ones, zeros = [1] * missing, [0] * missing
    return np.array([*ones, *stride, *zeros, *before, *ones, *dilation, *ones, *kernel, groups], np.int64)


def window_numbers(window: Window, weight: tuple[int, ...]) -> Any:
    return numbers(*window[:3], weight[2:], window[3])


def first(array: Any, window: Window) -> Any:
    """An image with its channels in the second axis."""
    return array.transpose(0, array.ndim - 1, *range(1, array.ndim - 1)) if window[4] else array


def first_shape(shape: tuple[int, ...], window: Window) -> tuple[int, ...]:
    return (shape[0], shape[-1], *shape[1:-1]) if window[4] else shape


def back(array: Any, window: Window) -> Any:
    """The reverse of `first`."""
    return array.transpose(0, *range(2, array.ndim), 1) if window[4] else array


def out_shape(x: tuple[int, ...], weight: tuple[int, ...], window: Window) -> tuple[int, ...]:
    stride, padding, dilation, _, channels_last = window
    extents = x[1:-1] if channels_last else x[2:]
    spatial = [
        (extent + before + after - rate * (width - 1) - 1) // step + 1
        for extent, (before, after), rate, width, step in zip(extents, padding, dilation, weight[2:], stride)
    ]
    return (x[0], *spatial, weight[0]) if channels_last else (x[0], weight[0], *spatial)


@chosen
def native_convolution(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `conv`."""

    def kernel(xp: Any, x: Any, weight: Any, bias: Any, *attributes: Any) -> Any:
        window: Window = attributes  # type: ignore[assignment]
        y = out_shape(x.shape, weight.shape, window)
        too_small = not enough(work_of(weight.shape, y, window[4]), _WORTHWHILE)
        if too_small or not _suits("Convolution", x, weight, y, window):
            return fallback(xp, x, weight, bias, *attributes)
        image = first(x, window)
        if depthwise.fits(image.shape, weight.shape, window):
            return back(depthwise.forward(image, weight, bias, window), window)
        operands = [library.Image(image), weight, *([] if bias is None else [bias])]
        out = library.Image(library.shaped(first_shape(y, window)))
        return back(library.call("Convolution", out, *operands, window=window_numbers(window, weight.shape)), window)

    return kernel


@chosen
def native_grad_input(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `conv_grad_input`."""

    def kernel(xp: Any, y: Any, weight: Any, shape: tuple[int, ...], *attributes: Any) -> Any:
        window: Window = attributes  # type: ignore[assignment]
        too_small = not enough(work_of(weight.shape, y.shape, window[4]), _WORTHWHILE)
        if too_small or not _suits("ConvolutionGradInput", y, weight, shape, window):
            return fallback(xp, y, weight, shape, *attributes)
        image, made = first(y, window), first_shape(shape, window)
        if depthwise.fits(made, weight.shape, window):
            return back(depthwise.grad_input(image, weight, made, window), window)
        found = library.call(
            "ConvolutionGradInput", library.Image(library.shaped(made)), library.Image(image), weight,
            window=window_numbers(window, weight.shape),
        )  # fmt: skip
        return back(found, window)

    return kernel


@chosen
def native_grad_weight(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `conv_grad_weight`."""

    def kernel(xp: Any, x: Any, y: Any, shape: tuple[int, ...], *attributes: Any) -> Any:
        window: Window = attributes  # type: ignore[assignment]
        too_small = not enough(work_of(shape, y.shape, window[4]), _WORTHWHILE)
        if too_small or not _suits("ConvolutionGradWeight", x, y, shape, window):
            return fallback(xp, x, y, shape, *attributes)
        image, gradient = first(x, window), first(y, window)
        if depthwise.fits(image.shape, shape, window):
            return depthwise.grad_weight(image, gradient, shape, window)
        images = [library.Image(image), library.Image(gradient)]
        return library.call(
            "ConvolutionGradWeight", library.shaped(shape), *images, window=window_numbers(window, shape)
        )

    return kernel
