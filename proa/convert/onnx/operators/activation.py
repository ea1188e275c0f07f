"""Activation functions."""

from __future__ import annotations

from typing import Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ..registry import reads


@reads("Relu")
def relu(x: Tensor) -> Tensor:
    return F.relu(x) if x._aval.dtype.kind not in "iu" else paddle.maximum(x, paddle.zeros_like(x))


@reads("Sigmoid")
def sigmoid(x: Tensor) -> Tensor:
    return F.sigmoid(x)


@reads("LeakyRelu")
def leaky_relu(x: Tensor, *, alpha: float = 0.01) -> Tensor:
    return F.leaky_relu(x, alpha)


@reads("Elu")
def elu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return paddle.where(x < 0, alpha * paddle.expm1(paddle.minimum(x, paddle.zeros_like(x))), x)


@reads("Selu")
def selu(x: Tensor, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875) -> Tensor:
    return gamma * elu(x, alpha=alpha)


@reads("Celu")
def celu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return F.celu(x, alpha)


@reads("Gelu", "com.microsoft.Gelu")
def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    return F.gelu(x, approximate=approximate == "tanh")


@reads("com.microsoft.FastGelu")
def fast_gelu(x: Tensor, bias: Tensor | None = None) -> Tensor:
    return F.gelu(x if bias is None else x + bias, approximate=True)


@reads("com.microsoft.BiasGelu")
def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
    return F.gelu(x + bias)


@reads("com.microsoft.QuickGelu")
def quick_gelu(x: Tensor, *, alpha: float = 1.702) -> Tensor:
    return x * F.sigmoid(alpha * x)


@reads("HardSigmoid")
def hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    return paddle.clip(alpha * x + beta, 0.0, 1.0)


@reads("HardSwish")
def hard_swish(x: Tensor) -> Tensor:
    return F.hardswish(x)


@reads("Swish")
def swish(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return x * F.sigmoid(alpha * x)


@reads("SwiGLU")
def swiglu(x: Tensor, y: Tensor | None = None, *, axis: int = -1, alpha: float = 1.0) -> Tensor:
    gate, value = paddle.split(x, 2, axis) if y is None else (x, y)
    return swish(gate, alpha=alpha) * value


@reads("Mish")
def mish(x: Tensor) -> Tensor:
    return F.mish(x)


@reads("PRelu")
def prelu(x: Tensor, slope: Tensor) -> Tensor:
    return paddle.where(x < 0, x * slope, x)


@reads("Softplus")
def softplus(x: Tensor) -> Tensor:
    return paddle.maximum(x, paddle.zeros_like(x)) + paddle.log1p(paddle.exp(-paddle.abs(x)))


@reads("Softsign")
def softsign(x: Tensor) -> Tensor:
    return F.softsign(x)


@reads("ThresholdedRelu")
def thresholded_relu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return paddle.where(x > alpha, x, paddle.zeros_like(x))


@reads("Shrink")
def shrink(x: Tensor, *, bias: float = 0.0, lambd: float = 0.5) -> Tensor:
    low, high = x < -lambd, x > lambd
    moved = paddle.where(low, x + bias, paddle.where(high, x - bias, paddle.zeros_like(x)))
    return moved.astype(x.dtype)


def _over_rest(function: Any, x: Tensor, axis: Any, opset: int) -> Tensor:
    """Before version 13 all axes from `axis` on were one."""
    if opset >= 13:
        return function(x, -1 if axis is None else axis)
    axis = 1 if axis is None else axis + x.ndim if axis < 0 else axis
    if axis == x.ndim - 1:
        return function(x, -1)
    return function(paddle.flatten(x, axis), axis).reshape(list(x.shape))


@reads("Softmax")
def softmax(x: Tensor, *, axis: Any = None, opset: int = 13) -> Tensor:
    return _over_rest(F.softmax, x, axis, opset)


@reads("LogSoftmax")
def log_softmax(x: Tensor, *, axis: Any = None, opset: int = 13) -> Tensor:
    return _over_rest(F.log_softmax, x, axis, opset)


@reads("Hardmax")
def hardmax(x: Tensor, *, axis: Any = None, opset: int = 13) -> Tensor:
    def first_largest(x: Tensor, axis: int) -> Tensor:
        chosen = F.one_hot(paddle.argmax(x, axis), x.shape[axis]).astype(x.dtype)
        return paddle.moveaxis(chosen, -1, axis)

    return _over_rest(first_largest, x, axis, opset)
