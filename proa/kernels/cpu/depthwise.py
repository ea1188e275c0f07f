"""Convolutions in which every channel has filters of its own, by native code: what `convolution.py` gives to it.

Shapes are [images, channels, space ...] over one to three axes; in memory the channels lie side by side. Several filters
for a channel are one for each of its copies.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import library

Shape = tuple[int, ...]
# Stride, padding and dilation of each axis, groups, and whether channels are last.
Window = tuple[Shape, tuple[tuple[int, int], ...], Shape, int, bool]


def fits(x: Shape, weight: Shape, window: Window) -> bool:
    """Whether this is the code for a convolution of an image of shape `x`.

    Many filters for a single channel are an ordinary convolution, which needs no copy of the channel for each of them.
    """
    return (
        weight[1] == 1
        and window[3] == x[1]
        and (x[1] > 1 or weight[0] == 1)
        and 1 <= len(window[0]) <= 3
        and len(x) == len(weight) == len(window[0]) + 2
        and math.prod(x) > 0  # XLA cannot change the order of nothing
        and library.target("DepthwiseConvolution") is not None
    )


def window_numbers(weight: Shape, window: Window) -> Any:
    """Kernel, stride, padding before and dilation of each axis, as the handlers want them."""
    stride, padding, dilation = window[:3]
    return np.array([*weight[2:], *stride, *(before for before, _ in padding), *dilation], np.int64)


def for_each_filter(x: Any, weight: Shape) -> Any:
    """The image with a copy of a channel for each of its filters."""
    times = weight[0] // x.shape[1]
    return x if times == 1 else x[:, :, None].repeat(times, 2).reshape(x.shape[0], weight[0], *x.shape[2:])


def _out_shape(x: Shape, weight: Shape, window: Window) -> Shape:
    stride, padding, dilation = window[:3]
    spatial = [
        (extent + before + after - rate * (width - 1) - 1) // step + 1
        for extent, (before, after), rate, width, step in zip(x[2:], padding, dilation, weight[2:], stride, strict=True)
    ]
    return (x[0], weight[0], *spatial)


def forward(x: Any, weight: Any, bias: Any, window: Window) -> Any:
    """The convolution of an image."""
    out = library.Image(library.shaped(_out_shape(x.shape, weight.shape, window)))
    operands = [library.Image(for_each_filter(x, weight.shape)), weight, *([] if bias is None else [bias])]
    return library.call("DepthwiseConvolution", out, *operands, window=window_numbers(weight.shape, window))


def grad_input(y: Any, weight: Any, shape: Shape, window: Window) -> Any:
    """The gradient of an image of the given shape, from that of the result."""
    filters = weight.shape[0]
    out = library.Image(library.shaped((shape[0], filters, *shape[2:])))
    found = library.call(
        "DepthwiseGradInput", out, library.Image(y), weight, window=window_numbers(weight.shape, window)
    )
    times = filters // shape[1]
    return found if times == 1 else found.reshape(shape[0], shape[1], times, *shape[2:]).sum(2)


def grad_weight(x: Any, y: Any, shape: Shape, window: Window) -> Any:
    """The gradient of a weight of the given shape."""
    images = (library.Image(for_each_filter(x, shape)), library.Image(y))
    return library.call("DepthwiseGradWeight", library.shaped(shape), *images, window=window_numbers(shape, window))
