"""What distributions are given: parameters, values, shapes of samples.

Parameters become tensors of one floating type: float64 if one of them has it, else the type of the
tensors among them, else the default one.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..core.dtype import FLOAT32, FLOAT64, default_float, is_floating, real_dtype
from ..core.errors import type_error, value_error
from ..eager.annotations import ShapeLike
from ..eager.tensor import Tensor
from ..ops.arguments import integers
from ..ops.basic import cast_to
from .functions import paddle

_Number = (numbers.Real, np.floating, np.integer)


def tensors(
    where: str,
    integers: bool = True,
    lists: bool = True,
    mixed: bool = True,
    complex_numbers: bool = False,
    **given: Any,
) -> tuple[Any, ...]:
    """Parameters as tensors of a common type, each in its own shape.

    Args:
        where: the name for errors.
        integers: whether Python integers are accepted.
        lists: whether lists and arrays are accepted.
        mixed: whether tensors may stand beside what is none.
        complex_numbers: whether complex numbers are accepted.
        given: the parameters, by name.
    """
    for name, value in given.items():
        if isinstance(value, Tensor):
            continue
        if isinstance(value, (list, tuple, np.ndarray)) and lists:
            continue
        if isinstance(value, _Number) and (integers or not isinstance(value, (int, np.integer))):
            continue
        if complex_numbers and isinstance(value, complex):
            continue
        kinds = ["a number" if integers else "a float", *(["a list", "an array"] if lists else []), "a Tensor"]
        raise type_error(where, f"{name} must be {', '.join(kinds[:-1])} or {kinds[-1]}", f"{name}: {_shown(value)}")
    if not mixed and 0 < sum(isinstance(v, Tensor) for v in given.values()) < len(given):
        raise value_error(
            where,
            "when one parameter is a Tensor, all of them must be",
            ", ".join(f"{n}: {type(v).__name__}" for n, v in given.items()),
            "convert the others with to_tensor()",
        )
    dtype = _common_dtype(given)
    return tuple(_as_tensor(where, name, value, dtype, complex_numbers) for name, value in given.items())


def _shown(value: Any) -> str:
    return str(value._aval) if isinstance(value, Tensor) else repr(value)


def _common_dtype(given: dict[str, Any]) -> np.dtype:
    found = set()
    for value in given.values():
        kind = np.dtype(value._aval.dtype) if isinstance(value, Tensor) else getattr(value, "dtype", None)
        if kind is not None and (kind.kind == "c" or is_floating(kind)):
            found.add(real_dtype(kind))
    if not found:
        return default_float()
    return found.pop() if len(found) == 1 else FLOAT64 if FLOAT64 in found else FLOAT32


def _as_tensor(where: str, name: str, value: Any, dtype: np.dtype, complex_numbers: bool) -> Any:
    if isinstance(value, Tensor):
        given = value._aval.dtype
        if given.kind == "c" and not complex_numbers:
            raise type_error(where, f"{name} must be real", f"{name}: {value._aval}")
        return value if given == dtype or given.kind == "c" else cast_to(value, dtype)
    array = np.asarray(value)
    if array.dtype.kind not in ("biufc" if complex_numbers else "biuf"):
        raise type_error(where, f"{name} must consist of numbers", f"{name}: {value!r}")
    if array.dtype.kind == "c":
        return paddle.to_tensor(array, dtype="complex128" if dtype == FLOAT64 else "complex64")
    return paddle.to_tensor(array, dtype=dtype)


def as_value(where: str, value: Any, dtype: np.dtype) -> Any:
    """The point at which something is asked for: a tensor of the distribution's type."""
    if isinstance(value, Tensor):
        return value if value._aval.dtype == dtype else cast_to(value, dtype)
    if isinstance(value, (*_Number, list, tuple, np.ndarray)):
        return _as_tensor(where, "value", value, dtype, dtype.kind == "c")
    raise type_error(where, "the value must be a Tensor or a number", f"value: {_shown(value)}")


def sample_shape(where: str, shape: ShapeLike) -> tuple[int, ...]:
    """The leading extents of a sample, as a tuple of integers.

    Args:
        where: the name for errors.
        shape: a list of integers that are not negative.
    """
    if not isinstance(shape, (list, tuple, np.ndarray, Tensor)) or (
        isinstance(shape, (np.ndarray, Tensor)) and not shape.ndim
    ):
        raise type_error(where, "the shape of a sample must be a list of integers", f"shape: {_shown(shape)}")
    dims = integers(where, "shape", shape)
    if any(n < 0 for n in dims):
        raise value_error(where, "a dimension cannot be negative", f"shape: {list(dims)}")
    return dims


def common_shape(where: str, *parameters: Any) -> tuple[int, ...]:
    """The shape that the parameters broadcast to."""
    shapes = [tuple(p.shape) for p in parameters]
    try:
        return tuple(int(n) for n in np.broadcast_shapes(*shapes))
    except ValueError:
        raise value_error(
            where, "the parameters cannot be broadcast together", ", ".join(str(list(s)) for s in shapes)
        ) from None


def broadcast(x: Any, shape: tuple[int, ...]) -> Any:
    """A parameter in a bigger shape; the very same tensor where it has that shape.

    Args:
        x: the parameter.
        shape: the shape.
    """
    return x if tuple(x.shape) == tuple(shape) else paddle.expand(x, list(shape))


def require_all(condition: Any, where: str, what: str, received: str) -> None:
    """Raises unless a condition on parameters holds everywhere. It reads the values.

    Args:
        condition: a tensor of booleans.
        where: the name for errors.
        what: what must hold.
        received: what was given.

    Raises:
        ValueError: it does not hold.
    """
    if not bool(np.all(np.asarray(condition.numpy()))):
        raise value_error(where, what, received)
