"""Convolutions, and windows as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..builder import Builder, Made, is_unknown
from ..registry import Call, translates
from .quantised import whole_bias


def to_first(b: Builder, x: Made) -> Made:
    """Channels in the second axis, as ONNX has them."""
    return b.transpose(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))


def to_last(b: Builder, x: Made) -> Made:
    return b.transpose(x, (0, *range(2, x.ndim), 1))


def first_sizes(sizes: Sequence[int], last: bool) -> tuple[int, ...]:
    return (sizes[0], sizes[-1], *sizes[1:-1]) if last else tuple(sizes)


def pads(pairs: Sequence[tuple[int, int]]) -> list[int]:
    """All befores, then all behinds."""
    return [pair[side] for side in (0, 1) for pair in pairs]


@translates("conv")
def conv(b: Builder, c: Call) -> Made:
    x, weight, bias = c.operands
    stride, padding, dilation, groups, last = c.attributes
    bias = whole_bias(b, x, weight, bias)
    result = b.emit(
        "Conv", [to_first(b, x) if last else x, weight, bias], (c.dtype, first_sizes(c.sizes, last)),
        kernel_shape=list(weight.sizes[2:]), strides=list(stride), pads=pads(padding), dilations=list(dilation),
        group=int(groups),
    )  # fmt: skip
    return to_last(b, result) if last else result


@translates("conv_grad_input", "conv_transpose")
def conv_transpose(b: Builder, c: Call) -> Made:
    y, weight = c.operands
    extra, stride, padding, dilation, groups, last = c.attributes
    y = to_first(b, y) if last else y
    sizes = first_sizes(c.sizes, last)
    if c.name == "conv_grad_input":
        extra = [
            sizes[2 + axis] - ((y.sizes[2 + axis] - 1) * by - sum(pair) + rate * (weight.sizes[2 + axis] - 1) + 1)
            for axis, (by, pair, rate) in enumerate(zip(stride, padding, dilation, strict=True))
        ]
    return _transposed(b, c, y, weight, sizes, (extra, stride, padding, dilation, groups, last))


def _transposed(b: Builder, c: Call, y: Made, weight: Made, sizes: Any, window: Any) -> Made:
    extra, stride, padding, dilation, groups, last = window
    # More at the end than a stride allows is less padding there.
    padding = [(before, behind - more) for (before, behind), more in zip(padding, extra, strict=True)]
    cut = [min(behind, 0) if not is_unknown(behind) else 0 for _, behind in padding]
    padding = [(before, behind - short) for (before, behind), short in zip(padding, cut, strict=True)]
    attributes = {"strides": list(stride), "pads": pads(padding), "dilations": list(dilation), "group": int(groups)}
    if any(cut):
        attributes["output_padding"] = [-short for short in cut]
    kernel = list(weight.sizes[2:])
    result = b.emit("ConvTranspose", [y, weight], (c.dtype, sizes), kernel_shape=kernel, **attributes)
    return to_last(b, result) if last else result


# ---- windows -------------------------------------------------------------------------------------------------------


def _pairs(padding: Any) -> list[tuple[int, int]]:
    return [tuple(pair) if isinstance(pair, tuple) else (pair, pair) for pair in padding]


def _picking(channels: int, kernel: Sequence[int], dtype: str) -> np.ndarray:
    """Filters that each pick one element of a window, for each channel."""
    count = int(np.prod(kernel))
    return np.tile(np.eye(count).reshape(count, 1, *kernel), (channels, 1, *([1] * len(kernel))))


@translates("unfold")
def unfold(b: Builder, c: Call) -> Made:
    """A convolution whose filters pick one element of the window each."""
    x = c.operands[0]
    kernel, stride, padding, dilation = c.attributes
    channels, pairs = x.sizes[1], _pairs(padding)
    extents = [
        (x.sizes[2 + axis] + sum(pairs[axis]) - dilation[axis] * (kernel[axis] - 1) - 1) // stride[axis] + 1
        for axis in range(2)
    ]
    weight = b.constant(_picking(channels, kernel, x.dtype), x.dtype)
    rows = c.sizes[1]
    taken = b.emit(
        "Conv", [x, weight], (x.dtype, (x.sizes[0], rows, *extents)), kernel_shape=list(kernel), strides=list(stride),
        pads=pads(pairs), dilations=list(dilation), group=int(channels),
    )  # fmt: skip
    return b.reshape(taken, c.sizes)


@translates("fold")
def fold(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    extents, kernel, stride, padding, dilation = c.attributes
    channels, pairs = c.sizes[1], _pairs(padding)
    counts = [
        (extents[axis] + sum(pairs[axis]) - dilation[axis] * (kernel[axis] - 1) - 1) // stride[axis] + 1
        for axis in range(2)
    ]
    natural = [
        (counts[axis] - 1) * stride[axis] - sum(pairs[axis]) + dilation[axis] * (kernel[axis] - 1) + 1
        for axis in range(2)
    ]
    extra = [extents[axis] - natural[axis] for axis in range(2)]
    picture = b.reshape(x, (x.sizes[0], x.sizes[1], *counts))
    weight = b.constant(_picking(channels, kernel, x.dtype), x.dtype)
    return _transposed(b, c, picture, weight, c.sizes, (extra, stride, pairs, dilation, channels, False))
