"""The translators of Caffe's layers: settings, weights and inputs to results."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any

from ...eager.tensor import Tensor
from ...formats.paddle.reading.functions import F, paddle
from ..onnx.operators.normalization import local_response_norm
from ..onnx.operators.pooling import average_pool
from ..onnx.operators.windows import Windows
from .reading import CaffeLayer
from .text import Message

# Type of a layer: a function of the layer, its weights and its inputs; gives a tensor or a list of them.
READERS: dict[str, Callable[..., Any]] = {}


def reads(*kinds: str) -> Callable[[Any], Any]:
    """Registers a function as the translator of layers of these types."""

    def register(function: Any) -> Any:
        for kind in kinds:
            READERS[kind] = function
        return function

    return register


def one(options: Message, name: str, default: Any) -> Any:
    return options.get(name, [default])[0]


def _pair(options: Message, name: str, default: int) -> list[int]:
    """`kernel_size: 3`, twice the same field, or `kernel_h` and `kernel_w`."""
    stem = name.removesuffix("_size")
    if f"{stem}_h" in options:
        return [int(options[f"{stem}_h"][0]), int(options[f"{stem}_w"][0])]
    found = [int(n) for n in options.get(name, [default])]
    return found * 2 if len(found) == 1 else found


@reads("Convolution", "ConvolutionDepthwise", "DepthwiseConvolution")
def convolution(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    given = layer.options("convolution_param")
    stride, pad, dilation = (
        _pair(given, name, default) for name, default in (("stride", 1), ("pad", 0), ("dilation", 1))
    )
    groups = x._aval.shape[1] if "epthwise" in layer.kind else one(given, "group", 1)
    return F.conv2d(
        x, weights[0], weights[1].reshape([-1]) if len(weights) > 1 else None, stride, pad, dilation, groups
    )


@reads("Deconvolution")
def deconvolution(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    given = layer.options("convolution_param")
    stride, pad, dilation = (
        _pair(given, name, default) for name, default in (("stride", 1), ("pad", 0), ("dilation", 1))
    )
    bias = weights[1].reshape([-1]) if len(weights) > 1 else None
    return F.conv2d_transpose(x, weights[0], bias, stride, pad, 0, groups=one(given, "group", 1), dilation=dilation)


@reads("Pooling")
def pooling(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    given = layer.options("pooling_param")
    average = one(given, "pool", "MAX") in ("AVE", 1)
    if one(given, "global_pooling", False):
        return paddle.mean(x, [2, 3], keepdim=True) if average else paddle.max(x, [2, 3], keepdim=True)
    kernel, stride, pad = _pair(given, "kernel_size", 1), _pair(given, "stride", 1), _pair(given, "pad", 0)
    ceil_mode = one(given, "round_mode", "CEIL") in ("CEIL", 0) and one(given, "ceil_mode", True)
    if average:
        return average_pool(
            x, kernel_shape=kernel, strides=stride, pads=pad * 2, ceil_mode=int(ceil_mode), count_include_pad=1
        )
    windows = Windows(x._aval.shape[2:], kernel, stride, None, pad * 2, "NOTSET", int(ceil_mode))
    return reduce(paddle.maximum, windows.elements(x, float("-inf")))


@reads("InnerProduct")
def inner_product(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    given = layer.options("inner_product_param")
    matrix = weights[0].reshape(list(weights[0]._aval.shape[-2:]))
    axis = one(given, "axis", 1) % x.ndim
    flat = paddle.flatten(x, axis) if axis < x.ndim - 1 else x
    made = paddle.matmul(flat, matrix, transpose_y=not one(given, "transpose", False))
    return made + weights[1].reshape([-1]) if len(weights) > 1 else made


@reads("ReLU")
def relu(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    slope = one(layer.options("relu_param"), "negative_slope", 0.0)
    return F.leaky_relu(x, slope) if slope else F.relu(x)


@reads("PReLU")
def prelu(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    slope = weights[0].reshape([1, -1, *[1] * (x.ndim - 2)]) if weights[0]._aval.size > 1 else weights[0].reshape([])
    return paddle.where(x > 0, x, slope * x)


@reads("ReLU6")
def relu6(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    return paddle.clip(x, 0.0, 6.0)


@reads("ELU")
def elu(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    return F.elu(x, one(layer.options("elu_param"), "alpha", 1.0))


@reads("Sigmoid")
def sigmoid(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    return F.sigmoid(x)


@reads("TanH")
def tanh(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    return paddle.tanh(x)


@reads("AbsVal")
def absolute(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    return paddle.abs(x)


@reads("Power")
def power(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    given = layer.options("power_param")
    exponent, scale, shift = (
        float(one(given, name, d)) for name, d in (("power", 1.0), ("scale", 1.0), ("shift", 0.0))
    )
    made = x * scale + shift
    return made if exponent == 1.0 else paddle.pow(made, exponent)


@reads("Dropout", "Split", "Silence")
def same(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Any:
    return [x] * len(layer.tops)


@reads("BatchNorm")
def batch_norm(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    """Mean and variance are sums; the third weight says of how many."""
    epsilon = one(layer.options("batch_norm_param"), "eps", 1e-5)
    count = weights[2].reshape([]) if len(weights) > 2 else paddle.ones([])
    factor = paddle.where(
        count == 0, paddle.zeros_like(count), 1 / paddle.where(count == 0, paddle.ones_like(count), count)
    )
    shape = [1, -1, *[1] * (x.ndim - 2)]
    mean, variance = (t.reshape(shape) * factor for t in weights[:2])
    return (x - mean) * paddle.rsqrt(variance + epsilon)


@reads("Scale", "Bias")
def scale(layer: CaffeLayer, weights: list[Tensor], x: Tensor, *others: Tensor) -> Tensor:
    given = layer.options("scale_param" if layer.kind == "Scale" else "bias_param")
    axis = one(given, "axis", 1) % x.ndim
    parts = [*others, *weights]

    def spread(t: Tensor) -> Tensor:
        sizes = list(t._aval.shape)
        return t.reshape([1] * axis + sizes + [1] * (x.ndim - axis - len(sizes))) if t._aval.size > 1 else t.reshape([])

    if layer.kind == "Bias":
        return x + spread(parts[0])
    made = x * spread(parts[0])
    return made + spread(parts[1]) if one(given, "bias_term", False) and len(parts) > 1 else made


@reads("Eltwise")
def eltwise(layer: CaffeLayer, weights: list[Tensor], *tensors: Tensor) -> Tensor:
    given = layer.options("eltwise_param")
    kind = one(given, "operation", "SUM")
    if kind in ("PROD", 0):
        return reduce(paddle.multiply, tensors)
    if kind in ("MAX", 2):
        return reduce(paddle.maximum, tensors)
    factors = given.get("coeff") or [1.0] * len(tensors)
    return reduce(paddle.add, [t if f == 1 else t * float(f) for t, f in zip(tensors, factors, strict=True)])


@reads("Concat")
def concat(layer: CaffeLayer, weights: list[Tensor], *tensors: Tensor) -> Tensor:
    given = layer.options("concat_param")
    return paddle.concat(list(tensors), one(given, "axis", one(given, "concat_dim", 1)))


@reads("Slice")
def slice_(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> list[Tensor]:
    given = layer.options("slice_param")
    axis = one(given, "axis", one(given, "slice_dim", 1)) % x.ndim
    size, points = x._aval.shape[axis], [int(n) for n in given.get("slice_point", [])]
    if not points:
        return list(paddle.split(x, len(layer.tops), axis))
    ends = [0, *points, size]
    return list(paddle.split(x, [b - a for a, b in pairwise(ends)], axis))


@reads("Softmax", "SoftmaxWithLoss")
def softmax(layer: CaffeLayer, weights: list[Tensor], x: Tensor, *_labels: Tensor) -> Tensor:
    return F.softmax(x, one(layer.options("softmax_param"), "axis", 1))


@reads("LRN")
def lrn(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    given = layer.options("lrn_param")
    if one(given, "norm_region", "ACROSS_CHANNELS") not in ("ACROSS_CHANNELS", 0):
        raise NotImplementedError("(LRN) only normalisation across channels is here; received WITHIN_CHANNEL.")
    size, alpha, beta, k = (
        one(given, n, d) for n, d in (("local_size", 5), ("alpha", 1.0), ("beta", 0.75), ("k", 1.0))
    )
    return local_response_norm(x, size=int(size), alpha=float(alpha), beta=float(beta), bias=float(k))


@reads("Flatten")
def flatten(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    given = layer.options("flatten_param")
    return paddle.flatten(x, one(given, "axis", 1), one(given, "end_axis", -1))


@reads("Reshape")
def reshape(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    sizes = [int(n) for n in one(layer.options("reshape_param"), "shape", {}).get("dim", [])]
    own = x._aval.shape
    return paddle.reshape(x, [own[axis] if size == 0 else size for axis, size in enumerate(sizes)])


@reads("Permute")
def permute(layer: CaffeLayer, weights: list[Tensor], x: Tensor) -> Tensor:
    order = [int(n) for n in layer.options("permute_param").get("order", [])]
    return paddle.transpose(x, order + [axis for axis in range(x.ndim) if axis not in order])


@reads("Crop")
def crop(layer: CaffeLayer, weights: list[Tensor], x: Tensor, like: Tensor) -> Tensor:
    given = layer.options("crop_param")
    axis = one(given, "axis", 2) % x.ndim
    offsets = [int(n) for n in given.get("offset", [0])]
    axes = list(range(axis, x.ndim))
    starts = offsets * len(axes) if len(offsets) == 1 else offsets
    ends = [start + like._aval.shape[a] for start, a in zip(starts, axes, strict=True)]
    return paddle.slice(x, axes, starts, ends)


__all__ = ["READERS", "reads"]
