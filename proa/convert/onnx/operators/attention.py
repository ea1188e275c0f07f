"""Attention and what comes with it."""

from __future__ import annotations

import math
from typing import Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ..registry import reads
from ..tensors import dtype_name


def heads_first(x: Tensor, heads: int) -> Tensor:
    """[batch, length, heads * size] as [batch, heads, length, size]."""
    batch, length, width = x._aval.shape
    return paddle.transpose(x.reshape([batch, length, heads, width // heads]), [0, 2, 1, 3])


def heads_last(x: Tensor) -> Tensor:
    batch, heads, length, size = x._aval.shape
    return paddle.transpose(x, [0, 2, 1, 3]).reshape([batch, length, heads * size])


def _shared(x: Tensor, heads: int) -> Tensor:
    """Each head of keys or values serves several heads of queries."""
    times = heads // x._aval.shape[1]
    return x if times == 1 else paddle.repeat_interleave(x, times, 1)


@reads("Attention")
def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, past_key: Tensor | None = None,
    past_value: Tensor | None = None, lengths: Tensor | None = None, *, is_causal: int = 0, kv_num_heads: int = 0,
    q_num_heads: int = 0, qk_matmul_output_mode: int = 0, scale: Any = None, softcap: float = 0.0,
    softmax_precision: Any = None, left_window_size: int = -1, right_window_size: int = -1,
) -> Any:  # fmt: skip
    flat = q.ndim == 3
    if flat:
        q, k, v = heads_first(q, q_num_heads), heads_first(k, kv_num_heads), heads_first(v, kv_num_heads)
    if past_key is not None:
        k, v = paddle.concat([past_key, k], 2), paddle.concat([past_value, v], 2)
    present = k, v
    k, v = _shared(k, q._aval.shape[1]), _shared(v, q._aval.shape[1])
    factor = math.sqrt(1 / math.sqrt(q._aval.shape[3]) if scale is None else scale)
    steps = [paddle.matmul(q * factor, k * factor, transpose_y=True)]
    steps.append(softcap * paddle.tanh(steps[0] / softcap) if softcap > 0 else steps[0])
    offset = None if past_key is None else past_key._aval.shape[2]
    bias = _bias(q, k, mask, lengths, offset or 0, bool(is_causal), left_window_size, right_window_size)
    steps.append(steps[1] if bias is None else steps[1] + bias.astype(q.dtype))
    wide = steps[2] if softmax_precision is None else steps[2].astype(dtype_name(softmax_precision))
    steps.append(_softmax(wide, bias is not None).astype(q.dtype))
    made = paddle.matmul(steps[3], v)
    return heads_last(made) if flat else made, *present, steps[qk_matmul_output_mode]


def _softmax(scores: Tensor, masked: bool) -> Tensor:
    """A row where nothing is allowed gives zeros."""
    made = F.softmax(scores, -1)
    if not masked:
        return made
    open_rows = paddle.max(scores, -1, keepdim=True) > float("-inf")
    return paddle.where(open_rows, made, paddle.zeros_like(made))


def _bias(
    q: Tensor, k: Tensor, mask: Tensor | None, lengths: Tensor | None, offset: Any, causal: bool, left: int, right: int
) -> Tensor | None:
    """What is added to the scores: zero where a query may look, minus infinity elsewhere, and the model's own mask."""
    queries, keys = q._aval.shape[2], k._aval.shape[2]
    allowed = None
    distance = paddle.arange(queries, dtype="int64").reshape([-1, 1]) - paddle.arange(keys, dtype="int64").reshape(
        [1, -1]
    )
    distance = distance + offset
    if lengths is not None:
        valid = lengths.astype("int64").reshape([-1, 1, 1, 1])
        allowed = paddle.arange(keys, dtype="int64").reshape([1, 1, 1, -1]) < valid
        if not offset:
            distance = distance + (valid - queries)
    for wanted, rule in (
        (causal, lambda d: d >= 0),
        (left >= 0, lambda d: d <= left),
        (right >= 0, lambda d: -d <= right),
    ):
        if wanted:
            allowed = rule(distance) if allowed is None else paddle.logical_and(allowed, rule(distance))
    bias = None
    if allowed is not None:
        bias = paddle.where(allowed, paddle.zeros([1]), paddle.full([1], float("-inf")))
    if mask is not None:
        if mask.dtype.name == "bool":
            mask = paddle.where(mask, paddle.zeros([1]), paddle.full([1], float("-inf")))
        missing = keys - mask._aval.shape[-1]
        if missing > 0:
            from .shape import padded

            mask = padded(mask, {mask.ndim - 1: (0, missing)}, "constant", float("-inf"))
        bias = mask.astype("float32") if bias is None else bias + mask.astype("float32")
    return bias


@reads("RotaryEmbedding", "com.microsoft.RotaryEmbedding", translates_blocks=True)
def rotary_embedding(translation: Any, op: Any, inputs: list[Any]) -> Tensor:
    tensors = [None if value is None else translation.tensor(value) for value in inputs]
    if op.name.startswith("com."):  # positions come second there
        x, positions, cosine, sine = tensors
    else:
        x, cosine, sine, positions = [*tensors, None][:4]
    given = op.attributes
    heads = given.get("num_heads", 0)
    flat = x.ndim == 3
    if flat:
        heads = heads or x._aval.shape[2] // (cosine._aval.shape[-1] * 2)
        x = heads_first(x, heads)
    size = given.get("rotary_embedding_dim", 0) or x._aval.shape[3]
    if positions is not None:
        places = positions.astype("int64")
        if places._aval.size == 1 and x._aval.shape[2] > 1:  # the position of the first step
            places = places.reshape([1, 1]) + paddle.arange(x._aval.shape[2], dtype="int64")
        cosine, sine = cosine[places], sine[places]
    cosine, sine = cosine.unsqueeze(1), sine.unsqueeze(1)
    turned, rest = x[..., :size], x[..., size:]
    if given.get("interleaved", 0):
        first, second = turned[..., 0::2], turned[..., 1::2]
        parts = [first * cosine - second * sine, first * sine + second * cosine]
        turned = paddle.stack(parts, -1).reshape(list(turned._aval.shape))
    else:
        first, second = turned[..., : size // 2], turned[..., size // 2 :]
        turned = paddle.concat([first * cosine - second * sine, first * sine + second * cosine], -1)
    made = paddle.concat([turned, rest], -1) if rest._aval.shape[-1] else turned
    return heads_last(made) if flat else made


@reads("LinearAttention")
def linear_attention(
    q: Tensor, k: Tensor, v: Tensor, past: Tensor | None = None, decay: Tensor | None = None, beta: Tensor | None = None,
    *, q_num_heads: int, kv_num_heads: int, scale: float = 0.0, update_rule: str = "gated_delta", chunk_size: int = 0,
) -> Any:  # fmt: skip
    """A state of keys by values, changed by each step and read by its query."""
    dtype, state_dtype = q.dtype, (q if past is None else past).dtype
    batch, length, _ = q._aval.shape
    q, k, v = (heads_first(t.astype("float32"), n) for t, n in ((q, q_num_heads), (k, kv_num_heads), (v, kv_num_heads)))
    size, values = k._aval.shape[3], v._aval.shape[3]
    state = paddle.zeros([batch, kv_num_heads, size, values]) if past is None else past.astype("float32")
    if decay is not None:
        decay = heads_first(decay.astype("float32"), kv_num_heads)
    if beta is not None:
        beta = heads_first(beta.astype("float32"), beta._aval.shape[-1])
    factor = scale or 1 / math.sqrt(size)
    found = []
    for step in range(length):
        key, value, query = k[:, :, step], v[:, :, step], q[:, :, step]
        if decay is not None:
            state = state * paddle.exp(decay[:, :, step]).unsqueeze(-1)
        if beta is not None:
            value = beta[:, :, step] * (value - paddle.matmul(key.unsqueeze(2), state).squeeze(2))
        state = state + key.unsqueeze(-1) * value.unsqueeze(-2)
        found.append(factor * paddle.matmul(query.unsqueeze(2), _shared(state, q_num_heads)).squeeze(2))
    return heads_last(paddle.stack(found, 2)).astype(dtype), state.astype(state_dtype)
