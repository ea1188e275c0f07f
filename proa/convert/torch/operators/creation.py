"""Tensors that are made: ranges, constants, random numbers."""

from __future__ import annotations

from typing import Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import paddle
from ..registry import reads


@reads("arange")
def arange(*numbers: Any, dtype: Any = None, end: Any = None, start: Any = 0, step: Any = 1) -> Tensor:
    if not numbers:
        numbers = (start, end, step)
    kind = dtype or ("float32" if any(isinstance(n, float) for n in numbers) else "int64")
    return paddle.arange(*numbers, dtype=kind)


@reads("full")
def full(shape: Any, value: Any, dtype: Any = None) -> Tensor:
    kind = dtype or ("bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else "float32")
    return paddle.full(list(shape), value, kind)


@reads("full_like")
def full_like(x: Tensor, value: Any, dtype: Any = None) -> Tensor:
    return paddle.full(list(x._aval.shape), value, dtype or x.dtype)


@reads("new_full")
def new_full(x: Tensor, shape: Any, value: Any, dtype: Any = None) -> Tensor:
    return paddle.full(list(shape), value, dtype or x.dtype)


@reads("zeros", "empty")
def zeros(shape: Any, dtype: Any = None) -> Tensor:
    return paddle.zeros(list(shape), dtype or "float32")


@reads("ones")
def ones(shape: Any, dtype: Any = None) -> Tensor:
    return paddle.ones(list(shape), dtype or "float32")


@reads("new_zeros", "new_empty")
def new_zeros(x: Tensor, shape: Any, dtype: Any = None) -> Tensor:
    return paddle.zeros(list(shape), dtype or x.dtype)


@reads("new_ones")
def new_ones(x: Tensor, shape: Any, dtype: Any = None) -> Tensor:
    return paddle.ones(list(shape), dtype or x.dtype)


@reads("zeros_like", "empty_like")
def zeros_like(x: Tensor, dtype: Any = None) -> Tensor:
    return full_like(x, 0, dtype)


@reads("ones_like")
def ones_like(x: Tensor, dtype: Any = None) -> Tensor:
    return full_like(x, 1, dtype)


@reads("scalar_tensor")
def scalar_tensor(value: Any, dtype: Any = None) -> Tensor:
    return full([], value, dtype)


@reads("empty_permuted")
def empty_permuted(shape: Any, order: Any, dtype: Any = None) -> Tensor:
    return zeros(shape, dtype)


@reads("eye")
def eye(rows: int, columns: Any = None, dtype: Any = None) -> Tensor:
    return paddle.eye(rows, columns if isinstance(columns, int) else rows, dtype or "float32")


@reads("linspace")
def linspace(start: Any, end: Any, steps: int, dtype: Any = None) -> Tensor:
    return paddle.linspace(start, end, steps, dtype or "float32")


@reads("rand", "rand_like")
def rand(shape: Any, dtype: Any = None) -> Tensor:
    return paddle.rand(list(shape._aval.shape) if isinstance(shape, Tensor) else list(shape), dtype or "float32")


@reads("randn", "randn_like")
def randn(shape: Any, dtype: Any = None) -> Tensor:
    return paddle.randn(list(shape._aval.shape) if isinstance(shape, Tensor) else list(shape), dtype or "float32")
