"""Products with what stands behind them."""

from __future__ import annotations

from typing import Any

from ....core.errors import value_error
from ....eager.tensor import Tensor
from ....nn import functional as F
from ....ops.linear.linalg import matmul
from ....ops.neural.random_activation import swiglu

__all__ = [
    "fused_bias_act",
    "fused_dropout_add",
    "fused_linear",
    "fused_linear_activation",
    "fused_matmul_bias",
    "swiglu",
]


def fused_matmul_bias(
    x: Tensor, y: Tensor, bias: Tensor | None = None, transpose_x: bool = False, transpose_y: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`matmul(x, y) + bias`.

    Args:
        x: the left operand.
        y: the right operand.
        bias: what is added, or None.
        transpose_x: whether `x` is given transposed.
        transpose_y: whether `y` is.
        name: a label; it changes nothing.

    Returns:
        The product.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0]])
        >>> y = paddle.eye(2)
        >>> bias = paddle.to_tensor([0.5, 0.5])
        >>> paddle.incubate.nn.functional.fused_matmul_bias(x, y, bias).tolist()
        [[1.5, 2.5]]
    """
    product: Any = matmul(x, y, transpose_x, transpose_y)
    return product if bias is None else product + bias


def fused_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, transpose_weight: bool = False, name: str | None = None
) -> Tensor:
    """`x @ weight + bias`.

    Args:
        x: the tensor.
        weight: `[in, out]`, or `[out, in]` with `transpose_weight`.
        bias: `[out]`, or None.
        transpose_weight: which form the weight has.
        name: a label; it changes nothing.

    Returns:
        A tensor `[..., out]`.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0]])
        >>> weight = paddle.eye(2)
        >>> bias = paddle.to_tensor([0.5, 0.5])
        >>> paddle.incubate.nn.functional.fused_linear(x, weight, bias).tolist()
        [[1.5, 2.5]]
    """
    return fused_matmul_bias(x, weight, bias, False, transpose_weight)


def fused_linear_activation(
    x: Tensor, y: Tensor, bias: Tensor, trans_x: bool = False, trans_y: bool = False, activation: str | None = None
) -> Tensor:
    """A linear layer and its activation.

    Args:
        x: the tensor.
        y: the weight.
        bias: the bias.
        trans_x: whether `x` is given transposed.
        trans_y: whether `y` is.
        activation: 'gelu', 'relu', or None for none.

    Returns:
        A tensor `[..., out]`.

    Examples:
        >>> x = paddle.to_tensor([[1.0, -2.0]])
        >>> y = paddle.eye(2)
        >>> bias = paddle.to_tensor([0.5, 0.5])
        >>> paddle.incubate.nn.functional.fused_linear_activation(x, y, bias, activation="relu").tolist()
        [[1.5, 0.0]]
    """
    if activation not in (None, "none", "gelu", "relu"):
        raise value_error("fused_linear_activation", "activation must be 'gelu', 'relu' or None", repr(activation))
    out = fused_matmul_bias(x, y, bias, trans_x, trans_y)
    return out if activation in (None, "none") else getattr(F, activation)(out)


_GATED = {"swiglu": "silu", "geglu": "gelu"}


def fused_bias_act(
    x: Tensor,
    bias: Tensor | None = None,
    dequant_scales: Tensor | None = None,
    shift: Tensor | None = None,
    smooth: Tensor | None = None,
    act_method: str = "gelu",
    compute_dtype: str = "default",
    quant_scale: float = -1,
    quant_round_type: int = 0,
    quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> Tensor:
    """`act(x + bias)`; gated kinds multiply the activated first half by the second.

    Args:
        x: the tensor.
        bias: what is added, or None.
        dequant_scales, shift, smooth: for quantised inputs, or None.
        act_method: 'gelu', 'relu', 'silu', 'sigmoid', or the gated 'swiglu' and 'geglu'.
        compute_dtype: accepted; 'default' computes in the dtype of `x`.
        quant_scale: above 0 the result is quantised with it.
        quant_round_type, quant_max_bound, quant_min_bound: how.

    Returns:
        A tensor of the shape of `x`, or of half its last axis for gated kinds.

    Examples:
        >>> x = paddle.to_tensor([[-1.0, 1.0]])
        >>> bias = paddle.to_tensor([0.5, 0.5])
        >>> paddle.incubate.nn.functional.fused_bias_act(x, bias, act_method="relu").tolist()
        [[0.0, 1.5]]
    """
    if dequant_scales is not None or shift is not None or smooth is not None or quant_scale != -1:
        raise NotImplementedError(
            "(fused_bias_act) 8-bit inputs and outputs are not supported here; use paddle.nn.quant."
        )
    out: Any = x if bias is None else x + bias  # type: ignore[operator]
    if act_method in _GATED:
        first, second = out.chunk(2, axis=-1)
        return getattr(F, _GATED[act_method])(first) * second
    if not hasattr(F, act_method):
        raise value_error("fused_bias_act", "act_method must name an activation", repr(act_method))
    return getattr(F, act_method)(out)


def fused_dropout_add(
    x: Tensor, y: Tensor, p: float = 0.5, training: bool = True, mode: str = "upscale_in_train", name: str | None = None
) -> Tensor:  # fmt: skip
    """`dropout(x) + y`.

    Args:
        x: the tensor.
        y: what is added, of the same shape.
        p: the probability of an element to be dropped.
        training: whether the model is being trained.
        mode: that of `dropout`.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> y = paddle.to_tensor([10.0, 20.0])
        >>> paddle.incubate.nn.functional.fused_dropout_add(x, y, p=0.0).tolist()
        [11.0, 22.0]
    """
    return F.dropout(x, p, training=training, mode=mode) + y
