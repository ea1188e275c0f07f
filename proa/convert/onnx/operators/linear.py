"""Products of matrices."""

from __future__ import annotations

from typing import Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import linalg, paddle
from ..registry import reads


@reads("MatMul")
def matmul(x: Tensor, y: Tensor) -> Tensor:
    if x._aval.dtype.kind in "iu":
        return paddle.matmul(x.astype("int64"), y.astype("int64")).astype(x.dtype)
    return paddle.matmul(x, y)


@reads("com.microsoft.FusedMatMul", "com.microsoft.TransposeMatMul")
def fused_matmul(x: Tensor, y: Tensor, *, transA: int = 0, transB: int = 0, alpha: float = 1.0) -> Tensor:
    return scaled(paddle.matmul(x, y, bool(transA), bool(transB)), alpha)


def scaled(x: Tensor, factor: float) -> Tensor:
    return x if factor == 1.0 else (x * factor).astype(x.dtype)


@reads("Gemm")
def gemm(
    a: Tensor, b: Tensor, c: Tensor | None = None, *, alpha: float = 1.0, beta: float = 1.0, transA: int = 0,
    transB: int = 0, broadcast: int = 0,
) -> Tensor:  # fmt: skip
    product = scaled(paddle.matmul(a, b, bool(transA), bool(transB)), alpha)
    return product if c is None else product + scaled(c, beta)


@reads("Einsum")
def einsum(*tensors: Tensor, equation: str) -> Tensor:
    return paddle.einsum(equation.replace(" ", ""), *tensors)


@reads("Det")
def det(x: Tensor) -> Tensor:
    return linalg.det(x)


@reads("EyeLike")
def eye_like(x: Tensor, *, dtype: Any = None, k: int = 0) -> Tensor:
    from ..tensors import dtype_name

    rows, columns = x.shape
    name = x.dtype if dtype is None else dtype_name(dtype)
    steps = paddle.arange(columns, dtype="int64").unsqueeze(0) - paddle.arange(rows, dtype="int64").unsqueeze(1)
    return (steps == k).astype(name)
