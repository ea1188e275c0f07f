"""Products and convolutions of bytes by native code: the kernels of `quantised_linear`, `quantised_conv`,
`quantise_dynamic` and `weight_only_product` for the op table's CPU backend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import library
from ..choice import chosen
from ..fused import ACTIVATIONS, out_size

PANEL = 32  # columns of a packed panel (native/headers/quantised.h)
BYTES = ("uint8", "int8")


def is_available() -> bool:
    """Whether there is native code for bytes."""
    return library.target("QuantisedProduct") is not None


def as_unsigned(xp: Any, x: Any, zero: Any) -> tuple[Any, Any]:
    """Signed bytes as unsigned ones: everything is shifted by 128, the zero point, too."""
    if x.dtype == np.uint8:
        return x, zero
    return (x.astype(np.int32) + 128).astype(np.uint8), zero + np.int32(128)


def _further(
    bias: Any, residual: Any, residual_scale: Any, residual_zero: Any, out_scale: Any, out_zero: Any, out_dtype: str
) -> list[Any]:
    """The operands that may be missing, in the order of native/quantised.cc."""
    more = [] if bias is None else [bias]
    if residual is not None:
        more.append(residual)
        if _array(residual).dtype == np.uint8:
            more += [residual_scale.reshape(1), residual_zero.reshape(1)]
    return [*more, out_scale.reshape(1), out_zero.reshape(1)] if out_dtype in BYTES else more


def _array(operand: Any) -> Any:
    return operand.array if isinstance(operand, library.Image) else operand


def _attributes(bias: Any, residual: Any, activation: str, low: float, high: float) -> dict[str, Any]:
    return {
        "has_bias": bias is not None, "has_residual": residual is not None,
        "activation": np.int64(ACTIVATIONS.index(activation)), "low": np.float32(low), "high": np.float32(high),
    }  # fmt: skip


def native_quantised_linear(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `quantised_linear`."""

    def kernel(
        xp: Any, x: Any, panels: Any, x_scale: Any, x_zero: Any, scales: Any, bias: Any, residual: Any,
        residual_scale: Any, residual_zero: Any, out_scale: Any, out_zero: Any, columns: int, out_dtype: str,
        activation: str, low: float, high: float,
    ) -> Any:  # fmt: skip
        suits = x.size and columns and (residual is None or residual.dtype in (np.float32, np.uint8))
        if not suits or library.target("QuantisedProduct") is None:
            return fallback(
                xp, x, panels, x_scale, x_zero, scales, bias, residual, residual_scale, residual_zero, out_scale,
                out_zero, columns, out_dtype, activation, low, high,
            )  # fmt: skip
        numbers, zero = as_unsigned(xp, x, x_zero)
        rows = numbers.reshape(-1, x.shape[-1])
        flat = None if residual is None else residual.reshape(-1, columns)
        result = library.call(
            "QuantisedProduct", library.shaped((rows.shape[0], columns), out_dtype), rows, panels, x_scale.reshape(-1),
            zero.reshape(-1), scales,
            *_further(bias, flat, residual_scale, residual_zero, out_scale, out_zero, out_dtype),
            **_attributes(bias, residual, activation, low, high),
        )  # fmt: skip
        return result.reshape(*x.shape[:-1], columns)

    return kernel


def native_quantised_conv(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `quantised_conv`: over one axis, two or three, channels side by side in memory."""

    def kernel(
        xp: Any, x: Any, filters: Any, x_scale: Any, x_zero: Any, scales: Any, bias: Any, residual: Any,
        residual_scale: Any, residual_zero: Any, out_scale: Any, out_zero: Any, shape: tuple[int, ...],
        stride: tuple[int, ...], padding: tuple[tuple[int, int], ...], dilation: tuple[int, ...], groups: int,
        out_dtype: str, activation: str, low: float, high: float,
    ) -> Any:  # fmt: skip
        size = out_size(x.shape, shape, stride, padding, dilation)
        suits = x.size and min(size) > 0 and (residual is None or residual.dtype in (np.float32, np.uint8))
        if not suits or len(stride) > 3 or library.target("QuantisedConvolution") is None:
            return fallback(
                xp, x, filters, x_scale, x_zero, scales, bias, residual, residual_scale, residual_zero, out_scale,
                out_zero, shape, stride, padding, dilation, groups, out_dtype, activation, low, high,
            )  # fmt: skip
        numbers, zero = as_unsigned(xp, x, x_zero)
        image = None if residual is None else library.Image(residual)
        before = [first for first, _ in padding]
        return library.call(
            "QuantisedConvolution", library.Image(library.shaped((x.shape[0], shape[0], *size), out_dtype)),
            library.Image(numbers), filters, x_scale.reshape(1), zero.reshape(1), scales,
            *_further(bias, image, residual_scale, residual_zero, out_scale, out_zero, out_dtype),
            window=np.array([*shape[2:], *stride, *before, *dilation], np.int64), channel_groups=np.int64(groups),
            **_attributes(bias, residual, activation, low, high),
        )  # fmt: skip

    return kernel


@chosen
def native_quantise_dynamic(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `quantise_dynamic`."""

    def kernel(xp: Any, x: Any, each_row: bool, symmetric: bool) -> Any:
        if not x.size or x.dtype != np.float32 or library.target("QuantiseRows") is None:
            return fallback(xp, x, each_row, symmetric)
        rows = x.reshape(-1, x.shape[-1])
        count = rows.shape[0] if each_row else 1
        outputs = (library.shaped(rows.shape, np.uint8), library.shaped((count,)), library.shaped((count,), np.int32))
        numbers, scale, zero = library.call("QuantiseRows", outputs, rows, symmetric=bool(symmetric))
        if not each_row:
            return numbers.reshape(x.shape), scale, zero
        return numbers.reshape(x.shape), scale.reshape(x.shape[:-1]), zero.reshape(x.shape[:-1])

    return kernel


@chosen
def native_weight_only_product(fallback: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of `weight_only_product`."""

    def kernel(xp: Any, x: Any, weight: Any, scales: Any, bias: Any, bits: int) -> Any:
        suits = x.dtype == np.float32 and scales.dtype == np.float32 and x.size and weight.size
        if not suits or library.target("WeightOnlyProduct") is None:
            return fallback(xp, x, weight, scales, bias, bits)
        rows = x.reshape(-1, x.shape[-1])
        outputs = weight.shape[0] * (2 if bits == 4 else 1)
        more = [] if bias is None else [bias]
        result = library.call(
            "WeightOnlyProduct", library.shaped((rows.shape[0], outputs), np.float32), rows, weight,
            scales.reshape(-1, outputs), *more, bits=np.int64(bits),
        )  # fmt: skip
        return result.reshape(*x.shape[:-1], outputs)

    return kernel
