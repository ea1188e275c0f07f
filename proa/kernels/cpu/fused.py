"""Products and convolutions with packed weights and everything behind them, by native code: the kernels of
`fused_linear`, `fused_conv` and `squeeze_excite` for the op table's CPU backend.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtype import BFLOAT16, FLOAT32
from . import compiled, depthwise, library
from .convolution import numbers
from .low_precision import precision

# In the order of native/headers/epilogue.h.
ACTIVATIONS = ("", "relu", "clip", "hardswish", "silu", "sigmoid", "gelu", "gelu_tanh", "tanh")
COLUMNS = 48  # of a packed panel of a product
PANEL = 32  # filters of one of a convolution
DEPTHWISE = "FusedDepthwise"
SQUEEZE = "SqueezeExcite"


def is_available() -> bool:
    """Whether there is native code to pack weights for."""
    return not precision.wants_low() and library.target("FusedProduct") is not None


def is_low_available() -> bool:
    """Whether there is native code for weights packed as bfloat16, which the processor multiplies by itself."""
    return compiled.multiplies_bfloat16() and is_available() and library.target("FusedBfloatConvolution") is not None


def _ending(bias: Any, residual: Any, activation: str, low: float, high: float) -> dict[str, Any]:
    return {
        "has_bias": bias is not None, "has_residual": residual is not None,
        "activation": np.int64(ACTIVATIONS.index(activation)), "low": np.float32(low), "high": np.float32(high),
    }  # fmt: skip


def _suits(symbol: str, x: Any, weight: Any, *others: Any) -> bool:
    arrays = [a for a in (x, *others) if a is not None]
    known = weight.size > 0 and weight.dtype in (FLOAT32, BFLOAT16)
    return known and all(a.dtype == FLOAT32 and a.size for a in arrays) and library.target(symbol) is not None


def _may_be_rounded(image: Any, symbol: str = "") -> bool:
    """Whether there is native code for images of this type: floats, or bfloat16 where the weight is not of floats."""
    if image is None:
        return True
    return image.size > 0 and (image.dtype == FLOAT32 or (image.dtype == BFLOAT16 and symbol != "FusedConvolution"))


def native_fused_linear(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `fused_linear`."""

    def kernel(
        xp: Any, x: Any, panels: Any, bias: Any, residual: Any, columns: int, activation: str, low: float, high: float
    ) -> Any:
        if not _suits("FusedProduct", x, panels, bias, residual):
            return fallback(xp, x, panels, bias, residual, columns, activation, low, high)
        rows = x.reshape(-1, x.shape[-1])
        more = [] if bias is None else [bias]
        if residual is not None:
            more.append(residual.reshape(-1, columns))
        result = library.call(
            "FusedProduct", library.shaped((rows.shape[0], columns)), rows, panels, *more,
            **_ending(bias, residual, activation, low, high),
        )  # fmt: skip
        return result.reshape(*x.shape[:-1], columns)

    return kernel


def native_fused_conv(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `fused_conv`: over one to three axes, channels in the second."""

    def kernel(
        xp: Any,
        x: Any,
        filters: Any,
        bias: Any,
        residual: Any,
        after: Any,
        shape: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[tuple[int, int], ...],
        dilation: tuple[int, ...],
        groups: int,
        activation: str,
        low: float,
        high: float,
        rounded: bool = False,
    ) -> Any:
        size = out_size(x.shape, shape, stride, padding, dilation)
        symbol = symbol_of(filters, shape, groups)
        window = (stride, padding, dilation, groups, False)
        fits = len(stride) <= 3 and math.prod(size) > 0 and _suits(symbol, bias, filters, after)
        fits = fits and _may_be_rounded(x, symbol) and _may_be_rounded(residual)
        if not fits or (symbol == DEPTHWISE and not depthwise.fits(x.shape, shape, window)):
            return fallback(
                xp, x, filters, bias, residual, after, shape, stride, padding, dilation, groups, activation, low, high,
                rounded,
            )  # fmt: skip
        more = [] if bias is None else [bias]
        if residual is not None:
            more.append(library.Image(residual))
        if after is not None:
            more.append(after)
        if symbol == DEPTHWISE:
            x, numbers_of_window = depthwise.for_each_filter(x, shape), depthwise.window_numbers(shape, window)
        else:
            numbers_of_window = numbers(stride, padding, dilation, shape[2:], groups)
        return library.call(
            symbol, library.Image(library.shaped((x.shape[0], shape[0], *size), BFLOAT16 if rounded else FLOAT32)),
            library.Image(x), filters, *more,
            window=numbers_of_window, has_after=after is not None, **_ending(bias, residual, activation, low, high),
        )  # fmt: skip

    return kernel


def native_squeeze_excite(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `squeeze_excite`: any axes of space, channels in the second."""

    def kernel(
        xp: Any,
        x: Any,
        first: Any,
        second: Any,
        first_bias: Any,
        second_bias: Any,
        hidden: int,
        first_ending: tuple[str, float, float],
        second_ending: tuple[str, float, float],
        adds: bool = False,
        rounded: bool = False,
    ) -> Any:
        fits = x.size > 0 and x.ndim > 2 and _may_be_rounded(x) and _suits(SQUEEZE, first_bias, first, second_bias)
        if not fits or not _suits(SQUEEZE, None, second):
            return fallback(
                xp, x, first, second, first_bias, second_bias, hidden, first_ending, second_ending, adds, rounded
            )
        attributes: dict[str, Any] = {}
        for which, (activation, low, high) in (("first", first_ending), ("second", second_ending)):
            attributes[f"{which}_activation"] = np.int64(ACTIVATIONS.index(activation))
            attributes |= {f"{which}_low": np.float32(low), f"{which}_high": np.float32(high)}
        return library.call(
            SQUEEZE, library.Image(library.shaped(x.shape, BFLOAT16 if rounded else FLOAT32)), library.Image(x),
            first, second, *(bias for bias in (first_bias, second_bias) if bias is not None),
            has_first_bias=first_bias is not None, has_second_bias=second_bias is not None,
            adds=adds, hidden=np.int64(hidden), **attributes,
        )  # fmt: skip

    return kernel


def symbol_of(filters: Any, shape: tuple[int, ...], groups: int) -> str:
    """The handler of a convolution with packed filters."""
    if is_depthwise(shape, groups):
        return DEPTHWISE
    return "FusedBfloatConvolution" if filters.dtype == BFLOAT16 else "FusedConvolution"


def is_depthwise(shape: tuple[int, ...], groups: int) -> bool:
    """Whether filters of this shape have a channel each: there is nothing to multiply as matrices."""
    return shape[1] == 1 and groups > 1


def out_size(
    x: tuple[int, ...],
    weight: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
) -> list[int]:
    """The spatial sizes of a convolution with channels first."""
    return [
        (extent + before + after - rate * (width - 1) - 1) // step + 1
        for extent, (before, after), rate, width, step in zip(x[2:], padding, dilation, weight[2:], stride, strict=True)
    ]
