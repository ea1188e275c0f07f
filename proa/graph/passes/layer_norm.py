"""Layer norms and root-mean-square norms written by hand become the one operation for them.

Invariant: mean and variance along the last axis, the same epsilon, weight and bias, up to rounding (the operation
computes half precision in float32).
"""

from __future__ import annotations

from typing import Any as Anything

from ...ops.neural.normalization import normalise
from .activations import squared
from .matching import Any, Attribute, Either, Number, Pattern, node, pattern

_X = Any("x", where=lambda aval: aval.dtype.kind == "f" and aval.ndim >= 1)
_EPSILON = Number("epsilon", where=lambda e: 0 < e < 0.1)


def _mean_of(x: Anything, name: str) -> Pattern:
    """The mean along an axis: as such, or as a sum times 1/n."""
    return Either(
        node.mean(x, axis=Attribute(name), keepdim=True),
        node.multiply(node.sum(x, axis=Attribute(name), keepdim=True), Number("share")),
    )


_centred = node.subtract(_X, _mean_of(_X, "axis"))


def _standard(x: Anything, of: Anything) -> Pattern:
    """`x` divided by the root of the mean square of `of`."""
    shifted = node.add(_mean_of(squared(of), "second_axis"), _EPSILON)
    return Either(node.divide(x, node.sqrt(shifted)), node.multiply(x, node.rsqrt(shifted)))


_weight, _bias = Any("weight"), Any("bias")
_layer_norm = _standard(_centred, _centred)
_root_mean_square = _standard(_X, _X)


def _normalised(
    x: Anything,
    epsilon: float,
    axes: tuple[Anything, ...],
    share: Anything,
    weight: Anything,
    bias: Anything,
    centred: bool,
) -> Anything:
    """The operation, or None where the axes or parameters are others than it takes."""
    shape = tuple(x._aval.shape)
    last = len(shape) - 1
    width = shape[last]
    if any(axis not in ((last,), last) for axis in axes):
        return None
    if share is not None and abs(share * width - 1) > 1e-5:
        return None
    for parameter in (weight, bias):
        if parameter is not None and (parameter._aval.shape != (width,) or parameter._aval.dtype != x._aval.dtype):
            return None
    return normalise(x, weight, bias, float(epsilon), shape, (last,), (width,), centred)


@pattern(node.add(node.multiply(_layer_norm, _weight), _bias), name="layer_norm", order=32)
def _affine(
    x: Anything,
    epsilon: float,
    axis: Anything,
    second_axis: Anything,
    weight: Anything,
    bias: Anything,
    share: Anything = None,
) -> Anything:
    return _normalised(x, epsilon, (axis, second_axis), share, weight, bias, True)


@pattern(_layer_norm, name="layer_norm_without_parameters", order=33)
def _plain(x: Anything, epsilon: float, axis: Anything, second_axis: Anything, share: Anything = None) -> Anything:
    return _normalised(x, epsilon, (axis, second_axis), share, None, None, True)


@pattern(node.multiply(_root_mean_square, _weight), name="rms_norm", order=34)
def _rms(x: Anything, epsilon: float, second_axis: Anything, weight: Anything, share: Anything = None) -> Anything:
    return _normalised(x, epsilon, (second_axis,), share, weight, None, False)
