"""Logic of truth values and of bits, and questions about numbers (isnan and the like).

None of them has a gradient. Truth values may come from any dtype: what is not zero is true. Bits
are for booleans and integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval, make_aval
from ...core.dtype import BOOL
from ...core.promotion import BITS
from ...eager.attaching import attach
from ...eager.calling import deliver
from ...eager.declare import op, public
from ...eager.infer import broadcast, broadcast_shapes, elementwise, same_to_bool
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..precision import broadcast_numbers, refuse

# ---- truth values --------------------------------------------------------------------------------


@elementwise
def _infer_truth(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    shapes = [kind.shape for kind in operands if isinstance(kind, Aval)]
    return make_aval(broadcast_shapes(operation, operands, shapes), BOOL, place)


_TRUTHS = (
    S(A(2, 3, dtype="bool"), A(3, dtype="bool")), S(A(3, dtype="int64"), A(3, dtype="int64")),
    S(A(values=[0.0, -0.0, 0.5, np.nan]), A(4, dtype="bool")), S(A(0, 3), A(3)),
    S(A(dtype="bool"), True),
)  # fmt: skip


@samples(*_TRUTHS, reference=np.logical_and)
@public(method=True, inplace=True, out=True)
@op("x y", infer=_infer_truth)
def logical_and(xp: Any, x: Any, y: Any) -> Any:
    """Whether both are true, that is not zero, element by element.

    Args:
        x: one side.
        y: the other; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.logical_and(paddle.to_tensor([True, True]), paddle.to_tensor([True, False])).tolist()
        [True, False]
    """
    return xp.logical_and(x, y)


@samples(*_TRUTHS, reference=np.logical_or)
@public(method=True, inplace=True, out=True)
@op("x y", infer=_infer_truth)
def logical_or(xp: Any, x: Any, y: Any) -> Any:
    """Whether at least one of them is true, that is not zero, element by element.

    Args:
        x: one side.
        y: the other; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.logical_or(paddle.to_tensor([True, False]), paddle.to_tensor([False, False])).tolist()
        [True, False]
    """
    return xp.logical_or(x, y)


@samples(*_TRUTHS, reference=np.logical_xor)
@public(method=True, inplace=True, out=True)
@op("x y", infer=_infer_truth)
def logical_xor(xp: Any, x: Any, y: Any) -> Any:
    """Whether exactly one of them is true, that is not zero, element by element.

    Args:
        x: one side.
        y: the other; the shapes broadcast.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.logical_xor(paddle.to_tensor([True, True]), paddle.to_tensor([True, False])).tolist()
        [False, True]
    """
    return xp.logical_xor(x, y)


@samples(
    S(A(2, 3, dtype="bool")), S(A(3, dtype="int64")), S(A(0, 3)), S(A()),
    S(A(3, dtype="float16")),
    reference=np.logical_not,
)  # fmt: skip
@public(method=True, inplace=True, out=True)
@op(infer=same_to_bool)
def logical_not(xp: Any, x: Any) -> Any:
    """Whether each element is not true, that is zero.

    Args:
        x: the tensor.
        name: a label; it changes nothing.
        out: a tensor that takes the result.

    Examples:
        >>> paddle.logical_not(paddle.to_tensor([True, False])).tolist()
        [False, True]
    """
    return xp.logical_not(x)


# ---- bits ----------------------------------------------------------------------------------------


@elementwise
def _infer_bits(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    refuse(operation, operands, "fVc", "is for integers and booleans", "convert with astype()")
    return broadcast(operation, operands, attributes, place)


@elementwise
def _infer_shift(operation: Any, operands: Any, attributes: Any, place: Any) -> Aval:
    refuse(operation, operands, "fVc", "is for integers", "convert with astype()")
    return broadcast_numbers(operation, operands, attributes, place)


_BITS = (
    S(A(2, 3, dtype="int64", low=-9, high=9), A(3, dtype="int64", low=-9, high=9)),
    S(A(4, dtype="bool"), A(4, dtype="bool")), S(A(0, 3, dtype="int32"), A(3, dtype="int32")),
    S(A(3, dtype="uint8", high=99), A(dtype="uint8", high=99)), S(A(3, dtype="int32", low=-9), 5),
)  # fmt: skip


@op("x y", infer=_infer_bits, promote=BITS, name="bitwise_and")
def _and(xp: Any, x: Any, y: Any) -> Any:
    return xp.bitwise_and(x, y)


@op("x y", infer=_infer_bits, promote=BITS, name="bitwise_or")
def _or(xp: Any, x: Any, y: Any) -> Any:
    return xp.bitwise_or(x, y)


@op("x y", infer=_infer_bits, promote=BITS, name="bitwise_xor")
def _xor(xp: Any, x: Any, y: Any) -> Any:
    return xp.bitwise_xor(x, y)


@op(infer=_infer_bits, name="bitwise_not")
def _invert(xp: Any, x: Any) -> Any:
    return xp.invert(x)


@samples(*_BITS, reference=np.bitwise_and)
@public(method=True, inplace=True)
def bitwise_and(x: Tensor | int, y: Tensor | int, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """The bits that both have; of booleans, logical and. `x & y` means the same.

    Args:
        x: integers or booleans.
        y: the same; the shapes broadcast.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.bitwise_and(paddle.to_tensor([6, 5]), paddle.to_tensor([3, 3])).tolist()
        [2, 1]
    """
    return deliver(_and(x, y), out)


@samples(*_BITS, reference=np.bitwise_or)
@public(method=True, inplace=True)
def bitwise_or(x: Tensor | int, y: Tensor | int, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """The bits that at least one of them has; of booleans, logical or. `x | y` means the same.

    Args:
        x: integers or booleans.
        y: the same; the shapes broadcast.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.bitwise_or(paddle.to_tensor([6, 5]), paddle.to_tensor([3, 3])).tolist()
        [7, 7]
    """
    return deliver(_or(x, y), out)


@samples(*_BITS, reference=np.bitwise_xor)
@public(method=True, inplace=True)
def bitwise_xor(x: Tensor | int, y: Tensor | int, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """The bits that exactly one of them has; of booleans, exclusive or. `x ^ y` means the same.

    Args:
        x: integers or booleans.
        y: the same; the shapes broadcast.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.bitwise_xor(paddle.to_tensor([6, 5]), paddle.to_tensor([3, 3])).tolist()
        [5, 6]
    """
    return deliver(_xor(x, y), out)


@samples(
    S(A(2, 3, dtype="int64", low=-9, high=9)), S(A(4, dtype="bool")), S(A(0, dtype="uint8")),
    S(A(dtype="int32")),
    reference=np.invert,
)  # fmt: skip
@public(method=True, inplace=True)
def bitwise_not(x: Tensor | int, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """All bits turned; of booleans, logical not. `~x` means the same.

    Args:
        x: integers or booleans.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.bitwise_not(paddle.to_tensor([0, 5])).tolist()
        [-1, -6]
    """
    return deliver(_invert(x), out)


public(method=True, inplace=True, name="bitwise_invert")(bitwise_not)


@op("x y", infer=_infer_shift, promote=BITS, name="bitwise_left_shift")
def _shift_left(xp: Any, x: Any, y: Any) -> Any:
    return xp.left_shift(x, y)


@op("x y", infer=_infer_shift, promote=BITS, name="bitwise_right_shift")
def _shift_right(xp: Any, x: Any, y: Any) -> Any:
    return xp.right_shift(x, y)


@op("x y", infer=_infer_shift, promote=True, name="bitwise_right_shift_logical")
def _shift_right_logical(xp: Any, x: Any, y: Any) -> Any:
    """Zeros come in from the left, also for negative numbers."""
    unsigned = np.dtype(f"uint{8 * x.dtype.itemsize}")
    return xp.right_shift(x.view(unsigned), y.view(unsigned)).view(x.dtype)


_SHIFTS = (
    S(A(2, 3, dtype="int64", low=-99, high=99), A(3, dtype="int64", low=0, high=9)),
    S(A(4, dtype="int32", low=-99, high=99), 2), S(A(0, dtype="int8"), A(1, dtype="int8")),
    S(A(values=[1, -1, 1, -8], dtype="int64"), A(values=[64, 64, -1, -1], dtype="int64")),
    S(A(3, dtype="uint8", high=255), A(values=[1, 7, 9], dtype="uint8")),
)  # fmt: skip


@samples(*_SHIFTS, reference=np.left_shift)
@public(method=True, inplace=True)
def bitwise_left_shift(
    x: Tensor | int,
    y: Tensor | int,
    is_arithmetic: bool = True,
    out: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """`x << y`; 0 where `y` is negative or as large as the number of bits.

    Args:
        x: integers.
        y: how many places to shift; the shapes broadcast.
        is_arithmetic: accepted; both kinds of shift to the left are the same.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.bitwise_left_shift(paddle.to_tensor([1, 3]), paddle.to_tensor([4, 1])).tolist()
        [16, 6]
    """
    return deliver(_shift_left(x, y), out)


def _reference_shift(x: Any, y: Any, is_arithmetic: bool = True) -> Any:
    if is_arithmetic:
        return np.right_shift(x, y)
    unsigned = f"uint{8 * x.dtype.itemsize}"
    return np.right_shift(x.view(unsigned), np.asarray(y, x.dtype).view(unsigned)).view(x.dtype)


@samples(
    *_SHIFTS, S(A(4, dtype="int32", low=-99, high=99), A(4, dtype="int32", low=0, high=35), False),
    S(A(3, dtype="int8", low=-99), 1, is_arithmetic=False),
    reference=_reference_shift,
)  # fmt: skip
@public(method=True, inplace=True)
def bitwise_right_shift(
    x: Tensor | int,
    y: Tensor | int,
    is_arithmetic: bool = True,
    out: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """`x >> y`, filled with the sign, or with zeros.

    Args:
        x: integers.
        y: how many places to shift; the shapes broadcast.
        is_arithmetic: fill with the sign (True) or with zeros.
        out: a tensor that takes the result.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.bitwise_right_shift(paddle.to_tensor([16, -8]), paddle.to_tensor([2, 1])).tolist()
        [4, -4]
    """
    return deliver(_shift_right(x, y) if is_arithmetic else _shift_right_logical(x, y), out)


# ---- the operators -------------------------------------------------------------------------------
# With the parameters that Paddle's have; a number on the left makes the reflected form.


def _reflected_and(x: Tensor, y: Any) -> Tensor:
    return _and(y, x)


def _reflected_or(x: Tensor, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
    return bitwise_or(y, x, out)


def _reflected_xor(x: Tensor, y: Any, out: Tensor | None = None, name: str | None = None) -> Tensor:
    return bitwise_xor(y, x, out)


def _left_shift_operator(x: Any, y: Any, is_arithmetic: bool = True) -> Tensor:
    return bitwise_left_shift(x, y, is_arithmetic)


def _reflected_left_shift(x: Tensor, y: Any, is_arithmetic: bool = True) -> Tensor:
    return bitwise_left_shift(y, x, is_arithmetic)


def _right_shift_operator(x: Any, y: Any, is_arithmetic: bool = True) -> Tensor:
    return bitwise_right_shift(x, y, is_arithmetic)


def _reflected_right_shift(x: Tensor, y: Any, is_arithmetic: bool = True) -> Tensor:
    return bitwise_right_shift(y, x, is_arithmetic)


for _name, _function in {
    "and": bitwise_and, "rand": _reflected_and, "or": bitwise_or, "ror": _reflected_or, "xor": bitwise_xor,
    "rxor": _reflected_xor, "invert": bitwise_not, "lshift": _left_shift_operator, "rlshift": _reflected_left_shift,
    "rshift": _right_shift_operator, "rrshift": _reflected_right_shift,
}.items():  # fmt: skip
    attach(__name__, **{f"__{_name}__": _function})


# ---- questions about numbers ---------------------------------------------------------------------

_QUESTIONS = (
    S(A(values=[np.nan, np.inf, -np.inf, 0.0, 1.0])), S(A(0, 3)), S(A()), S(A(3, dtype="int64")),
    S(A(3, dtype="bfloat16")), S(A(values=[1 + 1j * np.nan, np.inf], dtype="complex128")),
    S(A(2, dtype="bool")),
)  # fmt: skip


@samples(*_QUESTIONS, reference=lambda x: np.isnan(x))
@public(method=True)
@op(infer=same_to_bool, paddle_name="isnan_v2")
def isnan(xp: Any, x: Any) -> Any:
    """Whether each element is NaN.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.isnan(paddle.to_tensor([1.0, np.inf, np.nan])).tolist()
        [False, False, True]
    """
    return xp.isnan(x)


@samples(*_QUESTIONS, reference=lambda x: np.isinf(x))
@public(method=True)
@op(infer=same_to_bool, paddle_name="isinf_v2")
def isinf(xp: Any, x: Any) -> Any:
    """Whether each element is plus or minus infinity.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.isinf(paddle.to_tensor([1.0, -np.inf, np.nan])).tolist()
        [False, True, False]
    """
    return xp.isinf(x)


@samples(*_QUESTIONS, reference=lambda x: np.isfinite(x))
@public(method=True)
@op(infer=same_to_bool, paddle_name="isfinite_v2")
def isfinite(xp: Any, x: Any) -> Any:
    """Whether each element is neither NaN nor infinite.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.isfinite(paddle.to_tensor([1.0, np.inf, np.nan])).tolist()
        [True, False, False]
    """
    return xp.isfinite(x)
