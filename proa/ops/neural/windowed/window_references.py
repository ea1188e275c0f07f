"""Windowed operations by their definitions, element by element: references for the samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from .windows import paddings, same_padding, sizes


def reference_conv(
    x: np.ndarray,
    weight: np.ndarray,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NC",
) -> np.ndarray:
    """Convolution by its definition, element by element (for the samples)."""
    n = weight.ndim - 2
    channels_last = data_format[1] != "C"
    if channels_last:
        x = np.moveaxis(x, -1, 1)
    stride, dilation = sizes("", "", stride, n), sizes("", "", dilation, n)
    pads = cast(Any, paddings("", padding, n, channels_last))
    if pads == "SAME":
        pads, dilation = same_padding(x.shape[2:], weight.shape[2:], stride), (1,) * n
    elif pads == "VALID":
        pads = ((0, 0),) * n
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    kernel = weight.shape[2:]
    out = [(x.shape[2 + i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(n)]
    result = np.zeros((x.shape[0], weight.shape[0], *out), x.dtype)
    per_group, filters = x.shape[1] // groups, weight.shape[0] // groups
    for channel in range(weight.shape[0]):
        first = channel // filters * per_group
        for at in np.ndindex(*out):
            cut = tuple(slice(a * s, a * s + d * (k - 1) + 1, d) for a, s, d, k in zip(at, stride, dilation, kernel))
            window = x[(slice(None), slice(first, first + per_group), *cut)]
            result[(slice(None), channel, *at)] = (window * weight[channel]).sum(tuple(range(1, n + 2)))
    if bias is not None:
        result = result + bias.reshape((-1,) + (1,) * n)
    return np.moveaxis(result, 1, -1) if channels_last else result


def reference_conv_transpose(
    x: np.ndarray,
    weight: np.ndarray,
    bias: Any = None,
    stride: Any = 1,
    padding: int = 0,
    output_padding: int = 0,
    dilation: Any = 1,
    groups: int = 1,
    output_size: Any = None,
    data_format: str = "NC",
) -> np.ndarray:
    """Spreads every input element over its window, by the definition (for the samples)."""
    n = weight.ndim - 2
    channels_last = data_format[1] != "C"
    if channels_last:
        x = np.moveaxis(x, -1, 1)
    stride, dilation = sizes("", "", stride, n), sizes("", "", dilation, n)
    full = [(x.shape[2 + i] - 1) * stride[i] + dilation[i] * (weight.shape[2 + i] - 1) + 1 for i in range(n)]
    extents = output_size or [f - 2 * padding + output_padding for f in full]
    out = np.zeros(
        (
            x.shape[0],
            weight.shape[1] * groups,
            *[f + 2 * (padding + output_padding + 8) for f in full],
        ),
        x.dtype,
    )
    per_group = x.shape[1] // groups
    for channel in range(x.shape[1]):
        first = channel // per_group * weight.shape[1]
        for at in np.ndindex(*x.shape[2:]):
            for k in np.ndindex(*weight.shape[2:]):
                cell = tuple(a * s + d * i for a, s, d, i in zip(at, stride, dilation, k))
                value = x[(slice(None), channel, *at)][:, None] * weight[(channel, slice(None), *k)][None]
                out[(slice(None), slice(first, first + weight.shape[1]), *cell)] += value
    out = out[(slice(None), slice(None), *[slice(padding, padding + e) for e in extents])]
    if bias is not None:
        out = out + bias.reshape((-1,) + (1,) * n)
    return np.moveaxis(out, 1, -1) if channels_last else out


def _pool(reduce: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """Pooling by its definition, window by window (for the samples)."""

    def pool(
        x: np.ndarray,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        data_format: str = "NC",
        exclusive: bool = True,
    ) -> np.ndarray:
        n = x.ndim - 2
        channels_last = data_format[1] != "C"
        x = np.moveaxis(x, -1, 1) if channels_last else x
        kernel = sizes("", "", kernel_size, n)
        step = kernel if stride is None else sizes("", "", stride, n)
        pads = cast(Any, paddings("", padding, n, channels_last))
        pads = same_padding(x.shape[2:], kernel, step) if pads == "SAME" else pads
        rounded = math.ceil if ceil_mode else math.floor
        out = [rounded((e + sum(p) - k) / s) + 1 for e, p, k, s in zip(x.shape[2:], pads, kernel, step)]
        result = np.zeros((*x.shape[:2], *out), x.dtype)
        for at in np.ndindex(*out):
            first = [i * s - p[0] for i, s, p in zip(at, step, pads)]
            cut = tuple(slice(max(f, 0), f + k) for f, k in zip(first, kernel))
            window = x[(slice(None), slice(None), *cut)]
            window = window.reshape(*x.shape[:2], math.prod(window.shape[2:]))
            size = math.prod(min(f + k, e + p[0]) - f for f, k, e, p in zip(first, kernel, x.shape[2:], pads))
            result[(slice(None), slice(None), *at)] = reduce(window, window.shape[-1] if exclusive else size)
        return np.moveaxis(result, 1, -1) if channels_last else result

    return pool


reference_max_pool = _pool(lambda window, size: window.max(-1))
reference_avg_pool = _pool(lambda window, size: window.sum(-1) / size)


def _adaptive_pool(reduce: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """Adaptive pooling by its definition (for the samples)."""

    def pool(x: np.ndarray, output_size: Any, data_format: str = "NC") -> np.ndarray:
        channels_last = data_format[1] != "C"
        x = np.moveaxis(x, -1, 1) if channels_last else x
        given = output_size if isinstance(output_size, list) else [output_size] * (x.ndim - 2)
        wanted = [extent if n is None else n for n, extent in zip(given, x.shape[2:])]
        result = np.zeros((*x.shape[:2], *wanted), x.dtype)
        for at in np.ndindex(*wanted):
            cut = [slice(math.floor(i * e / n), math.ceil((i + 1) * e / n)) for i, e, n in zip(at, x.shape[2:], wanted)]
            window = x[(slice(None), slice(None), *cut)]
            window = window.reshape(*x.shape[:2], math.prod(window.shape[2:]))
            result[(slice(None), slice(None), *at)] = reduce(window)
        return np.moveaxis(result, 1, -1) if channels_last else result

    return pool


reference_adaptive_avg = _adaptive_pool(lambda window: window.mean(-1))
reference_adaptive_max = _adaptive_pool(lambda window: window.max(-1))
