"""Attention over sequences whose pieces lie in different processes: keys and values go round in a ring.

Each process has a piece of queries, keys and values, in the order of the group. In every round it compares its queries with
the keys and values at hand and hands these on; partial results are joined by the logarithms of their sums. No process ever
has the whole sequence. Shapes: B batch, L piece of the sequence, H heads, D features of a head.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....autograd.py_layer import PyLayer
from ....core.errors import value_error
from ....core.tracebacks import boundary
from ....eager.tensor import Tensor, tensor_from_data, wrap
from ....nn import functional as F
from ....ops.basic import full_of
from ....ops.linear.linalg import matmul
from ...group import Group
from ...transport.messages import isend, recv
from ..base.topology import get_hybrid_communicate_group

_FAR = -1e30  # stands for minus infinity, whose differences are no numbers


class Ring:
    """The processes of a group as a ring."""

    def __init__(self, group: Group) -> None:
        self.count, self.position = group.nranks, group.rank
        self.following = group.ranks[(group.rank + 1) % group.nranks]
        self.previous = group.ranks[(group.rank - 1) % group.nranks]

    def hand_on(self, tensors: list[Tensor]) -> list[Tensor]:
        """Gives tensors to the next process, and takes those of the previous one."""
        tasks = [isend(tensor, self.following) for tensor in tensors]
        received = [wrap(np.zeros(tensor._aval.shape, tensor._aval.dtype)) for tensor in tensors]
        for tensor in received:
            recv(tensor, self.previous)
        for task in tasks:
            task.wait()  # type: ignore[union-attr]
        return received

    def sources(self) -> Iterator[int]:
        """Whose keys and values are at hand in each round."""
        return ((self.position - turn) % self.count for turn in range(self.count))


def _scores(q_BHLD: Tensor, k_BHLD: Tensor, scale: float, is_diagonal: bool) -> Tensor:
    scores = matmul(q_BHLD, k_BHLD, transpose_y=True) * scale
    if not is_diagonal:
        return scores
    length = scores.shape[-1]
    later = np.triu(np.ones((length, length), bool), 1)
    return scores + tensor_from_data(np.where(later, _FAR, 0.0).astype(scores._aval.dtype))


class _RingAttention(PyLayer):
    """Operands are [B, H, L, D], in float32 at least."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, ring: Ring, scale: float, is_causal: bool) -> Tensor:
        out = q * 0.0
        lse = full_of(_FAR, (*q._aval.shape[:-1], 1), q._aval.dtype)
        keys, values = k, v
        for turn, source in enumerate(ring.sources()):
            if not is_causal or source <= ring.position:
                scores = _scores(q, keys, scale, is_causal and source == ring.position)
                highest = scores.max(axis=-1, keepdim=True)
                weights = (scores - highest).exp()
                total = weights.sum(axis=-1, keepdim=True)
                part, part_lse = matmul(weights, values) / total, highest + total.log()
                higher = lse.maximum(part_lse)
                joined = higher + ((lse - higher).exp() + (part_lse - higher).exp()).log()
                out = out * (lse - joined).exp() + part * (part_lse - joined).exp()
                lse = joined
            if turn < ring.count - 1:
                keys, values = ring.hand_on([keys, values])
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.ring, ctx.scale, ctx.is_causal = ring, scale, is_causal
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:
        q, keys, values, out, lse = ctx.saved_tensor()
        ring = ctx.ring
        own = (gradient * out).sum(axis=-1, keepdim=True)
        dq, dk, dv = q * 0.0, keys * 0.0, values * 0.0
        for source in ring.sources():
            if not ctx.is_causal or source <= ring.position:
                scores = _scores(q, keys, ctx.scale, ctx.is_causal and source == ring.position)
                weights = (scores - lse).exp()
                dv = dv + matmul(weights, gradient, transpose_x=True)
                dscores = weights * (matmul(gradient, values, transpose_y=True) - own) * ctx.scale
                dq = dq + matmul(dscores, keys)
                dk = dk + matmul(dscores, q, transpose_x=True)
            # After the last round the gradients are back where their keys and values live.
            keys, values, dk, dv = ring.hand_on([keys, values, dk, dv])
        return dq, dk, dv


@boundary
def ring_flash_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout: float = 0.0,
    is_causal: bool = False, group: Group | None = None,
) -> Tensor:  # fmt: skip
    """Scaled dot-product attention of `[batch, piece of the sequence, heads, features]` over the whole sequence.

    `group` are the processes that have the pieces, in their order; unless given, those along the "sep" axis. Masks other
    than the causal one and dropout are refused.
    """
    if attn_mask is not None or dropout:
        raise value_error("ring_flash_attention", "masks and dropout do not go round", "attn_mask or dropout")
    if key.shape != query.shape or value.shape != query.shape or len(query.shape) != 4:
        raise value_error(
            "ring_flash_attention", "query, key and value must be [batch, sequence, heads, features] of one shape",
            f"{query._aval}, {key._aval} and {value._aval}",
        )  # fmt: skip
    groups = get_hybrid_communicate_group()
    found = group if group is not None or groups is None else groups.get_group("sep")
    if found is None or found.nranks == 1:
        return F.scaled_dot_product_attention(query, key, value, is_causal=is_causal)
    kind = "float64" if query._aval.dtype == np.float64 else "float32"
    q, k, v = (each.astype(kind).transpose([0, 2, 1, 3]) for each in (query, key, value))
    out = _RingAttention.apply(q, k, v, Ring(found), float(query.shape[-1]) ** -0.5, is_causal)
    return out.transpose([0, 2, 1, 3]).astype(query.dtype)
