"""Comparisons: element by element (the operators), of whole tensors, and with a tolerance.

None of them has a gradient. `x == None`, `x == "text"` are Python's False, as for any object.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import BOOL
from ...core.promotion import ARITHMETIC, ONE_TYPE
from ...eager.attaching import attach
from ...eager.declare import op, public
from ...eager.infer import broadcast_shapes, broadcast_to_bool, common_dtype, elementwise
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor, tensor_from_data
from ...ir.padding import rules

_PAIRS = (
    S(A(2, 3, dtype="int64"), A(3, dtype="int64")), S(A(2, 1), A(1, 3)), S(A(0, 3), A(3)),
    S(A(), A()),
    S(A(4, dtype="int32"), 1), S(A(4), 0.5), S(A(4, dtype="bool"), A(4, dtype="bool")),
    S(A(values=[np.nan, 1.0, np.inf]), A(values=[np.nan, 1.0, np.inf])),
    S(A(3, dtype="bfloat16", grad=False), A(3, dtype="bfloat16", grad=False)),
)  # fmt: skip


@samples(*_PAIRS, reference=np.equal)
@public(method=True, inplace=True, out=True)
@op("x y", infer=broadcast_to_bool, promote=ARITHMETIC)
def equal(xp: Any, x: Any, y: Any) -> Any:
    """Whether `x == y`, element by element.

    Args:
        x: one side.
        y: the other, a tensor or a number; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        A bool tensor of the broadcast shape.

    Examples:
        >>> paddle.equal(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([1, 0, 3])).tolist()
        [True, False, True]
    """
    return xp.equal(x, y)


@samples(*_PAIRS, reference=np.not_equal)
@public(method=True, inplace=True, out=True)
@op("x y", infer=broadcast_to_bool, promote=ARITHMETIC)
def not_equal(xp: Any, x: Any, y: Any) -> Any:
    """Whether `x != y`, element by element.

    Args:
        x: one side.
        y: the other, a tensor or a number; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        A bool tensor of the broadcast shape.

    Examples:
        >>> paddle.not_equal(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([1, 0, 3])).tolist()
        [False, True, False]
    """
    return xp.not_equal(x, y)


@samples(*_PAIRS, reference=np.less)
@public(method=True, operator="<", inplace=True, out=True)
@op("x y", infer=broadcast_to_bool, promote=ARITHMETIC)
def less_than(xp: Any, x: Any, y: Any) -> Any:
    """Whether `x < y`, element by element.

    Args:
        x: one side.
        y: the other, a tensor or a number; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        A bool tensor of the broadcast shape.

    Examples:
        >>> paddle.less_than(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2, 2, 2])).tolist()
        [True, False, False]
    """
    return xp.less(x, y)


@samples(*_PAIRS, reference=np.less_equal)
@public(method=True, operator="<=", inplace=True, out=True)
@op("x y", infer=broadcast_to_bool, promote=ARITHMETIC)
def less_equal(xp: Any, x: Any, y: Any) -> Any:
    """Whether `x <= y`, element by element.

    Args:
        x: one side.
        y: the other, a tensor or a number; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        A bool tensor of the broadcast shape.

    Examples:
        >>> paddle.less_equal(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2, 2, 2])).tolist()
        [True, True, False]
    """
    return xp.less_equal(x, y)


@samples(*_PAIRS, reference=np.greater)
@public(method=True, operator=">", inplace=True, out=True)
@op("x y", infer=broadcast_to_bool, promote=ARITHMETIC)
def greater_than(xp: Any, x: Any, y: Any) -> Any:
    """Whether `x > y`, element by element.

    Args:
        x: one side.
        y: the other, a tensor or a number; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        A bool tensor of the broadcast shape.

    Examples:
        >>> paddle.greater_than(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2, 2, 2])).tolist()
        [False, False, True]
    """
    return xp.greater(x, y)


@samples(*_PAIRS, reference=np.greater_equal)
@public(method=True, operator=">=", inplace=True, out=True)
@op("x y", infer=broadcast_to_bool, promote=ARITHMETIC)
def greater_equal(xp: Any, x: Any, y: Any) -> Any:
    """Whether `x >= y`, element by element.

    Args:
        x: one side.
        y: the other, a tensor or a number; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Returns:
        A bool tensor of the broadcast shape.

    Examples:
        >>> paddle.greater_equal(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2, 2, 2])).tolist()
        [False, True, True]
    """
    return xp.greater_equal(x, y)


public(method=True, out=True, name="eq")(equal)
public(method=True, out=True, name="ne")(not_equal)
public(method=True, out=True, name="lt")(less_than)
public(method=True, inplace=True, out=True, name="less")(less_than)
public(method=True, out=True, name="le")(less_equal)
public(method=True, out=True, name="gt")(greater_than)
public(method=True, out=True, name="greater")(greater_than)
public(method=True, out=True, name="ge")(greater_equal)

_NUMBERS = (bool, int, float, complex, np.ndarray, np.generic, list, tuple)


def _is_comparable(value: Any) -> bool:
    return isinstance(value, (Tensor, *_NUMBERS)) or hasattr(value, "__jax_array__")


def _equals(x: Tensor, y: Any) -> Any:
    return equal(x, y) if _is_comparable(y) else NotImplemented


def _differs(x: Tensor, y: Any) -> Any:
    return not_equal(x, y) if _is_comparable(y) else NotImplemented


attach(__name__, __eq__=_equals)
attach(__name__, __ne__=_differs)


# ---- whole tensors, tolerances -------------------------------------------------------------------


def _infer_truth(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    return make_aval((), BOOL, place)


@op("x y", infer=_infer_truth, promote=ONE_TYPE, name="equal_all", padding=rules.reductions.agreement)
def _all_equal(xp: Any, x: Any, y: Any) -> Any:
    return xp.all(xp.equal(x, y))


@samples(
    S(A(3, dtype="int64"), A(3, dtype="int64")), S(A(values=[1.0, 2.0]), A(values=[1.0, 2.0])),
    S(A(2), A(3)), S(A(0), A(0)), S(A(), A()),
    reference=np.array_equal,
)  # fmt: skip
@public(method=True)
def equal_all(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Whether two tensors have the same shape and the same elements.

    Args:
        x: one tensor.
        y: the other.
        name: a label; it changes nothing.

    Returns:
        One boolean, in a tensor without axes.

    Examples:
        >>> paddle.equal_all(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 2])).item()
        True
        >>> paddle.equal_all(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 2, 3])).item()
        False
    """
    if isinstance(x, Tensor) and isinstance(y, Tensor) and x._aval.shape != y._aval.shape:
        return tensor_from_data(False)
    return _all_equal(x, y)


@elementwise
def _infer_closeness(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    common_dtype(operation, operands[:2])
    shapes = [kind.shape for kind in operands[:2] if isinstance(kind, Aval)]
    return make_aval(broadcast_shapes(operation, operands[:2], shapes), BOOL, place)


def _infer_all_close(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    return _infer_closeness(operation, operands, attributes, place).with_shape(())


def _are_close(xp: Any, x: Any, y: Any, rtol: Any, atol: Any, equal_nan: bool) -> Any:
    if x.dtype.kind in "biu" or x.dtype.itemsize <= 2:
        x, y = x.astype(np.float64), y.astype(np.float64)
    near = (xp.abs(x - y) <= atol + rtol * xp.abs(y)) & xp.isfinite(y)
    close = near | (x == y)  # equal infinities
    return close | (xp.isnan(x) & xp.isnan(y)) if equal_nan else close


_CLOSE = (
    S(A(3), A(3)), S(A(values=[1.0, 2.0]), A(values=[1.00001, 2.1])), S(A(0), A(0)), S(A(), A()),
    S(A(values=[1.0, 2.0]), A(values=[1.05, 2.1]), 0.1), S(A(3, dtype="int64"), A(dtype="int64")),
    S(A(values=[np.nan, np.inf, 1.0]), A(values=[np.nan, np.inf, np.inf]), equal_nan=True),
    S(A(values=[np.inf, np.nan]), A(values=[-np.inf, np.nan]), rtol=0.5, atol=1.0),
)  # fmt: skip


@samples(*_CLOSE, reference=np.isclose)
@public(method=True)
@op("x y", scalars="rtol atol", infer=_infer_closeness, promote=ONE_TYPE, follow_scalars=False)
def isclose(xp: Any, x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether `|x - y| <= atol + rtol * |y|`, element by element.

    Args:
        x: one side.
        y: the other; the shapes broadcast.
        rtol: the tolerance relative to `y`.
        atol: the absolute tolerance.
        equal_nan: whether NaN is close to NaN.
        name: a label; it changes nothing.

    Returns:
        A bool tensor of the broadcast shape.

    Examples:
        >>> paddle.isclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.000001, 2.1])).tolist()
        [True, False]
    """
    return _are_close(xp, x, y, rtol, atol, equal_nan)


@samples(*_CLOSE, reference=np.allclose)
@public(method=True)
@op(
    "x y",
    scalars="rtol atol",
    infer=_infer_all_close,
    promote=ONE_TYPE,
    follow_scalars=False,
    padding=rules.reductions.agreement,
)
def allclose(xp: Any, x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all elements are close, as `isclose` judges.

    Args:
        x: one side.
        y: the other; the shapes broadcast.
        rtol: the tolerance relative to `y`.
        atol: the absolute tolerance.
        equal_nan: whether NaN is close to NaN.
        name: a label; it changes nothing.

    Returns:
        One boolean, in a tensor without axes.

    Examples:
        >>> paddle.allclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.000001, 2.0])).item()
        True
    """
    return xp.all(_are_close(xp, x, y, rtol, atol, equal_nan))
