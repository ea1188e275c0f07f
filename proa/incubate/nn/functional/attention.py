"""Attention over sequences of different lengths, padded to one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....eager.tensor import Tensor, tensor_from_data
from ....nn import functional as F


def variable_length_memory_efficient_attention(
    query: Tensor, key: Tensor, value: Tensor, seq_lens: Tensor, kv_seq_lens: Tensor, mask: Tensor | None = None,
    scale: float | None = None, causal: bool = False, pre_cache_length: int = 0,
) -> Tensor:  # fmt: skip
    """Attention of samples of different lengths.

    Args:
        query: `[batch, heads, sequence, size]`.
        key: as `query`; with fewer heads, each serves several heads of the query.
        value: as `key`.
        seq_lens: how many queries each sample has.
        kv_seq_lens: how many keys.
        mask: what is added to the scores, or None.
        scale: the factor of the scores; None for `1 / sqrt(size)`.
        causal: whether a query sees only the keys up to its own place.
        pre_cache_length: how many keys precede the sequence.

    Returns:
        A tensor of the shape of `query`; zeros behind a sample's last query.

    Examples:
        >>> x, lengths = paddle.ones([1, 1, 3, 4]), paddle.to_tensor([[2]], dtype="int32")
        >>> y = paddle.incubate.nn.functional.variable_length_memory_efficient_attention(x, x, x, lengths, lengths)
        >>> y[0, 0, :, 0].tolist()
        [1.0, 1.0, 0.0]
    """
    queries, keys = query._aval.shape[2], key._aval.shape[2]
    factor = scale if scale is not None else 1.0 / math.sqrt(query._aval.shape[-1])
    key, value = (_for_heads(x, query._aval.shape[1]) for x in (key, value))
    scores: Any = (query * factor) @ key.transpose([0, 1, 3, 2])  # type: ignore[operator]
    if mask is not None:
        scores = scores + mask[..., :queries, :keys].astype(scores.dtype)  # type: ignore[index]
    key_places, query_places = (tensor_from_data(np.arange(n)) for n in (keys, queries))
    seen: Any = key_places.reshape([1, 1, 1, keys]) < kv_seq_lens.reshape([-1, 1, 1, 1]).astype("int64")
    if causal:
        before = key_places.reshape([1, keys]) <= query_places.reshape([queries, 1]) + pre_cache_length
        seen = seen.logical_and(before.reshape([1, 1, queries, keys]))
    weights = F.softmax(scores + (seen.astype(scores.dtype) - 1.0) * 1e9, axis=-1)
    inside = query_places.reshape([1, 1, queries, 1]) < seq_lens.reshape([-1, 1, 1, 1]).astype("int64")
    return (weights @ value) * inside.astype(scores.dtype)


def _for_heads(x: Any, heads: int) -> Any:
    own = x._aval.shape[1]
    return x if own == heads else x.repeat_interleave(heads // own, axis=1)
