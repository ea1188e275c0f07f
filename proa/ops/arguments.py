"""Arguments that many functions share: integers, axes, shapes, and where a new tensor goes.

Users give them as Python or NumPy integers, tensors, or lists of these; operations want plain
Python integers in tuples, because attributes are dictionary keys and 1, 1.0 and True are equal
there.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtype import default_float, to_numpy_dtype
from ..core.errors import type_error, value_error
from ..core.place import parse_place
from ..core.symbols import SymbolicSize, whole_index
from ..eager.infer import normalise_axis
from ..eager.tensor import Tensor
from ..eager.views import assign_in_place
from ..ir.sizes.known import known_value


def integer(where: str, name: str, value: Any) -> int:
    """One integer, from a Python or NumPy integer or a tensor with one element."""
    if value.__class__ is int:
        return value
    if isinstance(value, Tensor) and value._aval.size == 1:
        value = of_sizes(value)
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(())[()]
    try:
        return whole_index(value)
    except TypeError:
        raise type_error(where, f"{name} must be an integer", f"{name}: {_shown(value)}") from None


def integers(where: str, name: str, value: Any) -> tuple[int, ...]:
    """A tuple of integers, from one integer, a list of them, or a tensor with one dimension."""
    if isinstance(value, (Tensor, np.ndarray)) and value.ndim:
        if np.dtype(value._aval.dtype if isinstance(value, Tensor) else value.dtype).kind not in "iu":
            raise type_error(where, f"{name} must be integers", f"{name}: {_shown(value)}")
        value = (of_sizes(value) if isinstance(value, Tensor) else value).tolist()
    if isinstance(value, (list, tuple)):
        return tuple(integer(where, name, item) for item in value)
    return (integer(where, name, value),)


def of_sizes(value: Tensor) -> Any:
    """The array of sizes that a tensor stands for where it has no value of its own, else the tensor."""
    known = known_value(value)
    return value if known is None else known


def _shown(value: Any) -> str:
    return str(value._aval) if isinstance(value, Tensor) else repr(value)


def require_tensor(where: str, name: str, value: Any) -> Tensor:
    """The value, if it is a Tensor.

    Raises:
        TypeError: it is something else.

    Examples:
        >>> paddle.utils.dlpack.require_tensor("example", "x", 3)
        Traceback (most recent call last):
            ...
        proa.core.errors.WrongType: (example) x must be a Tensor; received x: int; convert it with to_tensor().
    """
    if isinstance(value, Tensor):
        return value
    raise type_error(
        where,
        f"{name} must be a Tensor",
        f"{name}: {type(value).__name__}",
        "convert it with to_tensor()",
    )


def flag(name: str, value: Any) -> bool:
    """A switch: True or False (None is), and nothing else that merely counts as one of them."""
    if value.__class__ is bool:
        return value
    if value is None or isinstance(value, np.bool_):
        return bool(value)
    where = sys._getframe(1).f_code.co_name  # the function that was given it
    raise type_error(where, f"{name} must be True or False", f"{name}: {value!r}")


def one_axis(where: str, axis: Any, ndim: int, extra: int = 0) -> int:
    """A non-negative axis; ValueError for one that does not exist."""
    if isinstance(axis, float) and axis.is_integer():
        axis = int(axis)  # Paddle takes 1.0 here
    return normalise_axis(where, integer(where, "axis", axis), ndim, extra)


def several_axes(where: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Non-negative axes in the given order; none twice."""
    axes = tuple(normalise_axis(where, a, ndim) for a in integers(where, "axis", axis))
    if len(set(axes)) != len(axes):
        raise value_error(where, "an axis is named twice", f"axis: {axis}")
    return axes


def new_shape(where: str, shape: Any) -> tuple[int, ...]:
    """The shape of a new tensor: integers, none negative."""
    dims = integers(where, "shape", shape)
    if any(n < 0 for n in dims):
        raise value_error(where, "a dimension cannot be negative", f"shape: {list(dims)}")
    return dims


def dtype_or_default(dtype: Any) -> np.dtype:
    return default_float() if dtype is None else to_numpy_dtype(dtype)


def listed(parameter: str, position: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Lets a function take integers one by one where it takes a list: `x.expand(2, 3)`, `zeros(2,
    3)`.

    `position` is where the list stands among the positional parameters.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def gather_integers(*arguments: Any, **options: Any) -> Any:
            following = arguments[position + 1] if len(arguments) > position + 1 else None
            if following.__class__ is int or isinstance(following, SymbolicSize):
                rest = arguments[position:]
                if all(isinstance(n, (int, np.integer, Tensor)) and n.__class__ is not bool for n in rest):
                    arguments = (*arguments[:position], rest)
            return function(*arguments, **options)

        gather_integers.__dict__["parameter_of_integers"] = parameter
        return gather_integers

    return decorate


def finish(made: Tensor, out: Tensor | None = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The last step of creation functions: another device, an existing tensor to fill, a wanted
    gradient."""
    if device is not None:
        made = made._to_place(parse_place(device))
    if out is not None:
        made = assign_in_place(out, made, "out")
    if requires_grad:
        made.stop_gradient = False
    return made
