"""Losses of classification: cross entropy with all its options, and the negative log likelihood."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.aval import Aval
from ....core.dtype import INT64, is_floating
from ....core.errors import type_error, value_error
from ....core.symbols import divided
from ....eager.declare import public
from ....eager.infer import normalise_axis
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ...arguments import require_tensor
from ...basic import cast_to, full_of, reshape_to
from ..softmax import log_softmax, softmax
from .labels import (
    class_weights,
    count_labels,
    pick_class,
    pick_class_for_nll,
    smoothed_labels,
    softmax_cross_entropy,
)


def check_reduction(where: str, reduction: Any) -> str:
    if reduction not in ("mean", "sum", "none"):
        raise value_error(where, "reduction must be 'mean', 'sum' or 'none'", f"reduction: {reduction!r}")
    return reduction


def reduce_loss(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def weighted_loss(loss: Any, weights: Any, reduction: str) -> Tensor:
    """A loss that was multiplied by weights, reduced; its mean is divided by their sum."""
    return loss.sum() / weights.sum() if reduction == "mean" else reduce_loss(loss, reduction)


def _integer_label(where: str, label: Tensor, like: Tensor) -> Tensor:
    kind = label._aval.dtype
    if kind.kind == "c":
        raise type_error(where, "labels are integers", f"label: {label._aval}, input: {like._aval}")
    return label if kind.kind in "iu" else cast_to(label, INT64)


def _label_layout(where: str, x: Aval, label: Aval, axis: int) -> bool:
    """Whether the labels have the class axis; ValueError where their shape does not fit."""
    without = x.shape[:axis] + x.shape[axis + 1 :]
    if label.shape == (*x.shape[:axis], 1, *x.shape[axis + 1 :]):
        return True
    if label.shape == without:
        return False
    raise value_error(
        where,
        f"hard labels must have the shape {list(without)}, or 1 on the class axis",
        f"input: {x}, label: {label}",
    )


def _check_logits(where: str, x: Any, label: Any, axis: int) -> int:
    for name, value in (("input", x), ("label", label)):
        if not isinstance(value, Tensor):
            raise value_error(
                where,
                f"{name} must be a Tensor",
                f"{name}: {type(value).__name__}",
                "use to_tensor()",
            )
    if not is_floating(x._aval.dtype):
        raise type_error(where, "input must be a floating tensor", f"input: {x._aval}", "convert with astype()")
    if x._aval.ndim == 0:
        raise value_error(where, "input must have at least one dimension", f"input: {x._aval}")
    return normalise_axis(where, int(axis), x._aval.ndim)


def _reference_cross_entropy(
    x: np.ndarray,
    label: np.ndarray,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
) -> Any:
    """Cross entropy by its definition (for the samples)."""
    classes = x.shape[axis]
    logp = np.moveaxis(x.astype(np.float64), axis, -1)
    logp = logp - np.log(np.exp(logp).sum(-1, keepdims=True)) if use_softmax else np.log(logp)
    keeps = label.ndim == x.ndim
    valid = np.ones(logp.shape[:-1], bool)
    if not soft_label:
        hard = np.moveaxis(label, axis, -1)[..., 0] if keeps else label
        valid = hard != ignore_index
        soft = np.eye(classes)[np.where(valid, hard, 0)] * (1 - label_smoothing) + label_smoothing / classes
        soft = soft * valid[..., None]
    else:
        soft = np.moveaxis(label, axis, -1) * (1 - label_smoothing) + label_smoothing / classes
    loss = -(soft * logp).sum(-1)
    weights = valid.astype(float) if weight is None else (soft * weight).sum(-1)
    if weight is not None:
        loss = loss * weights
    if reduction == "sum":
        return loss.sum()
    if reduction == "mean":
        return loss.mean() if weight is None and ignore_index < 0 else loss.sum() / weights.sum()
    return np.expand_dims(loss, axis) if keeps or soft_label or label_smoothing else loss


_LABEL = A(4, values=[0, 2, 1, 4], dtype="int64")
# Probabilities: each row adds up to one.
_SOFT = A(4, 5, values=[[0.1, 0.2, 0.3, 0.4, 0], [1, 0, 0, 0, 0], [0.2] * 5, [0, 0.05, 0.05, 0.6, 0.3]])


@samples(
    S(A(4, 5), _LABEL),
    S(A(4, 5), A(4, 1, values=[[0], [2], [1], [4]], dtype="int32"), reduction="none"),
    S(A(4, 5), A(4, values=[0, -100, 1, -100], dtype="int64")),
    S(A(4, 5), _LABEL, ignore_index=2),
    S(A(4, 5), _LABEL, A(5, low=0.1), reduction="mean"),
    S(A(4, 5), _LABEL, A(5, low=0.1), 1, "none"),
    S(A(2, 5, 3), A(2, 3, values=[[0, 1, 2], [4, 3, 2]], dtype="int64"), axis=1, reduction="sum"),
    S(A(4, 5), _SOFT, soft_label=True),
    S(A(4, 5), _SOFT, A(5, low=0.1), soft_label=True, reduction="none"),
    S(A(4, 5), A(4, 5, low=0.0), A(5, low=0.1), soft_label=True, reduction="sum"),
    S(A(4, 5), _LABEL, label_smoothing=0.1),
    S(A(4, 5), _LABEL, A(5, low=0.1), label_smoothing=0.1),
    S(A(4, 5, low=0.1), _LABEL, use_softmax=False),
    S(A(4, 5, low=0.1), _SOFT, use_softmax=False, soft_label=True),
    S(A(5), A(values=3, dtype="int64")),
    reference=_reference_cross_entropy,
    tolerance=1e-4,
)
@public(module="nn.functional", aliases="label=target")
def cross_entropy(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """The cross entropy between scores and labels.

    The mean is over all labels for a negative `ignore_index` and over the counted ones otherwise.

    Args:
        input: logits along `axis`, or probabilities with `use_softmax=False`.
        label: class numbers, with or without the class axis; probabilities with `soft_label`.
        weight: a factor for each class; the mean becomes a weighted one.
        ignore_index: labels that count nothing.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        soft_label: whether `label` holds probabilities.
        axis: the axis of the classes.
        use_softmax: whether `input` holds logits.
        label_smoothing: the share of each label that goes evenly to all classes.
        name: a label; it changes nothing.

    Returns:
        One number, or one for each label with `reduction='none'`.

    Raises:
        ValueError: the shapes of `input` and `label` do not fit.
        IndexError: a class number is out of range.

    Examples:
        >>> logits = paddle.to_tensor([[2.0, 0.0], [0.0, 2.0]])
        >>> label = paddle.to_tensor([0, 0])
        >>> print(paddle.nn.functional.cross_entropy(logits, label, reduction="none").numpy().round(4))
        [0.1269 2.1269]
        >>> print(paddle.nn.functional.cross_entropy(logits, paddle.to_tensor([0, -100])).numpy().round(4))
        0.0635
        >>> label = paddle.to_tensor([[1.0, 0.0], [0.5, 0.5]])
        >>> print(paddle.nn.functional.cross_entropy(logits, label, soft_label=True).numpy().round(4))
        0.6269
    """
    where = "cross_entropy"
    check_reduction(where, reduction)
    axis = _check_logits(where, input, label, axis)
    if not 0 <= label_smoothing <= 1:
        raise value_error(where, "label_smoothing must be from 0 to 1", f"label_smoothing: {label_smoothing}")
    aval = input._aval
    classes, ignored = aval.shape[axis], int(ignore_index)
    if weight is not None and require_tensor(where, "weight", weight)._aval.shape != (classes,):
        raise value_error(
            where,
            f"weight must have the shape [{classes}]",
            f"weight: {weight._aval}, input: {aval}",
        )
    if soft_label:
        soft = _soft_label(where, input, label, ignored)
        if label_smoothing:
            soft = soft * (1.0 - label_smoothing) + divided(label_smoothing, classes)
        # A mean with ignore_index=0 is over the labels that are not 0, each class of each element counting as one.
        counted = cast_to(soft != 0.0, aval.dtype) if ignored == 0 else None
        return _soft_cross_entropy(input, soft, weight, reduction, axis, use_softmax, counted)
    label = _integer_label(where, label, input)
    keeps = _label_layout(where, aval, label._aval, axis)
    if label_smoothing:
        soft = smoothed_labels(label, float(label_smoothing), aval.dtype, axis, classes, ignored, keeps)
        counted = cast_to(label != ignored, aval.dtype) if ignored >= 0 and weight is None else None
        return _soft_cross_entropy(input, soft, weight, reduction, axis, use_softmax, counted)
    if use_softmax and weight is None:
        return softmax_cross_entropy(input, label, reduction, axis, classes, ignored, keeps)
    if use_softmax:
        loss = softmax_cross_entropy(input, label, "none", axis, classes, ignored, keeps)
    else:
        # The logarithm of 0 counts as -1e20, so that a mean stays a number. Ignored entries pick 0
        # and are set back to 0.
        picked = pick_class(input, label, axis, classes, ignored, keeps)
        loss = (-picked.log()).clip(max=1e20)
        loss = loss * class_weights(full_of(1.0, (classes,), aval.dtype), label, classes, ignored)
    if weight is not None:
        weights = class_weights(weight, label, classes, ignored)
        return weighted_loss(loss * weights, weights, reduction)  # type: ignore[operator]
    if reduction == "mean" and ignored >= 0:
        return loss.sum() / count_labels(label, aval.dtype, ignored)
    return reduce_loss(loss, reduction)


def _soft_label(where: str, x: Tensor, label: Tensor, ignored: int) -> Any:
    """Labels that are probabilities, in the dtype of the scores."""
    if ignored > 0:
        raise value_error(where, "ignore_index has no meaning for soft labels", f"ignore_index: {ignored}")
    if label._aval.shape != x._aval.shape:
        raise value_error(
            where, "soft labels must have the shape of the input", f"input: {x._aval}, label: {label._aval}"
        )
    return label if label._aval.dtype == x._aval.dtype else cast_to(label, x._aval.dtype)


def _soft_cross_entropy(
    x: Tensor,
    soft: Tensor,
    weight: Tensor | None,
    reduction: str,
    axis: int,
    use_softmax: bool,
    counted: Any,
) -> Tensor:
    """Labels as probabilities; the result keeps the class axis. `counted` says which labels a mean is over."""
    logarithm = log_softmax(x, axis) if use_softmax else x.log()
    loss = -(soft * logarithm).sum(axis, keepdim=True)
    if weight is not None:
        shape = tuple(n if a == axis else 1 for a, n in enumerate(x._aval.shape))
        weights: Any = soft * reshape_to(weight, shape)
        weights = weights.sum(axis, keepdim=True)
        return weighted_loss(loss * weights, weights if counted is None else weights * counted, reduction)
    if reduction == "mean" and counted is not None:
        return loss.sum() / counted.sum().clip(min=1.0)
    return reduce_loss(loss, reduction)


@samples(
    S(A(4, 5), A(4, 1, values=[[0], [2], [1], [4]], dtype="int64")),
    S(A(4, 5), _SOFT, soft_label=True),
    S(A(2, 5, 3), A(2, 1, 3, values=[[[0, 1, 2]], [[4, 3, 2]]], dtype="int64"), axis=1),
    reference=lambda x, label, soft_label=False, axis=-1: _reference_cross_entropy(
        x, label, soft_label=soft_label, axis=axis, reduction="none"
    ),
    tolerance=1e-4,
)
@public(module="nn.functional")
def softmax_with_cross_entropy(
    logits: Tensor,
    label: Tensor,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """The cross entropy of each label, with the class axis kept.

    Args:
        logits: scores along `axis`.
        label: class numbers, with a class axis of size 1; probabilities with `soft_label`.
        soft_label: whether `label` holds probabilities.
        ignore_index: labels that count nothing.
        numeric_stable_mode: accepted; the result is always the stable one.
        return_softmax: whether the probabilities are given too.
        axis: the axis of the classes.

    Returns:
        The losses; with `return_softmax` also the probabilities.

    Examples:
        >>> logits = paddle.to_tensor([[2.0, 0.0], [0.0, 2.0]])
        >>> label = paddle.to_tensor([[0], [0]])
        >>> print(paddle.nn.functional.softmax_with_cross_entropy(logits, label).numpy().round(4))
        [[0.1269]
         [2.1269]]
    """
    if isinstance(label, Tensor) and isinstance(logits, Tensor) and label._aval.ndim != logits._aval.ndim:
        raise value_error(
            "softmax_with_cross_entropy",
            "label must have as many dimensions as logits",
            f"logits: {logits._aval}, label: {label._aval}",
            "use unsqueeze() on the class axis",
        )
    ignored = -100 if soft_label else ignore_index  # without a meaning for probabilities
    loss = cross_entropy(logits, label, None, ignored, "none", soft_label, axis)
    if not return_softmax:
        return loss
    return loss, softmax(logits, axis)


def _reference_nll(
    x: np.ndarray,
    label: np.ndarray,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    valid = label != ignore_index
    safe = np.where(valid, label, 0)
    weights = valid * (1.0 if weight is None else weight[safe])
    loss = -np.take_along_axis(x, np.expand_dims(safe, 1), 1).reshape(label.shape) * weights
    return loss if reduction == "none" else loss.sum() if reduction == "sum" else loss.sum() / weights.sum()


@samples(
    S(A(4, 5), _LABEL),
    S(A(4, 5), A(4, values=[0, -100, 1, 3], dtype="int64"), A(5, low=0.1)),
    S(
        A(2, 3, 2, 2),
        A(2, 2, 2, values=np.arange(8).reshape(2, 2, 2) % 3, dtype="int64"),
        reduction="none",
    ),
    S(A(4, 5), _LABEL, A(5, low=0.1), ignore_index=2, reduction="sum"),
    reference=_reference_nll,
)
@public(module="nn.functional")
def nll_loss(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The negative log likelihood of labels: `-input[label]` along axis 1.

    The mean is weighted, and over the labels that count.

    Args:
        input: log probabilities, `[batch, classes, ...]`.
        label: class numbers, `[batch, ...]`.
        weight: a factor for each class.
        ignore_index: labels that count nothing.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or one for each label with `reduction='none'`.

    Examples:
        >>> log_probabilities = paddle.to_tensor([[-0.5, -1.0], [-2.0, -0.25]])
        >>> paddle.nn.functional.nll_loss(log_probabilities, paddle.to_tensor([0, 1]), reduction="none").tolist()
        [0.5, 0.25]
    """
    where = "nll_loss"
    check_reduction(where, reduction)
    _check_logits(where, input, label, 0)
    aval = input._aval
    if aval.ndim < 2:
        raise value_error(where, "input must have at least two dimensions", f"input: {aval}")
    classes, ignored = aval.shape[1], int(ignore_index)
    wanted = aval.shape[:1] + aval.shape[2:]
    label = _integer_label(where, label, input)
    if label._aval.shape != wanted:
        if label._aval.size != math.prod(wanted):
            raise value_error(
                where,
                f"label must have the shape {list(wanted)}",
                f"input: {aval}, label: {label._aval}",
            )
        label = reshape_to(label, wanted)
    if weight is not None and require_tensor(where, "weight", weight)._aval.shape != (classes,):
        raise value_error(
            where,
            f"weight must have the shape [{classes}]",
            f"weight: {weight._aval}, input: {aval}",
        )
    loss = -pick_class_for_nll(input, label, 1, classes, ignored, False)  # type: ignore[operator]
    if weight is None:
        if reduction == "mean":
            return loss.sum() / count_labels(label, aval.dtype, ignored)
        return reduce_loss(loss, reduction)
    weights = class_weights(weight, label, classes, ignored)
    return weighted_loss(loss * weights, weights, reduction)
