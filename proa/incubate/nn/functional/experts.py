"""Mixtures of experts: how evenly tokens are divided."""

from __future__ import annotations

from typing import Any

from ....eager.annotations import DTypeLike
from ....eager.tensor import Tensor


def cal_aux_loss(
    gate_prob: Tensor, dispatch_mask: Tensor, tokens_mask: Tensor | None, dispatch_tokens_mask: Tensor | None,
    num_experts: int, use_group: bool, moe_k: int, clip_min: float, name: str | None = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The loss that keeps experts equally busy, the number of tokens, and what each expert gets of them.

    `gate_prob` is `[tokens, experts]`; `dispatch_mask` counts the tokens that each expert was given. The loss is the sum
    over experts of mean probability times share, times the number of experts. Where this process has a part of the
    dispatched tokens only, the value is scaled to all of them and the gradient is not.
    """
    probabilities: Any = gate_prob
    mask: Any = None if tokens_mask is None else tokens_mask.astype(gate_prob.dtype)
    scale: Any = None
    if dispatch_tokens_mask is not None:
        tokens = dispatch_tokens_mask.astype(gate_prob.dtype).sum()
        if mask is not None and gate_prob._aval.shape[0] != dispatch_tokens_mask._aval.shape[0]:
            scale = tokens / mask.sum().clip(min=clip_min)
    elif mask is not None:
        tokens = mask.sum()
    else:
        tokens = probabilities.sum() * 0.0 + gate_prob._aval.size / num_experts
    tokens = tokens.clip(min=clip_min)
    sent: Any = dispatch_mask if dispatch_mask._aval.ndim == 1 else dispatch_mask.sum(0)
    shares = sent.astype(gate_prob.dtype).detach() / tokens
    loss = (probabilities.sum(0) / tokens * shares).sum() * float(num_experts)
    if use_group:
        loss = loss / float(moe_k)
    if scale is not None:
        loss = loss + (scale - 1.0) * loss.detach()
    return loss, tokens, shares


def int_bincount(x: Tensor, low: int, high: int, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """How often each integer from `low` to below `high` occurs."""
    inside: Any = x.reshape([-1]).astype("int64")
    numbers = (inside - low).masked_select((inside >= low).logical_and(inside < high))
    counts = numbers.bincount(minlength=high - low)
    return counts.astype(dtype or x.dtype)
