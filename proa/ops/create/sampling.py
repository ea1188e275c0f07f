"""Random choices by given probabilities, and tensors filled with random numbers in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.dtype import (
    FLOAT32,
    FLOAT64,
    INT64,
    is_floating,
)
from ...core.errors import type_error, value_error
from ...eager.annotations import Number
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...eager.views import assign_in_place
from ...ir.operation import Check
from ...ir.padding import rules
from ...kernels import random_bits
from ..arguments import finish, integer, require_tensor
from ..basic import cast_to, expand_to, full_of
from .creation import real_of
from .random import draw, infer_new, integers_from, normal_of, uniform_of

# ---- from probabilities --------------------------------------------------------------------------


def _infer_bernoulli(_op: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    return operands[0] if is_floating(operands[0].dtype) else operands[0].with_dtype(FLOAT32)


@op(
    scalars="seed offset",
    infer=_infer_bernoulli,
    check=Check(
        lambda xp, x, *_: xp.all((x >= 0) & (x <= 1)),
        lambda kinds, a: "probabilities must be from 0 to 1",
        IndexError,
        (0,),
    ),
    name="bernoulli",
    family="random",
    padding=rules.creation.drawn_for,
)
def bernoulli_of(xp: Any, x: Any, seed: Any, offset: Any) -> Any:
    fraction = random_bits.words32(xp, x.shape, seed, offset).astype(np.float64) * 2.0**-32
    return (fraction < x.astype(np.float64)).astype(x.dtype, copy=False)


@samples(
    S(A(4, 8, low=0.2, high=0.8)), S(A(32, dtype="float64", low=0.2, high=0.8)), S(A(4, 8), p=0.5), S(A(0, 3)),
    S(A(values=[0.0, 1.0])), random=True,
)  # fmt: skip
@public()
def bernoulli(x: Tensor, p: Number | None = None, name: str | None = None) -> Tensor:
    """1 with the probability that `x` has at that place, else 0.

    Args:
        x: probabilities.
        p: one probability for all places, instead of those in `x`.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.bernoulli(paddle.to_tensor([0.0, 1.0])).tolist()
        [0.0, 1.0]
    """
    require_tensor("bernoulli", "x", x)
    if p is not None:
        dtype = x._aval.dtype if is_floating(x._aval.dtype) else FLOAT32
        x = full_of(real_of("bernoulli", "p", p), x._aval.shape, dtype)
    return bernoulli_of(x, *draw())


def _infer_multinomial(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    aval = operands[0]
    return aval.with_shape((*aval.shape[:-1], attributes[0])).with_dtype(INT64)


def _can_be_drawn(xp: Any, x: Any, _seed: Any, _offset: Any, num_samples: int, replacement: bool) -> Any:
    enough = xp.sum(x > 0, axis=-1) >= (1 if replacement else num_samples)
    return xp.all(x >= 0) & xp.all(enough) & xp.all(xp.isfinite(x))


@op(
    scalars="seed offset",
    infer=_infer_multinomial,
    check=Check(
        _can_be_drawn,
        lambda kinds, a: f"weights must be finite, not negative, and {1 if a[1] else a[0]} of them positive",
        ValueError,
        (0,),
    ),
    name="multinomial",
    family="random",
    padding=rules.refused("how many numbers it draws depends on how much data there is"),
)
def multinomial_of(xp: Any, x: Any, seed: Any, offset: Any, num_samples: int, replacement: bool) -> Any:
    """With replacement by the inverse of the distribution, without by a race of exponential
    clocks."""
    weights = x.astype(np.float64)
    if not replacement:
        waiting = -xp.log1p(-random_bits.uniform(xp, x.shape, FLOAT64, seed, offset)) / weights
        waiting = xp.where(weights > 0, waiting, np.inf)
        return xp.argsort(waiting, axis=-1, **({"kind": "stable"} if xp is np else {"stable": True}))[..., :num_samples]
    sums = xp.cumsum(weights, axis=-1)
    fraction = random_bits.uniform(xp, (*x.shape[:-1], num_samples), FLOAT64, seed, offset)
    target = fraction * sums[..., -1:]
    # The number of partial sums that are not above the target; at most the last one with a positive
    # weight.
    if x.ndim == 1:
        found = xp.searchsorted(sums, target, side="right")
    else:
        found = xp.stack([xp.searchsorted(s, t, side="right") for s, t in zip(sums, target)]) if x.shape[0] else target
    last = x.shape[-1] - 1 - xp.argmax(weights[..., ::-1] > 0, axis=-1)
    return xp.minimum(found, last[..., None])


def _multinomial_xla(xp: Any, x: Any, seed: Any, offset: Any, num_samples: int, replacement: bool) -> Any:
    if not replacement or x.ndim == 1:
        return multinomial_of.operation.kernel(xp, x, seed, offset, num_samples, replacement)
    import jax

    weights = x.astype(np.float64)
    sums = xp.cumsum(weights, axis=-1)
    target = random_bits.uniform(xp, (x.shape[0], num_samples), FLOAT64, seed, offset) * sums[..., -1:]
    found = jax.vmap(lambda s, t: xp.searchsorted(s, t, side="right"))(sums, target)
    last = x.shape[-1] - 1 - xp.argmax(weights[..., ::-1] > 0, axis=-1)
    return xp.minimum(found, last[..., None])


multinomial_of.operation.kernels["xla"] = _multinomial_xla


@samples(
    S(A(6, low=0.1)), S(A(3, 8, low=0.1), 6, True), S(A(2, 9, low=0.1), 9), S(A(12, dtype="float64", low=0.1), 10),
    S(A(values=[0.0, 0.0, 1.0]), 4, True), random=True,
)  # fmt: skip
@public(method=True)
def multinomial(
    x: Tensor,
    num_samples: Any = 1,
    replacement: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Numbers of categories, drawn by weight.

    Args:
        x: weights, not negative, along the last axis; one or two axes.
        num_samples: how many are drawn from each row.
        replacement: whether one category may be drawn twice.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        int64 numbers, `num_samples` in the last axis.

    Raises:
        ValueError: without replacement more are asked for than there are categories of positive weight.

    Examples:
        >>> paddle.multinomial(paddle.to_tensor([0.0, 1.0, 0.0]), 3, replacement=True).tolist()
        [1, 1, 1]
    """
    aval = require_tensor("multinomial", "x", x)._aval
    count = integer("multinomial", "num_samples", num_samples)
    received = f"x: {aval}, num_samples: {count}"
    if aval.ndim not in (1, 2):
        raise value_error("multinomial", "x must have one or two dimensions", received)
    if not is_floating(aval.dtype):
        raise type_error(
            "multinomial",
            "the weights must have a floating type",
            received,
            "convert them with astype('float32')",
        )
    if count <= 0 or aval.shape[-1] == 0:
        raise value_error("multinomial", "num_samples must be positive, and there must be categories", received)
    if not replacement and count > aval.shape[-1]:
        raise value_error("multinomial", "more samples than categories", received, "draw with replacement=True")
    return finish(multinomial_of(x, *draw(), count, bool(replacement)), out)


# ---- in place ------------------------------------------------------------------------------------


def _own_type(where: str, x: Tensor) -> np.dtype:
    aval = require_tensor(where, "x", x)._aval
    if not is_floating(aval.dtype):
        raise type_error(where, "the tensor must have a floating type", f"x: {aval}")
    return aval.dtype


def _filled_with(where: str, x: Tensor, numbers: Tensor) -> Tensor:
    place = x._aval.place
    return assign_in_place(x, numbers if numbers._aval.place is place else numbers._to_place(place), where)


@samples(
    S(A(3, 4)), S(A(2, 6, dtype="float64"), -2.0, 3.0), S(A(0, 2)), S(A()), S(A(2), seed=7),
    gradient=False, why="fills the tensor with numbers that do not depend on it", random=True,
)  # fmt: skip
@public(method=True)
def uniform_(x: Tensor, min: Number = 0, max: Number = 1.0, seed: int = 0, name: str | None = None) -> Tensor:
    """Fills `x` with numbers drawn uniformly from [min, max) and returns it.

    Args:
        x: the tensor.
        min: the smallest number.
        max: the limit, which is not drawn.
        seed: a seed of its own, unless it is 0.
        name: a label; it changes nothing.

    Examples:
        >>> x = paddle.zeros([100]).uniform_(2.0, 3.0)
        >>> bool((2 <= x).all() and (x < 3).all())
        True
    """
    low, high = real_of("uniform_", "min", min), real_of("uniform_", "max", max)
    dtype = _own_type("uniform_", x)
    return _filled_with("uniform_", x, uniform_of(low, high, *draw(seed), x._aval.shape, dtype))


@samples(
    S(A(3, 4)), S(A(2, 6, dtype="float64"), 1.0, 0.5), S(A(0, 2)), S(A(2, 5, dtype="complex64")),
    gradient=False, why="fills the tensor with numbers that do not depend on it", random=True,
)  # fmt: skip
@public(method=True)
def normal_(x: Tensor, mean: Number = 0.0, std: Number = 1.0, name: str | None = None) -> Tensor:
    """Fills `x` with numbers from a normal distribution and returns it.

    Args:
        x: the tensor.
        mean: its mean.
        std: its standard deviation.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.zeros([2]).normal_(mean=3.0, std=0.0).tolist()
        [3.0, 3.0]
    """
    centre, width = real_of("normal_", "mean", mean), real_of("normal_", "std", std)
    dtype = x._aval.dtype if x._aval.dtype.kind == "c" else _own_type("normal_", x)
    return _filled_with("normal_", x, normal_of(centre, width, *draw(), x._aval.shape, dtype))


@op(
    "",
    scalars="rate seed offset",
    infer=infer_new,
    follow_scalars=False,
    name="exponential",
    padding=rules.creation.drawn,
)
def exponential_of(xp: Any, rate: Any, seed: Any, offset: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    compute = FLOAT64 if dtype == FLOAT64 else FLOAT32
    return (-xp.log(1 - random_bits.uniform(xp, shape, compute, seed, offset)) / rate.astype(compute)).astype(dtype)


@samples(
    S(A(3, 4)), S(A(2, 6, dtype="float64"), 0.5), S(A(0, 2)), S(A(), 3.0),
    gradient=False, why="fills the tensor with numbers that do not depend on it", random=True,
)  # fmt: skip
@public(method=True)
def exponential_(x: Tensor, lam: Number = 1.0, name: str | None = None) -> Tensor:
    """Fills `x` with numbers from an exponential distribution and returns it.

    Args:
        x: the tensor.
        lam: the rate, the inverse of the mean.
        name: a label; it changes nothing.

    Examples:
        >>> bool((paddle.zeros([100]).exponential_(2.0) >= 0).all())
        True
    """
    rate = real_of("exponential_", "lam", lam)
    if not rate > 0:
        raise value_error("exponential_", "lam must be positive", f"lam: {rate}")
    dtype = _own_type("exponential_", x)
    return _filled_with("exponential_", x, exponential_of(rate, *draw(), x._aval.shape, dtype))


@samples(
    S(A(4, 8)), S(A(32, dtype="float64"), 0.3), S(A(0, 2)), S(A(4, 8), A(4, 8, low=0.2, high=0.8)), S(A(2), p=1),
    gradient=False, why="fills the tensor with numbers that do not depend on it", random=True,
)  # fmt: skip
@public(method=True)
def bernoulli_(x: Tensor, p: Number = 0.5, name: str | None = None) -> Tensor:
    """Fills `x` with ones, each with probability `p`, and zeros, and returns it.

    Args:
        x: the tensor.
        p: the probability, a number or a tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.zeros([3]).bernoulli_(1.0).tolist()
        [1.0, 1.0, 1.0]
    """
    probabilities = p if isinstance(p, Tensor) else None
    if probabilities is not None:
        drawn = bernoulli_of(expand_to(probabilities, x._aval.shape), *draw())
    else:
        drawn = bernoulli(x, p)
    return _filled_with("bernoulli_", x, cast_to(drawn, x._aval.dtype))


@samples(
    S(A(3, 4)), S(A(2, 6, dtype="int64"), 5, 500), S(A(0, 2), 0, 3), S(A(2, 6, dtype="int32"), to=200),
    gradient=False, why="fills the tensor with numbers that do not depend on it", random=True,
)  # fmt: skip
@public(method=True)
def random_(x: Tensor, from_: int = 0, to: int | None = None, *, generator: None = None) -> Tensor:
    """Fills `x` with integers drawn uniformly and returns it.

    Args:
        x: the tensor.
        from_: the smallest, or the limit where `to` is left out.
        to: the limit, which is not drawn; what the type of `x` can hold by default.
        generator: accepted; numbers come from the default one.

    Examples:
        >>> paddle.zeros([3]).random_(4, 5).tolist()
        [4.0, 4.0, 4.0]
    """
    high = to if to is not None else (2**24 if is_floating(x._aval.dtype) else np.iinfo(x._aval.dtype).max)
    drawn = integers_from("random_", from_, int(high), x._aval.shape, INT64)
    return _filled_with("random_", x, cast_to(drawn, x._aval.dtype))
