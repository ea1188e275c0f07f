"""Norms of padded programs whose statistics run along padded axes: they are those of the data alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.aval import Aval
from .filling import Arrays, Places, first, inside, own, wide

Shape = tuple[int, ...]


class _Data:
    """An array seen in the shape in which it is normalised, with its surplus at 0."""

    def __init__(
        self, xp: Any, x: Any, view: Shape, axes: Shape, centred: bool, places: Places, extents: Arrays
    ) -> None:
        self.xp, self.axes, self.view = xp, axes, view or x.shape
        here = inside(xp, x.ndim, places, extents)
        self.here = xp.broadcast_to(here, x.shape).reshape(self.view)
        self.count = xp.maximum(xp.sum(self.here, axis=axes, keepdims=True), 1).astype(wide(x).dtype)
        values = self.only(wide(x).reshape(self.view))
        self.mean_value = self.mean(values) if centred else np.zeros((), values.dtype)
        self.values = self.only(values - self.mean_value)
        self.variance = self.mean(self.values * self.values)

    def only(self, x: Any) -> Any:
        return self.xp.where(self.here, x, np.zeros((), x.dtype))

    def mean(self, x: Any) -> Any:
        return self.xp.sum(x, axis=self.axes, keepdims=True) / self.count

    def factor(self, epsilon: float) -> Any:
        """What makes the variance 1."""
        return 1 / self.xp.sqrt(self.variance + np.asarray(epsilon, self.values.dtype))


def _parameters(arrays: Arrays, *present: bool) -> tuple[list[Any], list[Any]]:
    given = list(arrays)
    return [given.pop(0) if has else None for has in present], given


@own("has_weight has_bias epsilon view axes broadcast centred places", infer=first, family="normalisation")
def normalise_within(
    xp: Any, arrays: Arrays, has_weight: bool, has_bias: bool, epsilon: float, view: Shape, axes: Shape,
    broadcast: Shape, centred: bool, places: Places,
) -> Any:  # fmt: skip
    (x, weight, bias), extents = _parameters(arrays, True, has_weight, has_bias)
    data = _Data(xp, x, view, axes, centred, places, extents)
    out = (data.values * data.factor(epsilon)).reshape(x.shape)
    if weight is not None:
        out = out * wide(weight).reshape(broadcast)
    if bias is not None:
        out = out + wide(bias).reshape(broadcast)
    return out.astype(x.dtype)


@own("has_weight epsilon view axes broadcast centred places", infer=first)
def gradient_within(
    xp: Any, arrays: Arrays, has_weight: bool, epsilon: float, view: Shape, axes: Shape, broadcast: Shape,
    centred: bool, places: Places,
) -> Any:  # fmt: skip
    """The gradient of `normalise_within` in its first operand, for that of its result (the second)."""
    (x, y, weight), extents = _parameters(arrays, True, True, has_weight)
    data = _Data(xp, x, view, axes, centred, places, extents)
    factor = data.factor(epsilon)
    standard = data.values * factor
    y = wide(y) if weight is None else wide(y) * wide(weight).reshape(broadcast)
    y = data.only(y.reshape(data.view))
    out = y - standard * data.mean(y * standard)
    if centred:
        out = out - data.mean(y)
    return (out * factor).reshape(x.shape).astype(x.dtype)


def _infer_weight(_operation: Any, kinds: Any, attributes: Any, _place: Any) -> Aval:
    return kinds[0].with_shape(attributes[3])


@own("epsilon view axes broadcast centred places", infer=_infer_weight)
def weight_gradient_within(
    xp: Any, arrays: Arrays, epsilon: float, view: Shape, axes: Shape, broadcast: Shape, centred: bool, places: Places
) -> Any:
    """The gradient of `normalise_within` in its scale."""
    x, y, *extents = arrays
    data = _Data(xp, x, view, axes, centred, places, extents)
    standard = data.only(data.values * data.factor(epsilon))
    product = data.only(wide(y).reshape(data.view)) * standard
    full = (1,) * (x.ndim - len(broadcast)) + broadcast
    repeated = tuple(axis for axis, n in enumerate(full) if n == 1)
    return xp.sum(product.reshape(x.shape), axis=repeated, keepdims=True).reshape(broadcast).astype(x.dtype)


def _infer_running(_operation: Any, kinds: Any, _attributes: Any, _place: Any) -> Any:
    return kinds[1], kinds[2]


@own("axes places", infer=_infer_running)
def running_within(xp: Any, arrays: Arrays, axes: Shape, places: Places) -> tuple[Any, ...]:
    """Running mean and variance moved towards those of the data; `momentum` is the share of the old ones."""
    x, mean, variance, momentum, *extents = arrays
    data = _Data(xp, x, (), axes, True, places, extents)
    kept: Any = momentum.astype(data.values.dtype)
    pairs: Sequence[tuple[Any, Any]] = ((mean, data.mean_value), (variance, data.variance))
    moved: list[Any] = [kept * wide(old) + (1 - kept) * new.reshape(old.shape) for old, new in pairs]
    return moved[0].astype(mean.dtype), moved[1].astype(variance.dtype)


running_within.returns_tuple = True
running_within.follow_scalars = False  # the momentum is a float64, whatever is normalised
