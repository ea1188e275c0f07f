"""The two halves of a transformer layer, each as one function."""

from __future__ import annotations

from typing import Any

from ....core.errors import value_error
from ....eager.tensor import Tensor
from ....nn import functional as F
from ....ops.shape.joining import concat_along
from .linear import fused_matmul_bias


def _normed(x: Any, scale: Any, bias: Any, epsilon: float) -> Any:
    return F.layer_norm(x, [x._aval.shape[-1]], scale, bias, epsilon)


def fused_bias_dropout_residual_layer_norm(
    x: Tensor, residual: Tensor, bias: Tensor | None = None, ln_scale: Tensor | None = None, ln_bias: Tensor | None = None,
    dropout_rate: float = 0.5, ln_epsilon: float = 1e-5, training: bool = True, mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`layer_norm(residual + dropout(x + bias))`.

    Args:
        x: the tensor.
        residual: what is added, of the same shape.
        bias: what is added before the dropout, or None.
        ln_scale: the scale of the layer norm, or None.
        ln_bias: its shift, or None.
        dropout_rate: the probability of an element to be dropped.
        ln_epsilon: what is added to the variance.
        training: whether the model is being trained.
        mode: that of `dropout`.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 3.0]])
        >>> y = paddle.incubate.nn.functional.fused_bias_dropout_residual_layer_norm(x, x, dropout_rate=0.0)
        >>> print(y.numpy().round(4))
        [[-1.  1.]]
    """
    total: Any = x if bias is None else x + bias  # type: ignore[operator]
    total = residual + F.dropout(total, dropout_rate, training=training, mode=mode)
    return _normed(total, ln_scale, ln_bias, ln_epsilon)


def fused_feedforward(
    x: Tensor, linear1_weight: Tensor, linear2_weight: Tensor, linear1_bias: Tensor | None = None,
    linear2_bias: Tensor | None = None, ln1_scale: Tensor | None = None, ln1_bias: Tensor | None = None,
    ln2_scale: Tensor | None = None, ln2_bias: Tensor | None = None, dropout1_rate: float = 0.5,
    dropout2_rate: float = 0.5, activation: str = "relu", ln1_epsilon: float = 1e-5, ln2_epsilon: float = 1e-5,
    pre_layer_norm: bool = False, training: bool = True, mode: str = "upscale_in_train", ring_id: int = -1,
    add_residual: bool = True, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The feed-forward half of a transformer layer.

    Two linear layers with an activation and dropout between them, the residual, and a layer norm before or behind.

    Args:
        x: the tensor.
        linear1_weight: `[size, hidden]`.
        linear2_weight: `[hidden, size]`.
        linear1_bias, linear2_bias: the biases, or None.
        ln1_scale, ln1_bias: of the layer norm before.
        ln2_scale, ln2_bias: of the layer norm behind.
        dropout1_rate: behind the activation.
        dropout2_rate: behind the second layer.
        activation: 'relu' or 'gelu'.
        ln1_epsilon, ln2_epsilon: what is added to the variances.
        pre_layer_norm: whether the layer norm is before; otherwise it is behind.
        training: whether the model is being trained.
        mode: that of `dropout`.
        ring_id: accepted and ignored.
        add_residual: whether `x` is added.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> x, up, down = paddle.ones([1, 2, 4]), paddle.ones([4, 8]), paddle.ones([8, 4])
        >>> y = paddle.incubate.nn.functional.fused_feedforward(x, up, down, pre_layer_norm=True, training=False)
        >>> y[0, 0].tolist()
        [1.0, 1.0, 1.0, 1.0]
    """
    residual: Any = x
    out: Any = _normed(x, ln1_scale, ln1_bias, ln1_epsilon) if pre_layer_norm else x
    out = getattr(F, activation)(fused_matmul_bias(out, linear1_weight, linear1_bias))
    out = F.dropout(out, dropout1_rate, training=training, mode=mode)
    out = fused_matmul_bias(out, linear2_weight, linear2_bias)
    out = F.dropout(out, dropout2_rate, training=training, mode=mode)
    if add_residual:
        out = residual + out
    return out if pre_layer_norm else _normed(out, ln2_scale, ln2_bias, ln2_epsilon)


def fused_multi_head_attention(
    x: Tensor, qkv_weight: Tensor, linear_weight: Tensor, pre_layer_norm: bool = False, pre_ln_scale: Tensor | None = None,
    pre_ln_bias: Tensor | None = None, ln_scale: Tensor | None = None, ln_bias: Tensor | None = None,
    pre_ln_epsilon: float = 1e-5, qkv_bias: Tensor | None = None, linear_bias: Tensor | None = None,
    cache_kv: Tensor | None = None, attn_mask: Tensor | None = None, dropout_rate: float = 0.5,
    attn_dropout_rate: float = 0.5, ln_epsilon: float = 1e-5, training: bool = True, mode: str = "upscale_in_train",
    ring_id: int = -1, add_residual: bool = True, num_heads: int = -1, transpose_qkv_wb: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Attention of a sequence to itself, its projections, the residual, and a layer norm before or behind.

    Args:
        x: `[batch, sequence, embedding]`.
        qkv_weight: `[3, heads, size, embedding]`; `[embedding, 3 * embedding]` with `transpose_qkv_wb` and
            `num_heads`.
        linear_weight: `[embedding, embedding]`.
        pre_layer_norm: whether the layer norm is before; otherwise it is behind.
        pre_ln_scale, pre_ln_bias: of the layer norm before.
        ln_scale, ln_bias: of the layer norm behind.
        pre_ln_epsilon: what is added to the variance before.
        qkv_bias, linear_bias: the biases, or None.
        cache_kv: earlier keys and values, `[2, batch, heads, sequence, size]`, or None.
        attn_mask: what is added to the scores, or None.
        dropout_rate: behind the projection.
        attn_dropout_rate: of the attention's weights.
        ln_epsilon: what is added to the variance behind.
        training: whether the model is being trained.
        mode: that of `dropout`.
        ring_id: accepted and ignored.
        add_residual: whether `x` is added.
        num_heads: with `transpose_qkv_wb`, how many heads.
        transpose_qkv_wb: which form `qkv_weight` has.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `x`; with `cache_kv` also the grown cache.

    Examples:
        >>> x, qkv = paddle.ones([1, 3, 4]), paddle.ones([3, 2, 2, 4])
        >>> y = paddle.incubate.nn.functional.fused_multi_head_attention(x, qkv, paddle.eye(4), training=False)
        >>> y.shape
        paddle.Size([1, 3, 4])
    """
    embedding = x._aval.shape[-1]
    if transpose_qkv_wb:
        if num_heads <= 0:
            raise value_error("fused_multi_head_attention", "num_heads must be given", f"num_heads: {num_heads}")
        heads, size, weight = num_heads, embedding // num_heads, qkv_weight
    else:
        heads, size = qkv_weight._aval.shape[1:3]
        weight = qkv_weight.reshape([3 * heads * size, embedding]).transpose([1, 0])
    out: Any = _normed(x, pre_ln_scale, pre_ln_bias, pre_ln_epsilon) if pre_layer_norm else x
    bias = None if qkv_bias is None else qkv_bias.reshape([-1])
    parts: Any = fused_matmul_bias(out, weight, bias)
    parts = parts.reshape([*out.shape[:2], 3, heads, size]).transpose([2, 0, 3, 1, 4])
    query, key, value = parts[0], parts[1], parts[2]
    if cache_kv is not None:
        key, value = (concat_along([old, new], 2) for old, new in ((cache_kv[0], key), (cache_kv[1], value)))  # type: ignore[index]
    scores: Any = (query * size**-0.5) @ key.transpose([0, 1, 3, 2])
    if attn_mask is not None:
        hidden = attn_mask._aval.dtype.kind in "bi"
        scores = scores + ((attn_mask.astype(scores.dtype) - 1.0) * 1e9 if hidden else attn_mask)
    weights = F.dropout(F.softmax(scores, -1), attn_dropout_rate, training=training, mode=mode)
    out = (weights @ value).transpose([0, 2, 1, 3]).reshape([*out.shape[:2], heads * size])
    out = F.dropout(fused_matmul_bias(out, linear_weight, linear_bias), dropout_rate, training=training, mode=mode)
    if add_residual:
        out = x + out
    if not pre_layer_norm:
        out = _normed(out, ln_scale, ln_bias, ln_epsilon)
    if cache_kv is None:
        return out
    return out, concat_along([key.unsqueeze(0), value.unsqueeze(0)], 0)
