"""Dropout (`paddle.nn.functional`): the mask is drawn by one operation and used by another.

The mask, one byte for each element, is what the backward pass keeps. The probability is data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import BOOL, is_differentiable
from ...core.errors import type_error, value_error
from ...eager import series
from ...eager.annotations import AxisLike, Number
from ...eager.declare import op, public
from ...eager.infer import same
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import assign_in_place
from ...ir.padding import rules
from ...kernels import random_bits
from ..arguments import integers, require_tensor
from ..create.creation import assign_to
from ..create.random import draw

_MODES = ("upscale_in_train", "downscale_in_infer")


def _infer_mask(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return make_aval(attributes[0], BOOL, place)


@op(
    "",
    scalars="p seed offset",
    infer=_infer_mask,
    follow_scalars=False,
    name="dropout_mask",
    family="random",
    padding=rules.creation.drawn,
)
def kept(xp: Any, p: Any, seed: Any, offset: Any, shape: tuple[int, ...]) -> Any:
    """True with probability 1 - p, to the 32nd bit."""
    limit = (p.astype(np.float64) * 2.0**32).astype(np.uint64)
    return random_bits.words32(xp, shape, seed, offset).astype(np.uint64) >= limit


@op(
    "x mask",
    scalars="factor",
    infer=same,
    follow_scalars=True,
    grad={"x": lambda g, mask, factor: masked_times(g, mask, factor)},
    name="dropout",
    series=series.algebra.linear("x"),
)
def masked_times(xp: Any, x: Any, mask: Any, factor: Any) -> Any:
    """`x * factor` where the mask is true, 0 elsewhere."""
    return xp.where(mask, x * factor, np.zeros((), x.dtype))


@op(
    scalars="factor",
    infer=same,
    follow_scalars=True,
    grad={"x": lambda g, factor: times(g, factor)},
    name="dropout_scale",
    series=series.algebra.linear("x"),
)
def times(xp: Any, x: Any, factor: Any) -> Any:
    return x * factor


def _probability(where: str, p: Any) -> float:
    if isinstance(p, Tensor):
        p = p.item()
    if isinstance(p, (bool, str)) or not isinstance(p, (int, float, np.integer, np.floating)):
        raise type_error(where, "p must be a number", f"p: {p!r}")
    if not 0 <= p <= 1:
        raise value_error(where, "p must be from 0 to 1", f"p: {p}")
    return float(p)


@samples(
    S(A(2, 3), 0.0),
    S(A(2, 3), 1.0),
    S(A(2, 3), 0.5, training=False),
    S(A(0, 3), 0.25),
    S(A(2, 3), 0.25, training=False, mode="downscale_in_infer"),
    S(A(2, 3, dtype="int64"), 0.25, training=False),
    reference=lambda x, p, training=True, mode="upscale_in_train": (
        x * (1 - p if mode == "downscale_in_infer" else int(p != 1 or not training))
    ),
)
@public(module="nn.functional")
def dropout(
    x: Tensor,
    p: Number = 0.5,
    axis: AxisLike | None = None,
    training: bool = True,
    inplace: bool = False,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:
    """Sets elements to zero, each with probability `p`, while training.

    Args:
        x: the tensor.
        p: the probability of being dropped, from 0 to 1; a number or a tensor of one.
        axis: the axes that have draws of their own (all elements along the others share one); None for all.
        training: whether elements are dropped.
        inplace: whether `x` itself takes the result.
        mode: "upscale_in_train" divides what is left by `1 - p` and leaves `x` alone when not training;
            "downscale_in_infer" multiplies by `1 - p` when not training instead.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        ValueError: `p` is not between 0 and 1, or `mode` is another word.

    Examples:
        >>> y = paddle.nn.functional.dropout(paddle.ones([1000]), p=0.5)
        >>> sorted(set(y.tolist()))
        [0.0, 2.0]
        >>> paddle.nn.functional.dropout(paddle.ones([2]), p=0.5, training=False).tolist()
        [1.0, 1.0]
        >>> rows = paddle.nn.functional.dropout(paddle.ones([4, 3]), p=0.5, axis=0)
        >>> (rows == rows[:, :1]).all().item()
        True
    """
    aval = require_tensor("dropout", "x", x)._aval
    probability = _probability("dropout", p)
    if mode not in _MODES:
        raise value_error("dropout", f"mode is one of {', '.join(map(repr, _MODES))}", repr(mode))
    unscaled = probability in (0, 1) or (not training and mode == "upscale_in_train")
    if not is_differentiable(aval.dtype) and not unscaled:
        raise type_error("dropout", "x must have a floating type", f"x: {aval}")
    shape = aval.shape if axis is None else _mask_shape(aval, axis)
    if probability == 0:
        return x
    if not training:
        result = assign_to(x) if mode == "upscale_in_train" else times(x, 1 - probability)
    else:
        factor = 1.0 if mode == "downscale_in_infer" or probability == 1 else 1 / (1 - probability)
        result = masked_times(x, kept(probability, *draw(), shape), factor if is_differentiable(aval.dtype) else 1)
    return assign_in_place(x, result, "dropout_") if inplace else result


def _mask_shape(aval: Aval, axis: Any) -> tuple[int, ...]:
    axes = integers("dropout", "axis", axis)
    for a in axes:
        if not 0 <= a < aval.ndim:
            raise value_error("dropout", f"axis must be from 0 to {aval.ndim - 1}", f"axis: {a}, x: {aval}")
    return tuple(n if a in axes else 1 for a, n in enumerate(aval.shape))


def _channel_dropout(where: str, x: Tensor, p: Any, training: bool, data_format: str, ndim: int) -> Tensor:
    first, last = ("NCHW", "NHWC") if ndim == 4 else ("NCDHW", "NDHWC")
    aval = require_tensor(where, "x", x)._aval
    if aval.ndim != ndim:
        raise value_error(where, f"x must have {ndim} dimensions", f"x: {aval}")
    if data_format not in (first, last):
        raise value_error(where, f"data_format is {first!r} or {last!r}", repr(data_format))
    return dropout(x, p, [0, 1] if data_format == first else [0, ndim - 1], training)


@samples(
    S(A(1, 2, 2, 2), 1.0),
    S(A(1, 2, 2, 2), 0.3, training=False),
    S(A(1, 2, 2, 1), 0.0, data_format="NHWC"),
    reference=lambda x, p, training=True, data_format="NCHW": x * float(p != 1 or not training),
)
@public(module="nn.functional")
def dropout2d(
    x: Tensor,
    p: Number = 0.5,
    training: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Sets whole channels of images to zero, each with probability `p`, while training.

    Args:
        x: images, `[batch, channels, height, width]` or with the channels last.
        p: the probability of a channel to be dropped.
        training: whether channels are dropped; without it `x` is the result.
        data_format: 'NCHW' or 'NHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`; channels that are left are divided by `1 - p`.

    Examples:
        >>> y = paddle.nn.functional.dropout2d(paddle.ones([2, 8, 3, 3]), p=0.5)
        >>> (y == y[:, :, :1, :1]).all().item()  # all of a channel or nothing
        True
    """
    return _channel_dropout("dropout2d", x, p, training, data_format, 4)


@samples(
    S(A(1, 2, 2, 2, 1), 1.0),
    S(A(1, 2, 2, 2, 1), 0.3, training=False),
    S(A(1, 1, 2, 2, 1), 0.0),
    reference=lambda x, p, training=True: x * float(p != 1 or not training),
)
@public(module="nn.functional")
def dropout3d(
    x: Tensor,
    p: Number = 0.5,
    training: bool = True,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """Sets whole channels of volumes to zero, each with probability `p`, while training.

    Args:
        x: volumes, `[batch, channels, depth, height, width]` or with the channels last.
        p: the probability of a channel to be dropped.
        training: whether channels are dropped; without it `x` is the result.
        data_format: 'NCDHW' or 'NDHWC'.
        name: a label; it changes nothing.

    Returns:
        A tensor of the shape and dtype of `x`; channels that are left are divided by `1 - p`.

    Examples:
        >>> y = paddle.nn.functional.dropout3d(paddle.ones([2, 8, 2, 2, 2]), p=0.5)
        >>> (y == y[:, :, :1, :1, :1]).all().item()  # all of a channel or nothing
        True
    """
    return _channel_dropout("dropout3d", x, p, training, data_format, 5)
