"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...eager.views import replace_value
from ...ops.basic import reshape_to
from ...ops.shape.joining import concat_along


def parameters_to_vector(parameters: Iterable[Tensor], name: str | None = None) -> Tensor:
    """The elements of all parameters, one behind another."""
    flat = [reshape_to(parameter, (parameter._aval.size,)) for parameter in parameters]
    if not flat:
        raise value_error("parameters_to_vector", "there are no parameters")
    return concat_along(flat, 0)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor], name: str | None = None) -> None:
    """Gives parameters the elements of a vector, in order."""
    found = list(parameters)
    total = sum(parameter._aval.size for parameter in found)
    if vec._aval.shape != (total,):
        raise value_error("vector_to_parameters", f"the vector must have {total} elements", f"vec: {vec._aval}")
    source: Any = vec.detach()
    start = 0
    for parameter in found:
        size = parameter._aval.size
        replace_value(parameter, reshape_to(source[start : start + size], parameter._aval.shape))
        start += size
