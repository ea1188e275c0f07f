"""Attention whose scores are computed and kept only where a sparse mask has elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.errors import value_error
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ....ops.basic import cast_to, full_of, reshape_to, transpose_to
from ....ops.math.ternary import where as where_dense
from ...convert import as_coo
from ...pattern import Lookup
from ...product import masked_matmul, matmul
from ...rows import take_rows
from ...tensor import require_dense, require_sparse
from . import references
from .activation import lines_along, softmax_by_group

_HEADS = A(2, 2, 4, 3)
_MASK = A(values=np.tile(np.tri(4), (4, 1, 1)), layout="csr", grad=False)


@samples(
    S(_HEADS, _HEADS, _HEADS, _MASK),
    S(_HEADS, _HEADS, _HEADS, _MASK, A(values=[[1, 1, 0, 1], [1, 0, 1, 1]], grad=False)),
    S(_HEADS, _HEADS, _HEADS, _MASK, attn_mask=A(values=np.eye(4) + np.eye(4, k=-1), grad=False)),
    S(A(1, 1, 3, 2), A(1, 1, 3, 2), A(1, 1, 3, 2), A(values=np.eye(3)[None], layout="csr", grad=False)),
    reference=references.attention,
)  # fmt: skip
def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sparse_mask: Tensor,
    key_padding_mask: Tensor | None = None,
    attn_mask: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """`softmax(query keyᵀ / sqrt(d)) value`, the softmax over the stored positions of a mask.

    A row without any position gives zeros.

    Args:
        query: `[batch, heads, length, d]`.
        key: as `query`.
        value: as `query`.
        sparse_mask: a CSR tensor `[batch * heads, length, length]`.
        key_padding_mask: `[batch, length]`; keys are left out where it is 0.
        attn_mask: `[length, length]`; positions are left out where it is 0.
        name: a label; it changes nothing.

    Returns:
        A dense tensor of the shape of `query`.

    Examples:
        >>> query, value = paddle.zeros([1, 1, 2, 1]), paddle.to_tensor([[[[1.0], [3.0]]]])
        >>> mask = paddle.to_tensor([[[1.0, 0.0], [1.0, 1.0]]]).to_sparse_csr()
        >>> paddle.sparse.nn.functional.attention(query, query, value, mask).flatten().tolist()
        [1.0, 2.0]
    """
    where = "sparse.attention"
    tensors = {"query": query, "key": key, "value": value}
    for label, tensor in tensors.items():
        require_dense(where, label, tensor)
    received = ", ".join(f"{label}: {tensor._aval}" for label, tensor in tensors.items())
    shape = query._aval.shape
    if len(shape) != 4 or key._aval.shape != shape or value._aval.shape != shape:
        raise value_error(where, "query, key and value must be [batch, heads, length, d], all the same", received)
    batch, heads, length, width = shape
    mask = require_sparse(where, "sparse_mask", sparse_mask)
    if mask._aval.shape != (batch * heads, length, length) or mask.dense_dim():
        raise value_error(
            where,
            f"sparse_mask must be {[batch * heads, length, length]}",
            f"sparse_mask: {mask._aval}, {received}",
        )
    matrices = (batch * heads, length, width)
    scores: Any = masked_matmul(
        reshape_to(query, matrices) * (1.0 / math.sqrt(width)),
        transpose_to(reshape_to(key, matrices), (0, 2, 1)),
        mask,
    )
    pattern = as_coo(mask)._pattern
    values = scores._values
    kept = None
    for label, given, expected, axes in (
        ("key_padding_mask", key_padding_mask, (batch, length), (0, 2)),
        ("attn_mask", attn_mask, (length, length), (1, 2)),
    ):
        if given is None:
            continue
        if require_dense(where, label, given)._aval.shape != expected:
            raise value_error(where, f"{label} must be {list(expected)}", f"{label}: {given._aval}")

        def positions(axes: tuple[int, int] = axes) -> Lookup:
            first, second = (pattern.indices[axis] for axis in axes)
            return Lookup((first // heads if axes[0] == 0 else first) * length + second)

        rows = pattern.remember(("attention", label, heads), positions)
        allowed = take_rows(reshape_to(given, (math.prod(expected),)), rows) != 0
        kept = allowed if kept is None else kept & allowed
    if kept is not None:
        # Finite, so that a row without any position is no inf - inf; its weights are set to 0 below.
        lowest = -6e4 if values._aval.dtype == np.float16 else -3e38
        values = where_dense(kept, values, full_of(lowest, (), values._aval.dtype))
    weights = softmax_by_group(values, *lines_along(pattern, 2))
    if kept is not None:
        weights = weights * cast_to(kept, weights._aval.dtype)
    return reshape_to(matmul(mask._with_values(weights), reshape_to(value, matrices)), shape)
