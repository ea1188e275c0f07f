"""Random numbers; each run draws new ones (ONNX's seeds belong to the engine that wrote them)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ..registry import reads
from ..tensors import dtype_name

if TYPE_CHECKING:
    from ....formats.paddle.reading.registry import Number


@reads("RandomNormal")
def random_normal(*, shape: Any, mean: float = 0.0, scale: float = 1.0, dtype: int = 1) -> Tensor:
    return (paddle.randn(list(shape)) * scale + mean).astype(dtype_name(dtype))


@reads("RandomNormalLike")
def random_normal_like(x: Tensor, *, mean: float = 0.0, scale: float = 1.0, dtype: Any = None) -> Tensor:
    return (paddle.randn(list(x._aval.shape)) * scale + mean).astype(x.dtype if dtype is None else dtype_name(dtype))


@reads("RandomUniform")
def random_uniform(*, shape: Any, low: float = 0.0, high: float = 1.0, dtype: int = 1) -> Tensor:
    return paddle.uniform(list(shape), "float32", low, high).astype(dtype_name(dtype))


@reads("RandomUniformLike")
def random_uniform_like(x: Tensor, *, low: float = 0.0, high: float = 1.0, dtype: Any = None) -> Tensor:
    made = paddle.uniform(list(x._aval.shape), "float32", low, high)
    return made.astype(x.dtype if dtype is None else dtype_name(dtype))


@reads("Bernoulli")
def bernoulli(x: Tensor, *, dtype: Any = None) -> Tensor:
    return paddle.bernoulli(x).astype(x.dtype if dtype is None else dtype_name(dtype))


@reads("Multinomial")
def multinomial(x: Tensor, *, sample_size: int = 1, dtype: int = 6) -> Tensor:
    return paddle.multinomial(F.softmax(x, -1), sample_size, replacement=True).astype(dtype_name(dtype))


@reads("Dropout")
def dropout(x: Tensor, probability: Number = None, training: Number = None, *, ratio: float = 0.5) -> Any:
    """In a model that is not written for training this is nothing at all."""
    probability = ratio if probability is None else probability
    if not training or not probability:
        return paddle.assign(x), paddle.ones_like(x).astype("bool")
    kept = paddle.rand(list(x._aval.shape)) >= probability
    return paddle.where(kept, x / (1 - probability), paddle.zeros_like(x)), kept
