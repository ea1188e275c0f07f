"""Functions of `nn.functional` that draw: rrelu, gumbel_softmax, alpha dropout; swiglu and further dropout names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import is_floating
from ...core.errors import type_error, value_error
from ...eager.declare import public
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import assign_in_place
from ..arguments import one_axis, require_tensor
from ..basic import cast_to
from ..create.random import draw, uniform_of
from ..math.ternary import where as choose_by
from .activation import log_sigmoid, silu
from .dropout import _probability, dropout, kept
from .embedding import one_hot
from .softmax import softmax_along


@samples(
    S(A(2, 3)), S(A(4)), S(A(0, 2)), S(A()), reference=lambda x: -np.logaddexp(0, -x),
)  # fmt: skip
@public(module="nn.functional")
def logsigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """The older name of `log_sigmoid`.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Returns:
        `log(sigmoid(x))`, of the shape and dtype of `x`.

    Examples:
        >>> print(paddle.nn.functional.logsigmoid(paddle.to_tensor([-200.0, 0.0])).numpy().round(4))
        [-200.       -0.6931]
    """
    return log_sigmoid(x)


def _reference_swiglu(x: Any, y: Any = None) -> Any:
    gate, value = np.split(x, 2, -1) if y is None else (x, y)
    return gate / (1 + np.exp(-gate)) * value


@samples(
    S(A(2, 4)), S(A(2, 3), A(2, 3)), S(A(6)), S(A(0, 4)),
    reference=_reference_swiglu,
)  # fmt: skip
@public(module="nn.functional", method=False)
def swiglu(x: Tensor, y: Tensor | None = None, name: str | None = None) -> Tensor:
    """`silu(x) * y`: the gate of many transformers' feed-forward layers.

    Args:
        x: what is activated; without `y` its last axis holds both, one half behind the other.
        y: what it is multiplied with.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape of `y`, or with half of the last axis of `x`.

    Examples:
        >>> print(paddle.nn.functional.swiglu(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).numpy().round(4))
        [1.4621]
        >>> print(paddle.nn.functional.swiglu(paddle.to_tensor([1.0, 2.0])).numpy().round(4))
        [1.4621]
    """
    value: Any = require_tensor("swiglu", "x", x)
    if y is None:
        if not value._aval.ndim or value._aval.shape[-1] % 2:
            raise value_error("swiglu", "the last axis must have an even number of elements", f"x: {value._aval}")
        value, y = value.split(2, -1)
    return silu(value) * y  # type: ignore[operator]


@samples(
    S(A(2, 3), training=False), S(A(4), 0.2, 0.2), S(A(2, 2), 0.1, 0.5, False),
    reference=lambda x, lower=0.125, upper=1 / 3, training=True: np.where(x >= 0, x, x * (lower + upper) / 2),
)  # fmt: skip
@public(module="nn.functional")
def rrelu(
    x: Tensor, lower: float = 0.125, upper: float = 1.0 / 3.0, training: bool = True, name: str | None = None
) -> Tensor:
    """`x`, with each negative element scaled by a slope of its own, drawn at random.

    Args:
        x: the tensor.
        lower: the smallest slope.
        upper: the largest slope.
        training: whether slopes are drawn; without it each is the mean of `lower` and `upper`.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> paddle.nn.functional.rrelu(paddle.to_tensor([-4.0, 2.0]), 0.25, 0.75, training=False).tolist()
        [-2.0, 2.0]
        >>> y = paddle.nn.functional.rrelu(paddle.to_tensor([-4.0, 2.0]), 0.25, 0.75)
        >>> -3.0 <= y[0].item() <= -1.0, y[1].item()
        (True, 2.0)
    """
    value: Any = require_tensor("rrelu", "x", x)
    low, high = float(lower), float(upper)
    if not 0 <= low <= high <= 1:
        raise value_error("rrelu", "0 <= lower <= upper <= 1 is needed", f"lower: {lower}, upper: {upper}")
    if not is_floating(value._aval.dtype):
        raise type_error("rrelu", "x must have a floating type", f"x: {value._aval}")
    if training and low != high:
        slope: Any = uniform_of(low, high, *draw(), value._aval.shape, value._aval.dtype)
        return choose_by(value >= 0.0, value, value * slope)
    return choose_by(value >= 0.0, value, value * ((low + high) / 2))


@samples(
    S(A(2, 3)), S(A(2, 3), 0.5, axis=0), S(A(4), hard=True), random=True, gradient=False,
    why="drawn numbers differ from call to call",
)  # fmt: skip
@public(module="nn.functional")
@one_operator("gumbel_softmax")
def gumbel_softmax(
    x: Tensor, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None
) -> Tensor:
    """A draw from the classes of `x` that can be differentiated.

    Args:
        x: logits.
        temperature: the smaller, the closer a draw is to one class.
        hard: whether the result is exactly one 1 and zeros; the gradient is that of the soft draw.
        axis: the axis of the classes.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`, which adds up to 1 along `axis`.

    Examples:
        >>> draw = paddle.nn.functional.gumbel_softmax(paddle.zeros([4, 3]), hard=True)
        >>> sorted(set(draw.flatten().tolist())), draw.sum(-1).tolist()
        ([0.0, 1.0], [1.0, 1.0, 1.0, 1.0])
    """
    value: Any = require_tensor("gumbel_softmax", "x", x)
    aval = value._aval
    if temperature <= 0:
        raise value_error("gumbel_softmax", "temperature must be positive", f"temperature: {temperature}")
    place = one_axis("gumbel_softmax", axis, aval.ndim)
    tiny = float(np.finfo(np.float32).tiny)
    uniform: Any = uniform_of(tiny, 1.0, *draw(), aval.shape, aval.dtype)
    noise = -(-uniform.log()).log()
    soft: Any = softmax_along((value + noise) * (1.0 / temperature), place)
    if not hard:
        return soft
    chosen = cast_to(one_hot(soft.argmax(place), aval.shape[place]), aval.dtype)
    chosen = chosen.moveaxis(-1, place)
    return chosen + (soft - soft.detach())


# ---- dropout -------------------------------------------------------------------------------------

# What SELU gives far below zero: dropped elements become this, so that mean and variance stay.
_LOWEST = -1.7580993408473766


def _alpha(where: str, x: Any, p: Any, training: bool, by_channel: bool) -> Any:
    aval = require_tensor(where, "x", x)._aval
    probability = _probability(where, p)
    if not training or probability == 0:
        return x
    if probability == 1:
        return x * 0
    if not is_floating(aval.dtype):
        raise type_error(where, "x must have a floating type", f"x: {aval}")
    if by_channel and aval.ndim < 2:
        raise value_error(where, "x must have a batch and channels", f"x: {aval}")
    shape = (*aval.shape[:2], *(1,) * (aval.ndim - 2)) if by_channel else aval.shape
    scale = ((1 - probability) * (1 + probability * _LOWEST**2)) ** -0.5
    shift = -scale * _LOWEST * probability
    mask = kept(probability, *draw(), shape)
    return choose_by(mask, x, _LOWEST) * scale + shift


_STILL = {"reference": lambda x, p=0.5, training=True: x * float(p != 1 or not training)}


@samples(S(A(2, 3), 0.0), S(A(2, 3), 0.4, training=False), S(A(4), 1.0), **_STILL)  # type: ignore[arg-type]
@public(module="nn.functional")
def alpha_dropout(x: Tensor, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """Dropout for SELU networks, which keeps mean and variance.

    Dropped elements take SELU's lowest value, and the result is scaled and shifted.

    Args:
        x: the tensor.
        p: the probability of being dropped, from 0 to 1.
        training: whether elements are dropped at all; without it `x` is the result.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> x = paddle.ones([1000])
        >>> paddle.nn.functional.alpha_dropout(x, 0.5).unique().shape
        paddle.Size([2])
        >>> paddle.nn.functional.alpha_dropout(x, 0.5, training=False).equal_all(x).item()
        True
    """
    return _alpha("alpha_dropout", x, p, training, False)


@samples(S(A(2, 3), 0.0), S(A(2, 3, 2), 0.4, training=False), S(A(4, 2), 1.0), **_STILL)  # type: ignore[arg-type]
@public(module="nn.functional")
def feature_alpha_dropout(x: Tensor, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """`alpha_dropout` of whole channels.

    Args:
        x: a tensor `[batch, channels, ...]`.
        p: the probability of a channel to be dropped, from 0 to 1.
        training: whether channels are dropped at all; without it `x` is the result.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Examples:
        >>> y = paddle.nn.functional.feature_alpha_dropout(paddle.ones([2, 8, 4]), 0.5)
        >>> (y == y[:, :, :1]).all().item()  # all of a channel or nothing
        True
    """
    if require_tensor("feature_alpha_dropout", "x", x)._aval.ndim < 2:
        raise value_error("feature_alpha_dropout", "x must have two dimensions at least", f"x: {x._aval}")
    return _alpha("feature_alpha_dropout", x, p, training, True)


@samples(
    S(A(2, 3, 2), 0.0), S(A(2, 3, 2), 0.4, training=False), S(A(3, 2), 1.0),
    reference=lambda x, p=0.5, training=True: x * float(p != 1 or not training),
)  # fmt: skip
@public(module="nn.functional")
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels to zero, each with probability `p`, while training.

    Args:
        input: `[batch, channels, length]` or `[channels, length]`.
        p: the probability of a channel to be dropped.
        training: whether channels are dropped; without it `input` is the result.
        inplace: whether `input` itself takes the result.

    Returns:
        A tensor of the shape and dtype of `input`; channels that are left are divided by `1 - p`.

    Examples:
        >>> y = paddle.nn.functional.dropout1d(paddle.ones([2, 8, 3]), p=0.5)
        >>> (y == y[:, :, :1]).all().item()  # all of a channel or nothing
        True
    """
    aval = require_tensor("dropout1d", "input", input)._aval
    if aval.ndim not in (2, 3):
        raise value_error("dropout1d", "input must have 2 or 3 dimensions", f"input: {aval}")
    result = dropout(input, p, list(range(aval.ndim - 1)), training)
    return assign_in_place(input, result, "dropout1d") if inplace else result
