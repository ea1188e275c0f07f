"""Losses from likelihoods and overlaps: Poisson, Gaussian, focal, dice, n-pair, log loss; label smoothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.dtype import FLOAT32, FLOAT64
from ....core.errors import failed_check, value_error
from ....core.symbols import divided, maximum
from ....eager.declare import public
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ...arguments import require_tensor
from ...basic import cast_to
from ...linear.linalg import matmul
from ...math.ternary import where as choose_by
from ..embedding import one_hot
from ..softmax import log_softmax_along
from .cross_entropy import check_reduction, reduce_loss
from .regression_loss import _reduced, _same_shapes, sigmoid_cross_entropy


def _reference_poisson(x: Any, y: Any, log_input: bool = True, full: bool = False, epsilon: float = 1e-8,
                       reduction: str = "mean") -> Any:  # fmt: skip
    loss = np.exp(x) - y * x if log_input else x - y * np.log(x + epsilon)
    if full:
        safe = np.where(y > 1, y, 1)
        loss = loss + np.where(y > 1, y * np.log(safe) - y + 0.5 * np.log(2 * np.pi * safe), 0)
    return _reduced(loss, reduction)


@samples(
    S(A(3, 2), A(3, 2, low=0.0, high=3.0)), S(A(3, 2, low=0.1), A(3, 2, low=0.0, high=3.0), False, True),
    S(A(3), A(3, low=1.2, high=3.0), True, True, reduction="none"), reference=_reference_poisson,
)  # fmt: skip
@public(module="nn.functional")
def poisson_nll_loss(
    input: Tensor,
    label: Tensor,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The negative log likelihood of counts under Poisson distributions.

    Args:
        input: the logarithms of the rates, or the rates without `log_input`.
        label: the counts.
        log_input: whether `input` holds logarithms.
        full: whether Stirling's approximation of `log(label!)` is added for labels above 1.
        epsilon: what is added to a rate before its logarithm is taken.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of the shape of `input` with `reduction='none'`.

    Examples:
        >>> input = paddle.to_tensor([0.0, 1.0])
        >>> label = paddle.to_tensor([1.0, 2.0])
        >>> print(paddle.nn.functional.poisson_nll_loss(input, label, reduction="none").numpy().round(4))
        [1.     0.7183]
    """
    where = "poisson_nll_loss"
    check_reduction(where, reduction)
    if epsilon <= 0:
        raise value_error(where, "epsilon must be positive", f"epsilon: {epsilon}")
    _same_shapes(where, input=input, label=label)
    x: Any = input
    y: Any = label
    if y._aval.dtype.kind in "biu":
        y = cast_to(y, input._aval.dtype)
    loss = x.exp() - y * x if log_input else x - y * (x + float(epsilon)).log()
    if full:
        safe = choose_by(y > 1.0, y, 1.0)
        stirling = safe * safe.log() - safe + 0.5 * (safe * (2 * math.pi)).log()
        loss = loss + choose_by(y > 1.0, stirling, 0.0)
    return reduce_loss(loss, reduction)


def _reference_gaussian(
    x: Any, y: Any, v: Any, full: bool = False, epsilon: float = 1e-6, reduction: str = "mean"
) -> Any:
    v = np.maximum(v, epsilon)
    return _reduced(0.5 * (np.log(v) + (x - y) ** 2 / v) + (0.5 * math.log(2 * math.pi) if full else 0), reduction)


@samples(
    S(A(3, 2), A(3, 2), A(3, 2, low=0.2)), S(A(3, 2), A(3, 2), A(3, 1, low=0.2), True), S(
        A(3), A(3), A(3, low=0.2), reduction="none"), reference=_reference_gaussian,
)  # fmt: skip
@public(module="nn.functional")
def gaussian_nll_loss(
    input: Tensor,
    label: Tensor,
    variance: Tensor,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The negative log likelihood of `label` under normal distributions.

    Args:
        input: the means.
        label: what was observed.
        variance: the variances, of the shape of `input` or one that broadcasts with it.
        full: whether the constant `log(2 pi) / 2` is added.
        epsilon: what the variance is at least.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of the shape of `input` with `reduction='none'`.

    Examples:
        >>> input = paddle.to_tensor([0.0, 1.0])
        >>> label = paddle.to_tensor([0.0, 3.0])
        >>> variance = paddle.to_tensor([1.0, 4.0])
        >>> print(paddle.nn.functional.gaussian_nll_loss(input, label, variance, reduction="none").numpy().round(4))
        [0.     1.1931]
    """
    where = "gaussian_nll_loss"
    check_reduction(where, reduction)
    _same_shapes(where, input=input, label=label)
    x: Any = input
    v: Any = require_tensor(where, "variance", variance)
    for name_of, tensor in (("input", x), ("label", label), ("variance", v)):
        if tensor._aval.dtype not in (FLOAT32, FLOAT64):
            raise value_error(where, f"{name_of} must be float32 or float64", f"{name_of}: {tensor._aval}")
    if v._aval.shape != input._aval.shape:
        if v._aval.shape == input._aval.shape[:-1]:
            v = v.unsqueeze(-1)
        elif v._aval.shape[:-1] != input._aval.shape[:-1] or v._aval.shape[-1] != 1:
            raise value_error(where, "the variance must have the input's shape, or one for each row",
                              f"input: {input._aval}, variance: {v._aval}")  # fmt: skip
    v = v.clip(min=float(epsilon))
    difference = x - label
    loss = 0.5 * (v.log() + difference * difference / v)
    return reduce_loss(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@samples(
    S(A(4, 1, low=0.1, high=0.9), A(4, 1, low=0.0, high=1.0)), S(A(3, low=0.1, high=0.9), A(3, low=0.0, high=1.0), 0.01),
    S(A(0, 1), A(0, 1)),
    reference=lambda x, y, epsilon=1e-4: -y * np.log(x + epsilon) - (1 - y) * np.log(1 - x + epsilon),
)  # fmt: skip
@public(module="nn.functional")
def log_loss(input: Tensor, label: Tensor, epsilon: float = 1e-4, name: str | None = None) -> Tensor:
    """The cross entropy of two classes for probabilities, with `epsilon` inside the logarithms.

    Args:
        input: probabilities, `[batch, 1]`.
        label: 0 or 1 (or between), of the same shape.
        epsilon: what is added inside the logarithms.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `input`.

    Examples:
        >>> input = paddle.to_tensor([[0.5], [0.9]])
        >>> label = paddle.to_tensor([[1.0], [1.0]])
        >>> print(paddle.nn.functional.log_loss(input, label).numpy().round(4))
        [[0.6929]
         [0.1052]]
    """
    x: Any = require_tensor("log_loss", "input", input)
    y: Any = require_tensor("log_loss", "label", label)
    small = float(epsilon)
    return -(y * (x + small).log()) - (1.0 - y) * (1.0 - x + small).log()


def _reference_focal(x: Any, y: Any, normalizer: Any = None, alpha: float = 0.25, gamma: float = 2.0,
                     reduction: str = "sum") -> Any:  # fmt: skip
    p = 1 / (1 + np.exp(-x))
    right = p * y + (1 - p) * (1 - y)
    loss = -np.log(right) * (1 - right) ** gamma * (alpha * y + (1 - alpha) * (1 - y))
    return _reduced(loss / (1 if normalizer is None else normalizer), reduction)


_BITS = A(2, 3, values=[[1.0, 0, 1], [0, 1, 0]], grad=False)


@samples(
    S(A(2, 3), _BITS), S(A(2, 3), _BITS, A(1, values=[3.0], grad=False), 0.3, 1.5, "mean"),
    S(A(2, 3), _BITS, reduction="none"), reference=_reference_focal,
)  # fmt: skip
@public(module="nn.functional")
def sigmoid_focal_loss(
    logit: Tensor,
    label: Tensor,
    normalizer: Tensor | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Tensor:
    """The cross entropy of two classes, scaled down where the right one is likely already.

    The factor is `(1 - probability of the right class) ** gamma`.

    Args:
        logit: scores.
        label: 0 or 1, of the same shape.
        normalizer: a number that the loss is divided by, often that of the positive labels; or None.
        alpha: the weight of positive labels; negative ones have `1 - alpha`.
        gamma: how much easy examples are scaled down.
        reduction: 'sum' (the default), 'mean', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of the shape of `logit` with `reduction='none'`.

    Examples:
        >>> logit = paddle.to_tensor([0.0, 4.0])
        >>> label = paddle.to_tensor([1.0, 1.0])
        >>> print(paddle.nn.functional.sigmoid_focal_loss(logit, label, reduction="none").numpy().round(5))
        [0.04332 0.     ]
    """
    where = "sigmoid_focal_loss"
    check_reduction(where, reduction)
    _same_shapes(where, logit=logit, label=label)
    if normalizer is not None and require_tensor(where, "normalizer", normalizer)._aval.ndim > 1:
        raise value_error(where, "normalizer must have at most one dimension", f"normalizer: {normalizer._aval}")
    x: Any = logit
    y: Any = cast_to(label, logit._aval.dtype) if label._aval.dtype != logit._aval.dtype else label
    p = x.sigmoid()
    right = p * y + (1.0 - p) * (1.0 - y)
    wrong = 1.0 - right
    factor = wrong * wrong if gamma == 2 else wrong ** float(gamma)
    loss = sigmoid_cross_entropy(x, y) * ((2 * alpha - 1) * y + (1 - alpha)) * factor  # type: ignore[operator]
    return reduce_loss(loss if normalizer is None else loss / normalizer, reduction)


def _reference_dice(x: Any, y: Any, epsilon: float = 1e-5) -> Any:
    hot = np.eye(x.shape[-1])[y[..., 0]].reshape(len(x), -1)
    flat = x.reshape(len(x), -1)
    return (1 - 2 * (flat * hot).sum(1) / (flat.sum(1) + hot.sum(1) + epsilon)).mean()


@samples(
    S(A(2, 3, low=0.1), A(2, 1, values=[[0], [2]], dtype="int64")),
    S(A(2, 2, 3, low=0.1), A(2, 2, 1, values=[[[0], [2]], [[1], [1]]], dtype="int64"), 0.1),
    S(A(1, 2, low=0.1), A(1, 1, values=[[1]], dtype="int64")), reference=_reference_dice,
)  # fmt: skip
@public(module="nn.functional")
def dice_loss(input: Tensor, label: Tensor, epsilon: float = 1e-5, name: str | None = None) -> Tensor:
    """1 minus twice the overlap of probabilities and labels over their sums, averaged over the batch.

    Args:
        input: probabilities, `[batch, ..., classes]`.
        label: class numbers, `[batch, ..., 1]`.
        epsilon: what keeps the division finite.
        name: a label; it changes nothing.

    Returns:
        One number, from 0 (all right) to 1.

    Examples:
        >>> input = paddle.to_tensor([[[0.9, 0.1], [0.2, 0.8]]])
        >>> label = paddle.to_tensor([[[0], [1]]])
        >>> print(paddle.nn.functional.dice_loss(input, label).numpy().round(4))
        0.15
    """
    where = "dice_loss"
    aval, marks = require_tensor(where, "input", input)._aval, require_tensor(where, "label", label)._aval
    if aval.ndim < 2 or aval.ndim != marks.ndim or marks.shape[-1] != 1 or aval.shape[:-1] != marks.shape[:-1]:
        raise failed_check(where, "label must have the input's shape with 1 as its last dimension",
                          f"input: {aval}, label: {marks}")  # fmt: skip
    if not aval.size:
        raise value_error(where, "input must have elements", f"input: {aval}")
    x: Any = input
    hot = cast_to(one_hot(label.squeeze(-1), aval.shape[-1]), aval.dtype)
    axes = list(range(1, aval.ndim))
    overlap = (x * hot).sum(axes)
    return (1.0 - 2.0 * overlap / (x.sum(axes) + hot.sum(axes) + float(epsilon))).mean()


def _reference_npair(a: Any, p: Any, labels: Any, l2_reg: float = 0.002) -> Any:
    same = (labels[:, None] == labels[None, :]).astype(float)
    same /= same.sum(1, keepdims=True)
    logits = a @ p.T
    logp = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    return -(same * logp).sum(1).mean() + 0.25 * l2_reg * ((a * a).sum(1).mean() + (p * p).sum(1).mean())


@samples(
    S(A(3, 4), A(3, 4), A(3, values=[0.0, 1, 0], grad=False)), S(A(2, 4), A(2, 4), A(2, values=[1, 2], dtype="int64"), 0.1),
    S(A(1, 2), A(1, 2), A(1, values=[1], dtype="int64")), reference=_reference_npair,
)  # fmt: skip
@public(module="nn.functional")
def npair_loss(anchor: Tensor, positive: Tensor, labels: Tensor, l2_reg: float = 0.002) -> Tensor:
    """Cross entropy over the similarities of all anchors and positives, plus a penalty on their lengths.

    Args:
        anchor: `[batch, size]`.
        positive: `[batch, size]`; row i belongs to anchor i.
        labels: `[batch]`; rows of the same label count as right for one another.
        l2_reg: the factor of the penalty.

    Returns:
        One number.

    Examples:
        >>> anchor = paddle.to_tensor([[4.0, 0.0], [0.0, 4.0]])
        >>> labels = paddle.to_tensor([0.0, 1.0])
        >>> print(paddle.nn.functional.npair_loss(anchor, anchor, labels, l2_reg=0.0).numpy().round(4))
        0.0
        >>> labels = paddle.to_tensor([0.0, 1.0])
        >>> print(paddle.nn.functional.npair_loss(anchor, anchor.flip(0), labels, l2_reg=0.0).numpy().round(4))
        16.0
    """
    _same_shapes("npair_loss", anchor=anchor, positive=positive)
    count = anchor._aval.shape[0]
    kinds: Any = require_tensor("npair_loss", "labels", labels)
    if kinds._aval.size != count or anchor._aval.ndim != 2:
        raise value_error("npair_loss", "anchor must be [batch, size], labels [batch]",
                          f"anchor: {anchor._aval}, labels: {kinds._aval}")  # fmt: skip
    same = cast_to(kinds.reshape([count, 1]) == kinds.reshape([1, count]), anchor._aval.dtype)
    share = same / same.sum(1, keepdim=True)  # type: ignore[operator]
    logp: Any = log_softmax_along(matmul(anchor, positive, False, True), 1)
    a: Any = anchor
    p: Any = positive
    lengths = (a * a).sum(1).mean() + (p * p).sum(1).mean()
    return lengths * (0.25 * l2_reg) - (share * logp).sum(1).mean()


@samples(
    S(A(2, 4)), S(A(2, 4), A(1, 4, low=0.0), 0.2), S(A(3), epsilon=0.5),
    reference=lambda x, prior=None, epsilon=0.1: (1 - epsilon) * x + epsilon * (1 / x.shape[-1] if prior is None else prior),
)  # fmt: skip
@public(module="nn.functional")
def label_smooth(
    label: Tensor, prior_dist: Tensor | None = None, epsilon: float = 0.1, name: str | None = None
) -> Tensor:
    """`(1 - epsilon) * label + epsilon * prior`.

    Args:
        label: probabilities, `[..., classes]`.
        prior_dist: the distribution that is mixed in, `[1, classes]`; None for an even one.
        epsilon: its share.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `label`.

    Examples:
        >>> label = paddle.to_tensor([[1.0, 0.0, 0.0, 0.0]])
        >>> print(paddle.nn.functional.label_smooth(label, epsilon=0.2).numpy().round(3))
        [[0.85 0.05 0.05 0.05]]
    """
    if not 0 <= epsilon <= 1:
        raise value_error("label_smooth", "epsilon must be from 0 to 1", f"epsilon: {epsilon}")
    x: Any = require_tensor("label_smooth", "label", label)
    if prior_dist is None:
        return x * (1.0 - epsilon) + divided(epsilon, maximum(x._aval.shape[-1], 1))
    return x * (1.0 - epsilon) + prior_dist * float(epsilon)  # type: ignore[operator]
