"""Tensor arrays (`paddle.tensor.create_array` and its kin): lists of tensors.

Their positions are known when a program is built, as its shapes are: an index is a number, or a variable that is computed
from numbers alone (`paddle.zeros([1], 'int64') + 1`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import index_error, type_error, value_error
from ...eager.tensor import Tensor
from ...ir.recorder import LOCAL
from ..basic import full_of


def create_array(dtype: Any = "float32", initialized_list: Any = None) -> list[Any]:
    """An array of tensors, with those of a list in it."""
    if initialized_list is not None and not isinstance(initialized_list, (list, tuple)):
        raise type_error("create_array", "initialized_list must be a list", type(initialized_list).__name__)
    array = list(initialized_list or ())
    for position, item in enumerate(array):
        if not isinstance(item, Tensor):
            raise type_error("create_array", f"initialized_list[{position}] must be a Tensor", type(item).__name__)
    return array


def array_write(x: Tensor, i: Any, array: list[Any] | None = None) -> list[Any]:
    """Puts a tensor at a position of the array, or behind its end."""
    position = _position("array_write", i)
    array = create_array() if array is None else _array("array_write", array)
    if position > len(array):
        raise index_error(
            "array_write", f"the array has {len(array)} tensors", f"i: {position}", "write the next first"
        )
    array[position : position + 1] = [x]
    return array


def array_read(array: list[Any], i: Any) -> Tensor:
    """The tensor at a position of the array."""
    position = _position("array_read", i)
    if not 0 <= position < len(_array("array_read", array)):
        raise index_error("array_read", f"the array has {len(array)} tensors", f"i: {position}")
    return array[position]


def array_length(array: list[Any]) -> Any:
    """How many tensors there are; in a program a variable of the shape [1]."""
    count = len(_array("array_length", array))
    return full_of(count, (1,), np.dtype("int64")) if LOCAL.segment.owner is not None else count


def _array(where: str, array: Any) -> list[Any]:
    if not isinstance(array, list):
        raise type_error(where, "array must be one that create_array() gave", type(array).__name__)
    return array


def _position(where: str, index: Any) -> int:
    if isinstance(index, Tensor) and index._value is None and index._segment.captures:
        segment: Any = LOCAL.segment
        found = segment.constant(index) if hasattr(segment, "constant") else None
        if found is None:
            raise value_error(
                where, "the position must be known when the program is built", f"i: {index._aval}",
                "use a number, or stack what a loop gives",
            )  # fmt: skip
        index = found
    if isinstance(index, (Tensor, np.ndarray)):
        if index.size != 1:
            raise value_error(where, "the position is one number", f"i: {index.size} numbers")
        index = index.item()
    if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
        raise type_error(where, "the position must be an integer", type(index).__name__)
    return int(index)


__all__ = ["array_length", "array_read", "array_write", "create_array"]
