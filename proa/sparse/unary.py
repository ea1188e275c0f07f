"""Functions of one sparse tensor, element by element: those that leave zero where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dtype import to_numpy_dtype
from ..core.errors import type_error
from ..eager.declare import PUBLIC
from ..eager.tape import stand_in
from ..eager.tensor import Tensor
from ..ops.basic import cast_to
from .tensor import require_sparse


def map_values(where: str, function: Callable[..., Tensor], x: Any, *arguments: Any) -> Any:
    """A function of every stored value; the pattern stays."""
    x = require_sparse(where, "x", x)
    return x._with_values(function(x._values, *arguments))


def _of_every_element(name: str, what: str) -> Callable[..., Any]:
    """The sparse form of the dense function of that name."""
    label, own_name = f"sparse.{name}", name

    def apply(x: Tensor, name: str | None = None) -> Tensor:
        return map_values(label, PUBLIC[own_name], x)

    apply.__name__ = apply.__qualname__ = own_name
    apply.__doc__ = f"{what} of every stored element."
    return apply


abs = _of_every_element("abs", "The absolute value")
asin = _of_every_element("asin", "The arc sine")
asinh = _of_every_element("asinh", "The inverse hyperbolic sine")
atan = _of_every_element("atan", "The arc tangent")
atanh = _of_every_element("atanh", "The inverse hyperbolic tangent")
deg2rad = _of_every_element("deg2rad", "Radians for degrees: `x * pi / 180`")
expm1 = _of_every_element("expm1", "`exp(x) - 1`")
isnan = _of_every_element("isnan", "Whether it is not a number")
log1p = _of_every_element("log1p", "`log(1 + x)`")
neg = _of_every_element("neg", "The negative")
rad2deg = _of_every_element("rad2deg", "Degrees for radians: `x * 180 / pi`")
sin = _of_every_element("sin", "The sine")
sinh = _of_every_element("sinh", "The hyperbolic sine")
sqrt = _of_every_element("sqrt", "The square root")
square = _of_every_element("square", "The square")
tan = _of_every_element("tan", "The tangent")
tanh = _of_every_element("tanh", "The hyperbolic tangent")


def pow(x: Tensor, factor: float, name: str | None = None) -> Tensor:
    """Every stored element to the power of a number; what is not stored stays zero."""
    if not isinstance(factor, (int, float)):
        raise type_error("sparse.pow", "factor must be a number", f"factor: {type(factor).__name__}")
    return map_values("sparse.pow", PUBLIC["pow"], x, factor)


def cast(x: Tensor, index_dtype: Any = None, value_dtype: Any = None, name: str | None = None) -> Tensor:
    """Other data types for the indices and the values; None keeps what is there."""
    x = require_sparse("sparse.cast", "x", x)
    pattern = x._pattern
    if index_dtype is not None:
        wanted = to_numpy_dtype(index_dtype)
        if wanted.kind not in "iu":
            raise type_error("sparse.cast", "indices are integers", f"index_dtype: {wanted}")
        pattern = pattern.with_dtype(wanted)
    values = stand_in(x._values) if value_dtype is None else cast_to(x._values, to_numpy_dtype(value_dtype))
    return x.__class__(pattern, values)
