"""Losses that ask for a margin between scores or distances (`paddle.nn.functional`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.dtype import FLOAT32, FLOAT64, INT32, INT64
from ....core.errors import value_error
from ....core.symbols import divided, maximum
from ....eager.declare import public
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor, tensor_from_data
from ...arguments import require_tensor
from ...basic import cast_to
from ...index.gather import index_tensor
from ...math.ternary import where as choose_by
from ..activation import log_sigmoid, relu, softplus
from ..distance import pairwise_distance
from .cross_entropy import check_reduction, reduce_loss
from .labels import checked_labels
from .regression_loss import _reduced, _same_shapes


def _floating(x: Tensor) -> Tensor:
    """Integers are computed with as float32."""
    return cast_to(x, FLOAT32) if x._aval.dtype.kind in "iu" else x


_LABEL_TYPES = (INT32, INT64, FLOAT32, FLOAT64)
_SIGNS = A(4, values=[1.0, -1.0, -1.0, 1.0], grad=False)


@samples(
    S(A(4), A(4), _SIGNS), S(A(4), A(4), _SIGNS, 0.5, "none"), S(A(2, 4), A(2, 4), _SIGNS, reduction="sum"),
    reference=lambda x, y, s, margin=0.0, reduction="mean": _reduced(np.maximum(-s * (x - y) + margin, 0), reduction),
)  # fmt: skip
@public(module="nn.functional")
def margin_ranking_loss(
    input: Tensor, other: Tensor, label: Tensor, margin: float = 0.0, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """`max(0, margin - label * (input - other))`.

    Args:
        input: the first scores.
        other: the second, of the same shape.
        label: 1 where `input` should rank higher, -1 where lower.
        margin: by how much.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of the shape of `input` with `reduction='none'`.

    Examples:
        >>> input = paddle.to_tensor([1.0, 2.0])
        >>> other = paddle.to_tensor([3.0, 1.0])
        >>> label = paddle.to_tensor([1.0, 1.0])
        >>> paddle.nn.functional.margin_ranking_loss(input, other, label, reduction="none").tolist()
        [2.0, 0.0]
    """
    check_reduction("margin_ranking_loss", reduction)
    x: Any = require_tensor("margin_ranking_loss", "input", input)
    loss = label * (other - x)
    return reduce_loss(relu(loss + float(margin) if margin else loss), reduction)


@samples(
    S(A(4), _SIGNS), S(A(4), _SIGNS, 0.5, "none"), S(A(2, 4), _SIGNS, reduction="sum"),
    reference=lambda x, s, margin=1.0, reduction="mean": _reduced(
        np.where(s == 1, x, 0) + np.where(s == -1, np.maximum(margin - x, 0), 0), reduction),
)  # fmt: skip
@public(module="nn.functional")
def hinge_embedding_loss(
    input: Tensor, label: Tensor, margin: float = 1.0, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """`input` for labels of 1, `max(0, margin - input)` for labels of -1.

    Args:
        input: distances.
        label: 1 or -1, of the same shape.
        margin: the distance that pairs labelled -1 should have.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of the shape of `input` with `reduction='none'`.

    Examples:
        >>> input = paddle.to_tensor([0.5, 0.25])
        >>> label = paddle.to_tensor([1.0, -1.0])
        >>> paddle.nn.functional.hinge_embedding_loss(input, label, reduction="none").tolist()
        [0.5, 0.75]
    """
    check_reduction("hinge_embedding_loss", reduction)
    x: Any = require_tensor("hinge_embedding_loss", "input", input)
    y: Any = require_tensor("hinge_embedding_loss", "label", label)
    loss = choose_by(y == 1.0, x, 0.0) + choose_by(y == -1.0, (float(margin) - x).clip(min=0.0), 0.0)
    return reduce_loss(loss, reduction)


def _reference_cosine(x: Any, y: Any, s: Any, margin: float = 0, reduction: str = "mean") -> Any:
    cosine = (x * y).sum(-1) / np.sqrt(((x * x).sum(-1) + 1e-12) * ((y * y).sum(-1) + 1e-12))
    return _reduced(np.where(s == 1, 1 - cosine, np.maximum(cosine - margin, 0)), reduction)


@samples(
    S(A(4, 3), A(4, 3), _SIGNS), S(A(4, 3), A(4, 3), _SIGNS, 0.2, "none"), S(A(4, 3), A(4, 3), _SIGNS, reduction="sum"),
    reference=_reference_cosine,
)  # fmt: skip
@public(module="nn.functional")
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, label: Tensor, margin: float = 0, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """`1 - cos` for pairs labelled 1, `max(0, cos - margin)` for pairs labelled -1.

    Args:
        input1: vectors, `[batch, size]` or `[size]`.
        input2: as `input1`.
        label: 1 for pairs that belong together, -1 for others.
        margin: the cosine that pairs that do not belong together may have, from -1 to 1.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or one for each pair with `reduction='none'`.

    Examples:
        >>> input1, input2 = paddle.to_tensor([[1.0, 0.0], [1.0, 0.0]]), paddle.to_tensor([[1.0, 0.0], [0.6, 0.8]])
        >>> label = paddle.to_tensor([1, -1])
        >>> print(paddle.nn.functional.cosine_embedding_loss(input1, input2, label, reduction="none").numpy().round(4))
        [0.  0.6]
    """
    where = "cosine_embedding_loss"
    check_reduction(where, reduction)
    _same_shapes(where, input1=input1, input2=input2)
    received = f"input1: {input1._aval}, label: {require_tensor(where, 'label', label)._aval}"
    if input1._aval.ndim not in (1, 2) or label._aval.ndim != input1._aval.ndim - 1:
        raise value_error(
            where, "the inputs are [batch, size] with labels [batch], or [size] with a 0-d label", received
        )
    if label._aval.ndim and label._aval.shape[0] != input1._aval.shape[0]:
        raise value_error(where, "there must be a label for each row", received)
    if label._aval.dtype not in _LABEL_TYPES:
        raise value_error(where, "the label must be int32, int64, float32 or float64", received)
    a: Any = input1
    b: Any = input2
    small = 1e-12
    cosine = (a * b).sum(-1) / (((a * a).sum(-1) + small) * ((b * b).sum(-1) + small)).sqrt()
    y: Any = label
    loss = choose_by(y == 1, 1.0 - cosine, 0.0) + choose_by(y == -1, (cosine - float(margin)).clip(min=0.0), 0.0)
    return reduce_loss(loss, reduction)


@samples(
    S(A(4), _SIGNS), S(A(2, 4), A(2, 4, values=[[1.0, -1, 1, -1], [1, 1, -1, -1]], grad=False), "none"),
    S(A(4), _SIGNS, "sum"),
    reference=lambda x, s, reduction="mean": _reduced(np.log1p(np.exp(-s * x)), reduction),
)  # fmt: skip
@public(module="nn.functional")
def soft_margin_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """`log(1 + exp(-label * input))`.

    Args:
        input: scores.
        label: 1 or -1, of the same shape.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of the shape of `input` with `reduction='none'`.

    Examples:
        >>> input = paddle.to_tensor([0.0, 2.0])
        >>> label = paddle.to_tensor([1.0, -1.0])
        >>> print(paddle.nn.functional.soft_margin_loss(input, label, reduction="none").numpy().round(4))
        [0.6931 2.1269]
    """
    check_reduction("soft_margin_loss", reduction)
    _same_shapes("soft_margin_loss", input=input, label=label)
    input = _floating(input)
    y = cast_to(label, input._aval.dtype) if label._aval.dtype != input._aval.dtype else label
    return reduce_loss(softplus(-(y * input)), reduction)  # type: ignore[operator]


def _reference_multi_label_soft(x: Any, s: Any, weight: Any = None, reduction: str = "mean") -> Any:
    loss = -(s * -np.log1p(np.exp(-x)) + (1 - s) * -np.log1p(np.exp(x)))
    return _reduced((loss * (1 if weight is None else weight)).mean(-1), reduction)


_BITS = A(2, 4, values=[[1.0, 0, 1, 0], [0, 1, 1, 1]], grad=False)


@samples(
    S(A(2, 4), _BITS), S(A(2, 4), _BITS, A(4, low=0.1), "none"), S(A(2, 4), _BITS, reduction="sum"),
    reference=_reference_multi_label_soft,
)  # fmt: skip
@public(module="nn.functional")
def multi_label_soft_margin_loss(
    input: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """The mean over the classes of the cross entropies of `sigmoid(input)` with labels of 0 and 1.

    Args:
        input: scores, `[batch, classes]`.
        label: 0 or 1 for each class.
        weight: a factor for each class.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or one for each row with `reduction='none'`.

    Examples:
        >>> input = paddle.to_tensor([[0.0, 4.0]])
        >>> label = paddle.to_tensor([[1.0, 1.0]])
        >>> print(paddle.nn.functional.multi_label_soft_margin_loss(input, label).numpy().round(4))
        0.3556
    """
    check_reduction("multi_label_soft_margin_loss", reduction)
    _same_shapes("multi_label_soft_margin_loss", input=input, label=label)
    x: Any = input
    y: Any = cast_to(label, input._aval.dtype) if label._aval.dtype.kind in "biu" else label
    loss: Any = -(y * log_sigmoid(x) + (1.0 - y) * log_sigmoid(-x))
    return reduce_loss((loss if weight is None else loss * weight).mean(-1), reduction)


def _reference_multi_margin(x: Any, y: Any, p: int = 1, margin: float = 1.0, weight: Any = None,
                            reduction: str = "mean") -> Any:  # fmt: skip
    n, c = x.shape
    out = []
    for i in range(n):
        scale = 1 if weight is None else weight[y[i]]
        out.append(scale * sum(max(margin - x[i, y[i]] + x[i, j], 0) ** p for j in range(c) if j != y[i]) / c)
    return _reduced(np.array(out), reduction)


_LABELS = A(3, values=[0, 3, 2], dtype="int64")


@samples(
    S(A(3, 4), _LABELS), S(A(3, 4), _LABELS, 2, 0.7, None, "none"),
    S(A(3, 4), _LABELS, 1, 1.0, A(4, low=0.1), "sum"), reference=_reference_multi_margin,
)  # fmt: skip
@public(module="nn.functional")
def multi_margin_loss(
    input: Tensor,
    label: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The mean over the wrong classes of `max(0, margin - input[label] + input[class]) ** p`.

    Args:
        input: scores, `[batch, classes]`.
        label: class numbers, `[batch]`.
        p: the exponent.
        margin: by how much the right class should win.
        weight: a factor for each class.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or one for each row with `reduction='none'`.

    Examples:
        >>> input = paddle.to_tensor([[2.0, 1.5, 0.0]])
        >>> label = paddle.to_tensor([0])
        >>> print(paddle.nn.functional.multi_margin_loss(input, label).numpy().round(4))
        0.1667
    """
    where = "multi_margin_loss"
    check_reduction(where, reduction)
    aval = require_tensor(where, "input", input)._aval
    classes = require_tensor(where, "label", label)._aval
    received = f"input: {aval}, label: {classes}"
    if aval.ndim != 2 or classes.size != aval.shape[0] or classes.shape[:1] != aval.shape[:1]:
        raise value_error(where, "input must be [batch, classes], label [batch]", received)
    if weight is not None and require_tensor(where, "weight", weight)._aval.shape != aval.shape[1:]:
        raise value_error(where, "weight must have one entry for each class", f"weight: {weight._aval}, {received}")
    column: Any = label.reshape([-1, 1])
    x: Any = input
    gap = relu(float(margin) - x.take_along_axis(column, 1) + x)
    powered = gap if p == 1 else gap * gap if p == 2 else gap**p
    # The own class has a gap of `margin`: its term is taken away again.
    loss = powered.mean(1) - divided(float(margin) ** p, aval.shape[1])
    if weight is not None:
        loss = loss * weight.take_along_axis(column.reshape([-1]), 0)
    return reduce_loss(loss, reduction)


def _reference_multi_label_margin(x: Any, label: Any, reduction: str = "mean") -> Any:
    out = []
    for row, marks in zip(x, label, strict=True):
        targets = []
        for mark in marks:
            if mark < 0:
                break
            targets.append(int(mark))
        others = [j for j in range(len(row)) if j not in targets]
        out.append(sum(max(0, 1 - row[t] + row[j]) for t in targets for j in others) / len(row))
    return _reduced(np.array(out, x.dtype), reduction)


_MARKS = A(3, 4, values=[[3, 0, -1, 1], [2, -1, 0, 1], [-1, 0, 1, 2]], dtype="int64")


@samples(
    S(A(3, 4), _MARKS), S(A(3, 4), _MARKS, "none"), S(A(3, 4), _MARKS, "sum"), reference=_reference_multi_label_margin,
)  # fmt: skip
@public(module="nn.functional")
def multi_label_margin_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """The sum over right and wrong classes of `max(0, 1 - right + wrong)`, over the number of classes.

    Args:
        input: scores, `[batch, classes]`.
        label: in each row the right classes; the first -1 ends the list.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or one for each row with `reduction='none'`.

    Examples:
        >>> input = paddle.to_tensor([[0.5, 1.0, 0.0]])
        >>> label = paddle.to_tensor([[1, -1, 0]])
        >>> print(paddle.nn.functional.multi_label_margin_loss(input, label).numpy().round(4))
        0.1667
    """
    where = "multi_label_margin_loss"
    check_reduction(where, reduction)
    _same_shapes(where, input=input, label=label)
    if input._aval.ndim != 2:
        raise value_error(where, "input must be [batch, classes]", f"input: {input._aval}")
    input = _floating(input)
    x: Any = input
    count = input._aval.shape[1]
    marks: Any = checked_labels(index_tensor(where, label, "label"), -1, count)
    listed = cast_to(marks >= 0, input._aval.dtype).cumprod(1)
    safe = marks.clip(min=0)
    numbers = tensor_from_data(np.arange(count).reshape(1, 1, -1), place=input._aval.place)
    hits = cast_to(safe.unsqueeze(2) == numbers, input._aval.dtype) * listed.unsqueeze(2)  # type: ignore[operator]
    wrong = 1.0 - hits.max(1, keepdim=True)
    gaps = (1.0 - x.take_along_axis(safe, 1).unsqueeze(2) + x.unsqueeze(1)).clip(min=0.0)
    return reduce_loss((gaps * listed.unsqueeze(2) * wrong).sum([1, 2]) * divided(1.0, maximum(count, 1)), reduction)


def _reference_triplet(a: Any, p: Any, n: Any, margin: float = 1.0, power: float = 2, epsilon: float = 1e-6,
                       swap: bool = False, reduction: str = "mean") -> Any:  # fmt: skip
    def distance(x: Any, y: Any) -> Any:
        return np.linalg.norm(x - y + epsilon, ord=power, axis=-1)

    far = distance(a, n)
    return _reduced(
        np.maximum(distance(a, p) - (np.minimum(far, distance(p, n)) if swap else far) + margin, 0), reduction
    )


@samples(
    S(A(3, 4), A(3, 4), A(3, 4)), S(A(3, 4), A(3, 4), A(3, 4), 0.5, 1, 1e-6, True, "none"),
    S(A(3, 4), A(3, 4), A(3, 4), reduction="sum"), reference=_reference_triplet,
)  # fmt: skip
@public(module="nn.functional")
def triplet_margin_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """`max(0, margin + distance to the positive - distance to the negative)`.

    Args:
        input: the anchors, `[batch, size]`.
        positive: what should be near.
        negative: what should be far.
        margin: by how much farther.
        p: the order of the norm.
        epsilon: what keeps its gradient finite.
        swap: whether the distance from the positive to the negative counts where it is smaller.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or one for each anchor with `reduction='none'`.

    Examples:
        >>> input = paddle.to_tensor([[0.0, 0.0]])
        >>> positive = paddle.to_tensor([[0.0, 1.0]])
        >>> negative = paddle.to_tensor([[0.0, 1.5]])
        >>> print(paddle.nn.functional.triplet_margin_loss(input, positive, negative).numpy().round(3))
        0.5
    """
    return triplet_margin_with_distance_loss(
        input, positive, negative, lambda x, y: pairwise_distance(x, y, p, epsilon), margin, swap, reduction
    )


@samples(
    S(A(3, 4), A(3, 4), A(3, 4)), S(A(3, 4), A(3, 4), A(3, 4), margin=0.5, swap=True, reduction="none"),
    S(A(3, 4), A(3, 4), A(3, 4), reduction="sum"),
    reference=lambda a, p, n, margin=1.0, swap=False, reduction="mean": _reference_triplet(
        a, p, n, margin, swap=swap, reduction=reduction),
)  # fmt: skip
@public(module="nn.functional")
def triplet_margin_with_distance_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own.

    Args:
        input: the anchors.
        positive: what should be near.
        negative: what should be far.
        distance_function: a function of two tensors; None for the Euclidean distance.
        margin: by how much farther.
        swap: whether the distance from the positive to the negative counts where it is smaller.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or one for each anchor with `reduction='none'`.

    Examples:
        >>> anchor, near, far = paddle.to_tensor([[0.0]]), paddle.to_tensor([[1.0]]), paddle.to_tensor([[3.0]])
        >>> steps = lambda a, b: (a - b).abs().sum(-1)
        >>> paddle.nn.functional.triplet_margin_with_distance_loss(anchor, near, far, steps, margin=4.0).item()
        2.0
    """
    where = "triplet_margin_with_distance_loss"
    check_reduction(where, reduction)
    if margin < 0:
        raise value_error(where, "the margin cannot be negative", f"margin: {margin}")
    _same_shapes(where, input=input, positive=positive, negative=negative)
    distance: Any = distance_function or pairwise_distance
    near, far = distance(input, positive), distance(input, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduce_loss((near - far + float(margin)).clip(min=0.0), reduction)
