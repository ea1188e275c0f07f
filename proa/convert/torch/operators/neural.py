"""Layers: linear, convolution, pooling, normalisation, attention, resizing, losses."""

from __future__ import annotations

import functools
import math
from typing import Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, fft, paddle
from ...onnx.operators.attention import _softmax
from ...onnx.operators.normalization import standardised
from ...onnx.operators.windows import Windows
from ..registry import reads
from .promotion import real


@reads("linear")
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    made = paddle.matmul(x, weight, transpose_y=weight.ndim > 1)
    return made if bias is None else made + bias


@reads("matmul", "mm", "bmm", "mv", "dot")
def matmul(x: Tensor, y: Tensor) -> Tensor:
    return paddle.matmul(x, y)


@reads("addmm", "baddbmm", "addmv")
def addmm(c: Tensor, x: Tensor, y: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    product = paddle.matmul(x, y)
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (c if beta == 1 else c * beta)


@reads("einsum")
def einsum(equation: str, tensors: list[Tensor], path: Any = None) -> Tensor:
    return paddle.einsum(equation.replace(" ", ""), *tensors)


@reads("outer")
def outer(x: Tensor, y: Tensor) -> Tensor:
    return paddle.outer(x, y)


@reads("bilinear")
def bilinear(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return F.bilinear(x, y, weight, None if bias is None else bias.reshape([1, -1]))


def _batched(function: Any) -> Any:
    """torch also takes one sample without a batch: the rank of a function's windows says which axes there must be."""

    @functools.wraps(function)
    def call(x: Tensor, *arguments: Any, rank: int, **named: Any) -> Any:
        if x.ndim == rank + 2:
            return function(x, *arguments, **named)
        made = function(x.unsqueeze(0), *arguments, **named)
        return tuple(one.squeeze(0) for one in made) if isinstance(made, tuple) else made.squeeze(0)

    return call


def _reads_pools(names: str) -> Any:
    """Registers a function for the forms with one, two and three spatial axes: `name` with 1d, 2d and 3d behind it."""

    def register(function: Any) -> Any:
        for name in names.split():
            for rank in (1, 2, 3):
                reads(f"{name}{rank}d")(functools.partial(_batched(function), rank=rank))
        return function

    return register


def _each(value: Any, rank: int) -> list[int]:
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * rank if len(values) == 1 else values


@reads("conv1d", "conv2d", "conv3d")
def conv(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    rank = weight.ndim - 2
    batched = x if x.ndim == rank + 2 else x.unsqueeze(0)
    width = padding.upper() if isinstance(padding, str) else _each(padding, rank)
    made = getattr(F, f"conv{rank}d")(batched, weight, bias, _each(stride, rank), width, _each(dilation, rank), groups)
    return made if batched is x else made.squeeze(0)


@reads("convolution")
def convolution(
    x: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any,
    groups: int,
) -> Tensor:  # fmt: skip
    if transposed:
        return conv_transpose(x, weight, bias, stride, padding, output_padding, groups, dilation)
    return conv(x, weight, bias, stride, padding, dilation, groups)


@reads("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    rank = weight.ndim - 2
    return getattr(F, f"conv{rank}d_transpose")(
        x, weight, bias, _each(stride, rank), _each(padding, rank), _each(output_padding, rank), groups=groups,
        dilation=_each(dilation, rank),
    )  # fmt: skip


@_reads_pools("max_pool")
def max_pool(
    x: Tensor, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Tensor:
    rank = x.ndim - 2
    kernel, dilation, padding = _each(kernel, rank), _each(dilation, rank), _each(padding, rank)
    stride = _each(stride, rank) if stride else kernel
    if any(d != 1 for d in dilation):
        windows = Windows(x._aval.shape[2:], kernel, stride, dilation, padding * 2, "NOTSET", ceil_mode)
        return functools.reduce(paddle.maximum, windows.elements(x, float("-inf")))
    return getattr(F, f"max_pool{rank}d")(x, kernel, stride, padding, ceil_mode=ceil_mode)


@reads("max_pool2d_with_indices")
def max_pool_with_indices(
    x: Tensor, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Any:
    values, places = F.max_pool2d(
        x, _each(kernel, 2), _each(stride or kernel, 2), _each(padding, 2), return_mask=True, ceil_mode=ceil_mode
    )
    return values, places.astype("int64")


@_reads_pools("avg_pool")
def avg_pool(
    x: Tensor, kernel: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor: Any = None,
) -> Tensor:  # fmt: skip
    rank = x.ndim - 2
    kernel = _each(kernel, rank)
    function = getattr(F, f"avg_pool{rank}d")
    more = {"divisor_override": divisor} if divisor is not None else {}
    return function(
        x, kernel, _each(stride, rank) if stride else kernel, _each(padding, rank), ceil_mode=ceil_mode,
        exclusive=not count_include_pad, **more,
    )  # fmt: skip


@_reads_pools("adaptive_avg_pool _adaptive_avg_pool")
def adaptive_avg_pool(x: Tensor, size: Any) -> Tensor:
    rank = x.ndim - 2
    wanted = _each(size, rank)
    if all(n == 1 for n in wanted):
        return paddle.mean(x, list(range(x.ndim - rank, x.ndim)), keepdim=True)
    return getattr(F, f"adaptive_avg_pool{rank}d")(x, wanted if rank > 1 else wanted[0])


@_reads_pools("adaptive_max_pool")
def adaptive_max_pool(x: Tensor, size: Any) -> Any:
    wanted = _each(size, x.ndim - 2)
    function = getattr(F, f"adaptive_max_pool{x.ndim - 2}d")
    values, places = function(x, wanted if x.ndim > 3 else wanted[0], return_mask=True)
    return values, places.astype("int64")


@reads("batch_norm", "_native_batch_norm_legit_no_training", "cudnn_batch_norm")
def batch_norm(x: Tensor, weight: Any, bias: Any, mean: Any, variance: Any, *rest: Any) -> Any:
    """`batch_norm(…, training, momentum, eps, cudnn)`; the form without training has no such flag, and three results."""
    if isinstance(rest[0], bool):
        training, _, epsilon = rest[:3]
        if training or mean is None:
            axes = [axis for axis in range(x.ndim) if axis != 1]
            mean, variance = paddle.mean(x, axes), paddle.var(x, axes, unbiased=False)
        return F.batch_norm(x, mean, variance, weight, bias, training=False, epsilon=epsilon)
    return F.batch_norm(x, mean, variance, weight, bias, training=False, epsilon=rest[1]), None, None


@reads("layer_norm")
def layer_norm(
    x: Tensor, shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, epsilon: float = 1e-5, *_rest: Any
) -> Tensor:
    return F.layer_norm(x, list(shape), weight, bias, epsilon)


@reads("native_layer_norm")
def native_layer_norm(x: Tensor, shape: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    axes = list(range(x.ndim - len(shape), x.ndim))
    _, mean, inverse = standardised(x, axes, epsilon)
    return layer_norm(x, shape, weight, bias, epsilon), mean, inverse


@reads("rms_norm", "_fused_rms_norm")
def rms_norm(x: Tensor, shape: Any, weight: Tensor | None = None, epsilon: Any = None) -> Tensor:
    axes = list(range(x.ndim - len(shape), x.ndim))
    wide = x.astype("float32") if x.dtype.name in ("float16", "bfloat16") else x
    epsilon = 1.1920928955078125e-07 if epsilon is None else epsilon
    made = (wide * paddle.rsqrt(paddle.mean(wide * wide, axes, keepdim=True) + epsilon)).astype(x.dtype)
    return made if weight is None else made * weight


@reads("group_norm")
def group_norm(
    x: Tensor, groups: int, weight: Tensor | None = None, bias: Tensor | None = None, epsilon: float = 1e-5, *_rest: Any
) -> Tensor:
    return F.group_norm(x, groups, epsilon, weight, bias)


@reads("instance_norm")
def instance_norm(
    x: Tensor,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    use_input_stats: bool,
    momentum: float,
    epsilon: float,
    *_: Any,
) -> Tensor:
    if not use_input_stats:
        return F.batch_norm(x, mean, variance, weight, bias, training=False, epsilon=epsilon)
    return F.instance_norm(x, weight=weight, bias=bias, eps=epsilon)


@reads("softmax", "_softmax", "special_softmax")
def softmax(x: Tensor, axis: int, *rest: Any, dtype: Any = None) -> Tensor:
    wanted = dtype or next((one for one in rest if isinstance(one, str)), None)
    return F.softmax(real(x) if wanted is None else x.astype(wanted), axis)


@reads("log_softmax", "_log_softmax")
def log_softmax(x: Tensor, axis: int, *rest: Any, dtype: Any = None) -> Tensor:
    wanted = dtype or next((one for one in rest if isinstance(one, str)), None)
    return F.log_softmax(real(x) if wanted is None else x.astype(wanted), axis)


@reads("scaled_dot_product_attention")
def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dropout: float = 0.0, is_causal: bool = False, *,
    scale: Any = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    if enable_gqa and q._aval.shape[-3] != k._aval.shape[-3]:
        times = q._aval.shape[-3] // k._aval.shape[-3]
        k, v = paddle.repeat_interleave(k, times, -3), paddle.repeat_interleave(v, times, -3)
    factor = 1 / math.sqrt(q._aval.shape[-1]) if scale is None else scale
    scores = paddle.matmul(q * factor, k, transpose_y=True)
    if is_causal:
        rows = paddle.arange(q._aval.shape[-2], dtype="int64").unsqueeze(1)
        allowed = rows >= paddle.arange(k._aval.shape[-2], dtype="int64").unsqueeze(0)
        scores = paddle.where(allowed, scores, paddle.full([], float("-inf"), scores.dtype))
    if mask is not None and mask.dtype.name == "bool":
        scores = paddle.where(mask, scores, paddle.full([], float("-inf"), scores.dtype))
        return paddle.matmul(_softmax(scores, True), v)
    if mask is not None:
        scores = scores + mask
    return paddle.matmul(F.softmax(scores, -1), v)


@reads("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact2d")
def upsample_nearest(x: Tensor, size: Any, *rest: Any) -> Tensor:
    return F.interpolate(x, _size(x, size, rest), mode="nearest", data_format=_layout(x))


@reads("upsample_bilinear2d", "upsample_linear1d", "upsample_trilinear3d")
def upsample_linear(x: Tensor, size: Any, align_corners: bool, *rest: Any) -> Tensor:
    mode = ("linear", "bilinear", "trilinear")[x.ndim - 3]
    return F.interpolate(
        x, _size(x, size, rest), mode=mode, align_corners=align_corners, align_mode=0, data_format=_layout(x)
    )


@reads("upsample_bicubic2d")
def upsample_bicubic(x: Tensor, size: Any, align_corners: bool, *rest: Any) -> Tensor:
    return F.interpolate(x, _size(x, size, rest), mode="bicubic", align_corners=align_corners, data_format="NCHW")


def _layout(x: Tensor) -> str:
    return ("NCW", "NCHW", "NCDHW")[x.ndim - 3]


def _size(x: Tensor, size: Any, rest: Any) -> list[int]:
    """The size itself, or a factor for each axis."""
    if size is not None:
        return list(size)
    factors = next(one for one in rest if one is not None)
    return [
        int(n * f) if int(f) != f else n * int(f)
        for n, f in zip(x._aval.shape[2:], _each(factors, x.ndim - 2), strict=True)
    ]


@reads("grid_sampler", "grid_sampler_2d")
def grid_sampler(x: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool) -> Tensor:
    names = ("bilinear", "nearest")[mode], ("zeros", "border", "reflection")[padding]
    return F.grid_sample(x, grid, *names, align_corners)


@reads("affine_grid_generator")
def affine_grid(theta: Tensor, size: Any, align_corners: bool) -> Tensor:
    return F.affine_grid(theta, list(size), align_corners)


@reads("nll_loss", "nll_loss_nd", "nll_loss2d")
def nll_loss(x: Tensor, labels: Tensor, weight: Any = None, reduction: int = 1, ignore: int = -100) -> Tensor:
    return F.nll_loss(x, labels, weight, ignore, ("none", "mean", "sum")[reduction])


@reads("cross_entropy_loss")
def cross_entropy(
    x: Tensor, labels: Tensor, weight: Any = None, reduction: int = 1, ignore: int = -100, smoothing: float = 0.0
) -> Tensor:
    kind = ("none", "mean", "sum")[reduction]
    return F.cross_entropy(x, labels, weight, ignore, kind, axis=1 if x.ndim > 1 else 0, label_smoothing=smoothing)


@reads("mse_loss")
def mse_loss(x: Tensor, y: Tensor, reduction: int = 1) -> Tensor:
    return F.mse_loss(x, y, ("none", "mean", "sum")[reduction])


@reads("cosine_similarity")
def cosine_similarity(x: Tensor, y: Tensor, axis: int = 1, epsilon: float = 1e-8) -> Tensor:
    return F.cosine_similarity(x, y, axis, epsilon)


@reads("native_group_norm")
def native_group_norm(
    x: Tensor, weight: Any, bias: Any, batch: Any, channels: Any, size: Any, groups: int, epsilon: float
) -> Any:
    _, mean, inverse = standardised(x.reshape([x._aval.shape[0], groups, -1]), [2], epsilon)
    return group_norm(x, groups, weight, bias, epsilon), mean.squeeze(2), inverse.squeeze(2)


@reads("_native_batch_norm_legit")
def native_batch_norm(
    x: Tensor, weight: Any, bias: Any, mean: Any, variance: Any, training: bool, momentum: float, epsilon: float
) -> Any:
    return batch_norm(x, weight, bias, mean, variance, training, momentum, epsilon), None, None


@reads("_native_batch_norm_legit.no_stats")
def native_batch_norm_of_batch(
    x: Tensor, weight: Any, bias: Any, training: bool, momentum: float, epsilon: float
) -> Any:
    return batch_norm(x, weight, bias, None, None, True, momentum, epsilon), None, None


@reads("native_dropout")
def native_dropout(x: Tensor, probability: float, train: Any = None) -> Any:
    return x, paddle.ones_like(x).astype("bool")


@reads("_cdist_forward", "cdist")
def cdist(x: Tensor, y: Tensor, p: float = 2.0, mode: Any = None) -> Tensor:
    return paddle.cdist(x, y, p)


@reads("_fft_r2c")
def fft_of_real(x: Tensor, axes: list[int], norm: int, onesided: bool) -> Tensor:
    last = x._aval.shape[axes[-1]]
    made = fft.fftn(x.astype("complex64" if x.dtype.name == "float32" else "complex128"), None, axes)
    made = paddle.slice(made, [axes[-1] % x.ndim], [0], [last // 2 + 1]) if onesided else made
    return _normalised(made, x, axes, norm)


@reads("_fft_c2c")
def fft_of_complex(x: Tensor, axes: list[int], norm: int, forward: bool) -> Tensor:
    made = fft.fftn(x, None, axes) if forward else fft.ifftn(x, None, axes, norm="forward")
    return _normalised(made, x, axes, norm)


@reads("_fft_c2r")
def fft_to_real(x: Tensor, axes: list[int], norm: int, last: Any) -> Tensor:
    whole = [*(x._aval.shape[axis] for axis in axes[:-1]), last]
    made = fft.irfftn(x, whole, axes, norm="forward")
    return _normalised(made, made, axes, norm)


def _normalised(made: Tensor, x: Tensor, axes: list[int], norm: int) -> Tensor:
    """0: not at all, 1: by the root of the count, 2: by the count."""
    count: Any = 1
    for axis in axes:
        count = count * x._aval.shape[axis]
    return made if norm == 0 else made / (math.sqrt(count) if norm == 1 else count)
