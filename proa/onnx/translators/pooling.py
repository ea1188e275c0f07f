"""Pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.neural.windowed.pooling_kernels import Window, _divisors, _index_table
from ..builder import Builder, Made, is_unknown
from ..registry import Call, translates
from .convolution import first_sizes, pads, to_first, to_last
from .indexing import along
from .resizing import along_axis
from .shapes import padded

_MOST_PARTS = 64  # of an axis of unknown size, each by itself


def _lowest(dtype: str) -> float:
    return -math.inf if dtype.startswith(("float", "bfloat")) else int(np.iinfo(dtype).min)


def _needs_pad(kernel: Sequence[int], padding: Any) -> bool:
    """Whether a padding is more than runtimes take in a pooling operator, or not known."""
    return any(is_unknown(n) or n >= width for width, pair in zip(kernel, padding, strict=True) for n in pair)


def _padded(b: Builder, x: Made, padding: Any, value: float) -> Made:
    sizes = [n + sum(pair) for n, pair in zip(x.sizes[2:], padding, strict=True)]
    return padded(b, x, [(0, 0), (0, 0), *padding], b.scalar(value, x.dtype), (*x.sizes[:2], *sizes))


@translates("max_pool")
def max_pool(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    kernel, stride, padding, last = c.attributes
    x = to_first(b, x) if last else x
    if _needs_pad(kernel, padding):
        x, padding = _padded(b, x, padding, _lowest(x.dtype)), [(0, 0)] * len(kernel)
    result = b.emit(
        "MaxPool", [x], (c.dtype, first_sizes(c.sizes, last)), kernel_shape=list(kernel), strides=list(stride),
        pads=pads(padding),
    )  # fmt: skip
    return to_last(b, result) if last else result


@translates("avg_pool")
def avg_pool(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    kernel, stride, padding, divisor, last = c.attributes
    x = to_first(b, x) if last else x
    sizes = first_sizes(c.sizes, last)
    exclusive = divisor == "exclusive"

    def pool(x: Made, padding: Any, count_padding: bool) -> Made:
        return b.emit(
            "AveragePool", [x], (x.dtype, (*x.sizes[:2], *sizes[2:])), kernel_shape=list(kernel), strides=list(stride),
            pads=pads(padding), count_include_pad=int(count_padding),
        )  # fmt: skip

    nothing = [(0, 0)] * len(kernel)
    if not _needs_pad(kernel, padding):
        result = pool(x, padding, not exclusive)
    else:
        result = pool(_padded(b, x, padding, 0), nothing, True)
        if exclusive:  # divided by the share of each window that is no padding
            ones = b.expand(b.scalar(1, x.dtype), (1, 1, *x.sizes[2:]))
            result = b.binary("Div", result, pool(_padded(b, ones, padding, 0), nothing, True))
    if not exclusive:
        result = _divided(b, result, x, (kernel, stride, padding), divisor)
    return to_last(b, result) if last else result


def _divided(b: Builder, means: Made, x: Made, window: Any, divisor: Any) -> Made:
    """Means of whole windows, padding included, divided by what is wanted instead."""
    count = math.prod(window[0])
    if not isinstance(divisor, str):
        return b.with_number("Mul", means, count / divisor)
    if any(map(is_unknown, x.sizes[2:])):
        if any(is_unknown(n) for pair in window[2] for n in pair) or any(
            before != behind for before, behind in window[2]
        ):
            raise NotImplementedError("padding that depends on an unknown dimension, counted in the mean")
        return means
    kernel, stride, padding = window
    shares = count / _divisors(Window(x.sizes, kernel, stride, padding, False), divisor)
    return means if (shares == 1).all() else b.binary("Mul", means, b.constant(shares, means.dtype))


@translates("adaptive_average")
def adaptive_average(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    extents, axes = c.attributes
    if all(extent == 1 for extent in extents):
        if x.ndim >= 3 and tuple(axes) == tuple(range(2, x.ndim)):
            return b.emit("GlobalAveragePool", [x], c.types[0])
        return b.reduce("ReduceMean", x, axes, True)
    for extent, axis in zip(extents, axes, strict=True):
        x = _averaged(b, x, axis, extent)
    return x


def _averaged(b: Builder, x: Made, axis: int, extent: int) -> Made:
    """The means of so many parts of an axis; parts may overlap by one element."""
    size = x.sizes[axis]
    if is_unknown(extent) or (is_unknown(size) and extent > _MOST_PARTS):
        raise NotImplementedError("so many parts of a dimension of unknown size")
    if not is_unknown(size) and size % extent == 0:
        if size == extent:
            return x
        view = b.reshape(x, (*x.sizes[:axis], extent, size // extent, *x.sizes[axis + 1 :]))
        return b.reduce("ReduceMean", view, [axis + 1])
    bounds = [(i * size // extent, ((i + 1) * size + extent - 1) // extent) for i in range(extent)]
    if not is_unknown(size):
        shares = np.zeros((extent, size))
        for row, (start, end) in zip(shares, bounds, strict=True):
            row[start:end] = 1 / (end - start)
        return along_axis(b, x, axis, shares)
    parts = [b.reduce("ReduceMean", b.slice(x, [axis], [start], [end]), [axis], True) for start, end in bounds]
    return b.concat(parts, axis)


@translates("window_max")
def window_max(b: Builder, c: Call) -> list[Made]:
    x = c.operands[0]
    if any(map(is_unknown, x.sizes[2:])):
        raise NotImplementedError("windows of a picture of unknown size")
    table = np.asarray(_index_table(x.sizes[2:], c.attributes[0]))
    windows, width = table.shape
    flat = b.reshape(x, (*x.sizes[:2], math.prod(x.sizes[2:])))
    taken = b.gather(flat, b.constant(table.astype(np.int64)), 2)
    winner = b.emit("ArgMax", [taken], ("int64", (*x.sizes[:2], windows, 1)), axis=3, keepdims=1)
    lookup = b.expand(b.constant(table.astype(np.int64).reshape(1, 1, windows, width)), taken.sizes)
    where = along(b, lookup, winner, 3)
    values = b.reduce("ReduceMax", taken, [3])
    return [b.reshape(values, c.sizes), b.reshape(b.cast(where, c.types[1][0]), c.types[1][1])]
