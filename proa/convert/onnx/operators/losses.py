"""Losses."""

from __future__ import annotations

from typing import Any

from ....eager.tensor import Tensor
from ....formats.paddle.reading.functions import F, paddle
from ..registry import reads


@reads("NegativeLogLikelihoodLoss")
def nll_loss(
    x: Tensor, labels: Tensor, weight: Tensor | None = None, *, reduction: str = "mean", ignore_index: Any = None
) -> Tensor:
    """Classes are axis 1."""
    labels = labels.astype("int64")
    ignored = paddle.zeros_like(labels).astype("bool") if ignore_index is None else labels == ignore_index
    places = paddle.where(ignored, paddle.zeros_like(labels), labels)
    loss = -paddle.take_along_axis(x, places.unsqueeze(1), 1, broadcast=False).squeeze(1)
    weights = paddle.ones_like(loss)
    if weight is not None:
        weights = paddle.index_select(weight, places.reshape([-1]), 0).reshape(list(places._aval.shape))
    weights = paddle.where(ignored, paddle.zeros_like(weights), weights)
    loss = loss * weights
    if reduction == "none":
        return loss
    return paddle.sum(loss) / paddle.sum(weights) if reduction == "mean" else paddle.sum(loss)


@reads("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(
    x: Tensor, labels: Tensor, weight: Tensor | None = None, *, reduction: str = "mean", ignore_index: Any = None
) -> Any:
    log_probabilities = F.log_softmax(x, 1)
    return nll_loss(
        log_probabilities, labels, weight, reduction=reduction, ignore_index=ignore_index
    ), log_probabilities
