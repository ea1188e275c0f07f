"""Normalisation."""

from __future__ import annotations

from typing import Any

from .....eager.tensor import Tensor
from ..functions import F, paddle
from ..registry import reads


@reads("batch_norm_", "batch_norm", "sync_batch_norm_")
def batch_norm(
    x: Tensor, mean: Tensor, variance: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, *,
    is_test: bool = True, momentum: float = 0.9, epsilon: float = 1e-5, data_format: str = "NCHW",
    use_global_stats: bool = False, trainable_statistics: bool = False,
) -> Any:  # fmt: skip
    training = not (is_test or use_global_stats) or (is_test and trainable_statistics)
    if x.ndim == 2:
        data_format = "NC"
    elif x.ndim != 4:
        data_format = {3: ("NCL", "NLC"), 5: ("NCDHW", "NDHWC")}[x.ndim][data_format.endswith("C")]
    return (
        F.batch_norm(
            x, mean, variance, weight, bias, training=training, momentum=momentum, epsilon=epsilon,
            data_format=data_format, use_global_stats=not training,
        ),
        mean, variance,
    )  # fmt: skip


@reads("layer_norm")
def layer_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, *, epsilon: float = 1e-5,
    begin_norm_axis: int = 1,
) -> Tensor:  # fmt: skip
    shape = list(x._aval.shape[begin_norm_axis:])
    return F.layer_norm(
        x, shape, None if weight is None else weight.reshape(shape), None if bias is None else bias.reshape(shape),
        epsilon,
    )  # fmt: skip


@reads("instance_norm")
def instance_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, *, epsilon: float = 1e-5
) -> Tensor:
    return F.instance_norm(x, weight=weight, bias=bias, eps=epsilon)


@reads("group_norm")
def group_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, *, epsilon: float = 1e-5, groups: int,
    data_format: str = "NCHW",
) -> Tensor:  # fmt: skip
    return F.group_norm(x, groups, epsilon, weight, bias, data_format)


@reads("rms_norm")
def rms_norm(x: Tensor, weight: Tensor | None = None, *, normalized_shape: Any = None, epsilon: float = 1e-5) -> Tensor:
    shape = list(normalized_shape) if normalized_shape else [x._aval.shape[-1]]
    return F.rms_norm(x, shape, weight, epsilon)


@reads("norm")
def norm(x: Tensor, *, axis: int, epsilon: float = 1e-10, is_test: bool = True) -> Tensor:
    length = paddle.sqrt(paddle.sum(x * x, axis, keepdim=True) + epsilon)
    return x / length


@reads("spectral_norm")
def spectral_norm(weight: Tensor, u: Tensor, v: Tensor, *, dim: int, power_iters: int, eps: float) -> Tensor:
    order = [dim, *(axis for axis in range(weight.ndim) if axis != dim)]
    matrix = paddle.transpose(weight, order).reshape([weight._aval.shape[dim], -1])
    for _ in range(power_iters):
        v = paddle.matmul(matrix, u, transpose_x=True)
        v = v / (paddle.sqrt(paddle.sum(v * v)) + eps)
        u = paddle.matmul(matrix, v)
        u = u / (paddle.sqrt(paddle.sum(u * u)) + eps)
    return weight / paddle.sum(u * paddle.matmul(matrix, v))


@reads("lrn")
def lrn(
    x: Tensor, *, n: int = 5, k: float = 2.0, alpha: float = 1e-4, beta: float = 0.75, data_format: str = "NCHW"
) -> Tensor:
    # The kernel adds up `n` neighbours where the function of the same name takes their mean.
    return F.local_response_norm(x, n, alpha * n, beta, k, data_format)


@reads("affine_channel")
def affine_channel(x: Tensor, scale: Tensor, bias: Tensor, *, data_layout: str = "NCHW") -> Tensor:
    shape = [1, -1, *[1] * (x.ndim - 2)] if data_layout == "NCHW" else [-1]
    return x * scale.reshape(shape) + bias.reshape(shape)
