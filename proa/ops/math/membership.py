"""Questions about elements: isin, isneginf, isposinf, isreal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.dtype import BOOL, is_differentiable
from ...core.errors import type_error
from ...core.promotion import promote_tensors
from ...eager.declare import op, public
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ...ir.padding import rules
from ..arguments import require_tensor
from ..axes import widened
from ..basic import cast_to, full_of
from .comparison import equal
from .complex_numbers import imag


@op(
    "x test_x",
    infer=lambda _op, operands, attributes, place: operands[0].with_dtype(BOOL),
    name="isin",
    padding=rules.reductions.among,
)
def is_among(xp: Any, x: Any, test_x: Any, assume_unique: bool, invert: bool) -> Any:
    x, test_x = widened(x), widened(test_x)
    if xp is np:
        return np.isin(x, test_x, assume_unique, invert)
    if not test_x.size:
        return xp.full(x.shape, invert)
    ordered = xp.sort(xp.reshape(test_x, (-1,)))
    place = xp.minimum(xp.searchsorted(ordered, x), ordered.size - 1)
    found = ordered[place] == x
    return ~found if invert else found


@samples(
    S(A(values=[1.0, 2.0, 3.0]), A(values=[2.0, 3.0])), S(A(2, 3, dtype="int64"), A(4, dtype="int64"), invert=True),
    S(A(values=[np.nan, 1.0]), A(values=[np.nan, 1.0])), S(A(dtype="int64"), A(dtype="int64")),
    S(A(2, dtype="int64"), A(0, dtype="int64")), S(A(0, 3), A(2)),
    S(A(values=[[1, 2], [3, 4]], dtype="int32"), A(values=[4, 1], dtype="int32"), True),
    S(A(3, dtype="bool"), A(2, dtype="bool")),
    reference=lambda x, test_x, assume_unique=False, invert=False: np.isin(x, test_x, assume_unique, invert),
)  # fmt: skip
@public(method=True, aliases="x=elements test_x=test_elements")
def isin(
    x: Tensor, test_x: Tensor, assume_unique: bool = False, invert: bool = False, name: str | None = None
) -> Tensor:
    """Whether each element of `x` is among the elements of `test_x`.

    Args:
        x: what is looked for.
        test_x: where it is looked for, of any shape.
        assume_unique: promise that no element occurs twice on either side, which saves time.
        invert: say where an element is not among them instead.
        name: a label; it changes nothing.

    Returns:
        A bool tensor of the shape of `x`.

    Examples:
        >>> paddle.isin(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2, 3, 5])).tolist()
        [False, True, True]
        >>> paddle.isin(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([2, 3, 5]), invert=True).tolist()
        [True, False, False]
    """
    a, b = require_tensor("isin", "x", x)._aval, require_tensor("isin", "test_x", test_x)._aval
    if "c" in (a.dtype.kind, b.dtype.kind):
        raise type_error("isin", "complex numbers have no order", f"x: {a}, test_x: {b}")
    if a.dtype != b.dtype:
        common = promote_tensors("isin", a.dtype, b.dtype)
        x, test_x = cast_to(x, common), cast_to(test_x, common)
    return is_among(x, test_x, bool(assume_unique), bool(invert))


_INFINITE = (
    S(A(values=[-np.inf, np.inf, np.nan, 1.0])), S(A(0, 3)), S(A()), S(A(3, dtype="int64")),
    S(A(3, dtype="bfloat16", grad=False)),
)  # fmt: skip


def _is_infinity(where: str, x: Tensor, infinity: float) -> Tensor:
    aval = require_tensor(where, "x", x)._aval
    if aval.dtype.kind in "bc":
        raise type_error(where, "x must be real numbers", f"x: {aval}")
    return equal(x, infinity) if is_differentiable(aval.dtype) else full_of(0, aval.shape, BOOL)


@samples(*_INFINITE, reference=lambda x: np.isinf(x) & (x < 0))
@public(method=True)
def isneginf(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element is minus infinity.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.isneginf(paddle.to_tensor([-np.inf, np.inf, 0.0])).tolist()
        [True, False, False]
    """
    return _is_infinity("isneginf", x, -np.inf)


@samples(*_INFINITE, reference=lambda x: np.isinf(x) & (x > 0))
@public(method=True)
def isposinf(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element is plus infinity.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.isposinf(paddle.to_tensor([-np.inf, np.inf, 0.0])).tolist()
        [False, True, False]
    """
    return _is_infinity("isposinf", x, np.inf)


@samples(
    S(A(values=[1 + 0j, 1j], dtype="complex128")), S(A(2, 3)), S(A(0, dtype="complex64")), S(A(2, dtype="bool")), S(A()),
    reference=np.isreal,
)  # fmt: skip
@public(method=True)
def isreal(x: Tensor, name: str | None = None) -> Tensor:
    """Whether each element has no imaginary part; true for all real numbers.

    Args:
        x: the tensor.
        name: a label; it changes nothing.

    Examples:
        >>> paddle.isreal(paddle.to_tensor([1 + 0j, 1 + 1j])).tolist()
        [True, False]
    """
    aval = require_tensor("isreal", "x", x)._aval
    return equal(imag(x), 0) if aval.dtype.kind == "c" else full_of(1, aval.shape, BOOL)
