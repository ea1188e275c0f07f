"""`paddle.incubate.nn.memory_efficient_attention`: attention that never stores the scores; ours never does on the CPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...eager.tensor import Tensor, tensor_from_data
from ...nn import functional as F


class LowerTriangularMask:
    """A query sees the keys up to its own place."""

    def materialize(self, shape: Any, dtype: Any = "float32") -> Tensor:
        """The mask as numbers to add."""
        rows, columns = shape[-2:]
        hidden = np.triu(np.full((rows, columns), -np.inf, "float32"), 1)
        return tensor_from_data(np.broadcast_to(hidden, tuple(shape)).copy()).astype(dtype)


class BlockDiagonalMask:
    """Several sequences behind each other: a query sees the keys of its own sequence."""

    causal = False

    def __init__(self, q_lengths: list[int], kv_lengths: list[int]) -> None:
        self.q_lengths, self.kv_lengths = q_lengths, kv_lengths

    @classmethod
    def from_seqlens(cls, q_seqlen: list[int], kv_seqlen: list[int] | None = None) -> Any:
        return cls(list(q_seqlen), list(kv_seqlen or q_seqlen))

    def make_causal(self) -> Any:
        return BlockDiagonalCausalMask(self.q_lengths, self.kv_lengths)

    def materialize(self, shape: Any, dtype: Any = "float32") -> Tensor:
        rows, columns = sum(self.q_lengths), sum(self.kv_lengths)
        mask = np.full((rows, columns), -np.inf, "float32")
        row = column = 0
        for queries, keys in zip(self.q_lengths, self.kv_lengths, strict=True):
            block = np.zeros((queries, keys), "float32")
            if self.causal:
                block[np.triu_indices(queries, 1, keys)] = -np.inf
            mask[row : row + queries, column : column + keys] = block
            row, column = row + queries, column + keys
        return tensor_from_data(np.broadcast_to(mask, tuple(shape)).copy()).astype(dtype)


class BlockDiagonalCausalMask(BlockDiagonalMask):
    """The same, up to the query's own place."""

    causal = True


def memory_efficient_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_bias: Any = None, p: float = 0.0, scale: float | None = None,
    training: bool = True,
) -> Tensor:  # fmt: skip
    """Attention of `[batch, sequence, heads, size]`; `attn_bias` is added to the scores, or is one of the masks here."""
    batch, rows, heads, size = query._aval.shape
    mask = attn_bias
    if attn_bias is not None and not isinstance(attn_bias, Tensor):
        mask = attn_bias.materialize((batch, heads, rows, key._aval.shape[1]), query.dtype)
    if scale is not None:
        query = query * (scale * math.sqrt(size))  # type: ignore[operator]
    return F.scaled_dot_product_attention(query, key, value, mask, p, False, training)
