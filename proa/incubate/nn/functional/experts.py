"""Mixtures of experts: how evenly tokens are divided."""

from __future__ import annotations

from typing import Any

from ....eager.annotations import DTypeLike
from ....eager.tensor import Tensor


def cal_aux_loss(
    gate_prob: Tensor, dispatch_mask: Tensor, tokens_mask: Tensor | None, dispatch_tokens_mask: Tensor | None,
    num_experts: int, use_group: bool, moe_k: int, clip_min: float, name: str | None = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The loss that keeps experts equally busy.

    It is the sum over experts of mean probability times share, times the number of experts. Where this process has a
    part of the dispatched tokens only, the value is scaled to all of them and the gradient is not.

    Args:
        gate_prob: `[tokens, experts]`.
        dispatch_mask: how many tokens each expert was given.
        tokens_mask: which tokens count, or None.
        dispatch_tokens_mask: which of the dispatched tokens count, or None.
        num_experts: how many experts there are.
        use_group: whether experts are in groups.
        moe_k: how many experts each token has.
        clip_min: what a sum is at least before it is divided by.
        name: a label; it changes nothing.

    Returns:
        The loss, the number of tokens, and what each expert gets of them.

    Examples:
        >>> gates, given = paddle.to_tensor([[0.5, 0.5], [0.5, 0.5]]), paddle.to_tensor([[1, 1]])
        >>> loss, tokens, shares = paddle.incubate.nn.functional.cal_aux_loss(gates, given, None, None, 2, False, 1, 1e-6)
        >>> print(loss.numpy().round(4))
        1.0
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
    """How often each integer of a range occurs.

    Args:
        x: integers.
        low: the first.
        high: the one behind the last.
        dtype: that of the result; None for that of `x`.
        name: a label; it changes nothing.

    Returns:
        A tensor of `high - low` counts.

    Examples:
        >>> paddle.incubate.nn.functional.int_bincount(paddle.to_tensor([1, 3, 1]), 0, 4).tolist()
        [0, 2, 0, 1]
    """
    inside: Any = x.reshape([-1]).astype("int64")
    numbers = (inside - low).masked_select((inside >= low).logical_and(inside < high))
    counts = numbers.bincount(minlength=high - low)
    return counts.astype(dtype or x.dtype)
