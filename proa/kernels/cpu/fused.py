"""Products and convolutions with packed weights and everything behind them, by native code: the kernels of
`fused_linear` and `fused_conv` for the op table's CPU backend.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import depthwise, library
from .convolution import numbers
from .low_precision import precision

# In the order of native/headers/ending.h.
ACTIVATIONS = ("", "relu", "clip", "hardswish", "silu", "sigmoid", "gelu", "gelu_tanh", "tanh")
COLUMNS = 48  # of a packed panel of a product
PANEL = 32  # filters of one of a convolution


def is_available() -> bool:
    """Whether there is native code to pack weights for: panels hold float32, so not where products are bfloat16."""
    return not precision.wants_low() and library.target("FusedProduct") is not None


def _attributes(bias: Any, residual: Any, activation: str, low: float, high: float) -> dict[str, Any]:
    return {
        "has_bias": bias is not None, "has_residual": residual is not None,
        "activation": np.int64(ACTIVATIONS.index(activation)), "low": np.float32(low), "high": np.float32(high),
    }  # fmt: skip


def _suits(symbol: str, x: Any, weight: Any, *others: Any) -> bool:
    arrays = [x, weight, *(a for a in others if a is not None)]
    return all(a.dtype == np.float32 and a.size for a in arrays) and library.target(symbol) is not None


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
            **_attributes(bias, residual, activation, low, high),
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
        shape: tuple[int, ...],
        packed: bool,
        stride: tuple[int, ...],
        padding: tuple[tuple[int, int], ...],
        dilation: tuple[int, ...],
        groups: int,
        activation: str,
        low: float,
        high: float,
    ) -> Any:
        size = out_size(x.shape, shape, stride, padding, dilation)
        fits = len(stride) <= 3 and math.prod(size) > 0 and _suits("FusedConvolution", x, filters, bias, residual)
        window = (stride, padding, dilation, groups, False)
        ending = _attributes(bias, residual, activation, low, high)
        if fits and packed:
            more = [] if bias is None else [bias]
            if residual is not None:
                more.append(library.Image(residual))
            return library.call(
                "FusedConvolution", library.Image(library.shaped((x.shape[0], shape[0], *size))), library.Image(x), filters,
                *more, window=numbers(stride, padding, dilation, shape[2:], groups), **ending,
            )  # fmt: skip
        if fits and depthwise.fits(x.shape, shape, window) and library.target("FusedDepthwise") is not None:
            return depthwise.fused(x, filters, bias, residual, window, **ending)
        return fallback(
            xp, x, filters, bias, residual, shape, packed, stride, padding, dilation, groups, activation, low, high,
        )  # fmt: skip

    return kernel


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
