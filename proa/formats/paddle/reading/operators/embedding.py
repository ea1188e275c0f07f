"""Rows of tables."""

from __future__ import annotations

from .....eager.tensor import Tensor
from ..functions import F, paddle
from ..registry import reads


@reads("embedding", "c_embedding")
def embedding(x: Tensor, weight: Tensor, *, padding_idx: int = -1, sparse: bool = False) -> Tensor:
    # -1 means that no row is for padding.
    if padding_idx == -1:
        return F.embedding(x, weight)
    # A row for padding gives zeros, whatever the table holds.
    found = F.embedding(x, weight)
    return paddle.where((x == padding_idx).unsqueeze(-1), paddle.zeros_like(found), found)


@reads("lookup_table")
def lookup_table(weight: Tensor, ids: Tensor, *, padding_idx: int = -1) -> Tensor:
    return embedding(paddle.squeeze(ids, [-1]), weight, padding_idx=padding_idx)


@reads("add_position_encoding")
def add_position_encoding(x: Tensor, *, alpha: float = 1.0, beta: float = 1.0) -> Tensor:
    length, width = x._aval.shape[1], x._aval.shape[2]
    half = width // 2
    position = paddle.arange(0, length, 1, "float32").unsqueeze(-1)
    rate = paddle.pow(paddle.full([half], 10000.0, "float32"), -paddle.arange(0, half, 1, "float32") / max(half - 1, 1))
    angle = position * rate
    return x * alpha + paddle.concat([paddle.sin(angle), paddle.cos(angle)], -1).astype(x.dtype) * beta
