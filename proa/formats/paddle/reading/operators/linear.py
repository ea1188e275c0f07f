"""Products."""

from __future__ import annotations

from typing import Any

from .....eager.tensor import Tensor
from ..functions import F, linalg, paddle
from ..registry import reads


@reads("matmul")
def matmul(x: Tensor, y: Tensor, *, transpose_x: bool = False, transpose_y: bool = False) -> Tensor:
    return paddle.matmul(x, y, transpose_x, transpose_y)


@reads("legacy_matmul")
def legacy_matmul(
    x: Tensor, y: Tensor, *, transpose_x: bool = False, transpose_y: bool = False, alpha: float = 1.0
) -> Tensor:
    result = paddle.matmul(x, y, transpose_x, transpose_y)
    return result if alpha == 1.0 else result * alpha


@reads("matmul_with_flatten")
def matmul_with_flatten(x: Tensor, y: Tensor, *, x_num_col_dims: int = 1, y_num_col_dims: int = 1) -> Tensor:
    rows, columns = x._aval.shape[:x_num_col_dims], y._aval.shape[y_num_col_dims:]
    first = x if x.ndim == 2 else _as_matrix(x, x_num_col_dims)
    second = y if y.ndim == 2 else _as_matrix(y, y_num_col_dims)
    result = paddle.matmul(first, second)
    return result if x.ndim == 2 and y.ndim == 2 else result.reshape([*rows, *columns])


def _as_matrix(x: Tensor, count: int) -> Tensor:
    """The first `count` dimensions as rows, the others as columns."""
    rows = paddle.flatten(x, 0, count - 1)
    return paddle.flatten(rows, 1, rows.ndim - 1)


@reads("bmm")
def bmm(x: Tensor, y: Tensor) -> Tensor:
    return paddle.bmm(x, y)


@reads("batched_gemm")
def batched_gemm(x: Tensor, y: Tensor) -> Tensor:
    return paddle.bmm(x, y)


@reads("mv")
def mv(x: Tensor, vec: Tensor) -> Tensor:
    return paddle.mv(x, vec)


@reads("dot")
def dot(x: Tensor, y: Tensor) -> Tensor:
    return paddle.dot(x, y)


@reads("addmm")
def addmm(input: Tensor, x: Tensor, y: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    return paddle.addmm(input, x, y, beta, alpha)


@reads("baddbmm")
def baddbmm(input: Tensor, x: Tensor, y: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    return paddle.baddbmm(input, x, y, beta, alpha)


@reads("einsum")
def einsum(tensors: Any, *, equation: str) -> Tensor:
    return paddle.einsum(equation, *tensors)


@reads("multi_dot")
def multi_dot(tensors: Any) -> Tensor:
    return linalg.multi_dot(tensors)


@reads("cross")
def cross(x: Tensor, y: Tensor, *, axis: int = 9) -> Tensor:
    return paddle.cross(x, y, axis)


@reads("bilinear")
def bilinear(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return F.bilinear(x, y, weight, bias)


@reads("fc")
def fc(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, in_num_col_dims: int = 1, activation_type: str = ""
) -> Tensor:
    result = matmul_with_flatten(x, weight, x_num_col_dims=in_num_col_dims)
    result = result if bias is None else result + bias
    return getattr(F, activation_type)(result) if activation_type else result


@reads("linear_v2")
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return F.linear(x, weight, bias)
