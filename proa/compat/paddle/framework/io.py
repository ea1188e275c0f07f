"""`paddle.framework.io`: how saved objects are walked through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....eager.parameter import Parameter as EagerParamBase
from ....eager.tensor import Tensor, tensor_from_data

__all__ = ["EagerParamBase"]


def _parse_every_object(obj: Any, condition_func: Callable[[Any], bool], convert_func: Callable[[Any], Any]) -> Any:
    """The object with everything that meets the condition converted, inside lists, tuples, sets and dictionaries too."""
    if condition_func(obj):
        return convert_func(obj)
    if isinstance(obj, dict):
        return type(obj)((key, _parse_every_object(value, condition_func, convert_func)) for key, value in obj.items())
    if isinstance(obj, (list, tuple, set)):
        parts = [_parse_every_object(value, condition_func, convert_func) for value in obj]
        return type(obj)(*parts) if hasattr(obj, "_fields") else type(obj)(parts)
    return obj


def _to_LodTensor(array: Any) -> Tensor:
    """A tensor of an array; there is one kind of tensor."""
    return tensor_from_data(array)


def _ndarray_to_tensor(array: Any, return_numpy: bool = False) -> Any:
    return array if return_numpy else tensor_from_data(array)


def _transformed_from_lodtensor(obj: Any) -> bool:
    """Whether a loaded object is the array of an unnamed tensor."""
    return isinstance(obj, np.ndarray)


def _transformed_from_varbase(obj: Any) -> bool:
    """Whether a loaded object is a named tensor: its name and its array."""
    return isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], str) and isinstance(obj[1], np.ndarray)
