"""Primitives on class labels, and cross entropy with hard labels in one instruction.

Their attributes are the same: the class axis of the logits, the number of classes, the label that
means "leave this one out", and whether the labels have the class axis (with extent 1) or lack it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from ....core.aval import Aval
from ....core.dtype import FLOAT32
from ....core.namespaces import can_write
from ....eager.declare import op
from ....eager.tensor import Tensor
from ....ir.operation import Check
from ....ir.padding import rules
from ....ir.traits import GivenTraits
from ....kernels.cpu.losses import native_cross_entropy, native_cross_entropy_grad
from ....kernels.gpu.cold import rows as cold
from ...index.indexing_kernels import IndexOutOfRange, is_plain
from ...precision import wide

_UNSIGNED = {np.dtype(f"i{size}"): np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def _label_check(error: type[Exception], position: int = 1) -> Check:
    def in_range(xp: Any, *arguments: Any) -> Any:
        label, (_, classes, ignored, _) = arguments[position], arguments[-4:]
        # Nearly always enough, and it runs at every call: a negative label is a huge unsigned one.
        unsigned = _UNSIGNED.get(label.dtype) if xp is np else None
        if unsigned is not None and np.logical_and.reduce(label.view(unsigned) < classes, axis=None):
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
    if can_write(xp):
        return xp.take_along_axis(x, index, axis)
    # A masked sum fuses with whatever gives x; a gather would not.
    return xp.sum(xp.where(_is_class(xp, index, x.ndim, axis, classes), x, 0), axis=axis, keepdims=True)


def _without_axis(x: Any, axis: int, keeps: bool) -> Any:
    return x if keeps else x.reshape(x.shape[:axis] + x.shape[axis + 1 :])


def _infer_label_shape(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(operands[1].shape)


def _pick_class(xp: Any, x: Any, label: Any, axis: int, classes: int, ignored: int, keeps: bool) -> Any:
    index, valid = _indices(xp, label, axis, classes, ignored, keeps)
    return _without_axis(xp.where(valid, _pick(xp, x, index, axis, classes), 0), axis, keeps)


def _picking_operation(name: str, error: type[Exception], **traits: Unpack[GivenTraits]) -> Callable[..., Tensor]:
    return op(
        "x label",
        infer=_infer_label_shape,
        check=_label_check(error),
        name=name,
        grad={
            "x": lambda g, label, axis, classes, ignored, keeps: spread_class(g, label, axis, classes, ignored, keeps)
        },
        **traits,
    )(_pick_class)


# The same but for the error that Paddle raises for a label out of range.
pick_class = _picking_operation("pick_class", IndexError, padding=rules.labels.pick)
pick_class_for_nll = _picking_operation(
    "pick_class_for_nll", ValueError, padding=rules.labels.pick, paddle_name="nll_loss"
)


def _infer_spread(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    shape = operands[0].shape
    axis, classes, _, keeps = attributes
    return operands[0].with_shape((*shape[:axis], classes, *shape[axis + 1 if keeps else axis :]))


@op(
    "y label",
    infer=_infer_spread,
    grad={"y": lambda g, label, axis, classes, ignored, keeps: pick_class(g, label, axis, classes, ignored, keeps)},
    padding=rules.labels.spread,
)
def spread_class(xp: Any, y: Any, label: Any, axis: int, classes: int, ignored: int, keeps: bool) -> Any:
    """The transpose of picking: `y` at the labelled class, 0 at the others."""
    index, valid = _indices(xp, label, axis, classes, ignored, keeps)
    value = y if keeps else xp.expand_dims(y, axis)
    return xp.where(_is_class(xp, index, index.ndim, axis, classes) & valid, value, y.dtype.type(0))


@op("weight label", infer=_infer_label_shape, grad="auto", padding=rules.labels.weights)
def class_weights(xp: Any, weight: Any, label: Any, classes: int, ignored: int) -> Any:
    """The weight of each labelled class; 0 where the label is ignored."""
    valid = (label >= 0) & (label < classes) & (label != ignored)
    return xp.where(valid, weight[xp.where(valid, label, 0)], weight.dtype.type(0))


def _infer_smoothed(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    label = operands[0]
    dtype, axis, classes, _, keeps = attributes
    shape = (*label.shape[:axis], classes, *label.shape[axis + 1 if keeps else axis :])
    return label.with_shape(shape).with_dtype(dtype)


@op(
    "label",
    scalars="smoothing",
    follow_scalars=False,
    infer=_infer_smoothed,
    check=_label_check(IndexError, 0),
    padding=rules.labels.smoothed,
)
def smoothed_labels(
    xp: Any,
    label: Any,
    smoothing: Any,
    dtype: np.dtype,
    axis: int,
    classes: int,
    ignored: int,
    keeps: bool,
) -> Any:
    """Labels as probabilities: `1 - smoothing` on the class, the rest spread evenly; all 0 where
    ignored.
    """
    index, valid = _indices(xp, label, axis, classes, ignored, keeps)
    share = smoothing / classes
    chosen = _is_class(xp, index, index.ndim, axis, classes)
    return xp.where(valid, xp.where(chosen, 1 - smoothing + share, share), 0.0).astype(dtype)


@op(
    "label",
    infer=lambda operation, operands, attributes, place: operands[0].with_shape(()).with_dtype(attributes[0]),
    padding=rules.labels.count,
)
def count_labels(xp: Any, label: Any, dtype: np.dtype, ignored: int) -> Any:
    """How many labels are not ignored, at least 1."""
    return xp.maximum(xp.sum(label != ignored), 1).astype(dtype)


@op(
    "label",
    infer=lambda operation, operands, attributes, place: operands[0],
    check=Check(
        lambda xp, label, lowest, classes: xp.all((label >= lowest) & (label < classes)),
        lambda kinds, attributes: f"a label is out of range; allowed: {attributes[0]} to {attributes[1] - 1}",
        IndexOutOfRange,
        (0,),
    ),
    padding=rules.labels.checked,
)
def checked_labels(xp: Any, label: Any, lowest: int, classes: int) -> Any:
    """The labels, within their range: for losses that bring them into range before they use them."""
    return xp.clip(label, lowest, classes - 1)


# ---- softmax and cross entropy in one ------------------------------------------------------------


def _infer_cross_entropy(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0].with_shape(operands[1].shape if attributes[0] == "none" else ())


def _divisor(xp: Any, valid: Any, reduction: str, ignored: int) -> Any:
    """What the sum is divided by. Paddle counts ignored labels too unless ignore_index could be a
    class.
    """
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
    paddle_name="softmax_with_cross_entropy",
    padding=rules.labels.cross_entropy,
)
def softmax_cross_entropy(
    xp: Any,
    logits: Any,
    label: Any,
    reduction: str,
    axis: int,
    classes: int,
    ignored: int,
    keeps: bool,
) -> Any:
    """-log softmax(logits)[label], reduced."""
    logits = wide(logits)
    index, valid = _indices(xp, label, axis, classes, ignored, keeps)
    shifted = logits - xp.max(logits, axis=axis, keepdims=True)
    logarithm = xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))
    loss = xp.where(valid, logarithm - _pick(xp, shifted, index, axis, classes), logits.dtype.type(0))
    if reduction == "none":
        return _without_axis(loss, axis, keeps)
    total = xp.sum(loss)
    if reduction == "sum":
        return total
    if not loss.size:
        return xp.asarray(np.nan, logits.dtype)  # the mean of nothing
    return total / xp.asarray(_divisor(xp, valid, reduction, ignored)).astype(logits.dtype)


@op(
    "logits label y",
    infer=lambda operation, operands, attributes, place: operands[0],
    grad="auto",
    padding=rules.labels.cross_entropy_grad,
)
def softmax_cross_entropy_grad(
    xp: Any,
    logits: Any,
    label: Any,
    y: Any,
    reduction: str,
    axis: int,
    classes: int,
    ignored: int,
    keeps: bool,
) -> Any:
    """(softmax(logits) - onehot(label)) * y."""
    wider = wide(logits)
    index, valid = _indices(xp, label, axis, classes, ignored, keeps)
    shifted = wider - xp.max(wider, axis=axis, keepdims=True)
    # Not the powers over their sum: a compiler would keep the powers of the forward pass for that, a second array as large
    # as the logits, and in float32.
    probability = xp.exp(shifted - xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True)))
    scale = wide(y)
    if reduction == "none":
        scale = scale if keeps else xp.expand_dims(scale, axis)
    else:
        scale = scale / xp.asarray(_divisor(xp, valid, reduction, ignored)).astype(scale.dtype)
    scale = xp.where(valid, scale, scale.dtype.type(0))
    chosen = _is_class(xp, index, logits.ndim, axis, classes)
    return (xp.where(chosen, probability - 1, probability) * scale).astype(logits.dtype)


def _shifted_rows(
    logits: Any, label: Any, axis: int, classes: int, ignored: int, keeps: bool
) -> tuple[Any, Any, Any] | None:
    """For NumPy, of rows of classes whose labels all count (nearly always): the rows less their largest, the logarithms of
    the sums of their powers, and where the labelled classes lie. None for anything else."""
    if logits.ndim != 2 or axis != 1 or keeps or 0 <= ignored < classes or logits.dtype is not FLOAT32:
        return None
    if not is_plain(np, label, classes):
        return None
    shifted = logits - np.maximum.reduce(logits, axis=1, keepdims=True)
    logarithms = np.log(np.add.reduce(np.exp(shifted), axis=1))
    return shifted, logarithms, (np.arange(len(label)), label)


def _cross_entropy_of_rows(
    xp: Any, logits: Any, label: Any, reduction: str, axis: int, classes: int, ignored: int, keeps: bool
) -> Any:
    rows = _shifted_rows(logits, label, axis, classes, ignored, keeps)
    if rows is None:
        return softmax_cross_entropy.operation.kernel(xp, logits, label, reduction, axis, classes, ignored, keeps)
    shifted, logarithms, chosen = rows
    loss = logarithms - shifted[chosen]
    if reduction == "none":
        return loss
    total = np.add.reduce(loss)
    return total if reduction == "sum" else total / np.float32(len(label))


def _cross_entropy_grad_of_rows(
    xp: Any, logits: Any, label: Any, y: Any, reduction: str, axis: int, classes: int, ignored: int, keeps: bool
) -> Any:
    rows = _shifted_rows(logits, label, axis, classes, ignored, keeps)
    if rows is None or y.dtype is not FLOAT32:
        return softmax_cross_entropy_grad.operation.kernel(
            xp, logits, label, y, reduction, axis, classes, ignored, keeps
        )
    shifted, logarithms, chosen = rows
    shifted -= logarithms[:, None]
    np.exp(shifted, out=shifted)
    shifted[chosen] -= 1
    shifted *= y[:, None] if reduction == "none" else y / np.float32(len(label) if reduction == "mean" else 1)
    return shifted


for _primitive, _native, _on_numpy, _cold in (
    (softmax_cross_entropy, native_cross_entropy, _cross_entropy_of_rows, cold.cross_entropy),
    (softmax_cross_entropy_grad, native_cross_entropy_grad, _cross_entropy_grad_of_rows, cold.cross_entropy_grad),
):
    _operation = _primitive.operation
    _operation.kernels["cpu"] = _native(_operation.kernel)
    _operation.kernels["numpy"] = _on_numpy
    _operation.kernels["cupy"] = _cold(_operation.kernel)
