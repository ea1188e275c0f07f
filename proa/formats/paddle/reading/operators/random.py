"""Random numbers; each run of a model draws new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....eager.tensor import Tensor
from ..functions import F, paddle
from ..registry import reads

if TYPE_CHECKING:
    from ..registry import Integer, Integers, Number


@reads("uniform", creates=True)
def uniform(
    sizes: Integers | None = None, low: Number = None, high: Number = None, *, shape: Any = None, dtype: str = "float32",
    min: float = -1.0, max: float = 1.0, seed: int = 0,
) -> Tensor:  # fmt: skip
    wanted = list(shape) if sizes is None else sizes
    return paddle.uniform(wanted, dtype, min if low is None else low, max if high is None else high)


@reads("gaussian", "truncated_gaussian_random", creates=True)
def gaussian(
    sizes: Integers | None = None, *, shape: Any = None, mean: float = 0.0, std: float = 1.0, dtype: str = "float32"
) -> Tensor:
    wanted = list(shape) if sizes is None else sizes
    return (paddle.randn(wanted, dtype) * std + mean).astype(dtype)


@reads("randint", creates=True)
def randint(
    sizes: Integers | None = None, *, shape: Any = None, low: int = 0, high: int = 1, dtype: str = "int64"
) -> Tensor:
    return paddle.randint(low, high, list(shape) if sizes is None else sizes, dtype)


@reads("randperm", creates=True)
def randperm(*, n: int, dtype: str = "int64") -> Tensor:
    return paddle.randperm(n, dtype)


@reads("bernoulli")
def bernoulli(x: Tensor) -> Tensor:
    return paddle.bernoulli(x)


@reads("multinomial")
def multinomial(x: Tensor, count: Integer, *, replacement: bool = False) -> Tensor:
    return paddle.multinomial(x, count, replacement)


@reads("poisson")
def poisson(x: Tensor) -> Tensor:
    return paddle.poisson(x)


@reads("binomial")
def binomial(count: Tensor, prob: Tensor) -> Tensor:
    return paddle.binomial(count, prob)


@reads("standard_gamma")
def standard_gamma(x: Tensor) -> Tensor:
    return paddle.standard_gamma(x)


@reads("class_center_sample")
def class_center_sample(label: Tensor, *, num_classes: int, num_samples: int) -> Any:
    return tuple(F.class_center_sample(label, num_classes, num_samples))


@reads("dirichlet")
def dirichlet(alpha: Tensor) -> Tensor:
    drawn = paddle.standard_gamma(alpha)
    return drawn / paddle.sum(drawn, -1, keepdim=True)


@reads("exponential_")
def exponential(x: Tensor, *, lam: float = 1.0) -> Tensor:
    smallest = 1e-12  # of 1 - u, where u is below 1
    drawn = paddle.uniform(list(x._aval.shape), x.dtype, smallest, 1.0)
    return -paddle.log(drawn) / lam


@reads("uniform_inplace")
def uniform_inplace(x: Tensor, *, min: float = -1.0, max: float = 1.0) -> Tensor:
    return paddle.uniform(list(x._aval.shape), x.dtype, min, max)


@reads("gaussian_inplace")
def gaussian_inplace(x: Tensor, *, mean: float = 0.0, std: float = 1.0) -> Tensor:
    return paddle.randn(list(x._aval.shape), x.dtype) * std + mean
