"""Losses for very many classes: hierarchical and adaptive softmax, angular margins, sampled class centres."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....core.errors import value_error
from ....core.generator import default_generator
from ....eager.declare import public
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor, tensor_from_data
from ...arguments import integer, integers, require_tensor
from ...basic import cast_to, reshape_to
from ...index.gather import index_tensor
from ...index.indexing_kernels import take_elements
from ...linear.linalg import matmul
from ...math.ternary import where as choose_by
from ..activation import softplus
from ..embedding import one_hot
from ..softmax import log_softmax_along
from .cross_entropy import reduce_loss
from .labels import checked_labels
from .regression_loss import _reduced

if TYPE_CHECKING:
    from ....distributed.group import Group

# ---- hierarchical softmax ------------------------------------------------------------------------


@functools.lru_cache(maxsize=8)
def _tree(num_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """For each class the inner nodes on its way (-1 behind the end) and the turns taken, in a complete binary tree."""
    depth = max(int(2 * num_classes - 1).bit_length() - 1, 1)
    codes = np.arange(num_classes, 2 * num_classes)[:, None]
    levels = np.arange(depth)
    nodes = (codes >> (levels + 1)) - 1
    return nodes, np.where(nodes >= 0, (codes >> levels) & 1, 0)


def _reference_hsigmoid(x: Any, label: Any, num_classes: int, weight: Any, bias: Any = None, path_table: Any = None,
                        path_code: Any = None) -> Any:  # fmt: skip
    nodes, turns = _tree(num_classes)
    out = np.zeros((len(x), 1))
    for i, mark in enumerate(label.ravel()):
        ways = (
            zip(nodes[mark], turns[mark], strict=True)
            if path_table is None
            else zip(path_table[i], path_code[i], strict=True)
        )
        for node, turn in ways:
            value = x[i] @ weight[node] + (0 if bias is None else bias.ravel()[node]) if node >= 0 else 0.0
            out[i] += np.log1p(np.exp(value)) - turn * value
    return out


@samples(
    S(A(3, 2), A(3, 1, values=[[0], [3], [5]], dtype="int64"), 6, A(5, 2), A(5, 1)),
    S(A(2, 2), A(2, 1, values=[[0], [1]], dtype="int64"), 2, A(1, 2)),
    S(A(2, 2), A(2, 1, values=[[0], [1]], dtype="int64"), 3, A(3, 2), None,
      A(2, 3, values=[[0, 2, -1], [0, 1, 2]], dtype="int64"), A(2, 3, values=[[1, 0, -1], [0, 1, 1]], dtype="int64")),
    reference=_reference_hsigmoid,
)  # fmt: skip
@public(module="nn.functional")
def hsigmoid_loss(
    input: Tensor,
    label: Tensor,
    num_classes: int,
    weight: Tensor,
    bias: Tensor | None = None,
    path_table: Tensor | None = None,
    path_code: Tensor | None = None,
    is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Hierarchical softmax: the cross entropies of the turns on the way to each label in a binary tree.

    Args:
        input: `[batch, features]`.
        label: `[batch, 1]`, class numbers.
        num_classes: how many classes the complete tree has.
        weight: `[num_classes - 1, features]`, a row for each inner node.
        bias: `[num_classes - 1, 1]`, or None.
        path_table: the nodes on the way to each label of a tree of one's own, negative behind the end.
        path_code: the turns (0 or 1) at those nodes.
        is_sparse: accepted; gradients are dense.
        name: a label; it changes nothing.

    Returns:
        A tensor `[batch, 1]`.

    Examples:
        >>> input = paddle.zeros([2, 3])
        >>> label = paddle.to_tensor([[0], [3]])
        >>> weight = paddle.zeros([3, 3])
        >>> loss = paddle.nn.functional.hsigmoid_loss(input, label, 4, weight)
        >>> print(loss.numpy().round(4))
        [[1.3863]
         [1.3863]]
    """
    where = "hsigmoid_loss"
    aval = require_tensor(where, "input", input)._aval
    marks: Any = require_tensor(where, "label", label)
    table = require_tensor(where, "weight", weight)._aval
    classes = integer(where, "num_classes", num_classes)
    if classes < 2:
        raise value_error(where, "num_classes must be at least 2", f"num_classes: {num_classes}")
    if aval.ndim != 2 or table.ndim != 2 or table.shape[1] != aval.shape[1] or marks._aval.size != aval.shape[0]:
        raise value_error(where, "input must be [batch, size], label [batch, 1], weight [nodes, size]",
                          f"input: {aval}, label: {marks._aval}, weight: {table}")  # fmt: skip
    if bias is not None and require_tensor(where, "bias", bias)._aval.size != table.shape[0]:
        raise value_error(where, "bias must have one entry for each node", f"bias: {bias._aval}, weight: {table}")
    if (path_table is None) != (path_code is None):
        raise value_error(where, "path_table and path_code come together")
    if path_table is None or path_code is None:
        if table.shape[0] < classes - 1:
            raise value_error(where, f"a tree of {classes} classes has {classes - 1} nodes", f"weight: {table}")
        nodes, turns = (tensor_from_data(array, place=aval.place) for array in _tree(classes))
        flat = cast_to(marks.reshape([-1]), np.dtype("int64"))
        path_table, path_code = take_elements(nodes, [flat], [0]), take_elements(turns, [flat], [0])
    ways: Any = index_tensor(where, path_table, "path_table")
    if ways._aval.ndim != 2 or require_tensor(where, "path_code", path_code)._aval.shape != ways._aval.shape:
        raise value_error(where, "path_table and path_code must be [batch, longest way]",
                          f"path_table: {ways._aval}, path_code: {path_code._aval}")  # fmt: skip
    on_way = cast_to(ways >= 0, aval.dtype)
    safe = ways.clip(min=0)
    rows = take_elements(weight, [safe], [0])
    columns = input.unsqueeze(-1)
    scores: Any = reshape_to(matmul(rows, columns, False, False), ways._aval.shape)
    if bias is not None:
        scores = scores + take_elements(bias.reshape([-1]), [safe], [0])
    scores = scores.clip(-40.0, 40.0) * on_way
    # Behind the end of a way the score is 0, which adds log(2) to the loss, as in Paddle.
    losses: Any = softplus(scores) - cast_to(path_code, aval.dtype) * scores  # type: ignore[operator, arg-type]
    return losses.sum(1, keepdim=True)


# ---- adaptive softmax ----------------------------------------------------------------------------


def adaptive_log_probabilities(
    input: Tensor, head_weight: Tensor, tail_weights: Sequence[Sequence[Tensor]], cutoffs: Sequence[int],
    head_bias: Tensor | None,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """Log probabilities of the head (its classes, then the clusters), and of each cluster's own classes."""
    head: Any = matmul(input, head_weight, False, False)
    if head_bias is not None:
        head = head + head_bias
    head = log_softmax_along(head, 1)
    tails = [log_softmax_along(matmul(matmul(input, a, False, False), b, False, False), 1) for a, b in tail_weights]
    return head, tails


def _reference_adaptive(x: Any, label: Any, head: Any, tails: Any, cutoffs: Any, head_bias: Any = None) -> Any:
    def normalised(z: Any) -> Any:
        return z - np.log(np.exp(z).sum(-1, keepdims=True))

    first = normalised(x @ head + (0 if head_bias is None else head_bias))
    out = []
    for i, mark in enumerate(label):
        if mark < cutoffs[0]:
            out.append(first[i, mark])
            continue
        cluster = next(k for k in range(len(cutoffs) - 1) if cutoffs[k] <= mark < cutoffs[k + 1])
        own = normalised(x[i] @ tails[cluster][0] @ tails[cluster][1])
        out.append(first[i, cutoffs[0] + cluster] + own[mark - cutoffs[cluster]])
    return np.array(out), -np.mean(out)


_TARGET = A(4, values=[0, 3, 5, 2], dtype="int64")


@samples(
    S(A(4, 3), _TARGET, A(3, 4), [[A(3, 2), A(2, 2)], [A(3, 1), A(1, 2)]], [2, 4, 6], A(4)),
    S(A(4, 3), _TARGET, A(3, 4), [[A(3, 2), A(2, 3)]], [3, 6]),
    S(A(4, 3), _TARGET, A(3, 3), [[A(3, 2), A(2, 4)]], [2, 6], A(3)),
    reference=_reference_adaptive,
)  # fmt: skip
@public(module="nn.functional")
def adaptive_log_softmax_with_loss(
    input: Tensor,
    label: Tensor,
    head_weight: Tensor,
    tail_weights: Sequence[Sequence[Tensor]],
    cutoffs: Sequence[int],
    head_bias: Tensor | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Softmax over frequent classes and clusters of rare ones: the log probability of each label, and the mean loss.

    Args:
        input: `[batch, features]`.
        label: `[batch]`, class numbers.
        head_weight: `[features, frequent classes + clusters]`.
        tail_weights: for each cluster two matrices, which project down and then to its classes.
        cutoffs: where the clusters begin, rising, and at the end the number of classes.
        head_bias: `[frequent classes + clusters]`, or None.
        name: a label; it changes nothing.

    Returns:
        The log probabilities `[batch]`, and minus their mean.

    Examples:
        >>> input, head = paddle.zeros([2, 4]), paddle.zeros([4, 3])  # 2 frequent classes and 1 cluster
        >>> tails = [[paddle.zeros([4, 2]), paddle.zeros([2, 4])]]  # of 4 rare ones
        >>> label = paddle.to_tensor([0, 5])
        >>> output, loss = paddle.nn.functional.adaptive_log_softmax_with_loss(input, label, head, tails, [2, 6])
        >>> print(output.numpy().round(4))
        [-1.0986 -2.4849]
        >>> print(loss.numpy().round(4))
        1.7918
    """
    where = "adaptive_log_softmax_with_loss"
    aval = require_tensor(where, "input", input)._aval
    marks: Any = require_tensor(where, "label", label)
    received = f"input: {aval}, label: {marks._aval}"
    single = aval.ndim == 1 and marks._aval.ndim == 0
    if not single and (aval.ndim != 2 or marks._aval.shape != aval.shape[:1]):
        raise value_error(where, "input must be [batch, size], label [batch]; or [size] and a 0-d label", received)
    rows = reshape_to(input, (1, aval.shape[0])) if single else input
    bounds = list(integers(where, "cutoffs", cutoffs))
    if not bounds or len(tail_weights) != len(bounds) - 1 or any(a >= b for a, b in itertools.pairwise([0, *bounds])):
        raise value_error(where, "cutoffs must be positive and ascending, with tail_weights for all but the first",
                          f"cutoffs: {bounds}, {len(tail_weights)} tail_weights")  # fmt: skip
    targets: Any = checked_labels(index_tensor(where, marks.reshape([-1]), "label"), 0, bounds[-1])
    head, tails = adaptive_log_probabilities(rows, head_weight, tail_weights, bounds, head_bias)
    short = bounds[0]
    out = head.take_along_axis(targets.clip(0, short - 1).unsqueeze(1), 1).squeeze(1)
    for number, tail in enumerate(tails):
        low, high = bounds[number], bounds[number + 1]
        own = tail.take_along_axis((targets - low).clip(0, high - low - 1).unsqueeze(1), 1).squeeze(1)
        inside = (targets >= low) & (targets < high)
        out = choose_by(inside, head[:, short + number] + own, out)
    loss = -out.mean()
    return (out.squeeze(0) if single else out), loss


# ---- angular margins -----------------------------------------------------------------------------


def _reference_margin(x: Any, label: Any, margin1: float = 1.0, margin2: float = 0.5, margin3: float = 0.0,
                      scale: float = 64.0, group: Any = None, return_softmax: bool = False,
                      reduction: Any = "mean") -> Any:  # fmt: skip
    logits = x.astype(np.float64).copy()
    rows, marks = np.arange(len(x)), label.ravel()
    logits[rows, marks] = np.cos(margin1 * np.arccos(logits[rows, marks]) + margin2) - margin3
    logits *= scale
    logp = (
        logits
        - np.log(np.exp(logits - logits.max(1, keepdims=True)).sum(1, keepdims=True))
        - logits.max(1, keepdims=True)
    )
    loss = -logp[rows, marks][:, None]
    loss = loss if reduction is None else _reduced(loss, reduction)
    return (loss, np.exp(logp)) if return_softmax else loss


# The cosine of a larger angle has no correct digit left in float32.
_LARGEST_MARGIN = 1e4
_FACES = A(3, values=[1, 0, 3], dtype="int64")


def _check_group(where: str, group: Any) -> None:
    if group is None or group is False:
        return
    if not hasattr(group, "is_member"):
        raise value_error(where, "group must be None, False or a group of processes", f"group: {group!r}")
    if group.nranks > 1:
        raise NotImplementedError(
            f"({where}) classes are not divided among processes; received a group of {group.nranks}; use group=False."
        )


@samples(
    S(A(3, 4, low=-0.8, high=0.8), _FACES, 1.0, 0.5, 0.1, 8.0),
    S(A(3, 4, low=-0.8, high=0.8), A(3, 1, values=[[1], [0], [3]], dtype="int64"), scale=4.0, reduction=None),
    S(A(3, 4, low=-0.8, high=0.8), _FACES, 1.3, 0.2, 0.0, 4.0, return_softmax=True, reduction="sum"),
    reference=_reference_margin,
)  # fmt: skip
@public(module="nn.functional")
def margin_cross_entropy(
    logits: Tensor,
    label: Tensor,
    margin1: float = 1.0,
    margin2: float = 0.5,
    margin3: float = 0.0,
    scale: float = 64.0,
    group: Group | None = None,
    return_softmax: bool = False,
    reduction: str | None = "mean",
) -> Any:
    """Cross entropy of cosines with a margin.

    The right class has `cos(margin1 * angle + margin2) - margin3` in place of its cosine.

    Args:
        logits: cosines, `[batch, classes]`.
        label: `[batch]` or `[batch, 1]`, class numbers.
        margin1: the factor of the angle.
        margin2: what is added to the angle.
        margin3: what is taken off the cosine.
        scale: the factor of the cosines before the softmax.
        group: None, False, or a group of one process: classes are not divided among processes here.
        return_softmax: whether the probabilities are given too.
        reduction: 'mean', 'sum', or None for a loss of each label.

    Returns:
        The loss; with `return_softmax` also the probabilities.

    Examples:
        >>> cosines = paddle.to_tensor([[0.9, 0.1], [0.2, 0.8]])
        >>> plain = paddle.nn.functional.margin_cross_entropy(cosines, paddle.to_tensor([0, 1]), margin2=0.0, scale=4.0)
        >>> label = paddle.to_tensor([0, 1])
        >>> strict = paddle.nn.functional.margin_cross_entropy(cosines, label, margin2=0.5, scale=4.0)
        >>> round(plain.item(), 4), round(strict.item(), 4)
        (0.0634, 0.245)
    """
    where = "margin_cross_entropy"
    aval = require_tensor(where, "logits", logits)._aval
    marks: Any = require_tensor(where, "label", label)
    _check_group(where, group)
    if reduction not in ("mean", "sum", "none", None):
        raise value_error(where, "reduction must be 'mean', 'sum' or None", f"reduction: {reduction!r}")
    if aval.ndim != 2 or marks._aval.size != aval.shape[0]:
        raise value_error(
            where, "logits must be [batch, classes], label [batch]", f"logits: {aval}, label: {marks._aval}"
        )
    if not all(abs(margin) <= _LARGEST_MARGIN for margin in (margin1, margin2, margin3)):
        raise value_error(where, f"margins must be numbers between -{_LARGEST_MARGIN:g} and {_LARGEST_MARGIN:g}",
                          f"margin1: {margin1}, margin2: {margin2}, margin3: {margin3}")  # fmt: skip
    column = marks.reshape([-1, 1])
    x: Any = logits
    cosine = x.take_along_axis(column, 1)
    angle = cosine.acos()
    shifted = (angle * float(margin1) + float(margin2)).cos() - float(margin3)
    hot = cast_to(one_hot(column.squeeze(1), aval.shape[1]), aval.dtype)
    logp: Any = log_softmax_along((x + hot * (shifted - cosine)) * float(scale), 1)
    loss = -logp.take_along_axis(column, 1)
    loss = loss if reduction in (None, "none") else reduce_loss(loss, reduction)
    return (loss, logp.exp()) if return_softmax else loss


@samples(
    S(A(4, values=[1, 5, 5, 7], dtype="int64"), 10, 10), S(A(3, values=[0, 1, 2], dtype="int64"), 3, 2),
    S(A(1, values=[2], dtype="int64"), 3, 3), random=True, gradient=False, why="whole numbers; classes are drawn",
)  # fmt: skip
@public(module="nn.functional")
def class_center_sample(
    label: Tensor, num_classes: int, num_samples: int, group: Group | None = None
) -> tuple[Tensor, Tensor]:
    """The classes that occur among labels and drawn others, `num_samples` in all.

    The labels are read on the host, since the length of the result depends on them.

    Args:
        label: class numbers.
        num_classes: how many classes there are.
        num_samples: how many are kept; those that occur are kept in any case.
        group: the processes among which classes are divided: None, False, or a group of one here.

    Returns:
        The labels as positions among the kept classes, and the kept classes in rising order.

    Examples:
        >>> label = paddle.to_tensor([7, 2, 7])
        >>> remapped, kept = paddle.nn.functional.class_center_sample(label, num_classes=10, num_samples=4)
        >>> len(kept), kept[remapped].tolist()
        (4, [7, 2, 7])
    """
    where = "class_center_sample"
    aval = require_tensor(where, "label", label)._aval
    _check_group(where, group)
    if aval.ndim != 1 or aval.dtype.kind not in "iu":
        raise value_error(where, "label must be integers with one dimension", f"label: {aval}")
    if not 0 < num_samples <= num_classes:
        raise value_error(where, "num_samples must be from 1 to num_classes", f"{num_samples} of {num_classes}")
    marks = np.asarray(label._data())
    if marks.size and (marks.min() < 0 or marks.max() >= num_classes):
        raise value_error(where, f"labels must be from 0 to {num_classes - 1}", f"{marks.min()} to {marks.max()}")
    found = np.unique(marks)
    missing = int(num_samples) - len(found)
    drawn = found[:0]
    if missing > 0:
        others = np.setdiff1d(np.arange(num_classes), found)
        seed, offset = default_generator.draw()
        random = np.random.Generator(np.random.Philox(key=(offset << 64) | seed))
        drawn = random.choice(others, missing, replace=False)
    placed = np.searchsorted(found, marks).astype(aval.dtype)
    chosen = np.concatenate([found, drawn]).astype(aval.dtype)
    return tensor_from_data(placed, place=aval.place), tensor_from_data(chosen, place=aval.place)
