"""Attention of several heads, with caches for decoding step by step."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ...core.errors import failed_check
from ...eager.annotations import AttrLike
from ...eager.tensor import Tensor
from ...ops.basic import cast_to, full_of, transpose_to
from ...ops.neural.attention import attend
from ...ops.shape.joining import concat_along
from ..base.sizes import whole_sizes
from ..common import Linear
from ..layer import Layer


def additive_mask(mask: Any, dtype: Any) -> Any:
    """A mask as numbers to add: integers and booleans hide places where they are 0."""
    if mask is None or mask._aval.dtype.kind == "f" or mask._aval.dtype.name == "bfloat16":
        return mask
    shown: Any = cast_to(mask, np.dtype("float32") if dtype.itemsize < 4 else dtype)
    return (shown - 1.0) * 1e9


class MultiHeadAttention(Layer):
    """Projects query, key and value, attends in `num_heads` heads, and projects the result.

    Args:
        embed_dim: the size of queries and of the result.
        num_heads: the number of heads; it divides `embed_dim`.
        dropout: the probability of dropping attention weights while training.
        kdim: the size of keys; `embed_dim` if left out.
        vdim: the size of values; `embed_dim` if left out.
        need_weights: gives the attention weights too.
        weight_attr: how the weight is made: a `ParamAttr`, an initializer or a name.
        bias_attr: the same for the bias; False leaves the bias out.

    Raises:
        AssertionError: `num_heads` does not divide `embed_dim`.

    Examples:
        >>> attention = paddle.nn.MultiHeadAttention(8, 2)
        >>> attention(paddle.ones([3, 5, 8])).shape
        paddle.Size([3, 5, 8])
    """

    Cache = collections.namedtuple("Cache", ["k", "v"])
    StaticCache = collections.namedtuple("StaticCache", ["k", "v"])

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: AttrLike | None = None,
        bias_attr: AttrLike | None = None,
    ) -> None:
        super().__init__()
        embed_dim, num_heads = whole_sizes(self, embed_dim=embed_dim, num_heads=num_heads)
        key_size, value_size = whole_sizes(self, kdim=kdim or embed_dim, vdim=vdim or embed_dim)
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise failed_check(
                "MultiHeadAttention", "embed_dim must be positive and divisible by num_heads",
                f"embed_dim: {embed_dim}, num_heads: {num_heads}",
            )  # fmt: skip
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.kdim, self.vdim = key_size, value_size
        self.dropout, self.need_weights = dropout, need_weights
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def _heads(self, x: Any) -> Any:
        """[batch, sequence, heads, size]."""
        return x.reshape([0, 0, self.num_heads, self.head_dim])

    def compute_kv(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Projected keys and values with the heads first, as caches hold them: [batch, heads, sequence, size].

        Args:
            key: the keys, [batch, sequence, kdim].
            value: the values, [batch, sequence, vdim].

        Examples:
            >>> keys, values = paddle.nn.MultiHeadAttention(8, 2).compute_kv(paddle.ones([3, 5, 8]), paddle.ones([3, 5, 8]))
            >>> keys.shape
            paddle.Size([3, 2, 5, 4])
        """
        return tuple(  # type: ignore[return-value]
            transpose_to(self._heads(projection(x)), (0, 2, 1, 3))
            for projection, x in ((self.k_proj, key), (self.v_proj, value))
        )

    def gen_cache(self, key: Tensor, value: Tensor | None = None, type: Any = Cache) -> Any:
        """A cache for decoding step by step.

        Args:
            key: what the cache is for.
            value: the values that belong to `key`, where both are taken as they are.
            type: `Cache` grows with every call and starts empty; `StaticCache` holds the projected keys and values of `key`
                and `value` for all calls.

        Examples:
            >>> attention = paddle.nn.MultiHeadAttention(8, 2)
            >>> cache = attention.gen_cache(paddle.ones([3, 5, 8]))
            >>> out, cache = attention(paddle.ones([3, 1, 8]), cache=cache)
            >>> cache.k.shape
            paddle.Size([3, 2, 1, 4])
        """
        if type is MultiHeadAttention.StaticCache:
            return self.StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is None:
            shape = (key._aval.shape[0], self.num_heads, 0, self.head_dim)
            return self.Cache(*(full_of(0.0, shape, key._aval.dtype) for _ in range(2)))
        return self.Cache(key, value)

    def _grown(self, key: Tensor, value: Tensor, cache: Any) -> Any:
        """The cache with new keys and values behind the old ones; a StaticCache stays as it is."""
        if isinstance(cache, self.StaticCache):
            return cache
        new_keys, new_values = self.compute_kv(key, value)
        return self.Cache(concat_along([cache.k, new_keys], 2), concat_along([cache.v, new_values], 2))

    def _prepare_qkv(self, query: Tensor, key: Tensor, value: Tensor, cache: Any = None) -> Any:
        """Queries, keys and values with the heads first, for subclasses that attend in their own way; then the cache."""
        queries = transpose_to(self._heads(self.q_proj(query)), (0, 2, 1, 3))
        if cache is None:
            return (queries, *self.compute_kv(key, value))
        grown = self._grown(key, value, cache)
        return queries, grown.k, grown.v, grown

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        attn_mask: Tensor | None = None,
        cache: Any = None,
    ) -> Any:
        """The attention's result; then the weights with `need_weights`, then the new cache where one is given.

        Args:
            query: [batch, sequence, embed_dim].
            key: [batch, keys, kdim]; the query if left out.
            value: [batch, keys, vdim]; the query if left out.
            attn_mask: what is added to the scores; booleans and integers hide places where they are 0.
            cache: what `gen_cache` or the call before gave.

        Examples:
            >>> attention = paddle.nn.MultiHeadAttention(8, 2, need_weights=True)
            >>> out, weights = attention.forward(paddle.ones([3, 5, 8]), paddle.ones([3, 7, 8]), paddle.ones([3, 7, 8]))
            >>> out.shape, weights.shape
            (paddle.Size([3, 5, 8]), paddle.Size([3, 2, 5, 7]))
        """
        key = query if key is None else key
        value = query if value is None else value
        queries = self._heads(self.q_proj(query))
        if cache is None:
            keys, values = self._heads(self.k_proj(key)), self._heads(self.v_proj(value))
        else:
            cache = self._grown(key, value, cache)
            keys, values = (transpose_to(x, (0, 2, 1, 3)) for x in cache)
        out, weights = attend(
            "MultiHeadAttention", queries, keys, values, additive_mask(attn_mask, queries._aval.dtype), self.dropout,
            False, self.training, wants_weights=self.need_weights,
        )  # fmt: skip
        results = [self.out_proj(out.reshape([0, 0, self.embed_dim]))]
        if self.need_weights:
            results.append(weights)
        if cache is not None:
            results.append(cache)
        return results[0] if len(results) == 1 else tuple(results)
