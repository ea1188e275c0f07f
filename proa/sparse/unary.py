"""Functions of one sparse tensor, element by element: those that leave zero where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtype import to_numpy_dtype
from ..core.errors import type_error
from ..eager.annotations import DTypeLike
from ..eager.backward.tape import stand_in
from ..eager.declare import PUBLIC
from ..eager.samples import A, S, samples
from ..eager.tensor import Tensor
from ..ops.basic import cast_to
from .tensor import require_sparse


def map_values(where: str, function: Callable[..., Tensor], x: Any, *arguments: Any) -> Any:
    """A function of every stored value; the pattern stays."""
    x = require_sparse(where, "x", x)
    return x._with_values(function(x._values, *arguments))


def _cases(low: float, high: float) -> tuple[S, ...]:
    return (
        S(A(3, 4, layout="coo", low=low, high=high)),
        S(A(3, 4, layout="csr", low=low, high=high)),
        S(A(2, 3, 4, layout="csr", low=low, high=high)),
        S(A(3, 4, 2, dtype="float64", layout="coo", sparse_dim=2, low=low, high=high)),
    )


def _of_every_element(
    name: str, what: str, reference: Callable[..., Any], low: float = -2.0, high: float = 2.0
) -> Callable[..., Any]:
    """The sparse form of the dense function of that name; its samples have values from `low` to `high`."""
    label, own_name = f"sparse.{name}", name

    def apply(x: Tensor, name: str | None = None) -> Tensor:
        return map_values(label, PUBLIC[own_name], x)

    apply.__name__ = apply.__qualname__ = own_name
    apply.__doc__ = f"""{what} of every stored element.

    Args:
        x: a sparse tensor.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor, stored where `x` is.

    Examples:
        >>> x = paddle.to_tensor([[0.0, 0.5], [0.25, 0.0]]).to_sparse_coo(2)
        >>> y = paddle.sparse.{name}(x)
        >>> y.values().equal_all(paddle.{name}(x.values())).item()
        True
    """
    return samples(*_cases(low, high), reference=reference)(apply)


abs = _of_every_element("abs", "The absolute value", np.abs)
asin = _of_every_element("asin", "The arc sine", np.arcsin, -0.9, 0.9)
asinh = _of_every_element("asinh", "The inverse hyperbolic sine", np.arcsinh)
atan = _of_every_element("atan", "The arc tangent", np.arctan)
atanh = _of_every_element("atanh", "The inverse hyperbolic tangent", np.arctanh, -0.9, 0.9)
deg2rad = _of_every_element("deg2rad", "Radians for degrees: `x * pi / 180`", np.deg2rad, -180.0, 180.0)
expm1 = _of_every_element("expm1", "`exp(x) - 1`", np.expm1)
isnan = _of_every_element("isnan", "Whether it is not a number", np.isnan)
log1p = _of_every_element("log1p", "`log(1 + x)`", np.log1p, -0.8, 2.0)
neg = _of_every_element("neg", "The negative", np.negative)
rad2deg = _of_every_element("rad2deg", "Degrees for radians: `x * 180 / pi`", np.rad2deg)
sin = _of_every_element("sin", "The sine", np.sin)
sinh = _of_every_element("sinh", "The hyperbolic sine", np.sinh)
sqrt = _of_every_element("sqrt", "The square root", np.sqrt, 0.2, 4.0)
square = _of_every_element("square", "The square", np.square)
tan = _of_every_element("tan", "The tangent", np.tan, -1.2, 1.2)
tanh = _of_every_element("tanh", "The hyperbolic tangent", np.tanh)


@samples(
    S(A(3, 4, layout="coo"), 2), S(A(3, 4, layout="csr"), 3.0), S(A(3, 4, 2, layout="coo", sparse_dim=2, low=0.2), 1.5),
    S(A(3, 4, layout="coo", low=0.5), -1.0),
    reference=lambda x, factor: np.where(x != 0, np.power(np.where(x != 0, x, 1), factor), 0),
)  # fmt: skip
def pow(x: Tensor, factor: float, name: str | None = None) -> Tensor:
    """Every stored element to the power of a number; what is not stored stays zero.

    Args:
        x: a sparse tensor.
        factor: the exponent.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> paddle.sparse.pow(paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2), 2).values().tolist()
        [4.0, 9.0]
    """
    if not isinstance(factor, (int, float)):
        raise type_error("sparse.pow", "factor must be a number", f"factor: {type(factor).__name__}")
    return map_values("sparse.pow", PUBLIC["pow"], x, factor)


@samples(
    S(A(3, 4, layout="coo"), "int32", "float64"), S(A(3, 4, layout="csr"), value_dtype="float64"),
    S(A(3, 4, layout="coo"), "int32"), S(A(3, 4, dtype="int64", layout="csr"), "int32", "float32"),
    reference=lambda x, index_dtype=None, value_dtype=None: x.astype(value_dtype or x.dtype),
)  # fmt: skip
def cast(
    x: Tensor, index_dtype: DTypeLike | None = None, value_dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Other data types for the indices and the values.

    Args:
        x: a sparse tensor.
        index_dtype: that of the indices; None keeps what is there.
        value_dtype: that of the values; None keeps what is there.
        name: a label; it changes nothing.

    Returns:
        A sparse tensor.

    Examples:
        >>> y = paddle.sparse.cast(paddle.to_tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_coo(2), "int32", "float64")
        >>> y.indices().dtype, y.dtype
        (paddle.int32, paddle.float64)
    """
    x = require_sparse("sparse.cast", "x", x)
    pattern = x._pattern
    if index_dtype is not None:
        wanted = to_numpy_dtype(index_dtype)
        if wanted.kind not in "iu":
            raise type_error("sparse.cast", "indices are integers", f"index_dtype: {wanted}")
        pattern = pattern.with_dtype(wanted)
    values = stand_in(x._values) if value_dtype is None else cast_to(x._values, to_numpy_dtype(value_dtype))
    return x.__class__(pattern, values)
