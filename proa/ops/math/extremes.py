"""The larger or smaller of two: maximum, minimum, fmax, fmin; and the angle of two, atan2."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import symbols
from ...core.aval import Aval
from ...core.dtype import FLOAT64
from ...core.promotion import INTEGERS_IN_FLOAT64
from ...eager import series
from ...eager.declare import op, public
from ...eager.infer import broadcast, broadcast_to_bool, elementwise
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..precision import broadcast_real
from .arithmetic import gate, times

# ---- maximum, minimum ----------------------------------------------------------------------------


@op(
    "outer x y",
    infer=broadcast,
    promote=True,
    grad={"outer": lambda g, x, y: larger_share(g, x, y)},
    name="maximum_grad",
)
def larger_share(xp: Any, outer: Any, x: Any, y: Any) -> Any:
    """The part of `outer` that belongs to `x` in `maximum(x, y)`: half where they are equal."""
    half = outer * outer.dtype.type(0.5)
    return xp.where(x > y, outer, xp.where(x == y, half, xp.zeros_like(outer)))


@samples(
    S(A(2, 3, unique=True), A(3, low=-1.9, unique=True)), S(A(0, 3), A(3)), S(A(), A(2)),
    S(A(3), 0.5), S(A(3, dtype="int64"), A(3, dtype="int64")),
    S(A(values=[np.nan, 1.0], grad=False), A(values=[1.0, np.nan], grad=False)),
    reference=np.maximum,
)  # fmt: skip
@public(method=True, out=True)
@op(
    "x y",
    infer=broadcast_real,
    promote=True,
    grad={
        "x": lambda g, x, y: larger_share(g, x, y),
        "y": lambda g, x, y: larger_share(g, y, x),
    },
    paddle_name="elementwise_max",
    commutative=True,
    series=series.functions.larger,
)
def maximum(xp: Any, x: Any, y: Any) -> Any:
    """The larger of each pair; NaN if one of them is NaN. Equal ones share the gradient.

    Args:
        x: one side.
        y: the other; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.maximum(paddle.to_tensor([1.0, 5.0, np.nan]), paddle.to_tensor([3.0, 2.0, 1.0])).tolist()
        [3.0, 5.0, nan]
    """
    return xp.maximum(x, y)


# NumPy would compare, which holds for the sizes at hand alone.
maximum.operation.kernels["sizes"] = lambda xp, x, y: np.frompyfunc(symbols.maximum, 2, 1)(x, y)


@samples(
    S(A(2, 3, unique=True), A(3, low=-1.9, unique=True)), S(A(0, 3), A(3)), S(A(), A(2)),
    S(A(3), 0.5), S(A(3, dtype="int64"), A(3, dtype="int64")),
    S(A(values=[np.nan, 1.0], grad=False), A(values=[1.0, np.nan], grad=False)),
    reference=np.minimum,
)  # fmt: skip
@public(method=True, out=True)
@op(
    "x y",
    infer=broadcast_real,
    promote=True,
    grad={
        "x": lambda g, x, y: larger_share(g, y, x),
        "y": lambda g, x, y: larger_share(g, x, y),
    },
    paddle_name="elementwise_min",
    commutative=True,
    series=series.functions.smaller,
)
def minimum(xp: Any, x: Any, y: Any) -> Any:
    """The smaller of each pair; NaN if one of them is NaN. Equal ones share the gradient.

    Args:
        x: one side.
        y: the other; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.minimum(paddle.to_tensor([1.0, 5.0, np.nan]), paddle.to_tensor([3.0, 2.0, 1.0])).tolist()
        [1.0, 2.0, nan]
    """
    return xp.minimum(x, y)


minimum.operation.kernels["sizes"] = lambda xp, x, y: np.frompyfunc(symbols.minimum, 2, 1)(x, y)


@op("x y", infer=broadcast_to_bool, promote=True)
def first_is_taken(xp: Any, x: Any, y: Any, largest: bool) -> Any:
    """Where `fmax` (or `fmin`) takes `x`: at ties, and where `y` is NaN."""
    return ((x >= y) if largest else (x <= y)) | xp.isnan(y)


@samples(
    S(A(2, 3, unique=True), A(3, low=-1.9, unique=True)), S(A(0, 3), A(3)), S(A(), 1.0),
    S(A(values=[np.nan, 1.0, np.nan], grad=False), A(values=[1.0, np.nan, np.nan], grad=False)),
    reference=np.fmax,
)  # fmt: skip
@public(method=True)
@op(
    "x y",
    infer=broadcast_real,
    promote=True,
    grad={
        "x": lambda g, x, y: gate(g, first_is_taken(x, y, True), True),
        "y": lambda g, x, y: gate(g, first_is_taken(x, y, True), False),
    },
    paddle_name="elementwise_fmax",
    series=series.functions.larger,
)
def fmax(xp: Any, x: Any, y: Any) -> Any:
    """The larger of each pair, or the one that is not NaN. At ties the gradient goes to `x`.

    Args:
        x: one side.
        y: the other; the shapes broadcast.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.fmax(paddle.to_tensor([1.0, np.nan]), paddle.to_tensor([3.0, 2.0])).tolist()
        [3.0, 2.0]
    """
    return xp.fmax(x, y)


@samples(
    S(A(2, 3, unique=True), A(3, low=-1.9, unique=True)), S(A(0, 3), A(3)), S(A(), 1.0),
    S(A(values=[np.nan, 1.0, np.nan], grad=False), A(values=[1.0, np.nan, np.nan], grad=False)),
    reference=np.fmin,
)  # fmt: skip
@public(method=True)
@op(
    "x y",
    infer=broadcast_real,
    promote=True,
    grad={
        "x": lambda g, x, y: gate(g, first_is_taken(x, y, False), True),
        "y": lambda g, x, y: gate(g, first_is_taken(x, y, False), False),
    },
    paddle_name="elementwise_fmin",
    series=series.functions.smaller,
)
def fmin(xp: Any, x: Any, y: Any) -> Any:
    """The smaller of each pair, or the one that is not NaN. At ties the gradient goes to `x`.

    Args:
        x: one side.
        y: the other; the shapes broadcast.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.fmin(paddle.to_tensor([1.0, np.nan]), paddle.to_tensor([3.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    return xp.fmin(x, y)


# ---- atan2 ---------------------------------------------------------------------------------------


@elementwise
def _infer_atan2(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    result = broadcast_real(operation, operands, attributes, place)
    return result.with_dtype(FLOAT64) if result.dtype.kind in "biu" else result


def _atan2_share(g: Tensor, x: Any, y: Any, other: Any) -> Tensor:
    return g * other / (x * x + y * y)


@samples(
    S(A(2, 3), A(3, low=0.2)), S(A(0, 3), A(3)), S(A(), A(2, low=-2, high=-0.2)),
    S(A(3, dtype="int64"), A(3, dtype="int64", low=1)),
    S(A(4, dtype="float16", grad=False), A(4, dtype="float16", grad=False)),
    reference=lambda x, y: np.arctan2(x, y),
)  # fmt: skip
@public(method=True)
@op(
    "x y",
    infer=_infer_atan2,
    promote=INTEGERS_IN_FLOAT64,
    grad={
        "x": lambda g, x, y: _atan2_share(g, x, y, y),
        "y": lambda g, x, y: times(_atan2_share(g, x, y, x), -1.0),
    },
    series=series.functions.angle_of,
)
def atan2(xp: Any, x: Any, y: Any) -> Any:
    """The angle in radians, between -pi and pi, of the point whose ordinate is `x` and whose abscissa is `y`.

    Args:
        x: the ordinates.
        y: the abscissas; the shapes broadcast.
        name: a label; it changes nothing.

    Returns:
        Floating numbers; integers give float64.

    Examples:
        >>> paddle.atan2(paddle.to_tensor([1.0, -1.0]), paddle.to_tensor([1.0, -1.0])).numpy().round(4)
        array([ 0.7854, -2.3562], dtype=float32)
    """
    if x.dtype.kind in "biu":
        x, y = x.astype(FLOAT64), y.astype(FLOAT64)
    return xp.arctan2(x, y)
