"""Products and convolutions with packed weights and everything behind them, by native code: the kernels of
`fused_linear` and `fused_conv` for the op table's CPU backend.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import library

# In the order of native/fused.cc.
ACTIVATIONS = ("", "relu", "clip", "hardswish", "silu", "sigmoid", "gelu", "gelu_tanh", "tanh")
PANEL = 32  # columns of a packed panel of a product
_MOST_IN_IMAGE = 1 << 26  # offsets within an image are 32-bit numbers


def is_available() -> bool:
    """Whether there is native code to pack weights for."""
    return library.target("FusedProduct") is not None


@functools.cache
def most_rows() -> int:
    """Rows of the largest register tile (native/vectors.h)."""
    words = set(library.processor().split())
    return 14 if words >= {"avx512f", "avx512vl", "avx512bw", "avx512dq"} else 6


def rows_of_panels(filters: int) -> int:
    """How many filters a packed panel holds: equal panels, as few as possible."""
    panels = -(-filters // most_rows())
    return -(-filters // panels)


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


def _with_height(array: Any) -> Any:
    return array[:, :, None] if array.ndim == 3 else array


def native_fused_conv(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `fused_conv`: over one axis or two, channels first."""

    def kernel(
        xp: Any,
        x: Any,
        filters: Any,
        bias: Any,
        residual: Any,
        shape: tuple[int, ...],
        panel_rows: int,
        stride: tuple[int, ...],
        padding: tuple[tuple[int, int], ...],
        dilation: tuple[int, ...],
        groups: int,
        activation: str,
        low: float,
        high: float,
    ) -> Any:
        size = out_size(x.shape, shape, stride, padding, dilation)
        fits = (
            len(stride) in (1, 2)
            and panel_rows <= most_rows()
            and max(math.prod(x.shape[1:]), shape[0] * math.prod(size)) < _MOST_IN_IMAGE
            and math.prod(size) > 0
        )
        if not fits or not _suits("FusedConvolution", x, filters, bias, residual):
            return fallback(
                xp, x, filters, bias, residual, shape, panel_rows, stride, padding, dilation, groups, activation, low, high,
            )  # fmt: skip
        before = [first for first, _ in padding]
        kernel_size = shape[2:]
        if len(stride) == 1:
            stride, before, dilation, kernel_size = (1, *stride), [0, *before], (1, *dilation), (1, *kernel_size)
        more = [] if bias is None else [bias]
        if residual is not None:
            more.append(_with_height(residual))
        out = (x.shape[0], shape[0], *([1] if len(size) == 1 else []), *size)
        result = library.call(
            "FusedConvolution", library.shaped(out), _with_height(x), filters, *more,
            window=np.array([*stride, *before, *dilation, groups, *kernel_size, panel_rows], np.int64),
            **_attributes(bias, residual, activation, low, high),
        )  # fmt: skip
        return result[:, :, 0] if len(size) == 1 else result

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
        (extent + before + after - spread * (width - 1) - 1) // step + 1
        for extent, (before, after), spread, width, step in zip(
            x[2:], padding, dilation, weight[2:], stride, strict=True
        )
    ]
