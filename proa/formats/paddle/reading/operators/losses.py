"""Losses."""

from __future__ import annotations

from typing import Any

from .....eager.tensor import Tensor
from ..functions import F, paddle
from ..registry import reads


@reads("cross_entropy_with_softmax")
def cross_entropy_with_softmax(
    logits: Tensor, label: Tensor, *, soft_label: bool = False, use_softmax: bool = True, numeric_stable_mode: bool = True,
    ignore_index: int = -100, axis: int = -1,
) -> Any:  # fmt: skip
    if not use_softmax:
        squeezed = label if soft_label or label.ndim < logits.ndim else paddle.squeeze(label, [axis])
        loss = F.cross_entropy(logits, squeezed, None, ignore_index, "none", soft_label, axis, use_softmax=False)
        return logits, loss if loss.ndim == logits.ndim else loss.unsqueeze(axis)
    loss, softmax = F.softmax_with_cross_entropy(
        logits, label, soft_label, ignore_index, numeric_stable_mode, return_softmax=True, axis=axis
    )
    return softmax, loss


@reads("bce_loss")
def bce_loss(x: Tensor, label: Tensor) -> Tensor:
    return F.binary_cross_entropy(x, label, reduction="none")


@reads("sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy(
    x: Tensor, label: Tensor, pos_weight: Tensor | None = None, *, normalize: bool = False, ignore_index: int = -100
) -> Tensor:
    # The weight is one of the elements, already made from the labels and the weights of the classes.
    softened = paddle.log1p(paddle.exp(-paddle.abs(x))) + F.relu(-x)
    loss = (1 - label) * x + (softened if pos_weight is None else softened * pos_weight)
    kept = label != ignore_index
    loss = paddle.where(kept, loss, paddle.zeros_like(loss))
    return loss / paddle.sum(kept.astype(loss.dtype)) if normalize else loss


@reads("nll_loss")
def nll_loss(
    x: Tensor, label: Tensor, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    return F.nll_loss(x, label, weight, ignore_index, reduction)


@reads("kldiv_loss")
def kldiv_loss(x: Tensor, label: Tensor, *, reduction: str = "mean", log_target: bool = False) -> Tensor:
    return F.kl_div(x, label, reduction, log_target)


@reads("huber_loss")
def huber_loss(x: Tensor, label: Tensor, *, delta: float = 1.0) -> Any:
    residual = label - x
    size = paddle.abs(residual)
    return paddle.where(size <= delta, 0.5 * residual * residual, delta * (size - 0.5 * delta)), residual


@reads("log_loss")
def log_loss(x: Tensor, label: Tensor, *, epsilon: float = 1e-4) -> Tensor:
    return F.log_loss(x, label, epsilon)


@reads("hinge_loss")
def hinge_loss(logits: Tensor, labels: Tensor) -> Tensor:
    return F.relu(1.0 - logits * (2.0 * labels - 1.0))


@reads("identity_loss")
def identity_loss(x: Tensor, *, reduction: int = 1) -> Tensor:
    return (paddle.sum(x), paddle.mean(x), paddle.assign(x))[reduction]


@reads("hsigmoid_loss")
def hsigmoid_loss(
    x: Tensor, label: Tensor, weight: Tensor, bias: Tensor | None = None, path: Tensor | None = None,
    code: Tensor | None = None, *, num_classes: int, is_sparse: bool = False,
) -> Tensor:  # fmt: skip
    return F.hsigmoid_loss(x, label, num_classes, weight, bias, path, code, is_sparse)


@reads("warpctc")
def warpctc(
    logits: Tensor,
    label: Tensor,
    logits_length: Tensor,
    labels_length: Tensor,
    *,
    blank: int = 0,
    norm_by_times: bool = False,
) -> Tensor:
    loss = F.ctc_loss(logits, label, logits_length, labels_length, blank, "none", norm_by_times)
    return loss.reshape([-1, 1])


@reads("warprnnt")
def warprnnt(
    logits: Tensor, label: Tensor, input_lengths: Tensor, label_lengths: Tensor, *, blank: int = 0,
    fastemit_lambda: float = 0.0,
) -> Tensor:  # fmt: skip
    return F.rnnt_loss(logits, label, input_lengths, label_lengths, blank, fastemit_lambda, "none")


@reads("accuracy")
def accuracy(values: Tensor, indices: Tensor, label: Tensor) -> Any:
    hits = paddle.any(indices == label, axis=-1).astype("int32")
    total = paddle.full([], indices._aval.shape[0], "int32")
    correct = paddle.sum(hits).astype("int32")
    return correct.astype("float32") / total.astype("float32"), correct, total
