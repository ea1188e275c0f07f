"""Functions of two numbers that are more than arithmetic: hypot, logaddexp, heaviside, gcd, lcm."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.promotion import INTEGERS_IN_FLOAT32, ONE_TYPE
from ...eager import series
from ...eager.declare import op, public
from ...eager.infer import broadcast, elementwise
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from ..basic import expand_to
from ..precision import broadcast_real, refuse, wide
from .arithmetic import gate, minus, over, zero_slope
from .comparison import equal
from .unary import sigmoid

_PAIRS = (
    S(A(2, 3), A(3)), S(A(2, 1), A(1, 3)), S(A(0, 3), A(3)), S(A(), A()),
    S(A(3, dtype="int64", low=1, high=9), A(3, dtype="int64", low=1, high=9)),
    S(A(3, dtype="bfloat16", grad=False), A(3, dtype="bfloat16", grad=False)),
)  # fmt: skip


def _in_float(function: Any) -> Any:
    """A NumPy function as reference: integers enter as float32."""

    def expected(x: Any, y: Any) -> Any:
        if x.dtype.kind in "iu":
            x, y = x.astype("float32"), y.astype("float32")
        return function(x.astype("float64"), y.astype("float64")).astype(x.dtype, copy=False)

    return expected


@op(
    "x y",
    infer=broadcast_real,
    promote=INTEGERS_IN_FLOAT32,
    grad={"x": lambda g, x, out: g * over(x, out), "y": lambda g, y, out: g * over(y, out)},
    name="hypot",
    series=series.functions.hypotenuse,
)
def hypotenuse(xp: Any, x: Any, y: Any) -> Any:
    return xp.hypot(wide(x), wide(y))


@samples(
    *_PAIRS, S(A(values=[1e30, 3.0], grad=False), A(values=[1e30, 4.0], grad=False)), reference=_in_float(np.hypot)
)
@public(method=True, inplace=True)
def hypot(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The length of the hypotenuse, `sqrt(x * x + y * y)`, without overflow on the way.

    Args:
        x: one leg.
        y: the other; the shapes broadcast.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.hypot(paddle.to_tensor([3.0, 5.0]), paddle.to_tensor([4.0, 12.0])).tolist()
        [5.0, 13.0]
    """
    return hypotenuse(require_tensor("hypot", "x", x), require_tensor("hypot", "y", y))


@samples(
    *_PAIRS, S(A(values=[1000.0, -1000.0, 0.0]), A(values=[1000.0, -1001.0, -np.inf], grad=False)),
    S(A(values=[-np.inf, np.inf], grad=False), A(values=[-np.inf, np.inf], grad=False)),
    reference=_in_float(np.logaddexp),
)  # fmt: skip
@public(method=True)
@op(
    "x y",
    infer=broadcast_real,
    promote=INTEGERS_IN_FLOAT32,
    grad={"x": lambda g, x, y: g * sigmoid(minus(x, y)), "y": lambda g, x, y: g * sigmoid(minus(y, x))},
    series=series.functions.logaddexp,
)
def logaddexp(xp: Any, x: Any, y: Any) -> Any:
    """`log(exp(x) + exp(y))`, without overflow.

    Args:
        x: one term.
        y: the other; the shapes broadcast.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.logaddexp(paddle.to_tensor([1000.0]), paddle.to_tensor([1000.0])).numpy().round(4)
        array([1000.6932], dtype=float32)
    """
    return xp.logaddexp(wide(x), wide(y))


@elementwise
def _infer_step(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    refuse(operation, operands, "bc", "is for real numbers", "convert with astype()")
    return broadcast(operation, operands, attributes, place)


def _reference_heaviside(x: Any, y: Any) -> Any:
    return np.where(x == 0, y, (x > 0).astype(x.dtype))


@samples(
    S(A(2, 3), A(3)), S(A(values=[-1.0, 0.0, -0.0, 1.0], grad=False), A(4)), S(A(0, 3), A(3)), S(A(), A()),
    S(A(values=[-1, 0, 1], dtype="int64"), A(3, dtype="int64")), S(A(values=[np.nan], grad=False), A(1)),
    reference=_reference_heaviside,
)  # fmt: skip
@public(method=True)
@op(
    "x y",
    infer=_infer_step,
    promote=ONE_TYPE,
    grad={"x": lambda g: zero_slope(g), "y": lambda g, x: _only_at_zero(g, x)},
)
def heaviside(xp: Any, x: Any, y: Any) -> Any:
    """The step function: 0 for negative `x`, 1 for positive, `y` at zero. NaN is not positive, so it gives 0.

    Args:
        x: where it is taken.
        y: its value at zero; the shapes broadcast.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.heaviside(paddle.to_tensor([-1.0, 0.0, 2.0]), paddle.to_tensor([0.5])).tolist()
        [0.0, 0.5, 1.0]
    """
    return xp.where(x == 0, y, (x > 0).astype(x.dtype))


def _only_at_zero(g: Tensor, x: Tensor) -> Tensor:
    mask = equal(x, 0)
    if mask._aval.shape != g._aval.shape:
        mask = expand_to(mask, g._aval.shape)
    return gate(g, mask, True)


@elementwise
def _infer_whole(operation: Any, operands: Any, attributes: tuple[Any, ...], place: Any) -> Aval:
    result = broadcast(operation, operands, attributes, place)
    if any(isinstance(o, Aval) and o.dtype.kind not in "iu" for o in operands):
        raise operation.error(TypeError, "the operation is for integers", operands, fix="convert with astype('int64')")
    return result


_WHOLE = (
    S(A(values=[12, -18, 0, 0, 7], dtype="int64"), A(values=[18, 12, 5, 0, -7], dtype="int64")),
    S(A(2, 3, dtype="int32", low=1, high=50), A(3, dtype="int32", low=1, high=50)),
    S(A(0, dtype="int64"), A(1, dtype="int64")), S(A(dtype="int64", low=4, high=99), A(dtype="int64", low=4, high=99)),
    S(A(3, dtype="uint8", low=1, high=15), A(3, dtype="uint8", low=1, high=15)),
    S(A(3, dtype="int64", low=1, high=50), 6),
)  # fmt: skip


@samples(*_WHOLE, reference=np.gcd)
@public(method=True, inplace=True)
@op("x y", infer=_infer_whole, promote=True)
def gcd(xp: Any, x: Any, y: Any) -> Any:
    """The greatest common divisor of each pair of integers; of two zeros, 0.

    Args:
        x: integers.
        y: integers; the shapes broadcast.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.gcd(paddle.to_tensor([12, 0]), paddle.to_tensor([20, 5])).tolist()
        [4, 5]
    """
    return xp.gcd(x, y)


def _magnitude(xp: Any, x: Any) -> Any:
    """The absolute value as an unsigned integer, so that the least integer has one too."""
    if x.dtype.kind == "u":
        return x
    wide = x.astype(np.dtype(f"u{x.dtype.itemsize}"))
    return xp.where(x < 0, 0 - wide, wide)


def _gcd_xla(xp: Any, x: Any, y: Any) -> Any:
    return xp.gcd(_magnitude(xp, x), _magnitude(xp, y)).astype(x.dtype)  # its loop never ends for the least integer


gcd.operation.kernels["xla"] = _gcd_xla


@samples(*_WHOLE, reference=np.lcm)
@public(method=True, inplace=True)
@op("x y", infer=_infer_whole, promote=True)
def lcm(xp: Any, x: Any, y: Any) -> Any:
    """The least common multiple of each pair of integers; 0 where one of them is 0.

    Args:
        x: integers.
        y: integers; the shapes broadcast.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.lcm(paddle.to_tensor([12, 0]), paddle.to_tensor([20, 5])).tolist()
        [60, 0]
    """
    return xp.lcm(x, y)


def _lcm_xla(xp: Any, x: Any, y: Any) -> Any:
    first, second = _magnitude(xp, x), _magnitude(xp, y)
    divisor = xp.gcd(first, second)
    return (first // xp.maximum(divisor, 1) * second).astype(x.dtype, copy=False)


lcm.operation.kernels["xla"] = _lcm_xla
