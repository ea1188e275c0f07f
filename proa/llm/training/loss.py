"""Losses that never hold the logits of a whole batch.

The head and the cross entropy are one operation that takes the vocabulary a chunk at a time
(`ops/neural/losses/linear_cross_entropy.py`). Heads that are tied, capped, in few bits or carry an
adapter are all a weight to it.
"""

from __future__ import annotations

from typing import Any

from ...nn import functional as F
from ...ops.neural.losses.linear_cross_entropy import cross_entropy_of_states
from .rows import IGNORED

_FEWEST_CLASSES = 256  # of a chunk: smaller products do not fill a processor


def token_losses(model: Any, hidden: Any, labels: Any, logit_bytes: int = 64 << 20) -> Any:
    """-log p(label) for each position, float32 [batch, length]; 0 where the label is `IGNORED`.

    `hidden` is what `model.hidden` gave. The logits that exist at once have about `logit_bytes`.

    Example:
        >>> loss = token_losses(model, model.hidden(ids), labels).sum() / num_learned
    """
    shape = list(labels.shape)
    rows = shape[0] * shape[1]
    weight, by_class, bias = _head(model)
    if bias is not None or not rows:
        logits = model.logits(hidden).astype("float32")
        return F.cross_entropy(logits, labels, reduction="none", ignore_index=IGNORED)
    if weight.dtype != hidden.dtype:  # an adapter, or a weight in few bits, gives float32
        weight = weight.astype(hidden.dtype)
    chunk = min(max(logit_bytes // (4 * rows), _FEWEST_CLASSES), model.config.vocab_size)
    losses: Any = cross_entropy_of_states(
        hidden.reshape([rows, hidden.shape[-1]]), weight, labels.reshape([rows]), by_class, model.config.logit_cap, chunk,
        IGNORED,
    )  # fmt: skip
    return losses.reshape(shape)


def _head(model: Any) -> tuple[Any, bool, Any]:
    """The head's weight, whether its rows are classes, and its bias."""
    if model.head is None:
        return model.embedding.weight, True, None
    head = model.head
    weight = head.dense()
    if head.adapter is not None:
        weight = weight + head.adapter.delta()
    return weight, False, head.bias


def preference_loss(
    chosen: Any, rejected: Any, reference_chosen: Any, reference_rejected: Any, beta: float, smoothing: float = 0.0
) -> tuple[Any, Any]:
    """The DPO loss of pairs from log-probabilities of whole answers, and by how much the model prefers the chosen ones."""
    margin = (chosen - reference_chosen - rejected + reference_rejected) * beta
    loss = F.log_sigmoid(margin) * (smoothing - 1.0)
    if smoothing:
        loss = loss - F.log_sigmoid(-margin) * smoothing
    return loss.mean(), margin
