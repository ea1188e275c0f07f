"""Losses of regression and of probabilities. (Those of classification: `cross_entropy.py`.)"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.errors import value_error
from ....core.symbols import divided, maximum
from ....eager.declare import op, public
from ....eager.infer import broadcast
from ....eager.one_operator import one_operator
from ....eager.samples import A, S, samples
from ....eager.tensor import Tensor
from ....ir.operation import Check
from ...basic import full_of
from ...math.ternary import where
from ...precision import wide
from .cross_entropy import check_reduction, reduce_loss

# ---- regression ----------------------------------------------------------------------------------


def _two_tensors(where: str, input: Any, label: Any) -> None:
    for name, value in (("input", input), ("label", label)):
        if not isinstance(value, Tensor):
            raise value_error(
                where,
                f"{name} must be a Tensor",
                f"{name}: {type(value).__name__}",
                "use to_tensor()",
            )


def _reduced(loss: Any, reduction: str) -> Any:
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


@samples(S(A(3, 2), A(3, 2)), S(A(3), A(3)), S(A(2, 3), A(3)), reference=lambda x, y: (x - y) ** 2)
@public(module="nn.functional")
def square_error_cost(input: Tensor, label: Tensor) -> Tensor:
    """`(input - label) ** 2`, element by element.

    Args:
        input: what was predicted.
        label: what was right, of the same shape.

    Returns:
        A tensor of the shape of `input`.

    Examples:
        >>> paddle.nn.functional.square_error_cost(paddle.to_tensor([1.0, 4.0]), paddle.to_tensor([2.0, 2.0])).tolist()
        [1.0, 4.0]
    """
    _two_tensors("square_error_cost", input, label)
    difference = input - label  # type: ignore[operator]
    return difference * difference


@samples(
    S(A(3, 2), A(3, 2)),
    S(A(3), A(3), "sum"),
    S(A(2, 3), A(3), reduction="none"),
    reference=lambda x, y, reduction="mean": _reduced((x - y) ** 2, reduction),
)
@public(module="nn.functional")
def mse_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """The squared error `(input - label) ** 2`, averaged.

    Args:
        input: what was predicted.
        label: what was right; shapes broadcast.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of errors with `reduction='none'`.

    Examples:
        >>> paddle.nn.functional.mse_loss(paddle.to_tensor([1.0, 4.0]), paddle.to_tensor([2.0, 2.0])).item()
        2.5
        >>> input = paddle.to_tensor([1.0, 4.0])
        >>> label = paddle.to_tensor([2.0, 2.0])
        >>> paddle.nn.functional.mse_loss(input, label, reduction="none").tolist()
        [1.0, 4.0]
    """
    check_reduction("mse_loss", reduction)
    _two_tensors("mse_loss", input, label)
    return reduce_loss(square_error_cost(input, label), reduction)


@samples(
    S(A(3, 2), A(3, 2)),
    S(A(3), A(3), "sum"),
    S(A(2, 3), A(3), reduction="none"),
    reference=lambda x, y, reduction="mean": _reduced(np.abs(x - y), reduction),
)
@public(module="nn.functional")
def l1_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """The absolute error `|input - label|`, averaged.

    Args:
        input: what was predicted.
        label: what was right, of the same shape.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of the shape of `input` with `reduction='none'`.

    Examples:
        >>> paddle.nn.functional.l1_loss(paddle.to_tensor([1.0, 4.0]), paddle.to_tensor([2.0, 2.0])).item()
        1.5
    """
    check_reduction("l1_loss", reduction)
    _two_tensors("l1_loss", input, label)
    return reduce_loss((input - label).abs(), reduction)  # type: ignore[operator]


def _reference_smooth_l1(
    x: np.ndarray, y: np.ndarray, reduction: str = "mean", delta: float = 1.0, is_huber: bool = True
) -> Any:
    d = np.abs(x - y)
    loss = np.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))
    return _reduced(loss if is_huber else loss / delta, reduction)


@samples(
    S(A(3, 2), A(3, 2)),
    S(A(4), A(4), "none", 0.5),
    S(A(4), A(4), "sum", delta=0.7, is_huber=False),
    reference=_reference_smooth_l1,
)
@public(module="nn.functional")
@one_operator("huber_loss")
def smooth_l1_loss(
    input: Tensor,
    label: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    is_huber: bool = True,
    name: str | None = None,
) -> Tensor:
    """Half the squared difference up to `delta`, linear beyond.

    Args:
        input: what was predicted.
        label: what was right, of the same shape.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        delta: where the square ends.
        is_huber: True for Huber's loss; False for that divided by `delta`.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of the shape of `input` with `reduction='none'`.

    Examples:
        >>> input = paddle.to_tensor([0.5, 3.0])
        >>> label = paddle.to_tensor([0.0, 0.0])
        >>> paddle.nn.functional.smooth_l1_loss(input, label, reduction="none").tolist()
        [0.125, 2.5]
    """
    check_reduction("smooth_l1_loss", reduction)
    _two_tensors("smooth_l1_loss", input, label)
    difference = input - label  # type: ignore[operator]
    clipped = difference.clip(-float(delta), float(delta))
    loss = clipped * (difference - clipped * 0.5)
    return reduce_loss(loss if is_huber else loss * (1.0 / delta), reduction)


# ---- probabilities -------------------------------------------------------------------------------


def _probability_check() -> Check:
    def in_range(xp: Any, x: Any, *_: Any) -> Any:
        return ~xp.any((x < 0) | (x > 1))

    return Check(
        in_range,
        lambda kinds, attributes: "input must be probabilities, from 0 to 1",
        ValueError,
        (0,),
    )


@op(
    "x label",
    infer=broadcast,
    check=_probability_check(),
    grad={
        "x": lambda g, x, label: g * (x - label) / (x * (1.0 - x)).clip(min=1e-12),
        "label": lambda g, x: g * ((1.0 - x).log().clip(min=-100.0) - x.log().clip(min=-100.0)),
    },
    paddle_name="bce_loss",
)
def probability_cross_entropy(xp: Any, x: Any, label: Any) -> Any:
    """-(label log x + (1 - label) log(1 - x)), with logarithms cut off at -100."""
    p, label = wide(x), wide(label)
    out = -(label * xp.maximum(xp.log(p), -100) + (1 - label) * xp.maximum(xp.log1p(-p), -100))
    return out.astype(x.dtype, copy=False)


def _same_shapes(where: str, **tensors: Any) -> None:
    shapes = set()
    for name, value in tensors.items():
        if not isinstance(value, Tensor):
            raise value_error(
                where,
                f"{name} must be a Tensor",
                f"{name}: {type(value).__name__}",
                "use to_tensor()",
            )
        shapes.add(value._aval.shape)
    if len(shapes) > 1:
        received = ", ".join(f"{name}: {value._aval}" for name, value in tensors.items())
        raise value_error(where, "the tensors must have the same shape", received)


def _reference_bce(x: np.ndarray, y: np.ndarray, weight: Any = None, reduction: str = "mean") -> Any:
    with np.errstate(divide="ignore"):
        loss = -(y * np.maximum(np.log(x), -100) + (1 - y) * np.maximum(np.log(1 - x), -100))
    return _reduced(loss * (1 if weight is None else weight), reduction)


@samples(
    S(A(3, 2, low=0.1, high=0.9), A(3, 2, low=0.0, high=1.0)),
    S(A(4, low=0.1, high=0.9), A(4, low=0.0, high=1.0), A(4), "none"),
    S(A(2, values=[0.0, 1.0], grad=False), A(2, values=[1.0, 1.0], grad=False), reduction="sum"),
    reference=_reference_bce,
)
@public(module="nn.functional")
def binary_cross_entropy(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The cross entropy between probabilities and labels of two classes.

    Args:
        input: probabilities, from 0 to 1.
        label: from 0 to 1, of the same shape.
        weight: a factor for each element, which broadcasts.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of the shape of `input` with `reduction='none'`.

    Examples:
        >>> input = paddle.to_tensor([0.5, 0.9])
        >>> label = paddle.to_tensor([1.0, 0.0])
        >>> print(paddle.nn.functional.binary_cross_entropy(input, label, reduction="none").numpy().round(4))
        [0.6931 2.3026]
    """
    check_reduction("binary_cross_entropy", reduction)
    _same_shapes("binary_cross_entropy", input=input, label=label)
    loss = probability_cross_entropy(input, label)
    return reduce_loss(loss if weight is None else loss * weight, reduction)


@op(
    "logit label",
    infer=broadcast,
    grad={
        "logit": lambda g, logit, label: g * (logit.sigmoid() - label),
        "label": lambda g, logit: -(g * logit),
    },
    paddle_name="sigmoid_cross_entropy_with_logits",
)
def sigmoid_cross_entropy(xp: Any, logit: Any, label: Any) -> Any:
    """`probability_cross_entropy` of sigmoid(logit), without overflow."""
    z = wide(logit)
    out = xp.maximum(z, 0) - z * wide(label) + xp.log1p(xp.exp(-xp.abs(z)))
    return out.astype(logit.dtype)


def _reference_bce_logits(
    x: np.ndarray,
    y: np.ndarray,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    p = 1 / (1 + np.exp(-x.astype(np.float64)))
    loss = -(y * np.log(p) * (1 if pos_weight is None else pos_weight) + (1 - y) * np.log(1 - p))
    return _reduced(loss * (1 if weight is None else weight), reduction)


@samples(
    S(A(3, 2), A(3, 2, low=0.0, high=1.0)),
    S(A(4), A(4, low=0.0, high=1.0), A(4), "none"),
    S(A(2, 3), A(2, 3, low=0.0, high=1.0), reduction="sum", pos_weight=A(3, low=0.1)),
    reference=_reference_bce_logits,
)
@public(module="nn.functional")
def binary_cross_entropy_with_logits(
    logit: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The cross entropy between `sigmoid(logit)` and labels of two classes, without overflow.

    Args:
        logit: scores.
        label: from 0 to 1, of the same shape.
        weight: a factor for each element, which broadcasts.
        reduction: 'mean' (the default), 'sum', or 'none' for a loss of each element.
        pos_weight: a factor of the positive part.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of the shape of `logit` with `reduction='none'`.

    Examples:
        >>> logit = paddle.to_tensor([0.0, 100.0])
        >>> label = paddle.to_tensor([1.0, 0.0])
        >>> y = paddle.nn.functional.binary_cross_entropy_with_logits(logit, label, reduction="none")
        >>> print(y.numpy().round(4))
        [  0.6931 100.    ]
    """
    check_reduction("binary_cross_entropy_with_logits", reduction)
    _same_shapes("binary_cross_entropy_with_logits", logit=logit, label=label)
    if pos_weight is None:
        loss = sigmoid_cross_entropy(logit, label)
    else:
        ones = full_of(1.0, logit._aval.shape, logit._aval.dtype)
        scale = (pos_weight - 1.0) * label + 1.0  # type: ignore[operator]
        negative = (1.0 - label) * logit  # type: ignore[operator]
        loss = negative + scale * sigmoid_cross_entropy(logit, ones)
    return reduce_loss(loss if weight is None else loss * weight, reduction)


def _reference_kl(x: np.ndarray, y: np.ndarray, reduction: str = "mean", log_target: bool = False) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.exp(y) * (y - x) if log_target else np.where(y > 0, y * (np.log(y) - x), 0)
    return loss.sum() / x.shape[0] if reduction == "batchmean" else _reduced(loss, reduction)


@samples(
    S(A(3, 2), A(3, 2, low=0.1)),
    S(A(3, 2), A(3, 2), "sum", log_target=True),
    S(A(3, 2), A(3, 2, low=0.1), "batchmean"),
    S(A(2), A(2, values=[0.0, -1.0], grad=False), "none"),
    reference=_reference_kl,
)
@public(module="nn.functional")
def kl_div(
    input: Tensor,
    label: Tensor,
    reduction: str = "mean",
    log_target: bool = False,
    name: str | None = None,
) -> Tensor:
    """The Kullback-Leibler divergence `label * (log(label) - input)`.

    Args:
        input: log probabilities.
        label: probabilities, or their logarithms with `log_target`.
        reduction: 'mean' (the default), 'batchmean' (the sum over the batch size), 'sum' or 'none'.
        log_target: whether `label` holds logarithms.
        name: a label; it changes nothing.

    Returns:
        One number, or a tensor of the shape of `input` with `reduction='none'`.

    Examples:
        >>> p, q = paddle.to_tensor([[0.5, 0.5]]), paddle.to_tensor([[0.9, 0.1]])
        >>> print(paddle.nn.functional.kl_div(q.log(), p, reduction="batchmean").numpy().round(4))
        0.5108
    """
    if reduction not in ("mean", "sum", "none", "batchmean"):
        raise value_error(
            "kl_div",
            "reduction must be 'mean', 'batchmean', 'sum' or 'none'",
            f"reduction: {reduction!r}",
        )
    _same_shapes("kl_div", input=input, label=label)
    if log_target:
        loss = label.exp() * (label - input)
    else:
        positive = label > 0.0  # type: ignore[operator]
        zeros = full_of(0.0, label._aval.shape, label._aval.dtype)
        safe = where(positive, label, full_of(1.0, label._aval.shape, label._aval.dtype))
        loss = where(positive, label * (safe.log() - input), zeros)
    if reduction == "batchmean":
        return loss.sum() * divided(1.0, maximum(input._aval.shape[0], 1)) if input._aval.ndim else loss.sum()
    return reduce_loss(loss, reduction)
