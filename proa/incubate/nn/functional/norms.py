"""Normalisation, with the bias and the residual connection that come before it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....eager.tensor import Tensor, tensor_from_data
from ....nn import functional as F


def _refuse_bytes(where: str, quant_scale: float) -> None:
    if quant_scale > 0:
        raise NotImplementedError(f"({where}) results in 8 bits are not supported here; use paddle.nn.quant.")


def _joined(x: Any, bias: Any, residual: Any, alpha: float = 1.0) -> Any:
    out = x if bias is None else x + bias
    return out if residual is None else out + residual * alpha


def _empty(x: Tensor) -> Tensor:
    """What Paddle gives in the place of a residual that there is not."""
    return tensor_from_data(np.zeros((0,), x._aval.dtype))


def fused_rms_norm(
    x: Tensor, norm_weight: Tensor, norm_bias: Tensor | None, epsilon: float, begin_norm_axis: int = 1,
    bias: Tensor | None = None, residual: Tensor | None = None, quant_scale: float = -1, quant_round_type: float = 0,
    quant_max_bound: float = 0, quant_min_bound: float = 0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The RMS norm of `x + bias + residual` from `begin_norm_axis` on, and that sum."""
    _refuse_bytes("fused_rms_norm", quant_scale)
    total = _joined(x, bias, residual)
    out = F.rms_norm(total, list(total._aval.shape[begin_norm_axis:]), norm_weight, epsilon)
    if norm_bias is not None:
        out = out + norm_bias
    return out, total if residual is not None else _empty(x)


def fused_rms_norm_ext(x: Tensor, scale: Tensor, epsilon: float = 1e-5, name: str | None = None) -> tuple[Any, Any]:
    """The RMS norm of the last axis, and one over the root mean square of each row."""
    wide = x.astype("float32")
    inverse = ((wide * wide).mean(-1) + epsilon).rsqrt()
    return F.rms_norm(x, [x._aval.shape[-1]], scale, epsilon), inverse


def fast_rms_norm(x: Tensor, scale: Tensor, epsilon: float = 1e-5) -> tuple[Any, Any]:
    """As `fused_rms_norm_ext`."""
    return fused_rms_norm_ext(x, scale, epsilon)


def _moments(total: Any, axis: int, epsilon: float) -> tuple[Any, Any]:
    rows = total.astype("float32").flatten(axis).reshape([-1, int(np.prod(total.shape[axis:]))])
    return rows.mean(-1), rows.var(-1, unbiased=False)


def fused_layer_norm(
    x: Tensor, norm_weight: Tensor, norm_bias: Tensor, epsilon: float, residual_alpha: float = 1.0,
    begin_norm_axis: int = 1, bias: Tensor | None = None, residual: Tensor | None = None, quant_scale: float = -1,
    quant_round_type: float = 0, quant_max_bound: float = 0, quant_min_bound: float = 0,
) -> tuple[Any, ...]:  # fmt: skip
    """The layer norm of `x + bias + residual_alpha * residual`, that sum, and its means and variances."""
    _refuse_bytes("fused_layer_norm", quant_scale)
    total = _joined(x, bias, residual, residual_alpha)
    axis = begin_norm_axis % total._aval.ndim
    out = F.layer_norm(total, list(total._aval.shape[axis:]), norm_weight, norm_bias, epsilon)
    return out, total, *_moments(total, axis, epsilon)


def fast_ln(x: Tensor, scale: Tensor, bias: Tensor, epsilon: float = 1e-5) -> tuple[Any, Any, Any]:
    """The layer norm of the last axis, the means, and one over the standard deviations."""
    mean, variance = _moments(x, x._aval.ndim - 1, epsilon)
    return F.layer_norm(x, [x._aval.shape[-1]], scale, bias, epsilon), mean, (variance + epsilon).rsqrt()
