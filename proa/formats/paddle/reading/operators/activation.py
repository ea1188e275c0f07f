"""Activation functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....eager.tensor import Tensor
from ..functions import F, paddle
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Number

for _name, _function in (
    ("relu", "relu"), ("relu6", "relu6"), ("silu", "silu"), ("swish", "silu"), ("softsign", "softsign"),
    ("tanh_shrink", "tanhshrink"), ("logsigmoid", "log_sigmoid"), ("hardswish", "hardswish"),
):  # fmt: skip

    def _call(x: Tensor, *, _function: str = _function) -> Tensor:
        return getattr(F, _function)(x)

    reads(_name)(_call)


@reads("gelu")
def gelu(x: Tensor, *, approximate: bool = False) -> Tensor:
    return F.gelu(x, approximate)


@reads("leaky_relu")
def leaky_relu(x: Tensor, *, negative_slope: float = 0.02) -> Tensor:
    return F.leaky_relu(x, negative_slope)


@reads("elu")
def elu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return F.elu(x, alpha)


@reads("celu")
def celu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return F.celu(x, alpha)


@reads("selu")
def selu(x: Tensor, *, scale: float, alpha: float) -> Tensor:
    return F.selu(x, scale, alpha)


@reads("hardsigmoid")
def hardsigmoid(x: Tensor, *, slope: float = 0.2, offset: float = 0.5) -> Tensor:
    return F.hardsigmoid(x, slope, offset)


@reads("hardtanh", "brelu")
def hardtanh(x: Tensor, *, t_min: float = 0.0, t_max: float = 24.0) -> Tensor:
    return F.hardtanh(x, t_min, t_max)


@reads("hardshrink")
def hardshrink(x: Tensor, *, threshold: float = 0.5) -> Tensor:
    return F.hardshrink(x, threshold)


@reads("softshrink")
def softshrink(x: Tensor, *, threshold: float = 0.5) -> Tensor:
    return F.softshrink(x, threshold)


@reads("softplus")
def softplus(x: Tensor, *, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    return F.softplus(x, beta, threshold)


@reads("soft_relu")
def soft_relu(x: Tensor, *, threshold: float = 20.0) -> Tensor:
    return paddle.log1p(paddle.exp(paddle.clip(x, -threshold, threshold)))


@reads("mish")
def mish(x: Tensor) -> Tensor:
    return F.mish(x)


@reads("thresholded_relu")
def thresholded_relu(x: Tensor, *, threshold: float = 1.0, value: float = 0.0) -> Tensor:
    return F.thresholded_relu(x, threshold, value)


@reads("prelu")
def prelu(x: Tensor, alpha: Tensor, *, data_format: str = "NCHW", mode: str = "all") -> Tensor:
    if mode == "element":
        return paddle.where(x > 0, x, x * alpha.reshape([1, *x.shape[1:]]))
    return F.prelu(x, alpha.reshape([-1]), data_format)


@reads("maxout")
def maxout(x: Tensor, *, groups: int, axis: int = 1) -> Tensor:
    return F.maxout(x, groups, axis)


@reads("swiglu")
def swiglu(x: Tensor, y: Tensor | None = None) -> Tensor:
    return F.swiglu(x, y)


@reads("rrelu")
def rrelu(x: Tensor, *, lower: float, upper: float, is_test: bool = True) -> Tensor:
    return F.rrelu(x, lower, upper, training=not is_test)


@reads("softmax")
def softmax(x: Tensor, *, axis: int = -1) -> Tensor:
    return F.softmax(x, axis)


@reads("log_softmax")
def log_softmax(x: Tensor, *, axis: int = -1) -> Tensor:
    return F.log_softmax(x, axis)


@reads("gumbel_softmax")
def gumbel_softmax(x: Tensor, *, temperature: float = 1.0, hard: bool = False, axis: int = -1) -> Tensor:
    return F.gumbel_softmax(x, temperature, hard, axis)


@reads("dropout")
def dropout(
    x: Tensor, seed: Any = None, p: Number = None, *, is_test: bool = True, mode: str = "upscale_in_train",
) -> tuple[Tensor, ...]:  # fmt: skip
    rate = 0.5 if p is None else p.reshape([]) if isinstance(p, Tensor) else p
    if is_test:
        return (x if mode == "upscale_in_train" else x * (1.0 - rate),)
    return (F.dropout(x, rate, training=True, mode=mode),)
