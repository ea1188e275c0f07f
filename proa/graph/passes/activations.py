"""Activation functions written by hand become the operations of that name, for which there are kernels.

Invariant: the same function of the same tensor, up to rounding.
"""

from __future__ import annotations

import math
from typing import Any as Anything

from ...ops.neural import activation
from .matching import Any, Either, Pattern, node, pattern

_X = Any("x", where=lambda aval: aval.dtype.kind == "f" or aval.dtype.name == "bfloat16")


def times(x: Anything, number: float) -> Pattern:
    """`x * number`, in the ways it is written."""
    return Either(
        node.multiply(x, number), node.times(x, number), node.divide(x, 1.0 / number), node.scale(x, number, 0.0),
    )  # fmt: skip


def plus(x: Anything, number: float) -> Pattern:
    """`x + number`."""
    return Either(node.add(x, number), node.scale(x, 1.0, number))


def squared(x: Anything) -> Pattern:
    return Either(node.multiply(x, x), node.square(x), node.integer_power(x, exponent=2), node.pow(x, 2.0))


def _product(*factors: Anything) -> Pattern:
    """A product of three, in any order."""
    a, b, half = factors
    return Either(node.multiply(times(a, half), b), node.multiply(a, times(b, half)), times(node.multiply(a, b), half))


_cubed = Either(node.integer_power(_X, exponent=3), node.pow(_X, 3.0), node.multiply(squared(_X), _X))
_bent = Either(times(_cubed, 0.044715), node.multiply(node.multiply(times(_X, 0.044715), _X), _X))
# 1 + 0.044715 x²
_slope = plus(Either(times(squared(_X), 0.044715), node.multiply(times(_X, 0.044715), _X)), 1.0)
_ROOT = math.sqrt(2 / math.pi)
_argument = Either(
    times(Either(node.add(_X, _bent), node.multiply(_X, _slope)), _ROOT), node.multiply(times(_X, _ROOT), _slope)
)
_by_erf = plus(node.erf(times(_X, math.sqrt(0.5))), 1.0)
_by_tanh = plus(node.tanh(_argument), 1.0)


@pattern(_product(_X, _by_erf, 0.5), name="gelu", order=30)
def _gelu(x: Anything) -> Anything:
    return activation.gelu(x)


@pattern(_product(_X, _by_tanh, 0.5), name="gelu_by_tanh", order=30)
def _gelu_by_tanh(x: Anything) -> Anything:
    return activation.gelu(x, approximate=True)


@pattern(node.multiply(_X, node.sigmoid(_X)), name="silu", order=30)
def _silu(x: Anything) -> Anything:
    return activation.silu(x)
