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
    """The elements of all parameters, one behind another.

    Args:
        parameters: the parameters.
        name: a label; it changes nothing.

    Returns:
        A tensor with one axis.

    Raises:
        ValueError: there are none.

    Examples:
        >>> paddle.nn.utils.parameters_to_vector(paddle.nn.Linear(3, 2).parameters()).shape
        paddle.Size([8])
    """
    flat = [reshape_to(parameter, (parameter._aval.size,)) for parameter in parameters]
    if not flat:
        raise value_error("parameters_to_vector", "there are no parameters")
    return concat_along(flat, 0)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor], name: str | None = None) -> None:
    """Gives parameters the elements of a vector, in order.

    Args:
        vec: the vector.
        parameters: the parameters, which are changed.
        name: a label; it changes nothing.

    Raises:
        ValueError: the vector has another number of elements.

    Examples:
        >>> layer = paddle.nn.Linear(2, 1)
        >>> paddle.nn.utils.vector_to_parameters(paddle.to_tensor([1.0, 2.0, 3.0]), layer.parameters())
        >>> layer.weight.tolist(), layer.bias.tolist()
        ([[1.0], [2.0]], [3.0])
    """
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
