"""Elementwise arithmetic on two operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..eager.declare import op, public
from ..eager.infer import broadcast, same
from ..eager.tensor import Tensor


def conjugate(x: Tensor) -> Tensor:
    """The complex conjugate; a real tensor as it is."""
    return conj(x) if x._aval.dtype.kind == "c" else x


@public(method=True, operator="+", inplace=True)
@op("x y", infer=broadcast, promote=True, grad={"x": lambda g: g, "y": lambda g: g})
def add(xp: Any, x: Any, y: Any) -> Any:
    """`x + y`, element by element."""
    return xp.add(x, y)


@public(method=True, operator="*", inplace=True)
@op(
    "x y",
    infer=broadcast,
    promote=True,
    grad={"x": lambda g, y: g * conjugate(y), "y": lambda g, x: g * conjugate(x)},
)
def multiply(xp: Any, x: Any, y: Any) -> Any:
    """`x * y`, element by element."""
    return xp.multiply(x, y)


@public(method=True)
@op(infer=same, grad={"x": lambda g: conj(g)})
def conj(xp: Any, x: Any) -> Any:
    """The complex conjugate."""
    return xp.conj(x)
