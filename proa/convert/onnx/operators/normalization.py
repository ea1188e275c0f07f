"""Normalisation."""

from __future__ import annotations

from typing import Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ..registry import reads


def per_channel(values: Tensor, rank: int) -> Tensor:
    return values.reshape([1, -1, *[1] * (rank - 2)])


@reads("BatchNormalization", translates_blocks=True)
def batch_norm(translation: Any, op: Any, inputs: list[Any]) -> Any:
    x, scale, bias, mean, variance = (translation.tensor(value) for value in inputs[:5])
    given = op.attributes
    epsilon, momentum = given.get("epsilon", 1e-5), given.get("momentum", 0.9)
    if not given.get("training_mode", 0):
        return _normalised(x, scale, bias, mean, variance, epsilon)
    axes = [axis for axis in range(x.ndim) if axis != 1]
    now_mean, now_variance = paddle.mean(x, axes), paddle.var(x, axes, unbiased=False)
    made = _normalised(x, scale, bias, now_mean, now_variance, epsilon)
    kept = momentum
    return made, mean * kept + now_mean * (1 - kept), variance * kept + now_variance * (1 - kept)


def _normalised(x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, epsilon: float) -> Tensor:
    if all(t.dtype == x.dtype for t in (scale, bias, mean, variance)) and x.ndim > 1:
        return F.batch_norm(x, mean, variance, scale, bias, training=False, epsilon=epsilon)
    shift, spread = (per_channel(t.astype("float32"), x.ndim) for t in (mean, variance))
    scaled = (x.astype("float32") - shift) / paddle.sqrt(spread + epsilon)
    made = scaled * per_channel(scale.astype("float32"), x.ndim) + per_channel(bias.astype("float32"), x.ndim)
    return made.astype(x.dtype)


@reads("InstanceNormalization")
def instance_norm(x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5) -> Tensor:
    made = standardised(x, list(range(2, x.ndim)), epsilon)[0]
    return made * per_channel(scale, x.ndim) + per_channel(bias, x.ndim)


def standardised(x: Tensor, axes: list[int], epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """Mean zero and variance one over the axes; the mean, and one by the standard deviation."""
    mean = paddle.mean(x, axes, keepdim=True)
    centred = x - mean
    inverse = paddle.rsqrt(paddle.mean(centred * centred, axes, keepdim=True) + epsilon)
    return centred * inverse, mean, inverse


@reads("GroupNormalization")
def group_norm(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
    opset: int = 21,
    stash_type: int = 1,
) -> Tensor:
    shape = x._aval.shape
    groups = x.reshape([shape[0], num_groups, -1])
    groups = groups.astype("float32") if stash_type == 1 else groups
    made = standardised(groups, [2], epsilon)[0].astype(x.dtype)
    if opset < 21:  # scale and bias were those of groups
        made = made * scale.reshape([1, -1, 1]) + bias.reshape([1, -1, 1])
        return made.reshape(list(shape))
    return made.reshape(list(shape)) * per_channel(scale, x.ndim) + per_channel(bias, x.ndim)


@reads("LayerNormalization")
def layer_norm(
    x: Tensor, scale: Tensor, bias: Tensor | None = None, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Any:
    axes = list(range(axis % x.ndim, x.ndim))
    wide = x.astype("float32") if stash_type == 1 and x.dtype.name in ("float16", "bfloat16") else x
    made, mean, inverse = standardised(wide, axes, epsilon)
    made = made.astype(x.dtype) * scale
    return made if bias is None else made + bias, mean, inverse


@reads("com.microsoft.SkipLayerNormalization", "com.microsoft.SkipSimplifiedLayerNormalization", translates_blocks=True)
def skip_layer_norm(translation: Any, op: Any, inputs: list[Any]) -> Any:
    x, skip, scale, *rest = (None if value is None else translation.tensor(value) for value in inputs)
    simplified = "Simplified" in op.name
    bias, added = ([None, *rest] if simplified else [*rest, None, None])[:2] if rest else (None, None)
    total = x + skip if added is None else x + skip + added
    epsilon = op.attributes.get("epsilon", 1e-12)
    if simplified:
        return rms_norm(total, scale, epsilon=epsilon), None, None, total
    return layer_norm(total, scale, bias, epsilon=epsilon)[0], None, None, total


@reads("RMSNormalization", "SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization")
def rms_norm(x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> Tensor:
    wide = x.astype("float32") if stash_type == 1 and x.dtype.name in ("float16", "bfloat16") else x
    axes = list(range(axis % x.ndim, x.ndim))
    made = wide * paddle.rsqrt(paddle.mean(wide * wide, axes, keepdim=True) + epsilon)
    return made.astype(x.dtype) * scale


@reads("MeanVarianceNormalization")
def mean_variance_norm(x: Tensor, *, axes: Any = (0, 2, 3)) -> Tensor:
    mean = paddle.mean(x, list(axes), keepdim=True)
    square = paddle.mean(x * x, list(axes), keepdim=True)
    return (x - mean) / (paddle.sqrt(square - mean * mean) + 1e-9)


@reads("LpNormalization")
def lp_norm(x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    size = (
        paddle.sum(paddle.abs(x), axis, keepdim=True) if p == 1 else paddle.sqrt(paddle.sum(x * x, axis, keepdim=True))
    )
    return paddle.where(size == 0, paddle.zeros_like(x), x / paddle.where(size == 0, paddle.ones_like(size), size))


@reads("LRN")
def local_response_norm(x: Tensor, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Tensor:
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    channels = x._aval.shape[1]
    from .shape import padded

    squares = padded(x * x, {1: (before, after)}, "constant", 0.0)
    total = sum(
        (paddle.slice(squares, [1], [n], [n + channels]) for n in range(1, size)),
        paddle.slice(squares, [1], [0], [channels]),
    )
    return x / paddle.pow(bias + alpha / size * total, beta)
