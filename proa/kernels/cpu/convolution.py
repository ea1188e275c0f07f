"""Convolutions over one or two axes by native code, for the op table's CPU backend.

The native kernels store channels first. A convolution over one axis is one over two, the first of length 1; tensors with
channels last are transposed before and after, which costs less than XLA's own gradient of the weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import library
from .choice import chosen, enough

Window = tuple[tuple[int, ...], tuple[tuple[int, int], ...], tuple[int, ...], int, bool]
_MOST_IN_IMAGE = 1 << 26  # offsets within an image are 32-bit numbers
# Fewer multiplications than this are not worth a call.
_WORTHWHILE = 20_000


def _suits(symbol: str, x: Any, weight: Any, y: tuple[int, ...], window: Window) -> bool:
    spatial = len(window[0])
    arrays_fit = x.dtype == weight.dtype == np.float32 and all(math.prod(a) for a in (x.shape, weight.shape, y))
    if spatial not in (1, 2) or not arrays_fit:
        return False
    if max(math.prod(x.shape[1:]), math.prod(y[1:])) >= _MOST_IN_IMAGE:
        return False
    return library.target(symbol) is not None


def _is_thin(rows: int, weight: tuple[int, ...], groups: int) -> bool:
    """Whether a tile would have so few rows that packing its windows costs more than the product.

    Of grouped convolutions XLA is slower still.
    """
    return groups == 1 and rows < 6 and math.prod(weight[2:]) > 1


def _work(weight: tuple[int, ...], y: tuple[int, ...], channels_last: bool) -> int:
    positions = math.prod(y[1:-1] if channels_last else y[2:])
    return math.prod(weight) * y[0] * positions


def _numbers(window: Window) -> Any:
    """Stride, padding before and dilation of height and width, and groups: what the native kernels read."""
    stride, padding, dilation, groups, _ = window
    before = [first for first, _ in padding]
    if len(stride) == 1:
        stride, before, dilation = (1, *stride), [0, *before], (1, *dilation)
    return np.array([*stride, *before, *dilation, groups], np.int64)


def _first(array: Any, window: Window) -> Any:
    """An image tensor with channels first and two axes of space."""
    if window[4]:
        array = array.transpose(0, array.ndim - 1, *range(1, array.ndim - 1))
    return array[:, :, None] if len(window[0]) == 1 else array


def _first_shape(shape: tuple[int, ...], window: Window) -> tuple[int, ...]:
    if window[4]:
        shape = (shape[0], shape[-1], *shape[1:-1])
    return (*shape[:2], 1, *shape[2:]) if len(window[0]) == 1 else shape


def _back(array: Any, window: Window) -> Any:
    """The reverse of `_first`."""
    if len(window[0]) == 1:
        array = array[:, :, 0]
    return array.transpose(0, *range(2, array.ndim), 1) if window[4] else array


def _filters(weight: Any, window: Window) -> Any:
    return weight[:, :, None] if len(window[0]) == 1 else weight


def _out_shape(x: tuple[int, ...], weight: tuple[int, ...], window: Window) -> tuple[int, ...]:
    stride, padding, dilation, _, channels_last = window
    extents = x[1:-1] if channels_last else x[2:]
    spatial = [
        (extent + before + after - spread * (width - 1) - 1) // step + 1
        for extent, (before, after), spread, width, step in zip(extents, padding, dilation, weight[2:], stride)
    ]
    return (x[0], *spatial, weight[0]) if channels_last else (x[0], weight[0], *spatial)


@chosen
def native_convolution(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `conv`."""

    def kernel(xp: Any, x: Any, weight: Any, bias: Any, *attributes: Any) -> Any:
        window: Window = attributes  # type: ignore[assignment]
        y = _out_shape(x.shape, weight.shape, window)
        too_small = not enough(_work(weight.shape, y, window[4]), _WORTHWHILE)
        too_small = too_small or _is_thin(weight.shape[0], weight.shape, window[3])
        if too_small or not _suits("Convolution", x, weight, y, window):
            return fallback(xp, x, weight, bias, *attributes)
        operands = [_first(x, window), _filters(weight, window), *([] if bias is None else [bias])]
        shape = library.shaped(_first_shape(y, window))
        return _back(library.call("Convolution", shape, *operands, window=_numbers(window)), window)

    return kernel


@chosen
def native_grad_input(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `conv_grad_input`."""

    def kernel(xp: Any, y: Any, weight: Any, shape: tuple[int, ...], *attributes: Any) -> Any:
        window: Window = attributes  # type: ignore[assignment]
        too_small = not enough(_work(weight.shape, y.shape, window[4]), _WORTHWHILE)
        too_small = too_small or _is_thin(weight.shape[1], weight.shape, window[3])
        if too_small or not _suits("ConvolutionGradInput", y, weight, shape, window):
            return fallback(xp, y, weight, shape, *attributes)
        found = library.call(
            "ConvolutionGradInput", library.shaped(_first_shape(shape, window)), _first(y, window),
            _filters(weight, window), window=_numbers(window),
        )  # fmt: skip
        return _back(found, window)

    return kernel


@chosen
def native_grad_weight(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `conv_grad_weight`."""

    def kernel(xp: Any, x: Any, y: Any, shape: tuple[int, ...], *attributes: Any) -> Any:
        window: Window = attributes  # type: ignore[assignment]
        too_small = not enough(_work(shape, y.shape, window[4]), _WORTHWHILE)
        if too_small or not _suits("ConvolutionGradWeight", x, y, shape, window):
            return fallback(xp, x, y, shape, *attributes)
        filters = (*shape[:2], 1, *shape[2:]) if len(window[0]) == 1 else shape
        found = library.call(
            "ConvolutionGradWeight", library.shaped(filters), _first(x, window), _first(y, window),
            window=_numbers(window),
        )  # fmt: skip
        return found.reshape(shape)

    return kernel
