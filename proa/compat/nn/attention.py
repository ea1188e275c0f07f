"""MultiheadAttention under PyTorch's signature, parameter names and mask rules.

In the code below: B batch, H heads, L queries, S keys, D size of a head, E = H * D.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.annotations import DeviceLike, DTypeLike
from ...eager.tensor import Tensor, tensor_from_data
from ...nn.initializer import Constant, XavierNormal, XavierUniform
from ...nn.layer import Layer
from ...ops.arguments import require_tensor
from ...ops.basic import expand_to, full_of, reshape_to, transpose_to
from ...ops.linear.linalg import matmul
from ...ops.math.ternary import where
from ...ops.neural.dropout import dropout
from ...ops.shape.joining import concat_along
from .functional import attention_weights, linear
from .layers import Linear

_WHERE = "compat.nn.MultiheadAttention"


class MultiheadAttention(Layer):
    """Attention of several heads over projections of query, key and value, with PyTorch's arguments.

    Tensors are `[length, batch, size]` (`[batch, length, size]` with `batch_first`) or `[length, size]`.

    Args:
        embed_dim: the size of the query.
        num_heads: into how many heads it is divided.
        dropout: the probability of a weight to be dropped while training.
        bias: whether projections have biases.
        add_bias_kv: whether a learnt row is added to keys and values.
        add_zero_attn: whether a row of zeros is.
        kdim: the size of the keys; None for `embed_dim`.
        vdim: the size of the values; None for `embed_dim`.
        batch_first: which form tensors have.
        device: where the parameters lie.
        dtype: that of the parameters.

    Examples:
        >>> layer = paddle.compat.nn.MultiheadAttention(8, 2, batch_first=True)
        >>> x = paddle.ones([1, 3, 8])
        >>> y, weights = layer(x, x, x)
        >>> y.shape, weights.shape
        (paddle.Size([1, 3, 8]), paddle.Size([1, 3, 3]))
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: DeviceLike | None = None, dtype: DTypeLike | None = None,
    ) -> None:  # fmt: skip
        super().__init__(dtype=dtype)
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise value_error(
                _WHERE, "embed_dim must be a positive multiple of num_heads",
                f"embed_dim: {embed_dim}, num_heads: {num_heads}",
            )  # fmt: skip
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn

        def made(shape: list[int], start: Any) -> Any:
            return self.create_parameter(shape, default_initializer=start, device=device)

        self._same_sizes = self.kdim == embed_dim and self.vdim == embed_dim
        if self._same_sizes:
            self.in_proj_weight = made([3 * embed_dim, embed_dim], XavierUniform())
            self.in_proj_bias = made([3 * embed_dim], Constant(0.0)) if bias else None
        else:
            self.q_proj_weight = made([embed_dim, embed_dim], XavierUniform())
            self.k_proj_weight = made([embed_dim, self.kdim], XavierUniform())
            self.v_proj_weight = made([embed_dim, self.vdim], XavierUniform())
            for name in ("q_proj_bias", "k_proj_bias", "v_proj_bias"):
                setattr(self, name, made([embed_dim], Constant(0.0)) if bias else None)
        self.bias_k = made([1, 1, embed_dim], XavierNormal()) if add_bias_kv else None
        self.bias_v = made([1, 1, embed_dim], XavierNormal()) if add_bias_kv else None
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)

    def _projected(self, position: int, x: Tensor) -> Tensor:
        """Query (0), key (1) or value (2) [B, L, size] times its weight: [B, L, E]."""
        if self._same_sizes:
            rows = slice(position * self.embed_dim, (position + 1) * self.embed_dim)
            return linear(x, self.in_proj_weight[rows], None if self.in_proj_bias is None else self.in_proj_bias[rows])
        name = "qkv"[position]
        return linear(x, getattr(self, f"{name}_proj_weight"), getattr(self, f"{name}_proj_bias"))

    def _heads(self, x: Tensor) -> Tensor:
        """[B, L, E] as [B, H, L, D]."""
        batch, length, _ = x._aval.shape
        return transpose_to(reshape_to(x, (batch, length, self.num_heads, self.head_dim)), (0, 2, 1, 3))

    def _with_extra(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """Keys or values [B, S, E] with the learned one and the zero one behind them, if there are."""
        batch, _, size = x._aval.shape
        parts = [x]
        if bias is not None:
            parts.append(expand_to(bias, (batch, 1, size)))
        if self.add_zero_attn:
            parts.append(full_of(0.0, (batch, 1, size), x._aval.dtype))
        return concat_along(parts, 1) if len(parts) > 1 else x

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
        need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """The result and the weights.

        Args:
            query: the queries.
            key: the keys.
            value: the values.
            key_padding_mask: `[batch, keys]`, True where a key is left out.
            need_weights: whether the weights are given.
            attn_mask: True where attention is forbidden; another one than a boolean is added to the scores.
            average_attn_weights: whether the weights are averaged over the heads.
            is_causal: whether `attn_mask` is a causal one.

        Returns:
            The result, and the weights or None.

        Examples:
            >>> layer = paddle.compat.nn.MultiheadAttention(8, 2)
            >>> x = paddle.ones([3, 1, 8])
            >>> layer(x, x, x, need_weights=False)[1] is None
            True
        """
        q, k, v = self._batches(query, key, value)
        batch, length, _ = q._aval.shape
        given = k._aval.shape[1]
        keys = self._heads(self._with_extra(self._projected(1, k), self.bias_k))
        values = self._heads(self._with_extra(self._projected(2, v), self.bias_v))
        queries = self._heads(self._projected(0, q))
        scores = matmul(queries, keys, False, True) * (1.0 / math.sqrt(self.head_dim))
        mask = self._mask(attn_mask, key_padding_mask, is_causal, (batch, length, given), keys._aval.shape[2])
        weights = attention_weights(_WHERE, scores, None if mask is None else mask.astype(scores.dtype), False)
        kept = dropout(weights, self.dropout) if self.dropout and self.training else weights
        mixed = transpose_to(matmul(kept, values), (0, 2, 1, 3))
        result = self.out_proj(reshape_to(mixed, (batch, length, self.embed_dim)))
        shown: Tensor | None = None
        if need_weights:
            shown = weights.mean(axis=1) if average_attn_weights else weights
        if query._aval.ndim == 2:
            return _single(result), None if shown is None else _single(shown)
        return (result if self.batch_first else transpose_to(result, (1, 0, 2))), shown

    def _batches(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        """All three as [B, L, size]."""
        tensors = [require_tensor(_WHERE, name, t) for name, t in (("query", query), ("key", key), ("value", value))]
        ranks = {t._aval.ndim for t in tensors}
        received = ", ".join(f"{name}: {t._aval}" for name, t in zip(("query", "key", "value"), tensors, strict=True))
        if ranks == {2}:
            rows = [reshape_to(t, (1, *t._aval.shape)) for t in tensors]
        elif ranks == {3}:
            rows = tensors if self.batch_first else [transpose_to(t, (1, 0, 2)) for t in tensors]
        else:
            raise value_error(_WHERE, "query, key and value must all have two dimensions, or all three", received)
        q, k, v = (t._aval.shape for t in rows)
        sizes = (self.embed_dim, self.kdim, self.vdim)
        if k[:2] != v[:2] or q[0] != k[0] or (q[2], k[2], v[2]) != sizes:
            raise value_error(_WHERE, f"the shapes do not fit each other, or the sizes {list(sizes)}", received)
        return rows

    def _mask(
        self, attn_mask: Tensor | None, padding: Tensor | None, is_causal: bool, sizes: tuple[int, int, int], keys: int
    ) -> Tensor | None:
        """What is added to the scores, [1 or B, 1 or H, L, S]; None for nothing."""
        batch, length, given = sizes
        total: Tensor | None = None
        if attn_mask is not None:
            mask = _added(attn_mask)
            shape = mask._aval.shape
            if shape == (length, given):
                total = reshape_to(mask, (1, 1, length, given))
            elif shape == (batch * self.num_heads, length, given):
                total = reshape_to(mask, (batch, self.num_heads, length, given))
            else:
                raise value_error(
                    _WHERE, f"attn_mask must be [{length}, {given}] or [{batch * self.num_heads}, {length}, {given}]",
                    f"attn_mask: {mask._aval}",
                )  # fmt: skip
        elif is_causal:
            later = np.triu(np.full((length, given), -np.inf), 1)
            total = tensor_from_data(later.astype(np.float32)[None, None])
        if padding is not None:
            mask = _added(padding)
            if mask._aval.ndim == 1:
                mask = reshape_to(mask, (1, *mask._aval.shape))
            if mask._aval.shape != (batch, given):
                raise value_error(
                    _WHERE, f"key_padding_mask must be [{batch}, {given}]", f"key_padding_mask: {mask._aval}"
                )
            mask = reshape_to(mask, (batch, 1, 1, given))
            total = mask if total is None else total + mask
        if total is None or keys == given:
            return total
        free = full_of(0.0, (*total._aval.shape[:-1], keys - given), total._aval.dtype)
        return concat_along([total, free], 3)


def _single(x: Tensor) -> Tensor:
    """The only one of a batch of one."""
    return reshape_to(x, x._aval.shape[1:])


def _added(mask: Tensor) -> Tensor:
    """A mask in the form that is added: minus infinity where a boolean one forbids."""
    dtype = require_tensor(_WHERE, "mask", mask)._aval.dtype
    if dtype.kind != "b":
        return mask
    return where(mask, full_of(-math.inf, (), np.dtype("float32")), full_of(0.0, (), np.dtype("float32")))
