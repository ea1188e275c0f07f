"""Normalisation: by given statistics, or by those of slices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...core.symbols import same_size, same_sizes
from ..builder import Builder, Made, is_unknown
from ..registry import Call, translates

_REDUCED = ("float16", "bfloat16")


def _filled(b: Builder, parameter: Made | None, value: float, sizes: Sequence[int], dtype: str) -> Made:
    """A parameter as ONNX wants it: present, and of one shape."""
    if parameter is None:
        return b.constant(np.full(tuple(sizes), value), dtype)
    return b.reshape(b.cast(parameter, dtype), sizes)


@translates("normalise_by")
def normalise_by(b: Builder, c: Call) -> Made:
    x, mean, variance, weight, bias, epsilon = c.operands
    view = tuple(c.attributes[0])
    channels = mean.sizes[0] if mean.ndim == 1 else None
    if channels is not None and x.ndim > 1 and view == (1, channels, *([1] * (x.ndim - 2))):
        parameters = [_filled(b, p, v, (channels,), mean.dtype) for p, v in ((weight, 1), (bias, 0))]
        wide = b.cast(x, mean.dtype)
        result = b.emit("BatchNormalization", [wide, *parameters, mean, variance], wide.type, epsilon=float(epsilon))
        return b.cast(result, c.dtype)
    wide = b.cast(x, mean.dtype)
    factor = b.same("Reciprocal", b.same("Sqrt", b.with_number("Add", variance, epsilon)))
    if weight is not None:
        factor = b.binary("Mul", factor, b.reshape(weight, factor.sizes))
    result = b.binary("Mul", b.binary("Sub", wide, b.reshape(mean, view)), b.reshape(factor, view))
    if bias is not None:
        result = b.binary("Add", result, b.reshape(bias, view))
    return b.cast(result, c.dtype)


@translates("normalise")
def normalise(b: Builder, c: Call) -> Made:
    x, weight, bias = c.operands
    epsilon, view, axes, broadcast, centred = c.attributes
    view, axes, broadcast = tuple(view), tuple(axes), tuple(broadcast)
    epsilon = float(epsilon)
    inner = view[len(view) - len(axes) :]
    trailing = bool(axes) and axes == tuple(range(len(view) - len(axes), len(view)))
    fits = same_sizes(broadcast, inner) and same_sizes(view, x.sizes)
    if centred and trailing and fits and axes[0] > 0 and not any(map(is_unknown, inner)):
        parameters = [_filled(b, p, v, inner, x.dtype) for p, v in ((weight, 1), (bias, 0))]
        return b.emit("LayerNormalization", [x, *parameters], x.type, axis=-len(axes), epsilon=epsilon)
    if centred and _is_by_channel(x, view, axes, broadcast):
        channels = x.sizes[1]
        parameters = [_filled(b, p, v, (channels,), x.dtype) for p, v in ((weight, 1), (bias, 0))]
        return b.emit("InstanceNormalization", [x, *parameters], x.type, epsilon=epsilon)
    if centred and trailing and len(view) >= 3 and axes == tuple(range(2, len(view))) and not is_unknown(view[1]):
        # Groups: each is one channel, whatever it holds.
        grouped = b.reshape(x, (view[0], view[1], math.prod(view[2:])))
        ones, zeros = (b.constant(np.full((view[1],), value), x.dtype) for value in (1, 0))
        result = b.emit("InstanceNormalization", [grouped, ones, zeros], grouped.type, epsilon=epsilon)
        return _affine(b, b.reshape(result, x.sizes), weight, bias, broadcast)
    wide = "float32" if x.dtype in _REDUCED else x.dtype
    result = b.reshape(b.cast(x, wide), view)
    if centred:
        result = b.binary("Sub", result, b.reduce("ReduceMean", result, axes, True))
    # In this form runtimes recognise a root-mean-square norm.
    variance = b.reduce("ReduceMean", b.with_number("Pow", result, 2), axes, True)
    result = b.binary("Div", result, b.same("Sqrt", b.with_number("Add", variance, epsilon)))
    return _affine(b, b.cast(b.reshape(result, x.sizes), x.dtype), weight, bias, broadcast)


def _is_by_channel(x: Made, view: Sequence[int], axes: Sequence[int], broadcast: Sequence[int]) -> bool:
    """Whether every channel (the second axis) of every sample is normalised by itself."""
    return (
        x.ndim >= 3
        and same_sizes(view, x.sizes)
        and tuple(axes) == tuple(range(2, x.ndim))
        and not is_unknown(x.sizes[1])
        and len(broadcast) == x.ndim
        and all(same_size(n, x.sizes[1] if axis == 1 else 1) for axis, n in enumerate(broadcast))
    )


def _affine(b: Builder, x: Made, weight: Made | None, bias: Made | None, broadcast: Sequence[int]) -> Made:
    if weight is not None:
        x = b.binary("Mul", x, b.reshape(b.cast(weight, x.dtype), broadcast))
    if bias is not None:
        x = b.binary("Add", x, b.reshape(b.cast(bias, x.dtype), broadcast))
    return x
