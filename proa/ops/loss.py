"""Loss functions.

Cross entropy with hard labels is one primitive, reduction included: one instruction forward and one backward. The other losses are
short compositions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.dtype import INT64, is_floating
from ..core.errors import type_error, value_error
from ..eager.declare import op, public
from ..eager.infer import broadcast, normalise_axis
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor
from ..ir.operation import Check
from .basic import cast_to, full_of, reshape_to
from .precision import wide

# ---- labels ------------------------------------------------------------------------------------------------------
#
# Operations on class labels share their attributes: the class axis of the logits, the number of classes, the label that
# means "leave this one out", and whether the labels have the class axis (with extent 1) or lack it.


def _label_check(error: type[Exception], position: int = 1) -> Check:
    def in_range(xp: Any, *arguments: Any) -> Any:
        label, (_, classes, ignored, _) = arguments[position], arguments[-4:]
        if xp is np and label.dtype.kind == "i":
            # Nearly always enough, and this runs at every call: a negative label is a huge unsigned one.
            if (label.view(f"u{label.dtype.itemsize}") < classes).all():
                return True
        return xp.all(((label >= 0) & (label < classes)) | (label == ignored))

    def explain(kinds: Any, attributes: tuple[Any, ...]) -> str:
        classes, ignored = attributes[-3:-1]
        return f"a label is out of range: expected 0 to {classes - 1}, or ignore_index ({ignored})"

    return Check(in_range, explain, error, (position,))


def _indices(xp: Any, label: Any, axis: int, classes: int, ignored: int, keeps: bool) -> tuple[Any, Any]:
    """Labels with the class axis, 0 where they are ignored, and where they are not."""
    if not keeps:
        label = xp.expand_dims(label, axis)
    valid = (label >= 0) & (label < classes) & (label != ignored)
    return xp.where(valid, label, 0), valid


def _is_class(xp: Any, index: Any, ndim: int, axis: int, classes: int) -> Any:
    """For each class whether it is the one named by the label."""
    return xp.arange(classes).reshape([-1 if a == axis else 1 for a in range(ndim)]) == index


def _pick(xp: Any, x: Any, index: Any, axis: int, classes: int) -> Any:
    if xp is np:
        return np.take_along_axis(x, index, axis)
    # A masked sum fuses with whatever gives x; a gather would not.
    return xp.sum(xp.where(_is_class(xp, index, x.ndim, axis, classes), x, 0), axis=axis, keepdims=True)


def _without_axis(x: Any, axis: int, keeps: bool) -> Any:
    return x if keeps else x.reshape(x.shape[:axis] + x.shape[axis + 1 :])


def _infer_label_shape(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(operands[1].shape)


def _pick_class(xp: Any, x: Any, label: Any, axis: int, classes: int, ignored: int, keeps: bool) -> Any:
    index, valid = _indices(xp, label, axis, classes, ignored, keeps)
    return _without_axis(xp.where(valid, _pick(xp, x, index, axis, classes), 0), axis, keeps)


def _picking_operation(name: str, error: type[Exception]) -> Callable[..., Tensor]:
    return op(
        "x label",
        infer=_infer_label_shape,
        check=_label_check(error),
        name=name,
        grad={
            "x": lambda g, label, axis, classes, ignored, keeps: spread_class(g, label, axis, classes, ignored, keeps)
        },
    )(_pick_class)


# The same but for the error that Paddle raises for a label out of range.
pick_class = _picking_operation("pick_class", IndexError)
pick_class_for_nll = _picking_operation("pick_class_for_nll", ValueError)


def _infer_spread(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    shape = operands[0].shape
    axis, classes, _, keeps = attributes
    return operands[0].with_shape((*shape[:axis], classes, *shape[axis + 1 if keeps else axis :]))


@op(
    "y label",
    infer=_infer_spread,
    grad={"y": lambda g, label, axis, classes, ignored, keeps: pick_class(g, label, axis, classes, ignored, keeps)},
)
def spread_class(xp: Any, y: Any, label: Any, axis: int, classes: int, ignored: int, keeps: bool) -> Any:
    """The transpose of picking: `y` at the labelled class, 0 at the others."""
    index, valid = _indices(xp, label, axis, classes, ignored, keeps)
    value = y if keeps else xp.expand_dims(y, axis)
    return xp.where(_is_class(xp, index, index.ndim, axis, classes) & valid, value, np.zeros((), y.dtype))


@op("weight label", infer=_infer_label_shape, grad="auto")
def class_weights(xp: Any, weight: Any, label: Any, classes: int, ignored: int) -> Any:
    """The weight of each labelled class; 0 where the label is ignored."""
    valid = (label >= 0) & (label < classes) & (label != ignored)
    return xp.where(valid, weight[xp.where(valid, label, 0)], np.zeros((), weight.dtype))


def _infer_smoothed(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    label = operands[0]
    dtype, axis, classes, _, keeps = attributes
    shape = (*label.shape[:axis], classes, *label.shape[axis + 1 if keeps else axis :])
    return label.with_shape(shape).with_dtype(dtype)


@op("label", scalars="smoothing", follow_scalars=False, infer=_infer_smoothed, check=_label_check(IndexError, 0))
def smoothed_labels(
    xp: Any, label: Any, smoothing: Any, dtype: np.dtype, axis: int, classes: int, ignored: int, keeps: bool
) -> Any:
    """Labels as probabilities: `1 - smoothing` on the class, the rest spread evenly; all 0 where ignored."""
    index, valid = _indices(xp, label, axis, classes, ignored, keeps)
    share = smoothing / classes
    chosen = _is_class(xp, index, index.ndim, axis, classes)
    return xp.where(valid, xp.where(chosen, 1 - smoothing + share, share), 0.0).astype(dtype)


@op("label", infer=lambda operation, operands, attributes, place: operands[0].with_shape(()).with_dtype(attributes[0]))
def count_labels(xp: Any, label: Any, dtype: np.dtype, ignored: int) -> Any:
    """How many labels are not ignored, at least 1."""
    return xp.maximum(xp.sum(label != ignored), 1).astype(dtype)


# ---- softmax and cross entropy in one ----------------------------------------------------------------------------


def _infer_cross_entropy(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(operands[1].shape if attributes[0] == "none" else ())


def _divisor(xp: Any, valid: Any, reduction: str, ignored: int) -> Any:
    """What the sum is divided by. Paddle counts ignored labels too unless ignore_index could be a class."""
    if reduction != "mean":
        return 1
    return xp.maximum(xp.sum(valid), 1) if ignored >= 0 else max(valid.size, 1)


@op(
    "logits label",
    infer=_infer_cross_entropy,
    check=_label_check(IndexError),
    grad={
        "logits": lambda g, logits, label, reduction, axis, classes, ignored, keeps: softmax_cross_entropy_grad(
            logits, label, g, reduction, axis, classes, ignored, keeps
        )
    },
)
def softmax_cross_entropy(
    xp: Any, logits: Any, label: Any, reduction: str, axis: int, classes: int, ignored: int, keeps: bool
) -> Any:
    """-log softmax(logits)[label], reduced."""
    logits = wide(logits)
    index, valid = _indices(xp, label, axis, classes, ignored, keeps)
    shifted = logits - xp.max(logits, axis=axis, keepdims=True)
    logarithm = xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))
    loss = xp.where(valid, logarithm - _pick(xp, shifted, index, axis, classes), np.zeros((), logits.dtype))
    if reduction == "none":
        return _without_axis(loss, axis, keeps)
    total = xp.sum(loss)
    if reduction == "sum":
        return total
    if not loss.size:
        return xp.asarray(np.nan, logits.dtype)  # the mean of nothing
    return total / xp.asarray(_divisor(xp, valid, reduction, ignored)).astype(logits.dtype)


@op("logits label y", infer=lambda operation, operands, attributes, place: operands[0], grad="auto")
def softmax_cross_entropy_grad(
    xp: Any, logits: Any, label: Any, y: Any, reduction: str, axis: int, classes: int, ignored: int, keeps: bool
) -> Any:
    """(softmax(logits) - onehot(label)) * y."""
    wider = wide(logits)
    index, valid = _indices(xp, label, axis, classes, ignored, keeps)
    powers = xp.exp(wider - xp.max(wider, axis=axis, keepdims=True))
    probability = powers / xp.sum(powers, axis=axis, keepdims=True)
    scale = wide(y)
    if reduction == "none":
        scale = scale if keeps else xp.expand_dims(scale, axis)
    else:
        scale = scale / xp.asarray(_divisor(xp, valid, reduction, ignored)).astype(scale.dtype)
    scale = xp.where(valid, scale, np.zeros((), scale.dtype))
    chosen = _is_class(xp, index, logits.ndim, axis, classes)
    return (xp.where(chosen, probability - 1, probability) * scale).astype(logits.dtype)


# ---- cross entropy, public ---------------------------------------------------------------------------------------


def _check_reduction(where: str, reduction: Any) -> str:
    if reduction not in ("mean", "sum", "none"):
        raise value_error(where, "reduction must be 'mean', 'sum' or 'none'", f"reduction: {reduction!r}")
    return reduction


def _reduce(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()  # type: ignore[attr-defined]


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
        where, f"hard labels must have the shape {list(without)}, or 1 on the class axis", f"input: {x}, label: {label}"
    )


def _check_logits(where: str, x: Any, label: Any, axis: int) -> int:
    for name, value in (("input", x), ("label", label)):
        if not isinstance(value, Tensor):
            raise value_error(where, f"{name} must be a Tensor", f"{name}: {type(value).__name__}", "use to_tensor()")
    if not is_floating(x._aval.dtype):
        raise type_error(where, "input must be a floating tensor", f"input: {x._aval}", "convert with astype()")
    if x._aval.ndim == 0:
        raise value_error(where, "input must have at least one dimension", f"input: {x._aval}")
    return normalise_axis(where, int(axis), x._aval.ndim)


def _reference_cross_entropy(
    x: np.ndarray, label: np.ndarray, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    soft_label: bool = False, axis: int = -1, use_softmax: bool = True, label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
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


@samples(
    S(A(4, 5), _LABEL), S(A(4, 5), A(4, 1, values=[[0], [2], [1], [4]], dtype="int32"), reduction="none"),
    S(A(4, 5), A(4, values=[0, -100, 1, -100], dtype="int64")), S(A(4, 5), _LABEL, ignore_index=2),
    S(A(4, 5), _LABEL, A(5, low=0.1), reduction="mean"), S(A(4, 5), _LABEL, A(5, low=0.1), 1, "none"),
    S(A(2, 5, 3), A(2, 3, values=[[0, 1, 2], [4, 3, 2]], dtype="int64"), axis=1, reduction="sum"),
    S(A(4, 5), A(4, 5, low=0.0), soft_label=True), S(A(4, 5), A(4, 5, low=0.0), A(5, low=0.1), soft_label=True, reduction="none"),
    S(A(4, 5), _LABEL, label_smoothing=0.1), S(A(4, 5), _LABEL, A(5, low=0.1), label_smoothing=0.1),
    S(A(4, 5, low=0.1), _LABEL, use_softmax=False), S(A(4, 5, low=0.1), A(4, 5, low=0.0), use_softmax=False, soft_label=True),
    S(A(5), A(values=3, dtype="int64")),
    reference=_reference_cross_entropy, tolerance=1e-4,
)  # fmt: skip
@public(module="nn.functional")
def cross_entropy(
    input: Tensor, label: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
    soft_label: bool = False, axis: int = -1, use_softmax: bool = True, label_smoothing: float = 0.0, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The cross entropy between scores and labels.

    `input` holds logits (or probabilities with `use_softmax=False`) along `axis`. `label` holds class numbers, with or without
    the class axis, or probabilities with `soft_label`. Labels equal to `ignore_index` count nothing; the mean is over all
    labels for a negative `ignore_index` and over the counted ones otherwise. `weight` scales classes, and the mean becomes a
    weighted one. `label_smoothing` moves that share of each label evenly to all classes.
    """
    where = "cross_entropy"
    _check_reduction(where, reduction)
    axis = _check_logits(where, input, label, axis)
    if not 0 <= label_smoothing <= 1:
        raise value_error(where, "label_smoothing must be from 0 to 1", f"label_smoothing: {label_smoothing}")
    aval = input._aval
    classes, ignored = aval.shape[axis], int(ignore_index)
    if weight is not None and weight._aval.shape != (classes,):
        raise value_error(where, f"weight must have the shape [{classes}]", f"weight: {weight._aval}, input: {aval}")
    if soft_label:
        if ignored != -100:
            raise value_error(where, "ignore_index has no meaning for soft labels", f"ignore_index: {ignored}")
        if label._aval.shape != aval.shape:
            raise value_error(where, "soft labels must have the shape of the input", f"input: {aval}, label: {label._aval}")
        soft = label if label._aval.dtype == aval.dtype else cast_to(label, aval.dtype)
        if label_smoothing:
            soft = soft * (1.0 - label_smoothing) + label_smoothing / classes
        return _soft_cross_entropy(input, soft, weight, reduction, axis, use_softmax, None)
    label = _integer_label(where, label, input)
    keeps = _label_layout(where, aval, label._aval, axis)
    if label_smoothing:
        soft = smoothed_labels(label, float(label_smoothing), aval.dtype, axis, classes, ignored, keeps)
        count = count_labels(label, aval.dtype, ignored) if ignored >= 0 else None
        return _soft_cross_entropy(input, soft, weight, reduction, axis, use_softmax, count)
    if use_softmax and weight is None:
        return softmax_cross_entropy(input, label, reduction, axis, classes, ignored, keeps)
    if use_softmax:
        loss = softmax_cross_entropy(input, label, "none", axis, classes, ignored, keeps)
    else:
        # The logarithm of 0 counts as -1e20, so that a mean stays a number. Ignored entries pick 0 and are set back to 0.
        picked = pick_class(input, label, axis, classes, ignored, keeps)
        loss = (-picked.log()).clip(max=1e20)  # type: ignore[attr-defined]
        loss = loss * class_weights(full_of(1.0, (classes,), aval.dtype), label, classes, ignored)
    if weight is not None:
        weights = class_weights(weight, label, classes, ignored)
        loss = loss * weights
        return loss.sum() / weights.sum() if reduction == "mean" else _reduce(loss, reduction)  # type: ignore[attr-defined]
    if reduction == "mean" and ignored >= 0:
        return loss.sum() / count_labels(label, aval.dtype, ignored)  # type: ignore[attr-defined]
    return _reduce(loss, reduction)


def _soft_cross_entropy(
    x: Tensor, soft: Tensor, weight: Tensor | None, reduction: str, axis: int, use_softmax: bool, count: Tensor | None
) -> Tensor:
    """Labels as probabilities; the result keeps the class axis. `count` replaces the number of labels in a mean."""
    from .softmax import log_softmax

    logarithm = log_softmax(x, axis) if use_softmax else x.log()  # type: ignore[attr-defined]
    loss = -(soft * logarithm).sum(axis, keepdim=True)  # type: ignore[attr-defined]
    if weight is not None:
        shape = tuple(n if a == axis else 1 for a, n in enumerate(x._aval.shape))
        weights = (soft * reshape_to(weight, shape)).sum(axis, keepdim=True)  # type: ignore[attr-defined]
        loss = loss * weights
        if reduction == "mean":
            return loss.sum() / weights.sum()
    if reduction == "mean" and count is not None:
        return loss.sum() / count
    return _reduce(loss, reduction)


@samples(
    S(A(4, 5), A(4, 1, values=[[0], [2], [1], [4]], dtype="int64")), S(A(4, 5), A(4, 5, low=0.0), soft_label=True),
    S(A(2, 5, 3), A(2, 1, 3, values=[[[0, 1, 2]], [[4, 3, 2]]], dtype="int64"), axis=1),
    reference=lambda x, label, soft_label=False, axis=-1: _reference_cross_entropy(
        x, label, soft_label=soft_label, axis=axis, reduction="none"),
    tolerance=1e-4,
)  # fmt: skip
@public(module="nn.functional")
def softmax_with_cross_entropy(
    logits: Tensor, label: Tensor, soft_label: bool = False, ignore_index: int = -100, numeric_stable_mode: bool = True,
    return_softmax: bool = False, axis: int = -1,
) -> Any:  # fmt: skip
    """The cross entropy of each label, with the class axis kept; with `return_softmax` also the probabilities."""
    if isinstance(label, Tensor) and isinstance(logits, Tensor) and label._aval.ndim != logits._aval.ndim:
        raise value_error(
            "softmax_with_cross_entropy", "label must have as many dimensions as logits",
            f"logits: {logits._aval}, label: {label._aval}", "use unsqueeze() on the class axis",
        )  # fmt: skip
    loss = cross_entropy(logits, label, None, ignore_index, "none", soft_label, axis)
    if not return_softmax:
        return loss
    from .softmax import softmax

    return loss, softmax(logits, axis)


def _reference_nll(x: np.ndarray, label: np.ndarray, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    valid = label != ignore_index
    safe = np.where(valid, label, 0)
    weights = valid * (1.0 if weight is None else weight[safe])
    loss = -np.take_along_axis(x, np.expand_dims(safe, 1), 1).reshape(label.shape) * weights
    return loss if reduction == "none" else loss.sum() if reduction == "sum" else loss.sum() / weights.sum()


@samples(
    S(A(4, 5), _LABEL), S(A(4, 5), A(4, values=[0, -100, 1, 3], dtype="int64"), A(5, low=0.1)),
    S(A(2, 3, 2, 2), A(2, 2, 2, values=np.arange(8).reshape(2, 2, 2) % 3, dtype="int64"), reduction="none"),
    S(A(4, 5), _LABEL, A(5, low=0.1), ignore_index=2, reduction="sum"),
    reference=_reference_nll,
)  # fmt: skip
@public(module="nn.functional")
def nll_loss(
    input: Tensor, label: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """-input[label] along axis 1, for an input of log probabilities; the mean is weighted and over counted labels."""
    where = "nll_loss"
    _check_reduction(where, reduction)
    _check_logits(where, input, label, 0)
    aval = input._aval
    if aval.ndim < 2:
        raise value_error(where, "input must have at least two dimensions", f"input: {aval}")
    classes, ignored = aval.shape[1], int(ignore_index)
    wanted = aval.shape[:1] + aval.shape[2:]
    label = _integer_label(where, label, input)
    if label._aval.shape != wanted:
        if label._aval.size != math.prod(wanted):
            raise value_error(where, f"label must have the shape {list(wanted)}", f"input: {aval}, label: {label._aval}")
        label = reshape_to(label, wanted)
    if weight is not None and weight._aval.shape != (classes,):
        raise value_error(where, f"weight must have the shape [{classes}]", f"weight: {weight._aval}, input: {aval}")
    loss = -pick_class_for_nll(input, label, 1, classes, ignored, False)  # type: ignore[operator]
    if weight is None:
        if reduction == "mean":
            return loss.sum() / count_labels(label, aval.dtype, ignored)
        return _reduce(loss, reduction)
    weights = class_weights(weight, label, classes, ignored)
    loss = loss * weights
    return loss.sum() / weights.sum() if reduction == "mean" else _reduce(loss, reduction)


# ---- regression --------------------------------------------------------------------------------------------------


def _two_tensors(where: str, input: Any, label: Any) -> None:
    for name, value in (("input", input), ("label", label)):
        if not isinstance(value, Tensor):
            raise value_error(where, f"{name} must be a Tensor", f"{name}: {type(value).__name__}", "use to_tensor()")


def _reduced(loss: Any, reduction: str) -> Any:
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


@samples(S(A(3, 2), A(3, 2)), S(A(3), A(3)), S(A(2, 3), A(3)), reference=lambda x, y: (x - y) ** 2)
@public(module="nn.functional")
def square_error_cost(input: Tensor, label: Tensor) -> Tensor:
    """(input - label)², element by element."""
    _two_tensors("square_error_cost", input, label)
    difference = input - label  # type: ignore[operator]
    return difference * difference


@samples(
    S(A(3, 2), A(3, 2)), S(A(3), A(3), "sum"), S(A(2, 3), A(3), reduction="none"),
    reference=lambda x, y, reduction="mean": _reduced((x - y) ** 2, reduction),
)  # fmt: skip
@public(module="nn.functional")
def mse_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """The mean squared error."""
    _check_reduction("mse_loss", reduction)
    _two_tensors("mse_loss", input, label)
    return _reduce(square_error_cost(input, label), reduction)


@samples(
    S(A(3, 2), A(3, 2)), S(A(3), A(3), "sum"), S(A(2, 3), A(3), reduction="none"),
    reference=lambda x, y, reduction="mean": _reduced(np.abs(x - y), reduction),
)  # fmt: skip
@public(module="nn.functional")
def l1_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """The mean absolute error."""
    _check_reduction("l1_loss", reduction)
    _two_tensors("l1_loss", input, label)
    return _reduce((input - label).abs(), reduction)  # type: ignore[operator]


def _reference_smooth_l1(
    x: np.ndarray, y: np.ndarray, reduction: str = "mean", delta: float = 1.0, is_huber: bool = True
) -> Any:
    d = np.abs(x - y)
    loss = np.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))
    return _reduced(loss if is_huber else loss / delta, reduction)


@samples(
    S(A(3, 2), A(3, 2)), S(A(4), A(4), "none", 0.5), S(A(4), A(4), "sum", delta=0.7, is_huber=False),
    reference=_reference_smooth_l1,
)  # fmt: skip
@public(module="nn.functional")
def smooth_l1_loss(
    input: Tensor, label: Tensor, reduction: str = "mean", delta: float = 1.0, is_huber: bool = True, name: str | None = None
) -> Tensor:
    """Squared for differences up to `delta`, linear beyond: Huber's loss, or that divided by `delta`."""
    _check_reduction("smooth_l1_loss", reduction)
    _two_tensors("smooth_l1_loss", input, label)
    difference = input - label  # type: ignore[operator]
    clipped = difference.clip(-float(delta), float(delta))
    loss = clipped * (difference - clipped * 0.5)
    return _reduce(loss if is_huber else loss * (1.0 / delta), reduction)


# ---- probabilities -----------------------------------------------------------------------------------------------


def _probability_check() -> Check:
    def in_range(xp: Any, x: Any, *_: Any) -> Any:
        return ~xp.any((x < 0) | (x > 1))

    return Check(in_range, lambda kinds, attributes: "input must be probabilities, from 0 to 1", ValueError, (0,))


@op(
    "x label",
    infer=broadcast,
    check=_probability_check(),
    grad={
        "x": lambda g, x, label: g * (x - label) / (x * (1.0 - x)).clip(min=1e-12),
        "label": lambda g, x: g * ((1.0 - x).log().clip(min=-100.0) - x.log().clip(min=-100.0)),
    },
)
def probability_cross_entropy(xp: Any, x: Any, label: Any) -> Any:
    """-(label log x + (1 - label) log(1 - x)), with logarithms cut off at -100."""
    p, label = wide(x), wide(label)
    out = -(label * xp.maximum(xp.log(p), -100) + (1 - label) * xp.maximum(xp.log1p(-p), -100))
    return out.astype(x.dtype)


def _same_shapes(where: str, **tensors: Any) -> None:
    shapes = set()
    for name, value in tensors.items():
        if not isinstance(value, Tensor):
            raise value_error(where, f"{name} must be a Tensor", f"{name}: {type(value).__name__}", "use to_tensor()")
        shapes.add(value._aval.shape)
    if len(shapes) > 1:
        received = ", ".join(f"{name}: {value._aval}" for name, value in tensors.items())
        raise value_error(where, "the tensors must have the same shape", received)


def _reference_bce(x: np.ndarray, y: np.ndarray, weight: Any = None, reduction: str = "mean") -> Any:
    with np.errstate(divide="ignore"):
        loss = -(y * np.maximum(np.log(x), -100) + (1 - y) * np.maximum(np.log(1 - x), -100))
    return _reduced(loss * (1 if weight is None else weight), reduction)


@samples(
    S(A(3, 2, low=0.1, high=0.9), A(3, 2, low=0.0, high=1.0)), S(A(4, low=0.1, high=0.9), A(4, low=0.0, high=1.0), A(4), "none"),
    S(A(2, values=[0.0, 1.0], grad=False), A(2, values=[1.0, 1.0], grad=False), reduction="sum"),
    reference=_reference_bce,
)  # fmt: skip
@public(module="nn.functional")
def binary_cross_entropy(
    input: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """The cross entropy between probabilities and labels of two classes, both from 0 to 1."""
    _check_reduction("binary_cross_entropy", reduction)
    _same_shapes("binary_cross_entropy", input=input, label=label)
    loss = probability_cross_entropy(input, label)
    return _reduce(loss if weight is None else loss * weight, reduction)  # type: ignore[operator]


@op(
    "logit label",
    infer=broadcast,
    grad={
        "logit": lambda g, logit, label: g * (logit.sigmoid() - label),
        "label": lambda g, logit: -(g * logit),
    },
)
def sigmoid_cross_entropy(xp: Any, logit: Any, label: Any) -> Any:
    """`probability_cross_entropy` of sigmoid(logit), without overflow."""
    z = wide(logit)
    out = xp.maximum(z, 0) - z * wide(label) + xp.log1p(xp.exp(-xp.abs(z)))
    return out.astype(logit.dtype)


def _reference_bce_logits(
    x: np.ndarray, y: np.ndarray, weight: Any = None, reduction: str = "mean", pos_weight: Any = None
) -> Any:
    p = 1 / (1 + np.exp(-x.astype(np.float64)))
    loss = -(y * np.log(p) * (1 if pos_weight is None else pos_weight) + (1 - y) * np.log(1 - p))
    return _reduced(loss * (1 if weight is None else weight), reduction)


@samples(
    S(A(3, 2), A(3, 2, low=0.0, high=1.0)), S(A(4), A(4, low=0.0, high=1.0), A(4), "none"),
    S(A(2, 3), A(2, 3, low=0.0, high=1.0), reduction="sum", pos_weight=A(3, low=0.1)),
    reference=_reference_bce_logits,
)  # fmt: skip
@public(module="nn.functional")
def binary_cross_entropy_with_logits(
    logit: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The cross entropy between sigmoid(logit) and labels of two classes; `pos_weight` scales the positive ones."""
    _check_reduction("binary_cross_entropy_with_logits", reduction)
    _same_shapes("binary_cross_entropy_with_logits", logit=logit, label=label)
    if pos_weight is None:
        loss = sigmoid_cross_entropy(logit, label)
    else:
        ones = full_of(1.0, logit._aval.shape, logit._aval.dtype)
        scale = (pos_weight - 1.0) * label + 1.0  # type: ignore[operator]
        loss = (1.0 - label) * logit + scale * sigmoid_cross_entropy(logit, ones)  # type: ignore[operator]
    return _reduce(loss if weight is None else loss * weight, reduction)  # type: ignore[operator]


def _reference_kl(x: np.ndarray, y: np.ndarray, reduction: str = "mean", log_target: bool = False) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.exp(y) * (y - x) if log_target else np.where(y > 0, y * (np.log(y) - x), 0)
    return loss.sum() / x.shape[0] if reduction == "batchmean" else _reduced(loss, reduction)


@samples(
    S(A(3, 2), A(3, 2, low=0.1)), S(A(3, 2), A(3, 2), "sum", log_target=True), S(A(3, 2), A(3, 2, low=0.1), "batchmean"),
    S(A(2), A(2, values=[0.0, -1.0], grad=False), "none"),
    reference=_reference_kl,
)  # fmt: skip
@public(module="nn.functional")
def kl_div(
    input: Tensor, label: Tensor, reduction: str = "mean", log_target: bool = False, name: str | None = None
) -> Tensor:
    """The Kullback-Leibler divergence label (log label - input), for an input of log probabilities.

    With `log_target` the labels are logarithms as well. 'batchmean' divides the sum by the batch size.
    """
    if reduction not in ("mean", "sum", "none", "batchmean"):
        raise value_error("kl_div", "reduction must be 'mean', 'batchmean', 'sum' or 'none'", f"reduction: {reduction!r}")
    _same_shapes("kl_div", input=input, label=label)
    if log_target:
        loss = label.exp() * (label - input)  # type: ignore[attr-defined]
    else:
        from .ternary import where

        positive = label > 0.0  # type: ignore[operator]
        zeros = full_of(0.0, label._aval.shape, label._aval.dtype)
        safe = where(positive, label, full_of(1.0, label._aval.shape, label._aval.dtype))
        loss = where(positive, label * (safe.log() - input), zeros)
    if reduction == "batchmean":
        return loss.sum() * (1.0 / max(input._aval.shape[0], 1)) if input._aval.ndim else loss.sum()
    return _reduce(loss, reduction)
