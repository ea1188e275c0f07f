"""Operations that stand for several others."""

from __future__ import annotations

from typing import Any

from .....eager.tensor import Tensor
from ..functions import F, paddle
from ..registry import reads
from .convolution import conv


@reads("flash_attn", "flash_attn_v3")
def flash_attention(
    query: Tensor, key: Tensor, value: Tensor, _seed: Any = None, mask: Tensor | None = None, *, dropout: float = 0.0,
    causal: bool = False, is_test: bool = True,
) -> Tensor:  # fmt: skip
    rate = 0.0 if is_test else dropout
    return F.scaled_dot_product_attention(query, key, value, mask, rate, causal, training=not is_test)


@reads("fused_dot_product_attention", "memory_efficient_attention")
def dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *_rest: Any, causal: bool = False,
    scaling_factor: float = 0.0, scale: float = 0.0,
) -> Tensor:  # fmt: skip
    factor = scaling_factor if scaling_factor > 0 else scale
    return F.scaled_dot_product_attention(
        query, key, value, mask, 0.0, causal, training=False, scale=factor if factor > 0 else None
    )


@reads("fused_conv2d_add_act")
def fused_conv2d_add_act(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, residual: Tensor | None = None, *, activation: str = "",
    **attributes: Any,
) -> Any:  # fmt: skip
    names = ("strides", "paddings", "padding_algorithm", "dilations", "groups", "data_format")
    result = conv(x, weight, **{name: attributes[name] for name in names if name in attributes})
    if bias is not None:
        result = result + bias.reshape([1, -1, 1, 1])
    if residual is not None:
        result = result + residual
    return getattr(F, activation)(result) if activation and activation != "identity" else result


@reads("fused_gemm_epilogue", "gemm_epilogue")
def fused_gemm_epilogue(
    x: Tensor, y: Tensor, bias: Tensor, *, trans_x: bool = False, trans_y: bool = False, activation: str = "none"
) -> Tensor:
    result = paddle.matmul(x, y, trans_x, trans_y) + bias
    return getattr(F, activation)(result) if activation not in ("", "none") else result


@reads("fused_bn_add_activation", "fused_bn_add_activation_")
def fused_bn_add_activation(
    x: Tensor, z: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, *, momentum: float = 0.9,
    epsilon: float = 1e-5, act_type: str = "relu",
) -> Tensor:  # fmt: skip
    normed = F.batch_norm(x, mean, variance, scale, bias, epsilon=epsilon, data_format="NHWC")
    return getattr(F, act_type)(normed + z)


@reads("fused_softmax_mask")
def fused_softmax_mask(x: Tensor, mask: Tensor) -> Tensor:
    return F.softmax(x + mask, -1)


@reads("fused_softmax_mask_upper_triangle")
def fused_softmax_mask_upper_triangle(x: Tensor) -> Tensor:
    rows, columns = x._aval.shape[-2:]
    above = paddle.triu(paddle.ones([rows, columns], "float32"), 1) > 0
    return F.softmax(paddle.where(above, paddle.full([], -10000.0, x.dtype), x), -1)


@reads("skip_layernorm", "fused_fc_elementwise_layernorm")
def skip_layernorm(
    x: Tensor, y: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5, begin_norm_axis: int = -1
) -> Tensor:
    joined = x + y
    shape = list(joined._aval.shape[begin_norm_axis:])
    return F.layer_norm(joined, shape, scale.reshape(shape), bias.reshape(shape), epsilon)


@reads("fused_bias_act")
def fused_bias_act(x: Tensor, bias: Tensor | None = None, *_rest: Any, act_method: str = "gelu") -> Tensor:
    joined = x if bias is None else x + bias
    if act_method == "swiglu":
        return F.swiglu(joined)
    return getattr(F, act_method)(joined)


@reads("fused_dropout_add")
def fused_dropout_add(
    x: Tensor, y: Tensor, _seed: Any = None, *, p: Any = 0.0, is_test: bool = True, mode: str = "upscale_in_train"
) -> Tensor:
    return F.dropout(x, p, training=not is_test, mode=mode) + y


@reads("fused_bias_dropout_residual_layer_norm")
def fused_bias_dropout_residual_layer_norm(
    x: Tensor, residual: Tensor, bias: Tensor | None = None, scale: Tensor | None = None, shift: Tensor | None = None, *,
    dropout_rate: float = 0.5, is_test: bool = True, dropout_implementation: str = "upscale_in_train",
    ln_epsilon: float = 1e-5,
) -> Tensor:  # fmt: skip
    dropped = F.dropout(
        x if bias is None else x + bias, dropout_rate, training=not is_test, mode=dropout_implementation
    )
    return F.layer_norm(dropped + residual, [x._aval.shape[-1]], scale, shift, ln_epsilon)
