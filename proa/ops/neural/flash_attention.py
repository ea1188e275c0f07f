"""The flash_attention family: Paddle's names for fused attention, all resting on one operation (`attention.py`).

Variable lengths, windows and column masks become boolean masks; XLA fuses what it can.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.errors import value_error
from ...core.symbols import fixed
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ...ir.operation import Check
from ...ir.padding import rules
from ..arguments import require_tensor
from ..basic import cast_to, transpose_to
from ..index.gather import index_tensor
from ..index.indexing_kernels import IndexOutOfRange, take_elements
from ..linear.linalg import matmul
from ..math.ternary import where as choose_by
from .attention import _reference, attend
from .softmax import softmax_along

_PACKED = A(2, 3, 3, 2, 4)


@samples(
    S(A(1, 3, 2, 4), A(1, 3, 2, 4), A(1, 3, 2, 4)), S(A(1, 3, 2, 4), A(1, 5, 2, 4), A(1, 5, 2, 4), causal=True),
    S(A(1, 3, 2, 4), A(1, 3, 1, 4), A(1, 3, 1, 4), training=False), second_order=False,
    reference=lambda q, k, v, causal=False, training=True: [_reference(q, k, v, is_causal=causal)],
    why="second derivatives are JAX's own, and slow to compile",
)  # fmt: skip
@public(module="nn.functional.flash_attention")
def flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Attention over [batch, sequence, heads, size]: the result and, with `return_softmax`, the weights."""
    return attend(
        "flash_attention", query, key, value, None, dropout, causal, training, wants_weights=bool(return_softmax)
    )


@samples(
    S(_PACKED), S(_PACKED, causal=True), S(A(1, 2, 4, 1, 4), training=False), second_order=False,
    reference=lambda x, causal=False, training=True: [_reference(
        x[:, :, :-2].reshape(*x.shape[:2], -1, x.shape[-1]), x[:, :, -2], x[:, :, -1], is_causal=causal)],
    why="second derivatives are JAX's own, and slow to compile",
)  # fmt: skip
@public(module="nn.functional")
def flash_attn_qkvpacked(
    qkv: Tensor,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Tensor | None = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """`flash_attention` of queries, keys and values in one tensor.

    Args:
        qkv: `[batch, sequence, groups + 2, heads of keys, size]`: the queries in groups, then the keys, then the
            values.
        dropout: the probability of a weight to be dropped while training.
        causal: whether a query sees only the keys up to its own place.
        return_softmax: whether the weights are given too.
        fixed_seed_offset: accepted and ignored.
        rng_name: accepted and ignored.
        training: whether dropout takes place.
        name: a label; it changes nothing.

    Returns:
        The result `[batch, sequence, heads, size]`, and the weights or None.

    Examples:
        >>> out, _ = paddle.nn.functional.flash_attn_qkvpacked(paddle.ones([1, 4, 3, 2, 8]), causal=True)
        >>> out.shape
        paddle.Size([1, 4, 2, 8])
    """
    packed: Any = require_tensor("flash_attn_qkvpacked", "qkv", qkv)
    shape = packed._aval.shape
    if len(shape) != 5 or shape[2] < 3:
        raise value_error(
            "flash_attn_qkvpacked", "qkv must be [batch, sequence, groups + 2, heads, size]", f"{packed._aval}"
        )
    query = packed[:, :, :-2].reshape([shape[0], shape[1], (shape[2] - 2) * shape[3], shape[4]])
    return flash_attention(
        query, packed[:, :, -2], packed[:, :, -1], dropout, causal, return_softmax, training=training
    )


# ---- sequences of different lengths, one behind another ------------------------------------------


def _segments(offsets: Any, count: int) -> tuple[Any, Any]:
    """For each row the number of its sequence and its place in it."""
    rows = tensor_from_data(np.arange(count, dtype=offsets._aval.dtype), place=offsets._aval.place)
    begun = cast_to(rows.unsqueeze(1) >= offsets.unsqueeze(0), np.dtype("int64"))
    number = begun.sum(1) - 1
    begin = take_elements(offsets, [number.clip(min=0)], [0], trusted=True)
    return number, rows - begin  # type: ignore[operator]


def _attend_segments(
    where: str, query: Any, key: Any, value: Any, starts_q: Any, starts_k: Any, scale: Any, p: float, causal: bool,
    training: bool, window: Any = (-1, -1),
) -> Any:  # fmt: skip
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if require_tensor(where, name, tensor)._aval.ndim != 3:
            raise value_error(where, f"{name} must be [all rows, heads, size]", f"{name}: {tensor._aval}")
    own_q, place_q = _segments(require_tensor(where, "cu_seqlens_q", starts_q), query._aval.shape[0])
    own_k, place_k = _segments(require_tensor(where, "cu_seqlens_k", starts_k), key._aval.shape[0])
    allowed = own_q.unsqueeze(1) == own_k.unsqueeze(0)
    if causal or tuple(window) != (-1, -1):
        # Rows are aligned at the ends of the sequences.
        lengths_q, lengths_k = starts_q[1:] - starts_q[:-1], starts_k[1:] - starts_k[:-1]
        index = own_q.clip(0, lengths_q._aval.shape[0] - 1)
        shift: Any = take_elements(lengths_k - lengths_q, [index], [0], trusted=True)
        gap = place_k.unsqueeze(0) - (place_q + shift).unsqueeze(1)
        if causal:
            allowed = allowed & (gap <= 0)
        left, right = (int(w) for w in window)
        if left >= 0:
            allowed = allowed & (gap >= -left)
        if right >= 0:
            allowed = allowed & (gap <= right)
    mask = allowed.unsqueeze(0).unsqueeze(0)
    batched = [t.unsqueeze(0) for t in (query, key, value)]
    return attend(where, batched[0], batched[1], batched[2], mask, p, False, training, scale)[0].squeeze(0)


@samples(
    S(A(5, 2, 4), A(5, 2, 4), A(5, 2, 4), A(3, values=[0, 2, 5], dtype="int32"), A(3, values=[0, 2, 5], dtype="int32"),
      3, 3, 0.5),
    S(A(4, 1, 2), A(4, 1, 2), A(4, 1, 2), A(2, values=[0, 4], dtype="int32"), A(2, values=[0, 4], dtype="int32"),
      4, 4, 0.7, causal=True),
    S(A(2, 1, 2), A(2, 1, 2), A(2, 1, 2), A(3, values=[0, 1, 2], dtype="int32"), A(3, values=[0, 1, 2], dtype="int32"),
      1, 1, 1.0, training=False),
    reference=lambda q, k, v, a, b, m, n, scale, causal=False, training=True: [np.concatenate([
        _reference(q[None, i:j], k[None, x:y], v[None, x:y], is_causal=causal, scale=scale)[0]
        for i, j, x, y in zip(a[:-1], a[1:], b[:-1], b[1:], strict=True)])],
    second_order=False, why="second derivatives are JAX's own, and slow to compile",
)  # fmt: skip
@public(module="nn.functional.flash_attention")
def flash_attn_unpadded(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    scale: float,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, None]:
    """Attention of sequences one behind another in [all rows, heads, size]; `cu_seqlens` are where they begin."""
    out = _attend_segments(
        "flash_attn_unpadded", query, key, value, cu_seqlens_q, cu_seqlens_k, scale, dropout, causal, training
    )
    return out, None


@samples(
    S(A(5, 3, 2, 4), A(3, values=[0, 2, 5], dtype="int32"), A(3, values=[0, 2, 5], dtype="int32"), 3, 3, 0.5),
    S(A(4, 3, 1, 2), A(2, values=[0, 4], dtype="int32"), A(2, values=[0, 4], dtype="int32"), 4, 4, 0.7, causal=True),
    S(A(2, 4, 1, 2), A(3, values=[0, 1, 2], dtype="int32"), A(3, values=[0, 1, 2], dtype="int32"), 1, 1, 1.0),
    reference=lambda x, a, b, m, n, scale, causal=False: [np.concatenate([
        _reference(x[None, i:j, :-2].reshape(1, j - i, -1, x.shape[-1]), x[None, i:j, -2], x[None, i:j, -1],
                   is_causal=causal, scale=scale)[0] for i, j in itertools.pairwise(a)])],
    second_order=False, why="second derivatives are JAX's own, and slow to compile",
)  # fmt: skip
@public(module="nn.functional")
def flash_attn_varlen_qkvpacked(
    qkv: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    scale: float,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    fixed_seed_offset: Tensor | None = None,
    rng_name: str = "",
    varlen_padded: bool = True,
    training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, None]:
    """`flash_attn_unpadded` of queries, keys and values in one tensor.

    Args:
        qkv: `[all rows, groups + 2, heads of keys, size]`: the queries in groups, then the keys, then the values.
        cu_seqlens_q: where each sequence begins, and the end (int32).
        cu_seqlens_k: the same for keys.
        max_seqlen_q: the length of the longest sequence.
        max_seqlen_k: the same for keys.
        scale: the factor of the scores.
        dropout: the probability of a weight to be dropped while training.
        causal: whether a query sees only the keys up to its own place.
        return_softmax: accepted; the weights are not given.
        fixed_seed_offset: accepted and ignored.
        rng_name: accepted and ignored.
        varlen_padded: whether rows are padded to the longest sequence.
        training: whether dropout takes place.
        name: a label; it changes nothing.

    Returns:
        The result `[all rows, heads, size]`, and None.

    Examples:
        >>> starts = paddle.to_tensor([0, 2, 5], dtype="int32")
        >>> qkv = paddle.ones([5, 3, 2, 8])
        >>> out, _ = paddle.nn.functional.flash_attn_varlen_qkvpacked(qkv, starts, starts, 3, 3, 0.3, varlen_padded=False)
        >>> out.shape
        paddle.Size([5, 2, 8])
    """
    packed: Any = require_tensor("flash_attn_varlen_qkvpacked", "qkv", qkv)
    shape = packed._aval.shape
    if len(shape) != 4 or shape[1] < 3:
        raise value_error(
            "flash_attn_varlen_qkvpacked", "qkv must be [rows, groups + 2, heads, size]", f"{packed._aval}"
        )
    query = packed[:, :-2].reshape([shape[0], (shape[1] - 2) * shape[2], shape[3]])
    return flash_attn_unpadded(
        query, packed[:, -2], packed[:, -1], cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, scale, dropout,
        causal, return_softmax, training=training,
    )  # fmt: skip


@samples(
    S(A(5, 2, 4), A(5, 2, 4), A(5, 2, 4), A(3, values=[0, 2, 5], dtype="int32"), A(3, values=[0, 2, 5], dtype="int32"),
      3, 3),
    S(A(4, 1, 2), A(4, 1, 2), A(4, 1, 2), A(2, values=[0, 4], dtype="int32"), A(2, values=[0, 4], dtype="int32"),
      4, 4, softmax_scale=0.7, causal=True),
    S(A(2, 1, 2), A(2, 1, 2), A(2, 1, 2), A(3, values=[0, 1, 2], dtype="int32"), A(3, values=[0, 1, 2], dtype="int32"),
      1, 1),
    reference=lambda q, k, v, a, b, m, n, softmax_scale=None, causal=False: np.concatenate([
        _reference(q[None, i:j], k[None, x:y], v[None, x:y], is_causal=causal, scale=softmax_scale)[0]
        for i, j, x, y in zip(a[:-1], a[1:], b[:-1], b[1:], strict=True)]),
    second_order=False, why="second derivatives are JAX's own, and slow to compile",
)  # fmt: skip
@public(module="nn.functional")
def flash_attention_v3_varlen(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    seqused_q: Tensor | None = None,
    seqused_k: Tensor | None = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    qv: Tensor | None = None,
    q_descale: Tensor | None = None,
    k_descale: Tensor | None = None,
    v_descale: Tensor | None = None,
    window_size: int | Sequence[int] = (-1, -1),
    softcap: float = 0.0,
    num_splits: int = 1,
    pack_gqa: Any = None,
    sm_margin: int = 0,
) -> Tensor:
    """Attention of sequences that lie one behind another.

    Args:
        query: `[all rows, heads, size]`.
        key: `[all rows, heads, size]`.
        value: as `key`.
        cu_seqlens_q: where each sequence of queries begins, and the end (int32).
        cu_seqlens_k: the same for keys.
        max_seqlen_q: the length of the longest sequence of queries.
        max_seqlen_k: the length of the longest sequence of keys.
        seqused_q, seqused_k: None.
        softmax_scale: the factor of the scores; None for `1 / sqrt(size)`.
        causal: whether a query sees only the keys up to its own place.
        qv, q_descale, k_descale, v_descale: None.
        window_size: how many keys before and after its place a query sees; -1 for all.
        softcap: 0.
        num_splits, pack_gqa, sm_margin: tuning options, ignored.

    Returns:
        A tensor of the shape of `query`.

    Examples:
        >>> x = paddle.ones([5, 1, 8])
        >>> starts = paddle.to_tensor([0, 2, 5], dtype="int32")
        >>> paddle.nn.functional.flash_attention_v3_varlen(x, x, x, starts, starts, 3, 3).shape
        paddle.Size([5, 1, 8])
    """
    where = "flash_attention_v3_varlen"
    for name, given in (("seqused_q", seqused_q), ("seqused_k", seqused_k), ("qv", qv), ("q_descale", q_descale),
                        ("k_descale", k_descale), ("v_descale", v_descale)):  # fmt: skip
        if given is not None:
            raise NotImplementedError(f"({where}) {name} is not supported; leave it None.")
    if softcap:
        raise NotImplementedError(f"({where}) softcap is not supported; received softcap: {softcap}; leave it 0.")
    return _attend_segments(
        where, query, key, value, cu_seqlens_q, cu_seqlens_k, softmax_scale, 0.0, causal, True, window_size
    )


# ---- masks by columns, sparse patterns -----------------------------------------------------------


def _column_mask(bounds: Any, rows: int, causal: bool) -> Any:
    """Where to look, from the rows that each column hides: [batch, heads, columns, 1, 2 or 4] of bounds."""
    count = bounds._aval.shape[-1]
    row = tensor_from_data(
        np.arange(fixed(rows), dtype=bounds._aval.dtype).reshape(1, 1, -1, 1), place=bounds._aval.place
    )
    edges = [bounds[..., i].unsqueeze(2) for i in range(fixed(count))]
    columns = np.arange(fixed(bounds._aval.shape[2])).reshape(1, 1, 1, -1)
    if causal:
        hidden = row >= edges[0] if count == 1 else (row >= edges[0]) & (row < edges[1])
        allowed = np.arange(rows).reshape(1, 1, -1, 1) >= columns
        return ~hidden & tensor_from_data(allowed, place=bounds._aval.place)
    lower = np.arange(rows).reshape(1, 1, -1, 1) > columns
    below = tensor_from_data(lower | (np.arange(rows).reshape(1, 1, -1, 1) == columns), place=bounds._aval.place)
    if count == 2:
        return ~((below & (row >= edges[0])) | (~below & (row < edges[1])))
    hidden_below = below & (row >= edges[0]) & (row < edges[1])
    return ~(hidden_below | (~below & (row >= edges[2]) & (row < edges[3])))


def _reference_flashmask(q: Any, k: Any, v: Any, bounds: Any = None, causal: bool = False) -> Any:
    if bounds is None:
        return _reference(q, k, v, is_causal=causal)
    rows, columns = q.shape[1], k.shape[1]
    mask = np.ones((*bounds.shape[:2], rows, columns), bool)
    for b, h, i, j in np.ndindex(*mask.shape):
        edge = bounds[b, h, j]
        if causal:
            hidden = i < j or (i >= edge[0] and (len(edge) == 1 or i < edge[1]))
        elif len(edge) == 2:
            hidden = i >= edge[0] if i >= j else i < edge[1]
        else:
            hidden = edge[0] <= i < edge[1] if i >= j else edge[2] <= i < edge[3]
        mask[b, h, i, j] = not hidden
    return _reference(q, k, v, mask)


_ROWS = A(1, 4, 1, 2)


@samples(
    S(_ROWS, _ROWS, _ROWS),
    S(_ROWS, _ROWS, _ROWS, A(1, 1, 4, 1, values=[[[[4], [2], [4], [4]]]], dtype="int32"), causal=True),
    S(_ROWS, _ROWS, _ROWS, A(1, 1, 4, 2, values=[[[[3, 0], [4, 0], [4, 1], [4, 2]]]], dtype="int32")),
    reference=_reference_flashmask, second_order=False, why="second derivatives are JAX's own, and slow to compile",
)  # fmt: skip
@public(module="nn.functional")
def flashmask_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    startend_row_indices: Tensor | None = None,
    *,
    dropout: float = 0.0,
    causal: bool = False,
    window_size: int | Sequence[int] | None = None,
    return_softmax_lse: bool = False,
    return_seed_offset: bool = False,
    fixed_seed_offset: Tensor | None = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
    softmax_scale: float | None = None,
    block_mask: Tensor | None = None,
) -> Any:
    """Attention with a mask given by columns: for each key the rows from which (and up to which) it is hidden.

    Args:
        query: `[batch, sequence, heads, size]`.
        key: as `query`, perhaps with fewer heads.
        value: as `key`.
        startend_row_indices: `[batch, heads or 1, keys, 1, 2 or 4]` (int32): first hidden row, and where it ends.
        dropout: the probability of a weight to be dropped while training.
        causal: whether a query sees only the keys up to its own place.
        window_size: how many keys before and after its place a query sees; None for all.
        return_softmax_lse: whether the logarithms of the sums are given too.
        return_seed_offset: must be False.
        fixed_seed_offset: accepted and ignored.
        rng_name: accepted and ignored.
        training: whether dropout takes place.
        softmax_scale: the factor of the scores; None for `1 / sqrt(size)`.
        block_mask: None.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `query`; with `return_softmax_lse` also the logarithms of the sums.

    Examples:
        >>> query = paddle.zeros([1, 3, 1, 8])
        >>> value = paddle.arange(3.0).reshape([1, 3, 1, 1]).expand([1, 3, 1, 8])
        >>> first = paddle.to_tensor([2, 3, 3], dtype="int32").reshape([1, 1, 3, 1])  # key 0 is hidden from row 2 on
        >>> paddle.nn.functional.flashmask_attention(query, query, value, first, causal=True)[0, :, 0, 0].tolist()
        [0.0, 0.5, 1.5]
    """
    where = "flashmask_attention"
    if block_mask is not None or return_seed_offset:
        raise NotImplementedError(f"({where}) block_mask and return_seed_offset are not supported; leave them out.")
    rows, columns = (require_tensor(where, n, t)._aval.shape[1] for n, t in (("query", query), ("key", key)))
    mask: Any = None
    if startend_row_indices is not None:
        bounds = require_tensor(where, "startend_row_indices", startend_row_indices)
        allowed = (1, 2) if causal else (2, 4)
        if bounds._aval.ndim != 4 or bounds._aval.shape[-1] not in allowed or bounds._aval.shape[2] != columns:
            widths = " or ".join(map(str, allowed))
            raise value_error(where, f"startend_row_indices must be [batch, heads, {columns}, {widths}]",
                              f"startend_row_indices: {bounds._aval}, causal: {causal}")  # fmt: skip
        mask = _column_mask(bounds, rows, causal)
        if 1 < mask._aval.shape[1] < query._aval.shape[2]:
            mask = mask.repeat_interleave(query._aval.shape[2] // mask._aval.shape[1], 1)
    if window_size is not None:
        left, right = (window_size, window_size) if isinstance(window_size, int) else tuple(window_size)
        gap = np.arange(columns)[None, :] - np.arange(rows)[:, None]
        inside = np.ones_like(gap, bool)
        inside &= gap >= -left if left >= 0 else True
        inside &= gap <= (0 if causal else right) if causal or right >= 0 else True
        near = tensor_from_data(inside.reshape(1, 1, rows, columns), place=query._aval.place)
        mask = near if mask is None else mask & near
    out, _ = attend(where, query, key, value, mask, dropout, causal and mask is None, training, softmax_scale)
    if not return_softmax_lse:
        return out
    factor = softmax_scale or 1.0 / math.sqrt(query._aval.shape[3])
    repeated: Any = key
    if key._aval.shape[2] != query._aval.shape[2]:
        repeated = repeated.repeat_interleave(query._aval.shape[2] // key._aval.shape[2], 2)
    q, k = (transpose_to(tensor, (0, 2, 1, 3)) for tensor in (query, repeated))
    scores: Any = matmul(q, k, False, True) * factor  # type: ignore[operator]
    if mask is None and causal:
        mask = tensor_from_data(np.tril(np.ones((rows, columns), bool)), place=query._aval.place)
    if mask is not None:
        scores = choose_by(mask, scores, -1e30)
    return [out, scores.logsumexp(-1)]


def _reference_sparse(q: Any, k: Any, v: Any, offset: Any, columns: Any) -> Any:
    out = np.zeros_like(q)
    for b, h, i in np.ndindex(*q.shape[:3]):
        chosen = columns[b, h, offset[b, h, i] : offset[b, h, i + 1]]
        scores = k[b, h, chosen] @ q[b, h, i] / math.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max())
        out[b, h, i] = (weights / weights.sum()) @ v[b, h, chosen]
    return out


def _csr_fits(xp: Any, offset: Any, columns: Any, rows: int) -> Any:
    """Offsets that ascend within the columns, and columns that exist; those behind the last offset do not count."""
    count = columns.shape[2]
    good = xp.all((offset >= 0) & (offset <= count)) & xp.all(offset[:, :, 1:] >= offset[:, :, :-1])
    used = xp.arange(count) < offset[:, :, -1:]
    return good & xp.all(((columns >= 0) & (columns < rows)) | ~used)


def _infer_pattern(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    batch, heads = operands[0].shape[:2]
    return operands[0].with_shape((batch, heads, attributes[0], attributes[0])).with_dtype(np.dtype(bool))


@op(
    "offset columns",
    infer=_infer_pattern,
    check=Check(
        _csr_fits,
        lambda kinds, a: f"the offsets must ascend within the columns, which are from 0 to {a[0] - 1}",
        IndexOutOfRange,
        (0, 1),
    ),
    padding=rules.refused("its result depends on all positions together"),
)
def csr_pattern(xp: Any, offset: Any, columns: Any, rows: int) -> Any:
    """Where a compressed sparse pattern has entries, as [batch, heads, rows, rows]."""
    batch, heads, count = columns.shape
    if not rows:
        return xp.zeros((batch, heads, 0, 0), bool)
    entries = xp.arange(count)
    row = xp.sum(entries >= offset[:, :, 1:, None], axis=2)  # behind the last offset: one row too many, cut off below
    row = xp.where(entries >= offset[:, :, :1], row, rows)
    place = (xp.arange(batch)[:, None, None], xp.arange(heads)[:, None], row, xp.clip(columns, 0, rows - 1))
    found = xp.zeros((batch, heads, rows + 1, rows), bool)
    if xp is np:
        found[place] = True
    else:
        found = found.at[place].set(True)
    return found[:, :, :rows]


_OFFSET = A(1, 1, 4, values=[[[0, 2, 3, 6]]], dtype="int32")
_COLUMNS = A(1, 1, 6, values=[[[0, 1, 1, 0, 1, 2]]], dtype="int32")


@samples(
    S(A(1, 1, 3, 2), A(1, 1, 3, 2), A(1, 1, 3, 2), _OFFSET, _COLUMNS),
    S(A(1, 1, 2, 3), A(1, 1, 2, 3), A(1, 1, 2, 3), A(1, 1, 3, values=[[[0, 1, 2]]], dtype="int32"),
      A(1, 1, 2, values=[[[0, 1]]], dtype="int32")),
    S(A(1, 1, 1, 3), A(1, 1, 1, 3), A(1, 1, 1, 3), A(1, 1, 2, values=[[[0, 1]]], dtype="int32"),
      A(1, 1, 1, values=[[[0]]], dtype="int32")),
    reference=_reference_sparse,
)  # fmt: skip
@public(module="nn.functional")
def sparse_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sparse_csr_offset: Tensor,
    sparse_csr_columns: Tensor,
    key_padding_mask: Tensor | None = None,
    attn_mask: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Attention at the places of a compressed sparse pattern only.

    Args:
        query: `[batch, heads, sequence, size]`.
        key: as `query`.
        value: as `query`.
        sparse_csr_offset: `[batch, heads, sequence + 1]` (int32): where each row of the pattern begins.
        sparse_csr_columns: `[batch, heads, places]` (int32): the columns to look at, row by row.
        key_padding_mask: `[batch, sequence]`; keys are hidden where it is 0.
        attn_mask: `[sequence, sequence]`; places are hidden where it is 0.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `query`.

    Examples:
        >>> query = paddle.zeros([1, 1, 2, 1])
        >>> value = paddle.to_tensor([[[[1.0], [3.0]]]])
        >>> offsets, columns = paddle.to_tensor([[[0, 1, 3]]], dtype="int32"), paddle.to_tensor([[[0, 0, 1]]], dtype="int32")
        >>> paddle.nn.functional.sparse_attention(query, query, value, offsets, columns).flatten().tolist()
        [1.0, 2.0]
    """
    where = "sparse_attention"
    aval = require_tensor(where, "query", query)._aval
    offset = index_tensor(where, sparse_csr_offset, "sparse_csr_offset")
    columns = index_tensor(where, sparse_csr_columns, "sparse_csr_columns")
    for name_, tensor in (("key", key), ("value", value)):
        if require_tensor(where, name_, tensor)._aval.shape != aval.shape:
            raise value_error(where, f"{name_} must have the query's shape", f"query: {aval}, {name_}: {tensor._aval}")
    received = f"query: {aval}, offsets: {offset._aval}, columns: {columns._aval}"
    if aval.ndim != 4 or offset._aval.shape != (*aval.shape[:2], aval.shape[2] + 1):
        raise value_error(where, "query is [batch, heads, rows, size], the offsets [batch, heads, rows + 1]", received)
    if columns._aval.ndim != 3 or columns._aval.shape[:2] != aval.shape[:2]:
        raise value_error(where, "the columns are [batch, heads, entries]", received)
    rows = aval.shape[2]
    mask: Any = csr_pattern(offset, columns, rows)
    if key_padding_mask is not None:
        hides: Any = require_tensor(where, "key_padding_mask", key_padding_mask)
        if hides._aval.shape != (aval.shape[0], rows):
            raise value_error(where, "key_padding_mask must be [batch, rows]", f"{hides._aval}, {received}")
        mask = mask & (hides.unsqueeze(1).unsqueeze(1) != 0)
    if attn_mask is not None:
        shows: Any = require_tensor(where, "attn_mask", attn_mask)
        if shows._aval.shape != (rows, rows):
            raise value_error(where, "attn_mask must be [rows, rows]", f"{shows._aval}, {received}")
        mask = mask & (shows != 0)
    scores: Any = matmul(query, key, False, True) * (1.0 / math.sqrt(max(aval.shape[3], 1)))  # type: ignore[operator]
    weights: Any = softmax_along(choose_by(mask, scores, -1e30), 3)
    return matmul(weights * cast_to(mask, aval.dtype), value, False, False)
