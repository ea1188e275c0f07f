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
    """The RMS norm of `x + bias + residual`, and that sum.

    Args:
        x: the tensor.
        norm_weight: the scale.
        norm_bias: the shift, or None.
        epsilon: what is added to the mean square.
        begin_norm_axis: from this axis on elements are taken together.
        bias: what is added, or None.
        residual: what is added, or None.
        quant_scale: above 0 the result is quantised with it.
        quant_round_type, quant_max_bound, quant_min_bound: how.

    Returns:
        The result, and the sum.

    Examples:
        >>> x = paddle.to_tensor([[3.0, 4.0]])
        >>> norm_weight = paddle.ones([2])
        >>> y, _ = paddle.incubate.nn.functional.fused_rms_norm(x, norm_weight, None, 1e-6)
        >>> print(y.numpy().round(4))
        [[0.8485 1.1314]]
    """
    _refuse_bytes("fused_rms_norm", quant_scale)
    total = _joined(x, bias, residual)
    out = F.rms_norm(total, list(total._aval.shape[begin_norm_axis:]), norm_weight, epsilon)
    if norm_bias is not None:
        out = out + norm_bias
    return out, total if residual is not None else _empty(x)


def fused_rms_norm_ext(x: Tensor, scale: Tensor, epsilon: float = 1e-5, name: str | None = None) -> tuple[Any, Any]:
    """The RMS norm of the last axis, and one over the root mean square of each row.

    Args:
        x: the tensor.
        scale: the scale.
        epsilon: what is added to the mean square.
        name: a label; it changes nothing.

    Returns:
        The result, and the factors.

    Examples:
        >>> x = paddle.to_tensor([[3.0, 4.0]])
        >>> scale = paddle.ones([2])
        >>> y, factor = paddle.incubate.nn.functional.fused_rms_norm_ext(x, scale)
        >>> print(factor.numpy().round(4))
        [0.2828]
    """
    wide = x.astype("float32")
    inverse = ((wide * wide).mean(-1) + epsilon).rsqrt()
    return F.rms_norm(x, [x._aval.shape[-1]], scale, epsilon), inverse


def fast_rms_norm(x: Tensor, scale: Tensor, epsilon: float = 1e-5) -> tuple[Any, Any]:
    """The RMS norm of the last axis, and one over the root mean square of each row: as `fused_rms_norm_ext`.

    Args:
        x: the tensor.
        scale: the scale.
        epsilon: what is added to the mean square.

    Returns:
        The result, and the factors.

    Examples:
        >>> y, factor = paddle.incubate.nn.functional.fast_rms_norm(paddle.to_tensor([[3.0, 4.0]]), paddle.ones([2]))
        >>> print(y.numpy().round(4))
        [[0.8485 1.1314]]
    """
    return fused_rms_norm_ext(x, scale, epsilon)


def _moments(total: Any, axis: int, epsilon: float) -> tuple[Any, Any]:
    rows = total.astype("float32").flatten(axis).reshape([-1, int(np.prod(total.shape[axis:]))])
    return rows.mean(-1), rows.var(-1, unbiased=False)


def fused_layer_norm(
    x: Tensor, norm_weight: Tensor, norm_bias: Tensor, epsilon: float, residual_alpha: float = 1.0,
    begin_norm_axis: int = 1, bias: Tensor | None = None, residual: Tensor | None = None, quant_scale: float = -1,
    quant_round_type: float = 0, quant_max_bound: float = 0, quant_min_bound: float = 0,
) -> tuple[Any, ...]:  # fmt: skip
    """The layer norm of `x + bias + residual_alpha * residual`, with that sum and its statistics.

    Args:
        x: the tensor.
        norm_weight: the scale.
        norm_bias: the shift.
        epsilon: what is added to the variance.
        residual_alpha: the factor of `residual`.
        begin_norm_axis: from this axis on elements are taken together.
        bias: what is added, or None.
        residual: what is added, or None.
        quant_scale: above 0 the result is quantised with it.
        quant_round_type, quant_max_bound, quant_min_bound: how.

    Returns:
        The result, the sum, its means and its variances.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 3.0]])
        >>> norm_weight = paddle.ones([2])
        >>> norm_bias = paddle.zeros([2])
        >>> y, *_ = paddle.incubate.nn.functional.fused_layer_norm(x, norm_weight, norm_bias, 1e-5)
        >>> print(y.numpy().round(4))
        [[-1.  1.]]
    """
    _refuse_bytes("fused_layer_norm", quant_scale)
    total = _joined(x, bias, residual, residual_alpha)
    axis = begin_norm_axis % total._aval.ndim
    out = F.layer_norm(total, list(total._aval.shape[axis:]), norm_weight, norm_bias, epsilon)
    return out, total, *_moments(total, axis, epsilon)


def fast_ln(x: Tensor, scale: Tensor, bias: Tensor, epsilon: float = 1e-5) -> tuple[Any, Any, Any]:
    """The layer norm of the last axis, with its statistics.

    Args:
        x: the tensor.
        scale: the scale.
        bias: the shift.
        epsilon: what is added to the variance.

    Returns:
        The result, the means, and one over the standard deviations.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 3.0]])
        >>> scale = paddle.ones([2])
        >>> bias = paddle.zeros([2])
        >>> y, mean, scale = paddle.incubate.nn.functional.fast_ln(x, scale, bias)
        >>> print(y.numpy().round(4))
        [[-1.  1.]]
        >>> mean.tolist()
        [2.0]
    """
    mean, variance = _moments(x, x._aval.ndim - 1, epsilon)
    return F.layer_norm(x, [x._aval.shape[-1]], scale, bias, epsilon), mean, (variance + epsilon).rsqrt()
