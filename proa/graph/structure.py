"""Nested lists, tuples, dictionaries and slices with tensors in them, as a flat list and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..eager.tensor import Tensor


class Leaf:
    """Stands for tensor number `position` in a structure."""

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position

    def __repr__(self) -> str:
        return f"<tensor {self.position}>"


def flatten(value: Any, tensors: list[Tensor]) -> Any:
    """The same structure with `Leaf`s for its tensors, which are appended to `tensors`."""
    if isinstance(value, Tensor):
        tensors.append(value)
        return Leaf(len(tensors) - 1)
    if isinstance(value, dict):
        return type(value)((key, flatten(part, tensors)) for key, part in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(flatten(part, tensors) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)([flatten(part, tensors) for part in value])
    if value.__class__ is slice:
        return slice(*(flatten(part, tensors) for part in (value.start, value.stop, value.step)))
    return value


def rebuild(structure: Any, tensors: list[Any]) -> Any:
    """The structure with its tensors back in their places."""
    return map_leaves(lambda leaf: tensors[leaf.position], structure)


def map_leaves(function: Callable[[Leaf], Any], structure: Any) -> Any:
    if isinstance(structure, Leaf):
        return function(structure)
    if isinstance(structure, dict):
        return type(structure)((key, map_leaves(function, part)) for key, part in structure.items())
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(map_leaves(function, part) for part in structure))
    if isinstance(structure, (list, tuple)):
        return type(structure)([map_leaves(function, part) for part in structure])
    if structure.__class__ is slice:
        return slice(*(map_leaves(function, part) for part in (structure.start, structure.stop, structure.step)))
    return structure


def map_tensors(function: Callable[[Tensor], Any], value: Any) -> Any:
    """The same structure with every tensor replaced."""
    tensors: list[Tensor] = []
    structure = flatten(value, tensors)
    return rebuild(structure, [function(tensor) for tensor in tensors])
